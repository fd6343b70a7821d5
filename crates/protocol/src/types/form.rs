//! The form of an elicitation: a flat object of primitive fields, written as JSON Schema.
//!
//! Knows every kind of field of every revision; which kind an old client understands is decided by lowering.

mod schema;

use switchboard_json::{OrderedMap, Raw};

use crate::setter::setters;
use crate::wire::{string_enum, wire};

/// The fields of a form.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FormSchema {
    /// The dialect, when said.
    pub dialect: Option<String>,
    r#type: ObjectType,
    /// The fields, in order.
    pub properties: OrderedMap<FormField>,
    /// Which of them must be filled in.
    pub required: Vec<String>,
}

wire!(FormSchema:
    optional dialect "$schema";
    or_default r#type "type";
    required properties "properties";
    or_empty required "required";
);

/// A form is always an object.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum ObjectType {
    #[default]
    Object,
}

string_enum!(ObjectType: Object "object");

impl FormSchema {
    /// A form without fields.
    pub fn new() -> Self {
        Self {
            dialect: None,
            r#type: ObjectType::Object,
            properties: OrderedMap::new(),
            required: Vec::new(),
        }
    }

    /// The same with one more field, which may be left empty.
    #[must_use]
    pub fn with_optional(mut self, name: impl Into<String>, field: FormField) -> Self {
        self.properties.insert(name, field);
        self
    }

    /// The same with one more field, which must be filled in.
    #[must_use]
    pub fn with_required(mut self, name: impl Into<String>, field: FormField) -> Self {
        let name = name.into();
        self.required.push(name.clone());
        self.properties.insert(name, field);
        self
    }
}

impl Default for FormSchema {
    fn default() -> Self {
        Self::new()
    }
}

/// One field of a form.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum FormField {
    /// A line of text.
    Text(TextField),
    /// A number.
    Number(NumberField),
    /// A whole number.
    Integer(NumberField),
    /// Yes or no.
    Boolean(BooleanField),
    /// One of several.
    Choice(ChoiceField),
    /// Any of several (from 2025-11-25).
    MultiChoice(MultiChoiceField),
    /// A kind we do not know: its whole schema.
    Unknown(Raw),
}

/// A line of text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TextField {
    /// Its name for people.
    pub title: Option<String>,
    /// What to fill in.
    pub description: Option<String>,
    /// The least length.
    pub min_length: Option<u64>,
    /// The greatest length.
    pub max_length: Option<u64>,
    /// `email`, `uri`, `date` or `date-time`.
    pub format: Option<String>,
    /// What it starts with (from 2025-11-25).
    pub default: Option<String>,
}

/// A number.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct NumberField {
    /// Its name for people.
    pub title: Option<String>,
    /// What to fill in.
    pub description: Option<String>,
    /// The least value.
    pub minimum: Option<f64>,
    /// The greatest value.
    pub maximum: Option<f64>,
    /// What it starts with (from 2025-11-25).
    pub default: Option<f64>,
}

/// Yes or no.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BooleanField {
    /// Its name for people.
    pub title: Option<String>,
    /// What to decide.
    pub description: Option<String>,
    /// What it starts with.
    pub default: Option<bool>,
}

/// One of several values.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChoiceField {
    /// Its name for people.
    pub title: Option<String>,
    /// What to choose.
    pub description: Option<String>,
    /// What there is to choose from.
    pub options: Vec<ChoiceOption>,
    /// How the titles of the options are written.
    pub style: ChoiceStyle,
    /// What is chosen at first (from 2025-11-25).
    pub default: Option<String>,
}

/// How the options of a choice are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ChoiceStyle {
    /// `enum`: values without titles.
    Plain,
    /// `enum` with `enumNames` (2025-06-18; still accepted later).
    EnumNames,
    /// `oneOf` of `const` and `title` (from 2025-11-25).
    OneOf,
}

/// A value to choose.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChoiceOption {
    /// The value.
    pub value: String,
    /// Its name for people; the value itself when there is none.
    pub title: Option<String>,
}

impl ChoiceOption {
    /// A value without a title.
    pub fn new(value: impl Into<String>) -> Self {
        Self { value: value.into(), title: None }
    }

    fn titled(value: String, title: Option<String>) -> Self {
        Self { value, title }
    }
}

setters!(ChoiceOption: some with_title title String;);

/// Any of several values.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MultiChoiceField {
    /// Its name for people.
    pub title: Option<String>,
    /// What to choose.
    pub description: Option<String>,
    /// What there is to choose from.
    pub options: Vec<ChoiceOption>,
    /// Whether the options are written with titles (`anyOf`) or without (`enum`).
    pub titled: bool,
    /// The least number of choices.
    pub min_items: Option<u64>,
    /// The greatest number of choices.
    pub max_items: Option<u64>,
    /// What is chosen at first.
    pub default: Option<Vec<String>>,
}

impl TextField {
    /// Any text.
    pub fn new() -> Self {
        Self::default()
    }
}

impl NumberField {
    /// Any number.
    pub fn new() -> Self {
        Self::default()
    }
}

impl BooleanField {
    /// Yes or no.
    pub fn new() -> Self {
        Self::default()
    }
}

impl ChoiceField {
    /// One of these; with titles if any option has one.
    pub fn new(options: impl Into<Vec<ChoiceOption>>) -> Self {
        let options = options.into();
        let titled = options.iter().any(|option| option.title.is_some());
        let style = if titled { ChoiceStyle::OneOf } else { ChoiceStyle::Plain };
        Self { title: None, description: None, options, style, default: None }
    }
}

impl MultiChoiceField {
    /// Any of these; with titles if any option has one.
    pub fn new(options: impl Into<Vec<ChoiceOption>>) -> Self {
        let options = options.into();
        let titled = options.iter().any(|option| option.title.is_some());
        Self {
            title: None,
            description: None,
            options,
            titled,
            min_items: None,
            max_items: None,
            default: None,
        }
    }
}

setters!(TextField:
    some with_title title String;
    some with_description description String;
    some with_min_length min_length u64;
    some with_max_length max_length u64;
    some with_format format String;
    some with_default default String;
);
setters!(NumberField:
    some with_title title String;
    some with_description description String;
    some with_minimum minimum f64;
    some with_maximum maximum f64;
    some with_default default f64;
);
setters!(BooleanField:
    some with_title title String;
    some with_description description String;
    some with_default default bool;
);
setters!(ChoiceField:
    some with_title title String;
    some with_description description String;
    some with_default default String;
);
setters!(MultiChoiceField:
    some with_title title String;
    some with_description description String;
    some with_min_items min_items u64;
    some with_max_items max_items u64;
    some with_default default Vec<String>;
);
