//! Arguments of a tool call: parsed from the command line and converted to the types of the tool's schema.
//!
//! Invariant: numbers and JSON are passed on exactly as typed.

use std::io::Read;

use base64::Engine;
use switchboard::protocol::{InputSchema, OrderedMap, Raw};

use crate::error::CommandError;

/// One argument of the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ArgumentPair {
    /// `key=value`: the schema determines the type.
    Text {
        /// The key.
        key: String,
        /// The value.
        value: String,
    },
    /// `key:=json`.
    Json {
        /// The key.
        key: String,
        /// The value.
        value: Raw,
    },
    /// `key=@FILE`: the schema determines whether it is text or binary data.
    File {
        /// The key.
        key: String,
        /// The contents of the file.
        bytes: Vec<u8>,
    },
}

impl ArgumentPair {
    /// Parses one argument of the command line, and reads the file it names.
    ///
    /// # Errors
    /// Returns a usage error if it has none of the forms, or the file cannot be read.
    pub(crate) fn parse(text: &str) -> Result<Self, CommandError> {
        let usage = |message: String| CommandError::usage(message).hint(FORMS);
        let expected = || usage(format!("expected key=value, got {text:?} (or use --args JSON)"));
        let (key, value) = text.split_once('=').ok_or_else(expected)?;
        let (key, is_json) = key.strip_suffix(':').map_or((key, false), |key| (key, true));
        if key.is_empty() {
            return Err(expected());
        }
        let key = key.to_owned();
        let file = value.strip_prefix('@').filter(|rest| !rest.starts_with('@'));
        let bytes = file.map(|file| read_file(&key, file)).transpose()?;
        // `@@` escapes a value that begins with `@`.
        let value = if value.starts_with("@@") { &value[1..] } else { value };
        match (is_json, bytes) {
            (true, bytes) => {
                let json = bytes.map_or_else(|| Ok(value.to_owned()), String::from_utf8);
                let json = json.map_err(|_| usage(format!("the file of `{key}` is not UTF-8 text")))?;
                let value = Raw::parse(json);
                let value = value.map_err(|error| usage(format!("`{key}` must be JSON: {error}")))?;
                Ok(Self::Json { key, value })
            }
            (false, Some(bytes)) => Ok(Self::File { key, bytes }),
            (false, None) => Ok(Self::Text { key, value: value.to_owned() }),
        }
    }

    /// Returns whether the value depends on the schema.
    pub(crate) fn needs_schema(&self) -> bool {
        !matches!(self, Self::Json { .. })
    }

    fn key(&self) -> &str {
        match self {
            Self::Text { key, .. } | Self::Json { key, .. } | Self::File { key, .. } => key,
        }
    }
}

/// Hint about the forms of arguments.
const FORMS: &str = "key=value takes the type of the schema, key:=json is JSON, key=@FILE reads a file";
/// Maximum size of a file that is read for an argument.
const MAX_FILE: u64 = 16 << 20;

fn read_file(key: &str, file: &str) -> Result<Vec<u8>, CommandError> {
    let failed = |why: String| {
        CommandError::usage(format!("cannot read the file of `{key}`, {file:?}: {why}"))
            .hint(format!("write {key}=@@… for a value that begins with @"))
    };
    let opened = std::fs::File::open(file).map_err(|error| failed(error.to_string()))?;
    let mut bytes = Vec::new();
    opened.take(MAX_FILE + 1).read_to_end(&mut bytes).map_err(|error| failed(error.to_string()))?;
    match bytes.len() as u64 > MAX_FILE {
        true => Err(failed(format!("it is larger than {} MiB", MAX_FILE >> 20))),
        false => Ok(bytes),
    }
}

