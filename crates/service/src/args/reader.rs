//! Reads the arguments of one call one by one, in declaration order.

use std::fmt;

use schemars::JsonSchema;
use serde::de::value::Error as ValueError;
use serde::de::{DeserializeOwned, Error as _, Visitor};
use serde::{Deserializer, forward_to_deserialize_any};
use switchboard_design::{Error, InvalidParams};
use switchboard_protocol::Raw;

/// A type that can be an argument of a method: deserializable data with a JSON Schema.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an argument of a method",
    label = "cannot be read from JSON, or has no schema",
    note = "derive `serde::Deserialize` and `schemars::JsonSchema` for it",
    note = "if it derives them already, check that `serde` and `schemars` are of the versions Switchboard uses"
)]
pub trait Argument: DeserializeOwned + JsonSchema {}

impl<T: DeserializeOwned + JsonSchema> Argument for T {}

/// The arguments of one call. Each is read once, in declaration order.
#[derive(Debug)]
pub struct ArgumentReader {
    names: &'static [&'static str],
    values: Vec<Option<Raw>>,
    next: usize,
}

impl ArgumentReader {
    /// Collects the arguments with the given names from a JSON object.
    ///
    /// # Errors
    /// When `args` is not an object or repeats an argument, or, if `strict`, contains an unknown one.
    pub fn read(args: &Raw, names: &'static [&'static str], strict: bool) -> Result<Self, Error> {
        if !args.is_object() {
            return Err(invalid_arguments("the arguments are not an object"));
        }
        let mut values = vec![None; names.len()];
        for (name, value) in args.fields() {
            let Some(index) = names.iter().position(|known| known.as_bytes() == name.as_bytes()) else {
                if strict {
                    return Err(invalid_arguments(format_args!("unknown argument `{}`", name.as_str())));
                }
                continue;
            };
            if values[index].replace(value).is_some() {
                return Err(invalid_arguments(format_args!("the argument `{}` is repeated", names[index])));
            }
        }
        Ok(Self { names, values, next: 0 })
    }

    /// Reads the next argument. An absent argument is `None` for an optional type.
    ///
    /// # Errors
    /// When the value does not match the type, or a required argument is missing.
    pub fn take<T: Argument>(&mut self) -> Result<T, Error> {
        let (name, value) = self.next_argument();
        match value {
            Some(value) => decode(name, &value),
            None => absent_value().ok_or_else(|| missing_argument(name)),
        }
    }

    /// Reads the next argument, or returns its default when it is absent.
    ///
    /// # Errors
    /// When the value does not match the type.
    pub fn take_or<T: Argument>(&mut self, default: impl FnOnce() -> T) -> Result<T, Error> {
        let (name, value) = self.next_argument();
        value.map_or_else(|| Ok(default()), |value| decode(name, &value))
    }

    fn next_argument(&mut self) -> (&'static str, Option<Raw>) {
        let index = self.next;
        self.next += 1;
        let name = self.names.get(index).copied().unwrap_or_default();
        (name, self.values.get_mut(index).and_then(Option::take))
    }
}

fn decode<T: DeserializeOwned>(name: &str, value: &Raw) -> Result<T, Error> {
    value.decode().map_err(|error| invalid_arguments(format_args!("argument `{name}`: {error}")))
}

fn invalid_arguments(message: impl fmt::Display) -> Error {
    Error::InvalidParams(InvalidParams::new(message.to_string()))
}

#[cold]
fn missing_argument(name: &str) -> Error {
    invalid_arguments(format_args!("missing argument `{name}`"))
}

/// Returns the value of an absent argument: `None` unless the type is optional.
pub(super) fn absent_value<T: DeserializeOwned>() -> Option<T> {
    T::deserialize(Absent).ok()
}

/// A deserializer of an absent value: only `Option` accepts it, as serde treats missing fields.
struct Absent;

impl<'de> Deserializer<'de> for Absent {
    type Error = ValueError;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, ValueError> {
        Err(ValueError::custom("absent"))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
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

    fn read(json: &str) -> Result<ArgumentReader, Error> {
        ArgumentReader::read(&Raw::parse(json.to_owned()).unwrap(), &["text", "max"], true)
    }

    #[test]
    fn arguments_are_read_in_declaration_order() {
        let mut reader = read(r#"{"max": 3, "text": "a"}"#).unwrap();
        assert_eq!(reader.take::<String>().unwrap(), "a");
        assert_eq!(reader.take::<Option<u32>>().unwrap(), Some(3));
    }

    #[test]
    fn an_absent_argument_is_none_its_default_or_an_error() {
        assert_eq!(read("{}").unwrap().take::<Option<String>>().unwrap(), None);
        assert_eq!(read("{}").unwrap().take_or(|| 7_u32).unwrap(), 7);
        let error = read("{}").unwrap().take::<String>().unwrap_err();
        assert_eq!(error.to_string(), "missing argument `text`");
        assert!(error.is_retryable());
    }

    #[test]
    fn unknown_and_repeated_arguments_are_rejected() {
        for (json, message) in [
            (r#"{"test": 1}"#, "unknown argument `test`"),
            (r#"{"text": "a", "text": "b"}"#, "the argument `text` is repeated"),
            ("[]", "the arguments are not an object"),
        ] {
            assert_eq!(read(json).unwrap_err().to_string(), message);
        }
    }
}
