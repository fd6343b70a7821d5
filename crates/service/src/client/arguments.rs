//! The arguments of a call, written as they are given.
//!
//! Invariant: what is given as `null` is not written, because an optional argument that is not there is not sent. Whether
//! one of them is required all the same only the design knows, so their names are kept.

use serde::Serialize;
use serde_json::{Map, Value};
use switchboard_design::Error;
use switchboard_protocol::Raw;

/// The arguments of a call. What is `null` is left out: optional arguments are those that are not there.
#[derive(Debug)]
pub struct Arguments {
    written: Result<Written, Error>,
}

#[derive(Debug)]
struct Written {
    /// An object without its last brace.
    text: String,
    /// The names of those that are `null`.
    nulls: Vec<String>,
}

impl Arguments {
    /// No arguments.
    pub fn new() -> Self {
        Self { written: Ok(Written { text: String::from("{"), nulls: Vec::new() }) }
    }

    /// The fields of a struct are the arguments.
    pub fn whole(arguments: &(impl Serialize + ?Sized)) -> Self {
        Self::new().with_whole(arguments)
    }

    /// The same with one more.
    #[must_use]
    pub fn with<T: Serialize + ?Sized>(mut self, name: &str, value: &T) -> Self {
        if let Ok(written) = &mut self.written
            && let Err(error) = written.add(name, value)
        {
            self.written = Err(error);
        }
        self
    }

    /// The same with the fields of a struct as more arguments.
    #[must_use]
    pub fn with_whole(mut self, arguments: &(impl Serialize + ?Sized)) -> Self {
        if let Ok(written) = &mut self.written
            && let Err(error) = written.add_fields(arguments)
        {
            self.written = Err(error);
        }
        self
    }

    /// As one object.
    ///
    /// # Errors
    /// When one of them cannot be written as JSON.
    pub fn into_raw(self) -> Result<Raw, Error> {
        self.into_raw_with(|_| false)
    }

    /// As one object, in which those that are `null` stand where `required` says that they must.
    ///
    /// # Errors
    /// When one of them cannot be written as JSON.
    pub(crate) fn into_raw_with(self, required: impl Fn(&str) -> bool) -> Result<Raw, Error> {
        let Written { mut text, nulls } = self.written?;
        for name in nulls.iter().filter(|name| required(name)) {
            begin(&mut text, name)?;
            text.push_str("null");
        }
        text.push('}');
        Raw::parse(text).map_err(Error::internal)
    }

    /// As one object to look into, without what is `null`.
    ///
    /// # Errors
    /// As [`Self::into_raw`].
    pub(crate) fn into_map(self) -> Result<Map<String, Value>, Error> {
        self.into_raw()?.decode().map_err(Error::internal)
    }
}

impl Written {
    fn add<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result<(), Error> {
        let start = self.text.len();
        begin(&mut self.text, name)?;
        let from = self.text.len();
        Raw::write(&mut self.text, value)?;
        if &self.text[from..] == "null" {
            self.text.truncate(start);
            self.nulls.push(name.to_owned());
        }
        Ok(())
    }

    fn add_fields(&mut self, arguments: &(impl Serialize + ?Sized)) -> Result<(), Error> {
        let whole = Raw::encode(arguments)?;
        if !whole.is_object() && !whole.is_null() {
            return Err(Error::internal(
                "the arguments of a method are an object, so `#[args]` must be a struct",
            ));
        }
        for (name, value) in whole.fields() {
            self.add(name.as_str(), &value)?;
        }
        Ok(())
    }
}

/// Writes all of a member but its value.
fn begin(text: &mut String, name: &str) -> Result<(), Error> {
    if text.len() > 1 {
        text.push(',');
    }
    Raw::write(text, name)?;
    text.push(':');
    Ok(())
}

impl Default for Arguments {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn text(arguments: Arguments) -> String {
        arguments.into_raw().unwrap().as_str().to_owned()
    }

    #[test]
    fn arguments_are_written_in_order_and_nulls_are_left_out() {
        let arguments = Arguments::new()
            .with("none", &None::<u32>)
            .with("text", "a \"b\"")
            .with("n", &Some(1))
            .with("last", &());
        assert_eq!(text(arguments), r#"{"text":"a \"b\"","n":1}"#);
        assert_eq!(text(Arguments::new()), "{}");
        assert_eq!(text(Arguments::new().with("x", &Value::Null)), "{}");
    }

    #[test]
    fn a_name_may_need_escapes() {
        let arguments = Arguments::new().with("a\"b\\c\n", &1).with("größe", &2);
        assert_eq!(arguments.into_map().unwrap()["a\"b\\c\n"], 1);
        let arguments = Arguments::new().with("größe", &2);
        assert_eq!(text(arguments), r#"{"größe":2}"#);
    }

    #[test]
    fn a_whole_struct_is_its_fields_however_it_ends() {
        #[derive(Serialize)]
        struct Nested {
            filter: Value,
            none: Option<u32>,
        }
        let nested = Nested { filter: json!({"deep": {"er": {}}, "null": null}), none: None };
        assert_eq!(text(Arguments::whole(&nested)), r#"{"filter":{"deep":{"er":{}},"null":null}}"#);
        assert_eq!(text(Arguments::whole(&json!({}))), "{}");
        assert_eq!(text(Arguments::whole(&())), "{}");
        let both = Arguments::new().with("first", &1).with_whole(&json!({"b": "}}"})).with("c", &2);
        assert_eq!(text(both), r#"{"first":1,"b":"}}","c":2}"#);
    }

    #[test]
    fn what_is_no_object_is_an_error_that_says_so() {
        let error = Arguments::whole(&[1]).with("more", &1).into_raw().unwrap_err();
        assert!(error.source().unwrap().to_string().contains("`#[args]` must be a struct"), "{error:?}");
    }

    #[test]
    fn a_required_null_is_written_when_the_design_says_so() {
        let arguments = Arguments::new().with("value", &Value::Null).with("n", &1).with("other", &None::<u8>);
        let raw = arguments.into_raw_with(|name| name == "value").unwrap();
        assert_eq!(raw.as_str(), r#"{"n":1,"value":null}"#);
    }
}
