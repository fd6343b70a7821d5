//! The JSON Schema encoding of form fields.

use serde_core::{Serialize, Serializer};
use switchboard_json::{FromRaw, Mismatch, Raw, RawReader};

use super::{
    BooleanField, ChoiceField, ChoiceOption, ChoiceStyle, FormField, MultiChoiceField, NumberField, TextField,
};
use crate::number::CompactNumber;
use crate::wire::{impl_deserialize, wire};

/// The JSON Schema of a field: the union of all kinds.
#[derive(Default)]
struct FieldSchema {
    r#type: String,
    title: Option<String>,
    description: Option<String>,
    min_length: Option<u64>,
    max_length: Option<u64>,
    format: Option<String>,
    minimum: Option<f64>,
    maximum: Option<f64>,
    r#enum: Option<Vec<String>>,
    enum_names: Option<Vec<String>>,
    one_of: Option<Vec<TitledConst>>,
    items: Option<ItemsSchema>,
    min_items: Option<u64>,
    max_items: Option<u64>,
    default: Option<Raw>,
}

wire!(FieldSchema:
    or_default r#type "type";
    optional title "title";
    optional description "description";
    optional min_length "minLength";
    optional max_length "maxLength";
    optional format "format";
    compact_number minimum "minimum";
    compact_number maximum "maximum";
    optional r#enum "enum";
    optional enum_names "enumNames";
    optional one_of "oneOf";
    optional items "items";
    optional min_items "minItems";
    optional max_items "maxItems";
    optional default "default";
);

/// An option with a title: `{"const": …, "title": …}`.
struct TitledConst {
    r#const: String,
    title: Option<String>,
}

