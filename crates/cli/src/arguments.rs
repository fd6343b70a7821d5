//! The arguments of a call as the user wrote them, and as the tool's schema wants them.
//!
//! Invariant: numbers and JSON are passed on as they were typed, digit for digit.

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
}

impl Pair {
    /// Reads one argument of the command line.
    ///
    /// # Errors
    /// When it is neither form.
    pub(crate) fn read(text: &str) -> Result<Self, Failure> {
        let wrong =
            |what: String| Failure::usage(what).hint("write key=value for text, key:=json for anything else");
        let (key, value) = text.split_once('=').ok_or_else(|| wrong(format!("`{text}` is no argument")))?;
        match key.strip_suffix(':') {
            Some(key) if !key.is_empty() => {
                let json = Raw::parse(value.to_owned());
                let value =
                    json.map_err(|error| wrong(format!("the value of `{key}` is no JSON: {error}")))?;
                Ok(Self::Json { key: key.to_owned(), value })
            }
            None if !key.is_empty() => Ok(Self::Text { key: key.to_owned(), value: value.to_owned() }),
            _ => Err(wrong(format!("`{text}` has no key"))),
        }
    }

    /// Whether the schema is needed to know what it means.
    pub(crate) fn needs_schema(&self) -> bool {
        matches!(self, Self::Text { .. })
    }

    fn key(&self) -> &str {
        match self {
            Self::Text { key, .. } | Self::Json { key, .. } => key,
        }
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
            (many, true) => list(key, many, &property)?,
            _ => {
                return Err(Failure::usage(format!("`{key}` is given more than once, and is no list"))
                    .hint(format!("give a list as JSON: {key}:='[1, 2]'")));
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
        let wanted = types.join(" or ");
        Err(Failure::usage(format!("`{key}` takes {wanted}, and `{text}` is none"))
            .hint(format!("{key}:=… sends any JSON as it stands")))
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
