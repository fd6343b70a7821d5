//! How the fields of a form are spelled as JSON Schema.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{
    BooleanField, ChoiceField, ChoiceOption, ChoiceStyle, FormField, MultiChoiceField, NumberField, TextField,
};
use crate::raw::Raw;

/// The union of all kinds, as JSON Schema spells them.
#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Wire {
    r#type: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    min_length: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_length: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "crate::lenient::tidy_some")]
    minimum: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "crate::lenient::tidy_some")]
    maximum: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    r#enum: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    enum_names: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    one_of: Option<Vec<Const>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    items: Option<Items>,
    #[serde(skip_serializing_if = "Option::is_none")]
    min_items: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_items: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    default: Option<Raw>,
}

#[derive(Serialize, Deserialize)]
struct Const {
    r#const: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    title: Option<String>,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Items {
    #[serde(skip_serializing_if = "Option::is_none")]
    r#type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    r#enum: Option<Vec<String>>,
    // Some peers write `oneOf` here; `anyOf` is what the schema has.
    #[serde(skip_serializing_if = "Option::is_none", alias = "oneOf")]
    any_of: Option<Vec<Const>>,
}

impl Const {
    fn read(self) -> ChoiceOption {
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

fn decode_default<T: serde::de::DeserializeOwned, E: serde::de::Error>(
    raw: Option<Raw>,
) -> Result<Option<T>, E> {
    raw.map(|raw| raw.decode()).transpose().map_err(|error| E::custom(format_args!("default: {error}")))
}

impl<'de> Deserialize<'de> for FormField {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        let wire: Wire = raw.decode().map_err(serde::de::Error::custom)?;
        match wire.r#type.as_str() {
            "string" if wire.one_of.is_some() || wire.r#enum.is_some() => read_choice(wire),
            "string" => Ok(Self::Text(TextField {
                title: wire.title,
                description: wire.description,
                min_length: wire.min_length,
                max_length: wire.max_length,
                format: wire.format,
                default: decode_default(wire.default)?,
            })),
            "number" => read_number(wire).map(Self::Number),
            "integer" => read_number(wire).map(Self::Integer),
            "boolean" => Ok(Self::Boolean(BooleanField {
                title: wire.title,
                description: wire.description,
                default: decode_default(wire.default)?,
            })),
            "array" => read_multi(wire),
            _ => Ok(Self::Unknown(raw)),
        }
    }
}

fn read_number<E: serde::de::Error>(wire: Wire) -> Result<NumberField, E> {
    Ok(NumberField {
        title: wire.title,
        description: wire.description,
        minimum: wire.minimum,
        maximum: wire.maximum,
        default: decode_default(wire.default)?,
    })
}

fn read_choice<E: serde::de::Error>(wire: Wire) -> Result<FormField, E> {
    let (options, style) = match (wire.one_of, wire.r#enum, wire.enum_names) {
        (Some(consts), _, _) => (consts.into_iter().map(Const::read).collect(), ChoiceStyle::OneOf),
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
    let default = decode_default(wire.default)?;
    Ok(FormField::Choice(ChoiceField {
        title: wire.title,
        description: wire.description,
        options,
        style,
        default,
    }))
}

fn read_multi<E: serde::de::Error>(wire: Wire) -> Result<FormField, E> {
    let items = wire.items.unwrap_or_default();
    let titled = items.any_of.is_some();
    let options = match (items.any_of, items.r#enum) {
        (Some(consts), _) => consts.into_iter().map(Const::read).collect(),
        (None, values) => values.unwrap_or_default().into_iter().map(ChoiceOption::new).collect(),
    };
    Ok(FormField::MultiChoice(MultiChoiceField {
        title: wire.title,
        description: wire.description,
        options,
        titled,
        min_items: wire.min_items,
        max_items: wire.max_items,
        default: decode_default(wire.default)?,
    }))
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
                default: field.default.map(|default| Raw::from(serde_json::Value::from(default))),
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
        default: field.default.clone().map(|default| Raw::from(serde_json::Value::from(default))),
        ..Wire::default()
    }
}

fn write_number(field: &NumberField, name: &str) -> Wire {
    #[derive(Serialize)]
    #[serde(transparent)]
    struct Tidy(#[serde(serialize_with = "crate::lenient::tidy")] f64);
    Wire {
        r#type: name.into(),
        title: field.title.clone(),
        description: field.description.clone(),
        minimum: field.minimum,
        maximum: field.maximum,
        default: field.default.and_then(|default| Raw::encode(&Tidy(default)).ok()),
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
        default: field.default.clone().map(|default| Raw::from(serde_json::Value::from(default))),
        ..Wire::default()
    }
}

fn write_multi(field: &MultiChoiceField) -> Wire {
    let items = if field.titled {
        Items { any_of: Some(field.options.iter().map(Const::write).collect()), ..Items::default() }
    } else {
        Items { r#type: Some("string".into()), r#enum: Some(values(&field.options)), any_of: None }
    };
    Wire {
        r#type: "array".into(),
        title: field.title.clone(),
        description: field.description.clone(),
        items: Some(items),
        min_items: field.min_items,
        max_items: field.max_items,
        default: field.default.clone().map(|default| Raw::from(serde_json::Value::from(default))),
        ..Wire::default()
    }
}
