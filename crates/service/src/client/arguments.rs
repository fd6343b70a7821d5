//! The arguments of an outgoing call, encoded as they are added.
//!
//! Invariant: `null` values are not encoded, because absent optional arguments are not sent. Only the design knows
//! whether one of them is required, so their names are recorded.

use serde::Serialize;
use serde_json::{Map, Value};
use switchboard_design::Error;
use switchboard_protocol::Raw;

/// The arguments of a call. `null` values are omitted, as absent optional arguments.
#[derive(Debug)]
pub struct CallArguments {
    encoded: Result<EncodedArguments, Error>,
}

#[derive(Debug)]
struct EncodedArguments {
    /// An object without its closing brace.
    text: String,
    /// Names of `null` arguments.
    nulls: Vec<String>,
}

impl CallArguments {
    /// Creates an empty set of arguments.
    pub fn new() -> Self {
        Self { encoded: Ok(EncodedArguments { text: String::from("{"), nulls: Vec::new() }) }
    }

    /// Uses the fields of a struct as the arguments.
    pub fn from_fields(arguments: &(impl Serialize + ?Sized)) -> Self {
        Self::new().with_fields(arguments)
    }

    /// Adds an argument.
    #[must_use]
    pub fn with<T: Serialize + ?Sized>(mut self, name: &str, value: &T) -> Self {
        if let Ok(encoded) = &mut self.encoded
            && let Err(error) = encoded.add(name, value)
        {
            self.encoded = Err(error);
        }
        self
    }

    /// Adds the fields of a struct as arguments.
    #[must_use]
    pub fn with_fields(mut self, arguments: &(impl Serialize + ?Sized)) -> Self {
        if let Ok(encoded) = &mut self.encoded
            && let Err(error) = encoded.add_fields(arguments)
        {
            self.encoded = Err(error);
        }
        self
    }

    /// Encodes the arguments as an object.
    ///
    /// # Errors
    /// When an argument cannot be encoded as JSON.
    pub fn into_raw(self) -> Result<Raw, Error> {
        self.into_raw_with(|_| false)
    }

    /// Encodes the arguments as an object that includes those `null` arguments for which `required` returns true.
    ///
    /// # Errors
    /// When an argument cannot be encoded as JSON.
    pub(crate) fn into_raw_with(self, required: impl Fn(&str) -> bool) -> Result<Raw, Error> {
        let EncodedArguments { mut text, nulls } = self.encoded?;
        for name in nulls.iter().filter(|name| required(name)) {
            write_key(&mut text, name)?;
            text.push_str("null");
        }
        text.push('}');
        Raw::parse(text).map_err(Error::internal)
    }

    /// Decodes the arguments to a map, without `null` values.
    ///
    /// # Errors
    /// As [`Self::into_raw`].
    pub(crate) fn into_map(self) -> Result<Map<String, Value>, Error> {
        self.into_raw()?.decode().map_err(Error::internal)
    }
}

impl EncodedArguments {
    fn add<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result<(), Error> {
        let start = self.text.len();
        write_key(&mut self.text, name)?;
        let from = self.text.len();
        Raw::write(&mut self.text, value)?;
        if &self.text[from..] == "null" {
            self.text.truncate(start);
            self.nulls.push(name.to_owned());
        }
        Ok(())
    }

    fn add_fields(&mut self, arguments: &(impl Serialize + ?Sized)) -> Result<(), Error> {
        let object = Raw::encode(arguments)?;
        if !object.is_object() && !object.is_null() {
            return Err(Error::internal(
                "the arguments of a method are an object, so `#[args]` must be a struct",
            ));
        }
        for (name, value) in object.fields() {
            self.add(name.as_str(), &value)?;
        }
        Ok(())
    }
}

/// Writes the key of a member.
fn write_key(text: &mut String, name: &str) -> Result<(), Error> {
    if text.len() > 1 {
        text.push(',');
    }
    Raw::write(text, name)?;
    text.push(':');
    Ok(())
}

impl Default for CallArguments {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn text(arguments: CallArguments) -> String {
        arguments.into_raw().unwrap().as_str().to_owned()
    }

    #[test]
    fn arguments_are_encoded_in_order_without_nulls() {
        let arguments = CallArguments::new()
            .with("none", &None::<u32>)
            .with("text", "a \"b\"")
            .with("n", &Some(1))
            .with("last", &());
        assert_eq!(text(arguments), r#"{"text":"a \"b\"","n":1}"#);
        assert_eq!(text(CallArguments::new()), "{}");
        assert_eq!(text(CallArguments::new().with("x", &Value::Null)), "{}");
    }

    #[test]
    fn names_are_escaped() {
        let arguments = CallArguments::new().with("a\"b\\c\n", &1).with("größe", &2);
        assert_eq!(arguments.into_map().unwrap()["a\"b\\c\n"], 1);
        let arguments = CallArguments::new().with("größe", &2);
        assert_eq!(text(arguments), r#"{"größe":2}"#);
    }

    #[test]
    fn the_fields_of_a_struct_are_arguments() {
        #[derive(Serialize)]
        struct Nested {
            filter: Value,
            none: Option<u32>,
        }
        let nested = Nested { filter: json!({"deep": {"er": {}}, "null": null}), none: None };
        assert_eq!(text(CallArguments::from_fields(&nested)), r#"{"filter":{"deep":{"er":{}},"null":null}}"#);
        assert_eq!(text(CallArguments::from_fields(&json!({}))), "{}");
        assert_eq!(text(CallArguments::from_fields(&())), "{}");
        let both = CallArguments::new().with("first", &1).with_fields(&json!({"b": "}}"})).with("c", &2);
        assert_eq!(text(both), r#"{"first":1,"b":"}}","c":2}"#);
    }

    #[test]
    fn arguments_that_are_not_an_object_are_an_error() {
        let error = CallArguments::from_fields(&[1]).with("more", &1).into_raw().unwrap_err();
        assert!(error.source().unwrap().to_string().contains("`#[args]` must be a struct"), "{error:?}");
    }

    #[test]
    fn a_required_null_is_encoded() {
        let arguments =
            CallArguments::new().with("value", &Value::Null).with("n", &1).with("other", &None::<u8>);
        let raw = arguments.into_raw_with(|name| name == "value").unwrap();
        assert_eq!(raw.as_str(), r#"{"n":1,"value":null}"#);
    }
}
