//! The arguments of a call, written as they are given.

use serde::Serialize;
use switchboard_design::Error;
use switchboard_protocol::Raw;

/// The arguments of a call. What is `null` is left out: optional arguments are those that are not there.
#[derive(Debug)]
pub struct Arguments {
    text: Result<String, Error>,
}

impl Arguments {
    /// No arguments.
    pub fn new() -> Self {
        Self { text: Ok(String::from("{")) }
    }

    /// The fields of a struct are the arguments.
    pub fn whole(arguments: &impl Serialize) -> Self {
        let text = Raw::encode(arguments).map_err(Error::from);
        Self { text: text.map(|raw| raw.as_str().trim_end_matches('}').to_owned()) }
    }

    /// The same with one more.
    #[must_use]
    pub fn with<T: Serialize + ?Sized>(mut self, name: &str, value: &T) -> Self {
        if let Ok(text) = &mut self.text {
            let start = text.len();
            if start > 1 {
                text.push(',');
            }
            text.push('"');
            // A name of an argument is a Rust identifier or was checked when the design was.
            text.push_str(name);
            text.push_str("\":");
            let from = text.len();
            let written = Raw::write(text, value);
            if &text[from..] == "null" {
                text.truncate(start);
            }
            if let Err(error) = written {
                self.text = Err(error.into());
            }
        }
        self
    }

    /// As one object.
    ///
    /// # Errors
    /// When one of them cannot be written as JSON.
    pub fn into_raw(self) -> Result<Raw, Error> {
        let mut text = self.text?;
        text.push('}');
        Raw::parse(text).map_err(Error::Malformed)
    }
}

impl Default for Arguments {
    fn default() -> Self {
        Self::new()
    }
}