/// Adds pairs to the arguments, converted to the types of the schema. A repeated key fills a list.
///
/// # Errors
/// Returns a usage error if a value does not have the type of the schema, or a key that is not a list is repeated.
pub(crate) fn apply_pairs(
    mut arguments: OrderedMap<Raw>,
    pairs: &[ArgumentPair],
    schema: &ArgumentSchema,
) -> Result<OrderedMap<Raw>, CommandError> {
    let mut keys: Vec<&str> = Vec::new();
    for pair in pairs {
        if !keys.contains(&pair.key()) {
            keys.push(pair.key());
        }
    }
    for key in keys {
        let matching: Vec<&ArgumentPair> = pairs.iter().filter(|pair| pair.key() == key).collect();
        let property = schema.property(key);
        let value = match (&matching[..], property.allows("array")) {
            ([ArgumentPair::Json { value, .. }], _) => value.clone(),
            ([ArgumentPair::Text { value, .. }], false) => property.coerce(key, value)?,
            ([ArgumentPair::File { bytes, .. }], false) => property.encode_file(key, bytes)?,
            (many, true) => encode_list(key, many, &property)?,
            _ => {
                return Err(CommandError::usage(format!(
                    "`{key}` is given {} times, but is not a list",
                    matching.len()
                ))
                .hint(format!("to send a list anyway, write JSON: {key}:='[1, 2]'")));
            }
        };
        arguments.insert(key, value);
    }
    Ok(arguments)
}

fn encode_list(key: &str, pairs: &[&ArgumentPair], property: &PropertySchema) -> Result<Raw, CommandError> {
    let items = property.items();
    let mut list: Vec<Raw> = Vec::new();
    for pair in pairs {
        match pair {
            ArgumentPair::Json { value, .. } => match value.decode::<Vec<Raw>>() {
                Ok(many) => list.extend(many),
                Err(_) => list.push(value.clone()),
            },
            ArgumentPair::File { bytes, .. } => list.push(items.encode_file(key, bytes)?),
            ArgumentPair::Text { value, .. } => {
                match Raw::parse(value.clone()).ok().and_then(|raw| raw.decode().ok()) {
                    Some::<Vec<Raw>>(many) => list.extend(many),
                    None => list.push(items.coerce(key, value)?),
                }
            }
        }
    }
    Raw::encode(&list).map_err(|error| CommandError::usage(error.to_string()))
}

/// Schema of a tool's arguments. The empty schema treats every value as text.
#[derive(Debug, Default)]
pub(crate) struct ArgumentSchema {
    properties: InputSchema,
    definitions: OrderedMap<Raw>,
}

/// Schema of one property, with the schema that resolves its references.
struct PropertySchema<'a> {
    schema: OrderedMap<Raw>,
    whole: &'a ArgumentSchema,
}

impl ArgumentSchema {
    pub(crate) fn read(schema: &Raw) -> Self {
        let top: OrderedMap<Raw> = schema.decode().unwrap_or_default();
        let definitions = ["$defs", "definitions"].iter().find_map(|key| top.get(key)?.decode().ok());
        let properties = InputSchema::read(schema).unwrap_or_default();
        Self { properties, definitions: definitions.unwrap_or_default() }
    }

    fn property(&self, key: &str) -> PropertySchema<'_> {
        match self.properties.property(key) {
            Some(property) => self.resolve(&property.schema),
            None => PropertySchema { schema: OrderedMap::new(), whole: self },
        }
    }

    fn resolve(&self, schema: &Raw) -> PropertySchema<'_> {
        let schema: OrderedMap<Raw> = schema.decode().unwrap_or_default();
        let referred = schema.get("$ref").and_then(|reference| reference.decode::<String>().ok());
        let found = referred.and_then(|name| self.definitions.get(name.rsplit('/').next()?)?.decode().ok());
        PropertySchema { schema: found.unwrap_or(schema), whole: self }
    }
}

