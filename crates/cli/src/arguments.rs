//! The arguments of a call as the user wrote them, and as the tool's schema wants them.
//!
//! Invariant: numbers and JSON are passed on as they were typed, digit for digit.

use std::io::Read;

use base64::Engine;
use switchboard::Raw;
use switchboard::protocol::{InputSchema, OrderedMap};

use crate::failure::Failure;

/// One argument, as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Pair {
    /// `key=value`: the schema says what it is.
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
    /// `key=@FILE`: the schema says whether it is text or data.
    File {
        /// The key.
        key: String,
        /// The contents of the file.
        bytes: Vec<u8>,
    },
}

impl Pair {
    /// Reads one argument of the command line, and the file it names.
    ///
    /// # Errors
    /// When it is neither form, or its file cannot be read.
    pub(crate) fn read(text: &str) -> Result<Self, Failure> {
        let wrong = |what: String| Failure::usage(what).hint(FORMS);
        let expected = || wrong(format!("expected key=value, got {text:?} (or use --args JSON)"));
        let (key, value) = text.split_once('=').ok_or_else(expected)?;
        let (key, is_json) = key.strip_suffix(':').map_or((key, false), |key| (key, true));
        if key.is_empty() {
            return Err(expected());
        }
        let key = key.to_owned();
        let file = value.strip_prefix('@').filter(|rest| !rest.starts_with('@'));
        let bytes = file.map(|file| read_file(&key, file)).transpose()?;
        // `@@` is a value that begins with `@`.
        let value = if value.starts_with("@@") { &value[1..] } else { value };
        match (is_json, bytes) {
            (true, bytes) => {
                let json = bytes.map_or_else(|| Ok(value.to_owned()), String::from_utf8);
                let json = json.map_err(|_| wrong(format!("the file of `{key}` is not UTF-8 text")))?;
                let value = Raw::parse(json);
                let value = value.map_err(|error| wrong(format!("`{key}` must be JSON: {error}")))?;
                Ok(Self::Json { key, value })
            }
            (false, Some(bytes)) => Ok(Self::File { key, bytes }),
            (false, None) => Ok(Self::Text { key, value: value.to_owned() }),
        }
    }

    /// Whether the schema is needed to know what it means.
    pub(crate) fn needs_schema(&self) -> bool {
        !matches!(self, Self::Json { .. })
    }

    fn key(&self) -> &str {
        match self {
            Self::Text { key, .. } | Self::Json { key, .. } | Self::File { key, .. } => key,
        }
    }
}

/// How arguments are written.
const FORMS: &str = "key=value takes the type of the schema, key:=json is JSON, key=@FILE reads a file";
/// The largest file that is read for an argument.
const FILE: u64 = 16 << 20;

fn read_file(key: &str, file: &str) -> Result<Vec<u8>, Failure> {
    let wrong = |why: String| {
        Failure::usage(format!("cannot read the file of `{key}`, {file:?}: {why}"))
            .hint(format!("write {key}=@@… for a value that begins with @"))
    };
    let opened = std::fs::File::open(file).map_err(|error| wrong(error.to_string()))?;
    let mut bytes = Vec::new();
    opened.take(FILE + 1).read_to_end(&mut bytes).map_err(|error| wrong(error.to_string()))?;
    match bytes.len() as u64 > FILE {
        true => Err(wrong(format!("it is larger than {} MiB", FILE >> 20))),
        false => Ok(bytes),
    }
}

