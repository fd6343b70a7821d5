//! The form of an elicitation: a flat object of primitive fields, encoded as JSON Schema.
//!
//! Covers the kinds of fields of all revisions; `lower` removes those that an older client does not support.

mod schema;

use switchboard_json::{OrderedMap, Raw};

use crate::setter::setters;
use crate::wire::{string_enum, wire};

/// The schema of a form.
///
/// ```
/// use switchboard::protocol::{BooleanField, ChoiceField, ChoiceOption, FormField, FormSchema};
///
/// let sizes = [ChoiceOption::new("s").with_title("Small"), ChoiceOption::new("l").with_title("Large")];
/// let form = FormSchema::new()
///     .with_required("size", FormField::Choice(ChoiceField::new(sizes)))
///     .with_optional("gift", FormField::Boolean(BooleanField::new()));
/// assert_eq!(form.required, ["size"]);
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FormSchema {
    /// The JSON Schema dialect.
    pub dialect: Option<String>,
    r#type: ObjectType,
    /// The fields, in order.
    pub properties: OrderedMap<FormField>,
    /// The names of the required fields.
    pub required: Vec<String>,
}

wire!(FormSchema:
    optional dialect "$schema";
    or_default r#type "type";
    required properties "properties";
    or_empty required "required";
);

/// The JSON Schema type of a form, which is always `object`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum ObjectType {
    #[default]
    Object,
}

string_enum!(ObjectType: Object "object");

impl FormSchema {
    /// Creates a form without fields.
    pub fn new() -> Self {
        Self {
            dialect: None,
            r#type: ObjectType::Object,
            properties: OrderedMap::new(),
            required: Vec::new(),
        }
    }

    /// Adds an optional field.
    #[must_use]
    pub fn with_optional(mut self, name: impl Into<String>, field: FormField) -> Self {
        self.properties.insert(name, field);
        self
    }

    /// Adds a required field.
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
    /// Text.
    Text(TextField),
    /// A number.
    Number(NumberField),
    /// A whole number.
    Integer(NumberField),
    /// A boolean.
    Boolean(BooleanField),
    /// A single choice.
    Choice(ChoiceField),
    /// A multiple choice (from 2025-11-25).
    MultiChoice(MultiChoiceField),
    /// An unknown kind: its whole schema.
    Unknown(Raw),
}

/// A text field.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TextField {
    /// The display name.
    pub title: Option<String>,
    /// The help text.
    pub description: Option<String>,
    /// The minimum length.
    pub min_length: Option<u64>,
    /// The maximum length.
    pub max_length: Option<u64>,
    /// `email`, `uri`, `date` or `date-time`.
    pub format: Option<String>,
    /// The default value (from 2025-11-25).
    pub default: Option<String>,
}

/// A number field.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct NumberField {
    /// The display name.
    pub title: Option<String>,
    /// The help text.
    pub description: Option<String>,
    /// The minimum value.
    pub minimum: Option<f64>,
    /// The maximum value.
    pub maximum: Option<f64>,
    /// The default value (from 2025-11-25).
    pub default: Option<f64>,
}

/// A boolean field.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BooleanField {
    /// The display name.
    pub title: Option<String>,
    /// The help text.
    pub description: Option<String>,
    /// The default value.
    pub default: Option<bool>,
}

/// A single-choice field.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChoiceField {
    /// The display name.
    pub title: Option<String>,
    /// The help text.
    pub description: Option<String>,
    /// The options.
    pub options: Vec<ChoiceOption>,
    /// The JSON Schema encoding of the options.
    pub style: ChoiceStyle,
    /// The default choice (from 2025-11-25).
    pub default: Option<String>,
}

/// The JSON Schema encoding of the options of a choice.
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

/// An option of a choice.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChoiceOption {
    /// The value.
    pub value: String,
    /// The display name; the value itself if `None`.
    pub title: Option<String>,
}

impl ChoiceOption {
    /// Creates an option without a title.
    pub fn new(value: impl Into<String>) -> Self {
        Self { value: value.into(), title: None }
    }

    fn titled(value: String, title: Option<String>) -> Self {
        Self { value, title }
    }
}

setters!(ChoiceOption: some with_title title String;);

/// A multiple-choice field.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MultiChoiceField {
    /// The display name.
    pub title: Option<String>,
    /// The help text.
    pub description: Option<String>,
    /// The options.
    pub options: Vec<ChoiceOption>,
    /// Whether the options are encoded with titles (`anyOf`) or without (`enum`).
    pub titled: bool,
    /// The minimum number of choices.
    pub min_items: Option<u64>,
    /// The maximum number of choices.
    pub max_items: Option<u64>,
    /// The default choices.
    pub default: Option<Vec<String>>,
}

impl TextField {
    /// Creates a text field without constraints.
    pub fn new() -> Self {
        Self::default()
    }
}

impl NumberField {
    /// Creates a number field without constraints.
    pub fn new() -> Self {
        Self::default()
    }
}

impl BooleanField {
    /// Creates a boolean field.
    pub fn new() -> Self {
        Self::default()
    }
}

impl ChoiceField {
    /// Creates a single choice; encoded with titles if any option has one.
    pub fn new(options: impl Into<Vec<ChoiceOption>>) -> Self {
        let options = options.into();
        let titled = options.iter().any(|option| option.title.is_some());
        let style = if titled { ChoiceStyle::OneOf } else { ChoiceStyle::Plain };
        Self { title: None, description: None, options, style, default: None }
    }
}

impl MultiChoiceField {
    /// Creates a multiple choice; encoded with titles if any option has one.
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