impl PropertySchema<'_> {
    /// Returns the allowed types; empty if the schema does not restrict them.
    fn types(&self) -> Vec<String> {
        let one_or_many =
            |raw: &Raw| raw.decode().map(|one| vec![one]).or_else(|_| raw.decode::<Vec<String>>());
        if let Some(types) = self.schema.get("type").and_then(|types| one_or_many(types).ok()) {
            return types;
        }
        let choices =
            ["anyOf", "oneOf"].iter().find_map(|key| self.schema.get(key)?.decode::<Vec<Raw>>().ok());
        choices.iter().flatten().flat_map(|choice| self.whole.resolve(choice).plain_types()).collect()
    }

    /// Returns the types without following alternatives, so that a recursive schema cannot cause an endless loop.
    fn plain_types(&self) -> Vec<String> {
        self.schema.get("type").and_then(|types| types.decode().ok()).map(|one| vec![one]).unwrap_or_default()
    }

    fn allows(&self, kind: &str) -> bool {
        self.types().iter().any(|known| known == kind)
    }

    fn items(&self) -> Self {
        let here = self.schema.get("items").cloned();
        let choices =
            ["anyOf", "oneOf"].iter().find_map(|key| self.schema.get(key)?.decode::<Vec<Raw>>().ok());
        let inside = || {
            choices
                .iter()
                .flatten()
                .find_map(|choice| self.whole.resolve(choice).schema.get("items").cloned())
        };
        match here.or_else(inside) {
            Some(items) => self.whole.resolve(&items),
            None => Self { schema: OrderedMap::new(), whole: self.whole },
        }
    }

    /// Converts text to a value of one of the allowed types; text is used if strings are allowed and no other type
    /// matches.
    fn coerce(&self, key: &str, text: &str) -> Result<Raw, CommandError> {
        let types = self.types();
        let fits = types.iter().find_map(|kind| parse_as(kind, text));
        if let Some(value) = fits {
            return Ok(value);
        }
        if types.is_empty() || types.iter().any(|kind| kind == "string") {
            return Raw::encode(text).map_err(|error| CommandError::usage(error.to_string()));
        }
        let wanted: Vec<&str> = types.iter().map(|kind| type_with_article(kind)).collect();
        Err(CommandError::usage(format!("`{key}` must be {}; got {text:?}", wanted.join(" or ")))
            .hint(format!("{key}:=JSON sends any JSON as it is")))
    }

    /// Converts file contents to a value: base64 if the schema asks for it, else text as in [`Self::coerce`].
    fn encode_file(&self, key: &str, bytes: &[u8]) -> Result<Raw, CommandError> {
        let encoding = self.schema.get("contentEncoding").and_then(|word| word.decode::<String>().ok());
        if encoding.as_deref() == Some("base64") {
            let text = base64::engine::general_purpose::STANDARD.encode(bytes);
            return Raw::encode(&text).map_err(|error| CommandError::usage(error.to_string()));
        }
        match std::str::from_utf8(bytes) {
            Ok(text) => self.coerce(key, text),
            Err(_) => Err(CommandError::usage(format!("the file of `{key}` is not UTF-8 text"))
                .hint("only an argument with `contentEncoding: base64` takes binary data")),
        }
    }
}

/// Returns a type with its article: `a number`, `an integer`.
fn type_with_article(kind: &str) -> &str {
    match kind {
        "integer" => "an integer",
        "number" => "a number",
        "boolean" => "true or false",
        "object" => "a JSON object",
        "array" => "a list",
        other => other,
    }
}

