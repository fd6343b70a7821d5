//! Questions of a server answered from what the user wrote beforehand, keyed by the names of fields.

use std::future::ready;
use std::sync::{Arc, OnceLock};

use switchboard::protocol::{ElicitParams, ElicitResult, OrderedMap};
use switchboard::session::link::BoxFuture;
use switchboard::{ClientHandler, HandlerCapabilities, HandlerError, Raw, RequestingServer};

use crate::ask::field;
use crate::failure::Failure;
use crate::sanitize::one_line;

/// The answers to every form a server may send. A URL is refused: only a person can visit it.
#[derive(Debug)]
pub(crate) struct Scripted {
    answers: OrderedMap<Raw>,
    refused: Refused,
}

/// The capabilities declared to every server: always the same, so that its lists do not depend on a terminal.
pub(crate) const DECLARED: HandlerCapabilities = HandlerCapabilities::none().with_forms().with_urls();

/// Nobody is there to ask: every question is refused, with the reason.
#[derive(Debug)]
pub(crate) struct Nobody(pub(crate) Refused);

impl ClientHandler for Nobody {
    fn capabilities(&self) -> HandlerCapabilities {
        DECLARED
    }

    fn elicit<'a>(
        &'a self,
        request: ElicitParams,
        _: &'a RequestingServer,
    ) -> BoxFuture<'a, Result<ElicitResult, HandlerError>> {
        let why = match &request {
            ElicitParams::Url(url) => format!(
                "the server asks you to visit {}, but there is no terminal to agree at",
                one_line(&url.url)
            ),
            ElicitParams::Form(form) => {
                let fields: Vec<String> = form.requested_schema.properties.keys().map(one_line).collect();
                format!(
                    "the server asks for input ({}), but there is no terminal to answer at",
                    fields.join(", ")
                )
            }
            _ => "the server asks for input, but there is no terminal to answer at".to_owned(),
        };
        _ = self.0.0.set(why.clone());
        Box::pin(ready(Err(HandlerError::new(why))))
    }
}

/// Why a question got no answer. A server may tell that in its own words, and these are the better ones.
#[derive(Debug, Clone, Default)]
pub(crate) struct Refused(Arc<OnceLock<String>>);

impl Refused {
    /// Why, if one got none.
    pub(crate) fn why(&self) -> Option<&str> {
        self.0.get().map(String::as_str)
    }
}

impl Scripted {
    /// From the text of an object, or from a file that holds one.
    ///
    /// # Errors
    /// When there is no object.
    pub(crate) fn read(given: &str, refused: Refused) -> Result<Self, Failure> {
        let wrong = |what: String| {
            Failure::usage(what).hint("--answers takes a JSON object, or a file that holds one")
        };
        let text = if given.trim_start().starts_with('{') {
            given.to_owned()
        } else {
            std::fs::read_to_string(given)
                .map_err(|error| wrong(format!("cannot read the answers from {given}: {error}")))?
        };
        let answers = Raw::parse(text).and_then(|raw| raw.decode());
        let answers = answers.map_err(|error| wrong(format!("--answers must be a JSON object: {error}")))?;
        Ok(Self { answers, refused })
    }

    fn answer(&self, asked: &ElicitParams) -> Result<ElicitResult, HandlerError> {
        let ElicitParams::Form(form) = asked else {
            return Err(HandlerError::new(
                "the server asks to visit a URL, which only a person at a terminal can agree to",
            ));
        };
        let schema = &form.requested_schema;
        let mut content = OrderedMap::new();
        for (name, field) in schema.properties.iter() {
            let value = match self.answers.get(name) {
                Some(value) => Some(field::parse_json(field, value).map_err(|why| {
                    HandlerError::new(format!(
                        "--answers: `{name}` is not valid (expected {}): {why}",
                        field::expected(field)
                    ))
                })?),
                None => field::default(field),
            };
            match value {
                Some(value) => _ = content.insert(name, value),
                None if schema.required.iter().any(|needed| needed == name) => {
                    return Err(HandlerError::new(format!(
                        "the server asks for `{name}`, which --answers does not have"
                    )));
                }
                None => {}
            }
        }
        Ok(ElicitResult::accept(content))
    }
}

impl ClientHandler for Scripted {
    fn capabilities(&self) -> HandlerCapabilities {
        DECLARED
    }

    fn elicit<'a>(
        &'a self,
        request: ElicitParams,
        _: &'a RequestingServer,
    ) -> BoxFuture<'a, Result<ElicitResult, HandlerError>> {
        let answered = self.answer(&request);
        Box::pin(ready(answered.inspect_err(|refusal| _ = self.refused.0.set(refusal.to_string()))))
    }
}
