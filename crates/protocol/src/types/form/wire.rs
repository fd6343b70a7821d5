//! How the fields of a form are spelled as JSON Schema.

use serde_core::{Serialize, Serializer};
use switchboard_json::{FromRaw, Mismatch, Raw, Reader};

use super::{
    BooleanField, ChoiceField, ChoiceOption, ChoiceStyle, FormField, MultiChoiceField, NumberField, TextField,
};
use crate::lenient::Tidy;
use crate::wire::{deserialized, wire};

/// The union of all kinds, as JSON Schema spells them.
#[derive(Default)]
struct Wire {
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
    one_of: Option<Vec<Const>>,
    items: Option<Items>,
    min_items: Option<u64>,
    max_items: Option<u64>,
    default: Option<Raw>,
}

wire!(Wire:
    or_default r#type "type";
    may title "title";
    may description "description";
    may min_length "minLength";
    may max_length "maxLength";
    may format "format";
    tidy minimum "minimum";
    tidy maximum "maximum";
    may r#enum "enum";
    may enum_names "enumNames";
    may one_of "oneOf";
    may items "items";
    may min_items "minItems";
    may max_items "maxItems";
    may default "default";
);

struct Const {
    r#const: String,
    title: Option<String>,
}

wire!(Const: need r#const "const"; may title "title";);

#[derive(Default)]
struct Items {
    r#type: Option<String>,
    r#enum: Option<Vec<String>>,
    any_of: Option<Vec<Const>>,
    /// What some peers write; `anyOf` is what the schema has.
    one_of: Option<Vec<Const>>,
}

wire!(Items:
    may r#type "type";
    may r#enum "enum";
    may any_of "anyOf";
    may one_of "oneOf";
);

impl Const {
    fn into_option(self) -> ChoiceOption {
        ChoiceOption::titled(self.r#const, self.title)
    }

    fn write(option: &ChoiceOption) -> Self {
        let title = option.title.clone().unwrap_or_else(|| option.value.clone());
        Self { r#const: option.value.clone(), title: Some(title) }
    }
}

fn values(options: &[ChoiceOption]) -> Vec<String> {
    options.iter().map(|option| option.value.clone()).collect()
}

/// A default as it is written; nothing for a number that JSON does not have.
fn written<T: Serialize>(default: &T) -> Option<Raw> {
    Raw::encode(default).ok().filter(|raw| !raw.is_null())
}

fn default<T: FromRaw>(reader: &mut Reader<'_>, raw: Option<Raw>) -> Result<Option<T>, String> {
    let read = raw.as_ref().map(|raw| reader.read_detached(raw)).transpose();
    read.map_err(|error| format!("default: {error}"))
}

impl FromRaw for FormField {
    fn read(reader: &mut Reader<'_>) -> Result<Self, Mismatch> {
        let start = reader.offset();
        let raw = reader.clone().read_raw();
        let wire = Wire::read(reader)?;
        let read = match wire.r#type.as_str() {
            "string" if wire.one_of.is_some() || wire.r#enum.is_some() => {
                read_choice(reader, wire).map(Self::Choice)
            }
            "string" => read_text(reader, wire).map(Self::Text),
            "number" => read_number(reader, wire).map(Self::Number),
            "integer" => read_number(reader, wire).map(Self::Integer),
            "boolean" => read_boolean(reader, wire).map(Self::Boolean),
            "array" => read_multi(reader, wire).map(Self::MultiChoice),
            _ => Ok(Self::Unknown(raw)),
        };
        read.map_err(|reason| Mismatch::new(start, reason))
    }
}

deserialized!(FormField);

fn read_text(reader: &mut Reader<'_>, wire: Wire) -> Result<TextField, String> {
    Ok(TextField {
        title: wire.title,
        description: wire.description,
        min_length: wire.min_length,
        max_length: wire.max_length,
        format: wire.format,
        default: default(reader, wire.default)?,
    })
}

fn read_boolean(reader: &mut Reader<'_>, wire: Wire) -> Result<BooleanField, String> {
    Ok(BooleanField {
        title: wire.title,
        description: wire.description,
        default: default(reader, wire.default)?,
    })
}

fn read_number(reader: &mut Reader<'_>, wire: Wire) -> Result<NumberField, String> {
    Ok(NumberField {
        title: wire.title,
        description: wire.description,
        minimum: wire.minimum,
        maximum: wire.maximum,
        default: default(reader, wire.default)?,
    })
}

fn read_choice(reader: &mut Reader<'_>, wire: Wire) -> Result<ChoiceField, String> {
    let (options, style) = match (wire.one_of, wire.r#enum, wire.enum_names) {
        (Some(consts), _, _) => (consts.into_iter().map(Const::into_option).collect(), ChoiceStyle::OneOf),
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
        title: wire.title,
        description: wire.description,
        options,
        style,
        default: default(reader, wire.default)?,
    })
}