/// Puts pairs on top of the arguments that are there, with the types of the schema. A key that is given more than once
/// fills a list.
///
/// # Errors
/// When a value does not fit its type, or a key that is no list is given twice.
pub(crate) fn fill(
    mut arguments: OrderedMap<Raw>,
    pairs: &[Pair],
    schema: &Schema,
) -> Result<OrderedMap<Raw>, Failure> {
    let mut keys: Vec<&str> = Vec::new();
    for pair in pairs {
        if !keys.contains(&pair.key()) {
            keys.push(pair.key());
        }
    }
    for key in keys {
        let given: Vec<&Pair> = pairs.iter().filter(|pair| pair.key() == key).collect();
        let property = schema.property(key);
        let value = match (&given[..], property.allows("array")) {
            ([Pair::Json { value, .. }], _) => value.clone(),
            ([Pair::Text { value, .. }], false) => property.coerce(key, value)?,
            ([Pair::File { bytes, .. }], false) => property.contents(key, bytes)?,
            (many, true) => list(key, many, &property)?,
            _ => {
                return Err(Failure::usage(format!(
                    "`{key}` is given {} times, but it is not a list",
                    given.len()
                ))
                .hint(format!("to send a list anyway, write JSON: {key}:='[1, 2]'")));
            }
        };
        arguments.insert(key, value);
    }
    Ok(arguments)
}

fn list(key: &str, given: &[&Pair], property: &Property) -> Result<Raw, Failure> {
    let items = property.items();
    let mut list: Vec<Raw> = Vec::new();
    for pair in given {
        match pair {
            Pair::Json { value, .. } => match value.decode::<Vec<Raw>>() {
                Ok(many) => list.extend(many),
                Err(_) => list.push(value.clone()),
            },
            Pair::File { bytes, .. } => list.push(items.contents(key, bytes)?),
            Pair::Text { value, .. } => {
                match Raw::parse(value.clone()).ok().and_then(|raw| raw.decode().ok()) {
                    Some::<Vec<Raw>>(many) => list.extend(many),
                    None => list.push(items.coerce(key, value)?),
                }
            }
        }
    }
    Raw::encode(&list).map_err(|error| Failure::usage(error.to_string()))
}

/// The schema of a tool's arguments, or nothing at all: then everything is text.
#[derive(Debug, Default)]
pub(crate) struct Schema {
    properties: InputSchema,
    definitions: OrderedMap<Raw>,
}

/// One schema inside, with where to look up what it refers to.
struct Property<'a> {
    schema: OrderedMap<Raw>,
    whole: &'a Schema,
}

impl Schema {
    pub(crate) fn read(schema: &Raw) -> Self {
        let top: OrderedMap<Raw> = schema.decode().unwrap_or_default();
        let definitions = ["$defs", "definitions"].iter().find_map(|key| top.get(key)?.decode().ok());
        let properties = InputSchema::read(schema).unwrap_or_default();
        Self { properties, definitions: definitions.unwrap_or_default() }
    }

    fn property(&self, key: &str) -> Property<'_> {
        match self.properties.property(key) {
            Some(property) => self.resolve(&property.schema),
            None => Property { schema: OrderedMap::new(), whole: self },
        }
    }

    fn resolve(&self, schema: &Raw) -> Property<'_> {
        let schema: OrderedMap<Raw> = schema.decode().unwrap_or_default();
        let referred = schema.get("$ref").and_then(|reference| reference.decode::<String>().ok());
        let found = referred.and_then(|name| self.definitions.get(name.rsplit('/').next()?)?.decode().ok());
        Property { schema: found.unwrap_or(schema), whole: self }
    }
}

