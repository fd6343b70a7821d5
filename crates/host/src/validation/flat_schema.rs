//! Fast path for flat schemas: an object of named fields, each of one type. Most valid arguments are recognized from their
//! text, without decoding.
//!
//! Accepts a value only if the validator would. Everything else is left to the validator: other schemas, invalid values,
//! and unusual spellings.

use serde_json::Value;
use switchboard_protocol::Raw;

/// The limit of fields: one bit each.
const MAX_FIELDS: usize = 32;

/// A flat schema.
#[derive(Debug)]
pub(crate) struct FlatSchema {
    fields: Vec<FlatField>,
    required: u32,
    additional: AdditionalProperties,
}

#[derive(Debug)]
struct FlatField {
    name: String,
    /// `None` accepts any type.
    field_type: Option<FieldType>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FieldType {
    Text,
    Integer,
    Number,
    Boolean,
    Object,
    Array,
}

/// Whether undeclared fields are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AdditionalProperties {
    Allowed,
    Refused,
}

impl FlatSchema {
    /// Returns the schema, if it is flat.
    pub(crate) fn new(schema: &Value) -> Option<Self> {
        let mut flat = Self { fields: Vec::new(), required: 0, additional: AdditionalProperties::Allowed };
        let mut required: &[Value] = &[];
        for (key, value) in schema.as_object()? {
            match key.as_str() {
                "type" if value == "object" => {}
                "$schema" | "title" | "description" => {}
                "properties" => {
                    for (name, field) in value.as_object()? {
                        flat.fields.push(FlatField { name: name.clone(), field_type: field_type(field)? });
                    }
                }
                "required" => required = value.as_array()?,
                "additionalProperties" => {
                    flat.additional = if value.as_bool()? {
                        AdditionalProperties::Allowed
                    } else {
                        AdditionalProperties::Refused
                    };
                }
                _ => return None,
            }
        }
        if flat.fields.len() > MAX_FIELDS {
            return None;
        }
        for name in required {
            let at = flat.fields.iter().position(|field| Some(field.name.as_str()) == name.as_str())?;
            flat.required |= 1 << at;
        }
        Some(flat)
    }

    /// Returns whether the arguments are certainly valid.
    pub(crate) fn accepts(&self, arguments: &Raw) -> bool {
        let mut found = 0_u32;
        for (name, value) in arguments.field_texts() {
            let Some(at) = self.fields.iter().position(|field| field.name.as_bytes() == name.as_bytes())
            else {
                match self.additional {
                    AdditionalProperties::Allowed => continue,
                    AdditionalProperties::Refused => return false,
                }
            };
            let is_first = found & (1 << at) == 0;
            if !is_first
                || !self.fields[at].field_type.is_none_or(|field_type| field_type.certainly_matches(value))
            {
                return false;
            }
            found |= 1 << at;
        }
        found & self.required == self.required
    }
}

/// Returns the type of a field without other constraints; `None` if it has any.
fn field_type(field: &Value) -> Option<Option<FieldType>> {
    let mut field_type = None;
    for (key, value) in field.as_object()? {
        match key.as_str() {
            "description" | "title" | "examples" | "default" => {}
            "type" => {
                field_type = Some(match value.as_str()? {
                    "string" => FieldType::Text,
                    "integer" => FieldType::Integer,
                    "number" => FieldType::Number,
                    "boolean" => FieldType::Boolean,
                    "object" => FieldType::Object,
                    "array" => FieldType::Array,
                    _ => return None,
                });
            }
            _ => return None,
        }
    }
    Some(field_type)
}

impl FieldType {
    /// Returns whether a value certainly has this type, judged by its text.
    fn certainly_matches(self, text: &str) -> bool {
        let is_number = |byte: u8| byte == b'-' || byte.is_ascii_digit();
        let first = text.as_bytes().first().copied().unwrap_or_default();
        match self {
            Self::Text => first == b'"',
            // 1.0 is an integer, too; the validator decides.
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
    fn only_flat_schemas_are_accepted() {
        for flat in [
            json!({"type": "object", "properties": {"a": {"type": "string", "description": "x"}}, "required": ["a"]}),
            json!({"properties": {"a": {}}, "additionalProperties": false}),
        ] {
            assert!(FlatSchema::new(&flat).is_some(), "{flat}");
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
            assert!(FlatSchema::new(&other).is_none(), "{other}");
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
        /// Values that are accepted are valid.
        #[test]
        fn accepts_only_what_the_validator_accepts(
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
            let flat = FlatSchema::new(&schema).unwrap();
            let validator = switchboard_design::schema::Validator::new(&schema).unwrap();
            let is_accepted = flat.accepts(&Raw::from(arguments.clone()));
            prop_assert!(!is_accepted || validator.is_valid(&arguments).unwrap(), "{schema} {arguments}");
            // Valid values without unusual spellings are accepted.
            if validator.is_valid(&arguments).unwrap() && !arguments.to_string().contains("1.0") {
                prop_assert!(is_accepted, "{schema} {arguments}");
            }
        }
    }
}