fn read_multi(reader: &mut Reader<'_>, wire: Wire) -> Result<MultiChoiceField, String> {
    let items = wire.items.unwrap_or_default();
    let consts = items.any_of.or(items.one_of);
    let titled = consts.is_some();
    let options = match (consts, items.r#enum) {
        (Some(consts), _) => consts.into_iter().map(Const::into_option).collect(),
        (None, values) => values.unwrap_or_default().into_iter().map(ChoiceOption::new).collect(),
    };
    Ok(MultiChoiceField {
        title: wire.title,
        description: wire.description,
        options,
        titled,
        min_items: wire.min_items,
        max_items: wire.max_items,
        default: default(reader, wire.default)?,
    })
}

impl Serialize for FormField {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let wire = match self {
            Self::Text(field) => write_text(field),
            Self::Number(field) => write_number(field, "number"),
            Self::Integer(field) => write_number(field, "integer"),
            Self::Boolean(field) => Wire {
                r#type: "boolean".into(),
                title: field.title.clone(),
                description: field.description.clone(),
                default: field.default.as_ref().and_then(written),
                ..Wire::default()
            },
            Self::Choice(field) => write_choice(field),
            Self::MultiChoice(field) => write_multi(field),
            Self::Unknown(raw) => return raw.serialize(serializer),
        };
        wire.serialize(serializer)
    }
}

fn write_text(field: &TextField) -> Wire {
    Wire {
        r#type: "string".into(),
        title: field.title.clone(),
        description: field.description.clone(),
        min_length: field.min_length,
        max_length: field.max_length,
        format: field.format.clone(),
        default: field.default.as_ref().and_then(written),
        ..Wire::default()
    }
}

fn write_number(field: &NumberField, name: &str) -> Wire {
    Wire {
        r#type: name.into(),
        title: field.title.clone(),
        description: field.description.clone(),
        minimum: field.minimum,
        maximum: field.maximum,
        default: field.default.and_then(|default| written(&Tidy(default))),
        ..Wire::default()
    }
}

fn write_choice(field: &ChoiceField) -> Wire {
    let name = |option: &ChoiceOption| option.title.clone().unwrap_or_else(|| option.value.clone());
    let (plain, names, one_of) = match field.style {
        ChoiceStyle::Plain => (Some(values(&field.options)), None, None),
        ChoiceStyle::EnumNames => {
            (Some(values(&field.options)), Some(field.options.iter().map(name).collect()), None)
        }
        ChoiceStyle::OneOf => (None, None, Some(field.options.iter().map(Const::write).collect())),
    };
    Wire {
        r#type: "string".into(),
        title: field.title.clone(),
        description: field.description.clone(),
        r#enum: plain,
        enum_names: names,
        one_of,
        default: field.default.as_ref().and_then(written),
        ..Wire::default()
    }
}

fn write_multi(field: &MultiChoiceField) -> Wire {
    let items = if field.titled {
        Items { any_of: Some(field.options.iter().map(Const::write).collect()), ..Items::default() }
    } else {
        Items { r#type: Some("string".into()), r#enum: Some(values(&field.options)), ..Items::default() }
    };
    Wire {
        r#type: "array".into(),
        title: field.title.clone(),
        description: field.description.clone(),
        items: Some(items),
        min_items: field.min_items,
        max_items: field.max_items,
        default: field.default.as_ref().and_then(written),
        ..Wire::default()
    }
}