wire!(TitledConst: required r#const "const"; optional title "title";);

/// The schema of the items of a multiple choice.
#[derive(Default)]
struct ItemsSchema {
    r#type: Option<String>,
    r#enum: Option<Vec<String>>,
    any_of: Option<Vec<TitledConst>>,
    /// Written by some peers instead of `anyOf`.
    one_of: Option<Vec<TitledConst>>,
}

wire!(ItemsSchema:
    optional r#type "type";
    optional r#enum "enum";
    optional any_of "anyOf";
    optional one_of "oneOf";
);

impl FieldSchema {
    fn new(r#type: &str, title: Option<String>, description: Option<String>) -> Self {
        Self { r#type: r#type.to_owned(), title, description, ..Self::default() }
    }
}

impl TitledConst {
    fn into_option(self) -> ChoiceOption {
        ChoiceOption::titled(self.r#const, self.title)
    }

    fn from_option(option: &ChoiceOption) -> Self {
        let title = option.title.clone().unwrap_or_else(|| option.value.clone());
        Self { r#const: option.value.clone(), title: Some(title) }
    }
}

fn values(options: &[ChoiceOption]) -> Vec<String> {
    options.iter().map(|option| option.value.clone()).collect()
}

/// Encodes a default; `None` for a number that JSON cannot represent.
fn encode_default<T: Serialize>(default: &T) -> Option<Raw> {
    Raw::encode(default).ok().filter(|raw| !raw.is_null())
}

fn decode_default<T: FromRaw>(reader: &mut RawReader<'_>, raw: Option<Raw>) -> Result<Option<T>, String> {
    let read = raw.as_ref().map(|raw| reader.read_detached(raw)).transpose();
    read.map_err(|error| format!("default: {error}"))
}

impl FromRaw for FormField {
    fn read(reader: &mut RawReader<'_>) -> Result<Self, Mismatch> {
        let start = reader.offset();
        let raw = reader.clone().read_raw();
        let schema = FieldSchema::read(reader)?;
        let read = match schema.r#type.as_str() {
            "string" if schema.one_of.is_some() || schema.r#enum.is_some() => {
                read_choice(reader, schema).map(Self::Choice)
            }
            "string" => read_text(reader, schema).map(Self::Text),
            "number" => read_number(reader, schema).map(Self::Number),
            "integer" => read_number(reader, schema).map(Self::Integer),
            "boolean" => read_boolean(reader, schema).map(Self::Boolean),
            "array" => read_multi_choice(reader, schema).map(Self::MultiChoice),
            _ => Ok(Self::Unknown(raw)),
        };
        read.map_err(|reason| Mismatch::new(start, reason))
    }
}

impl_deserialize!(FormField);

fn read_text(reader: &mut RawReader<'_>, schema: FieldSchema) -> Result<TextField, String> {
    Ok(TextField {
        title: schema.title,
        description: schema.description,
        min_length: schema.min_length,
        max_length: schema.max_length,
        format: schema.format,
        default: decode_default(reader, schema.default)?,
    })
}

fn read_boolean(reader: &mut RawReader<'_>, schema: FieldSchema) -> Result<BooleanField, String> {
    Ok(BooleanField {
        title: schema.title,
        description: schema.description,
        default: decode_default(reader, schema.default)?,
    })
}

fn read_number(reader: &mut RawReader<'_>, schema: FieldSchema) -> Result<NumberField, String> {
    Ok(NumberField {
        title: schema.title,
        description: schema.description,
        minimum: schema.minimum,
        maximum: schema.maximum,
        default: decode_default(reader, schema.default)?,
    })
}

fn read_choice(reader: &mut RawReader<'_>, schema: FieldSchema) -> Result<ChoiceField, String> {
    let (options, style) = match (schema.one_of, schema.r#enum, schema.enum_names) {
        (Some(consts), _, _) => {
            (consts.into_iter().map(TitledConst::into_option).collect(), ChoiceStyle::OneOf)
        }
        (None, values, Some(names)) => {
            let mut names = names.into_iter();
            let named = values.unwrap_or_default().into_iter();
            (named.map(|value| ChoiceOption::titled(value, names.next())).collect(), ChoiceStyle::EnumNames)
        }
        (None, values, None) => {
            let plain = values.unwrap_or_default().into_iter();
            (plain.map(ChoiceOption::new).collect(), ChoiceStyle::Plain)
        }
    };
    Ok(ChoiceField {
        title: schema.title,
        description: schema.description,
        options,
        style,
        default: decode_default(reader, schema.default)?,
    })
}

fn read_multi_choice(reader: &mut RawReader<'_>, schema: FieldSchema) -> Result<MultiChoiceField, String> {
    let items = schema.items.unwrap_or_default();
    let consts = items.any_of.or(items.one_of);
    let titled = consts.is_some();
    let options = match (consts, items.r#enum) {
        (Some(consts), _) => consts.into_iter().map(TitledConst::into_option).collect(),
        (None, values) => values.unwrap_or_default().into_iter().map(ChoiceOption::new).collect(),
    };
    Ok(MultiChoiceField {
        title: schema.title,
        description: schema.description,
        options,
        titled,
        min_items: schema.min_items,
        max_items: schema.max_items,
        default: decode_default(reader, schema.default)?,
    })
}

impl Serialize for FormField {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let schema = match self {
            Self::Text(field) => write_text(field),
            Self::Number(field) => write_number(field, "number"),
            Self::Integer(field) => write_number(field, "integer"),
            Self::Boolean(field) => FieldSchema {
                default: field.default.as_ref().and_then(encode_default),
                ..FieldSchema::new("boolean", field.title.clone(), field.description.clone())
            },
            Self::Choice(field) => write_choice(field),
            Self::MultiChoice(field) => write_multi_choice(field),
            Self::Unknown(raw) => return raw.serialize(serializer),
        };
        schema.serialize(serializer)
    }
}

fn write_text(field: &TextField) -> FieldSchema {
    FieldSchema {
        min_length: field.min_length,
        max_length: field.max_length,
        format: field.format.clone(),
        default: field.default.as_ref().and_then(encode_default),
        ..FieldSchema::new("string", field.title.clone(), field.description.clone())
    }
}

fn write_number(field: &NumberField, name: &str) -> FieldSchema {
    FieldSchema {
        minimum: field.minimum,
        maximum: field.maximum,
        default: field.default.and_then(|default| encode_default(&CompactNumber(default))),
        ..FieldSchema::new(name, field.title.clone(), field.description.clone())
    }
}

fn write_choice(field: &ChoiceField) -> FieldSchema {
    let name = |option: &ChoiceOption| option.title.clone().unwrap_or_else(|| option.value.clone());
    let (plain, names, one_of) = match field.style {
        ChoiceStyle::Plain => (Some(values(&field.options)), None, None),
        ChoiceStyle::EnumNames => {
            (Some(values(&field.options)), Some(field.options.iter().map(name).collect()), None)
        }
        ChoiceStyle::OneOf => {
            (None, None, Some(field.options.iter().map(TitledConst::from_option).collect()))
        }
    };
    FieldSchema {
        r#enum: plain,
        enum_names: names,
        one_of,
        default: field.default.as_ref().and_then(encode_default),
        ..FieldSchema::new("string", field.title.clone(), field.description.clone())
    }
}

fn write_multi_choice(field: &MultiChoiceField) -> FieldSchema {
    let items = if field.titled {
        ItemsSchema {
            any_of: Some(field.options.iter().map(TitledConst::from_option).collect()),
            ..ItemsSchema::default()
        }
    } else {
        ItemsSchema {
            r#type: Some("string".into()),
            r#enum: Some(values(&field.options)),
            ..ItemsSchema::default()
        }
    };
    FieldSchema {
        items: Some(items),
        min_items: field.min_items,
        max_items: field.max_items,
        default: field.default.as_ref().and_then(encode_default),
        ..FieldSchema::new("array", field.title.clone(), field.description.clone())
    }
}
