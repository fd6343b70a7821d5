//! The arguments that one call gives, taken one by one in order of declaration.

use std::fmt;

use schemars::JsonSchema;
use serde::de::value::Error as Refusal;
use serde::de::{DeserializeOwned, Error as _, Visitor};
use serde::{Deserializer, forward_to_deserialize_any};
use switchboard_design::{Error, InvalidParams};
use switchboard_protocol::Raw;

/// What can be an argument of a method: data that can be read and has a schema.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an argument of a method",
    label = "cannot be read from JSON, or has no schema",
    note = "derive `serde::Deserialize` and `schemars::JsonSchema` for it",
    note = "if it derives them already, check that `serde` and `schemars` are of the versions Switchboard uses"
)]
pub trait Argument: DeserializeOwned + JsonSchema {}

impl<T: DeserializeOwned + JsonSchema> Argument for T {}

/// The arguments of one call. Each is taken once, in order of declaration.
#[derive(Debug)]
pub struct Given {
    names: &'static [&'static str],
    values: Vec<Option<Raw>>,
    next: usize,
}

impl Given {
    /// What an object gives of these names.
    ///
    /// # Errors
    /// When it is not an object, gives one twice, or, if `strict`, something else.
    pub fn read(args: &Raw, names: &'static [&'static str], strict: bool) -> Result<Self, Error> {
        if !args.is_object() {
            return Err(unfit("the arguments are not an object"));
        }
        let mut values = vec![None; names.len()];
        for (name, value) in args.fields() {
            let Some(place) = names.iter().position(|known| known.as_bytes() == name.as_bytes()) else {
                if strict {
                    return Err(unfit(format_args!("unknown argument `{}`", name.as_str())));
                }
                continue;
            };
            if values[place].replace(value).is_some() {
                return Err(unfit(format_args!("the argument `{}` is given twice", names[place])));
            }
        }
        Ok(Self { names, values, next: 0 })
    }

    /// The next argument. One that is not given is none, if its type can be that.
    ///
    /// # Errors
    /// When it does not fit, or must be given and is not.
    pub fn take<T: Argument>(&mut self) -> Result<T, Error> {
        let (name, value) = self.step();
        match value {
            Some(value) => decode(name, &value),
            None => absent().ok_or_else(|| missing(name)),
        }
    }

    /// The next argument, or its default when it is not given.
    ///
    /// # Errors
    /// When it does not fit.
    pub fn take_or<T: Argument>(&mut self, default: impl FnOnce() -> T) -> Result<T, Error> {
        let (name, value) = self.step();
        value.map_or_else(|| Ok(default()), |value| decode(name, &value))
    }

    fn step(&mut self) -> (&'static str, Option<Raw>) {
        let place = self.next;
        self.next += 1;
        let name = self.names.get(place).copied().unwrap_or_default();
        (name, self.values.get_mut(place).and_then(Option::take))
    }
}

fn decode<T: DeserializeOwned>(name: &str, value: &Raw) -> Result<T, Error> {
    value.decode().map_err(|error| unfit(format_args!("argument `{name}`: {error}")))
}

fn unfit(what: impl fmt::Display) -> Error {
    Error::InvalidParams(InvalidParams::new(what.to_string()))
}

#[cold]
fn missing(name: &str) -> Error {
    unfit(format_args!("missing argument `{name}`"))
}

/// The value of an argument that is not given, if there is one.
pub(super) fn absent<T: DeserializeOwned>() -> Option<T> {
    T::deserialize(Absent).ok()
}

/// Nothing at all: only an option can be read from it, as serde has it for fields that are missing.
struct Absent;

impl<'de> Deserializer<'de> for Absent {
    type Error = Refusal;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Refusal> {
        Err(Refusal::custom("not given"))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refusal> {
        visitor.visit_none()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(json: &str) -> Result<Given, Error> {
        Given::read(&Raw::parse(json.to_owned()).unwrap(), &["text", "most"], true)
    }

    #[test]
    fn arguments_are_taken_in_order_of_declaration() {
        let mut given = given(r#"{"most": 3, "text": "a"}"#).unwrap();
        assert_eq!(given.take::<String>().unwrap(), "a");
        assert_eq!(given.take::<Option<u32>>().unwrap(), Some(3));
    }

    #[test]
    fn what_is_not_given_is_none_or_its_default_or_an_error() {
        assert_eq!(given("{}").unwrap().take::<Option<String>>().unwrap(), None);
        assert_eq!(given("{}").unwrap().take_or(|| 7_u32).unwrap(), 7);
        let error = given("{}").unwrap().take::<String>().unwrap_err();
        assert_eq!(error.to_string(), "missing argument `text`");
        assert!(error.is_retryable());
    }

    #[test]
    fn what_nobody_asked_for_is_refused() {
        for (json, says) in [
            (r#"{"test": 1}"#, "unknown argument `test`"),
            (r#"{"text": "a", "text": "b"}"#, "the argument `text` is given twice"),
            ("[]", "the arguments are not an object"),
        ] {
            assert_eq!(given(json).unwrap_err().to_string(), says);
        }
    }
}
