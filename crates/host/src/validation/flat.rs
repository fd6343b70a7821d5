//! The schemas most tools have: an object of named fields, each of one type. Whether arguments fit one is seen from their
//! text, without reading them into values.
//!
//! Says yes only when a validator would say yes. Everything else is left to the validator: what is not flat, what does
//! not fit, and what is unusual enough to be unsure about.

use serde_json::Value;
use switchboard_protocol::Raw;

/// Fields of a schema that is looked at this way.
const MOST_FIELDS: usize = 32;

/// A flat schema.
#[derive(Debug)]
pub(crate) struct Flat {
    fields: Vec<Field>,
    required: u32,
    others: Others,
}

#[derive(Debug)]
struct Field {
    name: String,
    /// None takes anything.
    kind: Option<Kind>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Text,
    Integer,
    Number,
    Boolean,
    Object,
    Array,
}

/// Whether fields that are not named may be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Others {
    Allowed,
    Refused,
}

impl Flat {
    /// The schema, if it is flat.
    pub(crate) fn new(schema: &Value) -> Option<Self> {
        let mut flat = Self { fields: Vec::new(), required: 0, others: Others::Allowed };
        let mut required: &[Value] = &[];
        for (key, value) in schema.as_object()? {
            match key.as_str() {
                "type" if value == "object" => {}
                "$schema" | "title" | "description" => {}
                "properties" => {
                    for (name, field) in value.as_object()? {
                        flat.fields.push(Field { name: name.clone(), kind: kind(field)? });
                    }
                }
                "required" => required = value.as_array()?,
                "additionalProperties" => {
                    flat.others = if value.as_bool()? { Others::Allowed } else { Others::Refused };
                }
                _ => return None,
            }
        }
        if flat.fields.len() > MOST_FIELDS {
            return None;
        }
        for name in required {
            let at = flat.fields.iter().position(|field| Some(field.name.as_str()) == name.as_str())?;
            flat.required |= 1 << at;
        }
        Some(flat)
    }

    /// Whether arguments fit for sure.
    pub(crate) fn fits(&self, arguments: &Raw) -> bool {
        let mut seen = 0_u32;
        for (name, value) in arguments.field_texts() {
            let Some(at) = self.fields.iter().position(|field| field.name.as_bytes() == name.as_bytes())
            else {
                match self.others {
                    Others::Allowed => continue,
                    Others::Refused => return false,
                }
            };
            let is_first = seen & (1 << at) == 0;
            if !is_first || !self.fields[at].kind.is_none_or(|kind| kind.is_surely(value)) {
                return false;
            }
            seen |= 1 << at;
        }
        seen & self.required == self.required
    }
}

/// The type of a field that says nothing but its type; `None` when it says more.
fn kind(field: &Value) -> Option<Option<Kind>> {
    let mut kind = None;
    for (key, value) in field.as_object()? {
        match key.as_str() {
            "description" | "title" | "examples" | "default" => {}
            "type" => {
                kind = Some(match value.as_str()? {
                    "string" => Kind::Text,
                    "integer" => Kind::Integer,
                    "number" => Kind::Number,
                    "boolean" => Kind::Boolean,
                    "object" => Kind::Object,
                    "array" => Kind::Array,
                    _ => return None,
                });
            }
            _ => return None,
        }
    }
    Some(kind)
}

impl Kind {
    /// Whether a value is of this type, as far as its text shows.
    fn is_surely(self, text: &str) -> bool {
        let is_number = |byte: u8| byte == b'-' || byte.is_ascii_digit();
        let first = text.as_bytes().first().copied().unwrap_or_default();
        match self {
            Self::Text => first == b'"',
            // 1.0 is one too, but not for sure.
            Self::Integer => text.bytes().all(is_number),
            Self::Number => is_number(first),
            Self::Boolean => first == b't' || first == b'f',
            Self::Object => first == b'{',
            Self::Array => first == b'[',
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn only_flat_schemas_are_flat() {
        for flat in [
            json!({"type": "object", "properties": {"a": {"type": "string", "description": "x"}}, "required": ["a"]}),
            json!({"properties": {"a": {}}, "additionalProperties": false}),
        ] {
            assert!(Flat::new(&flat).is_some(), "{flat}");
        }
        for other in [
            json!({"type": "object", "properties": {"a": {"type": "string", "minLength": 1}}}),
            json!({"type": "object", "properties": {"a": {"enum": [1]}}}),
            json!({"type": "object", "properties": {"a": true}}),
            json!({"type": "object", "required": ["not named"]}),
            json!({"type": "object", "minProperties": 1}),
            json!({"type": "object", "patternProperties": {}}),
            json!({"type": ["object"]}),
            json!(true),
        ] {
            assert!(Flat::new(&other).is_none(), "{other}");
        }
    }

    fn value() -> impl Strategy<Value = Value> {
        prop_oneof![
            Just(json!("text")),
            Just(json!(7)),
            Just(json!(-3)),
            Just(json!(1.0)),
            Just(json!(2.5)),
            Just(json!(true)),
            Just(Value::Null),
            Just(json!({})),
            Just(json!([1])),
        ]
    }

    fn kind_name() -> impl Strategy<Value = Option<&'static str>> {
        prop_oneof![
            Just(None),
            prop_oneof![
                Just("string"),
                Just("integer"),
                Just("number"),
                Just("boolean"),
                Just("object"),
                Just("array")
            ]
            .prop_map(Some),
        ]
    }

    proptest! {
        /// What is said to fit for sure fits.
        #[test]
        fn it_never_says_yes_where_a_validator_says_no(
            kinds in proptest::collection::vec(kind_name(), 0..4),
            required in proptest::collection::vec(0_usize..4, 0..3),
            closed: bool,
            given in proptest::collection::vec((0_usize..5, value()), 0..5),
        ) {
            let properties: serde_json::Map<String, Value> = kinds.iter().enumerate().map(|(n, kind)| {
                let field = kind.map_or_else(|| json!({}), |kind| json!({"type": kind}));
                (format!("f{n}"), field)
            }).collect();
            let required: std::collections::BTreeSet<String> =
                required.into_iter().filter(|n| *n < kinds.len()).map(|n| format!("f{n}")).collect();
            let schema = json!({
                "type": "object", "properties": properties, "required": required, "additionalProperties": !closed
            });
            let arguments: serde_json::Map<String, Value> =
                given.into_iter().map(|(n, value)| (format!("f{n}"), value)).collect();
            let arguments = Value::Object(arguments);
            let flat = Flat::new(&schema).unwrap();
            let validator = switchboard_design::schema::Validator::new(&schema).unwrap();
            let says = flat.fits(&Raw::from(arguments.clone()));
            prop_assert!(!says || validator.is_valid(&arguments).unwrap(), "{schema} {arguments}");
            // And where nothing is unusual, it says yes.
            if validator.is_valid(&arguments).unwrap() && !arguments.to_string().contains("1.0") {
                prop_assert!(says, "{schema} {arguments}");
            }
        }
    }
}
