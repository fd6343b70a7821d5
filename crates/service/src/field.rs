//! The fields of a form, each by its type.

use serde_json::Value;
use switchboard_protocol::{
    BooleanField, ChoiceField, ChoiceOption, FormField, FormSchema, MultiChoiceField, NumberField, TextField,
};

/// What can be a field of a form: a text, a number, a truth value, a choice, or an option of one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a field of a form",
    label = "neither a text, a number, a truth value nor a choice",
    note = "a form is flat: take `String`, a number, `bool`, an enum that derives `FormChoice`, or an `Option` of one"
)]
pub trait FormValue {
    /// Whether it may be left empty.
    const OPTIONAL: bool = false;

    /// The field.
    fn field() -> FormField;
}

/// An enum without fields: its variants are to be chosen from. Derived with `#[derive(FormChoice)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a choice",
    note = "derive `FormChoice` for an enum whose variants have no fields"
)]
pub trait FormChoice {
    /// What there is to choose from.
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

/// A choice of one.
pub fn choice<T: FormChoice>() -> FormField {
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
    (@whole) => { FormField::Integer(NumberField::new()) };
    (@counted) => { FormField::Integer(NumberField::new().with_minimum(0.0)) };
    (@real) => { FormField::Number(NumberField::new()) };
}

numbers! {
    whole: i8 i16 i32 i64 isize;
    counted: u8 u16 u32 u64 usize;
    real: f32 f64;
}

/// One field, being described.
#[derive(Debug)]
pub struct Field {
    name: &'static str,
    required: bool,
    field: FormField,
}

/// A field of this type.
pub fn field<T: FormValue>(name: &'static str) -> Field {
    Field { name, required: !T::OPTIONAL, field: T::field() }
}

/// The form with these fields.
pub fn form(fields: impl IntoIterator<Item = Field>) -> FormSchema {
    fields.into_iter().fold(FormSchema::new(), |form, field| {
        if field.required {
            form.with_required(field.name, field.field)
        } else {
            form.with_optional(field.name, field.field)
        }
    })
}

impl Field {
    /// It may be left empty, since there is a default for what is not there.
    #[must_use]
    pub fn optional(mut self) -> Self {
        self.required = false;
        self
    }

    /// What to fill in.
    #[must_use]
    pub fn description(mut self, text: &str) -> Self {
        let text = Some(text.to_owned());
        match &mut self.field {
            FormField::Text(field) => field.description = text,
            FormField::Number(field) | FormField::Integer(field) => field.description = text,
            FormField::Boolean(field) => field.description = text,
            FormField::Choice(field) => field.description = text,
            FormField::MultiChoice(field) => field.description = text,
            _ => {}
        }
        self
    }

    /// Its name for people.
    #[must_use]
    pub fn title(mut self, text: &str) -> Self {
        let text = Some(text.to_owned());
        match &mut self.field {
            FormField::Text(field) => field.title = text,
            FormField::Number(field) | FormField::Integer(field) => field.title = text,
            FormField::Boolean(field) => field.title = text,
            FormField::Choice(field) => field.title = text,
            FormField::MultiChoice(field) => field.title = text,
            _ => {}
        }
        self
    }

    /// The least value of a number.
    #[must_use]
    pub fn min(mut self, least: f64) -> Self {
        if let FormField::Number(field) | FormField::Integer(field) = &mut self.field {
            field.minimum = Some(least);
        }
        self
    }

    /// The greatest value of a number.
    #[must_use]
    pub fn max(mut self, most: f64) -> Self {
        if let FormField::Number(field) | FormField::Integer(field) = &mut self.field {
            field.maximum = Some(most);
        }
        self
    }

    /// The least length of a text.
    #[must_use]
    pub fn min_length(mut self, least: u64) -> Self {
        if let FormField::Text(field) = &mut self.field {
            field.min_length = Some(least);
        }
        self
    }

    /// The greatest length of a text.
    #[must_use]
    pub fn max_length(mut self, most: u64) -> Self {
        if let FormField::Text(field) = &mut self.field {
            field.max_length = Some(most);
        }
        self
    }

    /// What kind of text.
    #[must_use]
    pub fn format(mut self, format: &str) -> Self {
        if let FormField::Text(field) = &mut self.field {
            field.format = Some(format.to_owned());
        }
        self
    }

    /// What it starts with; what is not of its kind is left out.
    #[must_use]
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