/// Converts text to a value of this type, or returns `None`. The caller tries strings last.
fn parse_as(kind: &str, text: &str) -> Option<Raw> {
    let json = || Raw::parse(text.to_owned()).ok();
    let is_number =
        |raw: &Raw| raw.as_str().starts_with(|first: char| first == '-' || first.is_ascii_digit());
    match kind {
        "integer" => json().filter(is_number).filter(|raw| !raw.as_str().contains(['.', 'e', 'E'])),
        "number" => json().filter(is_number),
        "boolean" => json().filter(|raw| matches!(raw.as_str(), "true" | "false")),
        "null" => json().filter(Raw::is_null),
        "object" => json().filter(Raw::is_object),
        "array" => json().filter(|raw| raw.as_str().starts_with('[')),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEMA: &str = r##"{"type":"object","$defs":{"Kind":{"type":"integer"}},"properties":{
        "text":{"type":"string"},"n":{"type":"integer"},"x":{"type":"number"},"on":{"type":"boolean"},
        "tags":{"type":"array","items":{"type":"string"}},"ids":{"type":"array","items":{"type":"integer"}},
        "o":{"type":"object"},"maybe":{"anyOf":[{"type":"integer"},{"type":"null"}]},
        "either":{"type":["integer","string"]},"kind":{"$ref":"#/$defs/Kind"}}}"##;

    fn filled(pairs: &[&str]) -> Result<String, CommandError> {
        let schema = ArgumentSchema::read(&Raw::parse(SCHEMA).unwrap());
        let pairs: Vec<ArgumentPair> =
            pairs.iter().map(|pair| ArgumentPair::parse(pair)).collect::<Result<_, _>>()?;
        apply_pairs(OrderedMap::new(), &pairs, &schema)
            .map(|filled| Raw::encode(&filled).unwrap().as_str().to_owned())
    }

    #[test]
    fn values_have_the_type_of_the_schema() {
        let cases: [(&[&str], &str); 14] = [
            (&["text=12"], r#"{"text":"12"}"#),
            (&["n=12", "x=1.50", "on=true"], r#"{"n":12,"x":1.50,"on":true}"#),
            (&["n=123456789012345678901234567890"], r#"{"n":123456789012345678901234567890}"#),
            (&["tags=a", "tags=b"], r#"{"tags":["a","b"]}"#),
            (&["tags=a"], r#"{"tags":["a"]}"#),
            (&[r#"tags=["a","b"]"#, "tags=c"], r#"{"tags":["a","b","c"]}"#),
            (&["ids=1", "ids:=2", "ids:=[3]"], r#"{"ids":[1,2,3]}"#),
            (&[r#"o={"a": 1}"#], r#"{"o":{"a": 1}}"#),
            (&["maybe=null"], r#"{"maybe":null}"#),
            (&["either=7"], r#"{"either":7}"#),
            (&["either=seven"], r#"{"either":"seven"}"#),
            (&["kind=3"], r#"{"kind":3}"#),
            (&["unknown=1", "text=a=b"], r#"{"unknown":"1","text":"a=b"}"#),
            (&[r#"n:="any""#], r#"{"n":"any"}"#),
        ];
        for (given, expected) in cases {
            assert_eq!(filled(given).unwrap(), expected);
        }
    }

    #[test]
    fn c16_messages_name_the_key_the_type_and_the_value() {
        let message = |pair: &str| format!("{:?}", filled(&[pair]).unwrap_err());
        assert!(message("x=abc").contains(r#"`x` must be a number; got \"abc\""#), "{}", message("x=abc"));
        assert!(
            message("hello").contains(r#"expected key=value, got \"hello\" (or use --args JSON)"#),
            "{}",
            message("hello")
        );
    }

    #[test]
    fn c14_a_file_is_text_or_base64_as_the_schema_says() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("data");
        std::fs::write(&file, [0xff, 0x00]).unwrap();
        let schema = r#"{"type":"object","properties":{"data":{"type":"string","contentEncoding":"base64"},
            "text":{"type":"string"}}}"#;
        let schema = ArgumentSchema::read(&Raw::parse(schema).unwrap());
        let fill_one = |key: &str| {
            apply_pairs(
                OrderedMap::new(),
                &[ArgumentPair::parse(&format!("{key}=@{}", file.display())).unwrap()],
                &schema,
            )
        };
        assert_eq!(Raw::encode(&fill_one("data").unwrap()).unwrap().as_str(), r#"{"data":"/wA="}"#);
        assert!(fill_one("text").is_err(), "binary data is not text");
        std::fs::write(&file, "a\r\nb").unwrap();
        assert_eq!(Raw::encode(&fill_one("text").unwrap()).unwrap().as_str(), r#"{"text":"a\r\nb"}"#);
        assert_eq!(filled(&["text=@@home"]).unwrap(), r#"{"text":"@home"}"#);
        assert!(ArgumentPair::parse("text=@/no/such/file").is_err());
    }

    #[test]
    fn values_of_the_wrong_type_are_rejected() {
        let cases: [&[&str]; 8] = [
            &["n=1.5"],
            &["on=yes"],
            &["x=abc"],
            &["ids=a"],
            &["text=a", "text=b"],
            &["n"],
            &["=x"],
            &["n:=nope"],
        ];
        for given in cases {
            assert!(filled(given).is_err(), "{given:?}");
        }
    }
}
