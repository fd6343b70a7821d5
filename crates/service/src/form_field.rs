//! Form fields by Rust type.

use serde_json::Value;
use switchboard_protocol::{
    BooleanField, ChoiceField, ChoiceOption, FormField, FormSchema, MultiChoiceField, NumberField, TextField,
};

/// A type that can be a form field: text, number, boolean, choice, or an option of one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a field of a form",
    label = "neither a text, a number, a truth value nor a choice",
    note = "a form is flat: take `String`, a number, `bool`, an enum that derives `FormChoice`, or an `Option` of one"
)]
pub trait FormValue {
    /// Whether the field may be left empty.
    const OPTIONAL: bool = false;

    /// Returns the field definition.
    fn field() -> FormField;
}

/// A field-less enum whose variants are the choices of a field. Derived with `#[derive(FormChoice)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a choice",
    note = "derive `FormChoice` for an enum whose variants have no fields"
)]
pub trait FormChoice {
    /// Returns the choices.
    fn options() -> Vec<ChoiceOption>;
}

impl FormValue for String {
    fn field() -> FormField {
        FormField::Text(TextField::new())
    }
}

impl FormValue for bool {
    fn field() -> FormField {
        FormField::Boolean(BooleanField::new())
    }
}

impl<T: FormValue> FormValue for Option<T> {
    const OPTIONAL: bool = true;

    fn field() -> FormField {
        T::field()
    }
}

impl<T: FormChoice> FormValue for Vec<T> {
    fn field() -> FormField {
        FormField::MultiChoice(MultiChoiceField::new(T::options()))
    }
}

/// Returns a single-choice field.
pub fn choice_field<T: FormChoice>() -> FormField {
    FormField::Choice(ChoiceField::new(T::options()))
}

macro_rules! numbers {
    ($($kind:ident: $($number:ty)+;)+) => {
        $($(impl FormValue for $number {
            fn field() -> FormField {
                numbers!(@$kind)
            }
        })+)+
    };
    (@signed) => { FormField::Integer(NumberField::new()) };
    (@unsigned) => { FormField::Integer(NumberField::new().with_minimum(0.0)) };
    (@float) => { FormField::Number(NumberField::new()) };
}

numbers! {
    signed: i8 i16 i32 i64 isize;
    unsigned: u8 u16 u32 u64 usize;
    float: f32 f64;
}

/// Builder for a form field.
#[derive(Debug)]
#[must_use = "a field is part of a form only if it is given to `form_schema`"]
pub struct FormFieldBuilder {
    name: &'static str,
    required: bool,
    field: FormField,
}

/// Starts a field of type `T`.
pub fn form_field<T: FormValue>(name: &'static str) -> FormFieldBuilder {
    FormFieldBuilder { name, required: !T::OPTIONAL, field: T::field() }
}

/// Builds a form from its fields.
pub fn form_schema(fields: impl IntoIterator<Item = FormFieldBuilder>) -> FormSchema {
    fields.into_iter().fold(FormSchema::new(), |form, field| {
        if field.required {
            form.with_required(field.name, field.field)
        } else {
            form.with_optional(field.name, field.field)
        }
    })
}

/// Sets a text that every kind of field has.
macro_rules! set_text {
    ($field:expr, $member:ident, $text:expr) => {
        match $field {
            FormField::Text(field) => field.$member = Some($text.to_owned()),
            FormField::Number(field) | FormField::Integer(field) => field.$member = Some($text.to_owned()),
            FormField::Boolean(field) => field.$member = Some($text.to_owned()),
            FormField::Choice(field) => field.$member = Some($text.to_owned()),
            FormField::MultiChoice(field) => field.$member = Some($text.to_owned()),
            _ => {}
        }
    };
}

impl FormFieldBuilder {
    /// Makes the field optional because it has a default.
    pub fn optional(mut self) -> Self {
        self.required = false;
        self
    }

    /// Sets the description.
    pub fn description(mut self, text: &str) -> Self {
        set_text!(&mut self.field, description, text);
        self
    }

    /// Sets the display name.
    pub fn title(mut self, text: &str) -> Self {
        set_text!(&mut self.field, title, text);
        self
    }

    /// Sets the minimum of a number.
    pub fn min(mut self, minimum: f64) -> Self {
        if let FormField::Number(field) | FormField::Integer(field) = &mut self.field {
            field.minimum = Some(minimum);
        }
        self
    }

    /// Sets the maximum of a number.
    pub fn max(mut self, maximum: f64) -> Self {
        if let FormField::Number(field) | FormField::Integer(field) = &mut self.field {
            field.maximum = Some(maximum);
        }
        self
    }

    /// Sets the minimum length of a text.
    pub fn min_length(mut self, minimum: u64) -> Self {
        if let FormField::Text(field) = &mut self.field {
            field.min_length = Some(minimum);
        }
        self
    }

    /// Sets the maximum length of a text.
    pub fn max_length(mut self, maximum: u64) -> Self {
        if let FormField::Text(field) = &mut self.field {
            field.max_length = Some(maximum);
        }
        self
    }

    /// Sets the format of a text, such as `email`.
    pub fn format(mut self, format: &str) -> Self {
        if let FormField::Text(field) = &mut self.field {
            field.format = Some(format.to_owned());
        }
        self
    }

    /// Sets the default. A value of another type is ignored.
    pub fn default(mut self, value: Value) -> Self {
        match (&mut self.field, value) {
            (FormField::Text(field), Value::String(text)) => field.default = Some(text),
            (FormField::Choice(field), Value::String(text)) => field.default = Some(text),
            (FormField::Number(field) | FormField::Integer(field), Value::Number(number)) => {
                field.default = number.as_f64();
            }
            (FormField::Boolean(field), Value::Bool(value)) => field.default = Some(value),
            (FormField::MultiChoice(field), Value::Array(values)) => {
                let texts = values.iter().filter_map(Value::as_str).map(str::to_owned);
                field.default = Some(texts.collect());
            }
            _ => {}
        }
        self
    }
}