impl Property<'_> {
    /// The types it may have; empty when it does not say.
    fn types(&self) -> Vec<String> {
        let written = |raw: &Raw| raw.decode().map(|one| vec![one]).or_else(|_| raw.decode::<Vec<String>>());
        if let Some(types) = self.schema.get("type").and_then(|types| written(types).ok()) {
            return types;
        }
        let choices =
            ["anyOf", "oneOf"].iter().find_map(|key| self.schema.get(key)?.decode::<Vec<Raw>>().ok());
        choices.iter().flatten().flat_map(|choice| self.whole.resolve(choice).plain_types()).collect()
    }

    /// Without looking into alternatives again, so that no schema can lead us round in circles.
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

    /// The text as a value of one of the types. Text is what is left when nothing else is allowed or fits.
    fn coerce(&self, key: &str, text: &str) -> Result<Raw, Failure> {
        let types = self.types();
        let fits = types.iter().find_map(|kind| as_type(kind, text));
        if let Some(value) = fits {
            return Ok(value);
        }
        if types.is_empty() || types.iter().any(|kind| kind == "string") {
            return Raw::encode(text).map_err(|error| Failure::usage(error.to_string()));
        }
        let wanted: Vec<&str> = types.iter().map(|kind| article(kind)).collect();
        Err(Failure::usage(format!("`{key}` must be {}; got {text:?}", wanted.join(" or ")))
            .hint(format!("{key}:=JSON sends any JSON as it is")))
    }

    /// The contents of a file as a value: base64 where the schema says so, else text as [`Self::coerce`] takes it.
    fn contents(&self, key: &str, bytes: &[u8]) -> Result<Raw, Failure> {
        let encoding = self.schema.get("contentEncoding").and_then(|word| word.decode::<String>().ok());
        if encoding.as_deref() == Some("base64") {
            let text = base64::engine::general_purpose::STANDARD.encode(bytes);
            return Raw::encode(&text).map_err(|error| Failure::usage(error.to_string()));
        }
        match std::str::from_utf8(bytes) {
            Ok(text) => self.coerce(key, text),
            Err(_) => Err(Failure::usage(format!("the file of `{key}` is not UTF-8 text"))
                .hint("only an argument with `contentEncoding: base64` takes binary data")),
        }
    }
}

/// `a number`, `an integer`.
fn article(kind: &str) -> &str {
    match kind {
        "integer" => "an integer",
        "number" => "a number",
        "boolean" => "true or false",
        "object" => "a JSON object",
        "array" => "a list",
        other => other,
    }
}

/// The text as a value of this type; `None` when it is none. Text itself is tried last, by the caller.
fn as_type(kind: &str, text: &str) -> Option<Raw> {
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

    fn filled(pairs: &[&str]) -> Result<String, Failure> {
        let schema = Schema::read(&Raw::parse(SCHEMA).unwrap());
        let pairs: Vec<Pair> = pairs.iter().map(|pair| Pair::read(pair)).collect::<Result<_, _>>()?;
        fill(OrderedMap::new(), &pairs, &schema)
            .map(|filled| Raw::encode(&filled).unwrap().as_str().to_owned())
    }

    #[test]
    fn values_take_the_type_of_the_schema() {
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
        let said = |pair: &str| format!("{:?}", filled(&[pair]).unwrap_err());
        assert!(said("x=abc").contains(r#"`x` must be a number; got \"abc\""#), "{}", said("x=abc"));
        assert!(
            said("hello").contains(r#"expected key=value, got \"hello\" (or use --args JSON)"#),
            "{}",
            said("hello")
        );
    }

    #[test]
    fn c14_a_file_is_text_or_base64_as_the_schema_says() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("data");
        std::fs::write(&file, [0xff, 0x00]).unwrap();
        let schema = r#"{"type":"object","properties":{"data":{"type":"string","contentEncoding":"base64"},
            "text":{"type":"string"}}}"#;
        let schema = Schema::read(&Raw::parse(schema).unwrap());
        let fill_one = |key: &str| {
            fill(OrderedMap::new(), &[Pair::read(&format!("{key}=@{}", file.display())).unwrap()], &schema)
        };
        assert_eq!(Raw::encode(&fill_one("data").unwrap()).unwrap().as_str(), r#"{"data":"/wA="}"#);
        assert!(fill_one("text").is_err(), "binary data is not text");
        std::fs::write(&file, "a\r\nb").unwrap();
        assert_eq!(Raw::encode(&fill_one("text").unwrap()).unwrap().as_str(), r#"{"text":"a\r\nb"}"#);
        assert_eq!(filled(&["text=@@home"]).unwrap(), r#"{"text":"@home"}"#);
        assert!(Pair::read("text=@/no/such/file").is_err());
    }

    #[test]
    fn what_does_not_fit_is_refused() {
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
