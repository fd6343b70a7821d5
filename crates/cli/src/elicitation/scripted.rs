//! Answers the questions of a server from a JSON object given in advance.

use std::future::ready;

use switchboard::client::{ClientHandler, HandlerCapabilities, HandlerError, RequestingServer};
use switchboard::protocol::{ElicitParams, ElicitResult, OrderedMap, Raw};
use switchboard::transport::link::BoxFuture;
use switchboard_terminal::field;

use crate::elicitation::{CAPABILITIES, RefusalReason};
use crate::error::CommandError;

/// Handler that fills in forms from answers keyed by field name. URLs are refused: only a user can visit them.
#[derive(Debug)]
pub(crate) struct ScriptedAnswers {
    answers: OrderedMap<Raw>,
    refusal: RefusalReason,
}

impl ScriptedAnswers {
    /// Reads the answers from the text of a JSON object, or from a file.
    ///
    /// # Errors
    /// Returns a usage error if the file cannot be read or is not a JSON object.
    pub(crate) fn read(source: &str, refusal: RefusalReason) -> Result<Self, CommandError> {
        let usage = |message: String| {
            CommandError::usage(message).hint("--answers takes a JSON object, or a file that contains one")
        };
        let text = if source.trim_start().starts_with('{') {
            source.to_owned()
        } else {
            std::fs::read_to_string(source)
                .map_err(|error| usage(format!("cannot read the answers from {source}: {error}")))?
        };
        let answers = Raw::parse(text).and_then(|raw| raw.decode());
        let answers = answers.map_err(|error| usage(format!("--answers must be a JSON object: {error}")))?;
        Ok(Self { answers, refusal })
    }

    fn fill_form(&self, request: &ElicitParams) -> Result<ElicitResult, HandlerError> {
        let ElicitParams::Form(form) = request else {
            return Err(HandlerError::new(
                "the server asks the user to visit a URL, which requires a terminal",
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
                        "the server asks for `{name}`, which --answers does not contain"
                    )));
                }
                None => {}
            }
        }
        Ok(ElicitResult::accept(content))
    }
}

impl ClientHandler for ScriptedAnswers {
    fn capabilities(&self) -> HandlerCapabilities {
        CAPABILITIES
    }

    fn elicit<'a>(
        &'a self,
        request: ElicitParams,
        _: &'a RequestingServer,
    ) -> BoxFuture<'a, Result<ElicitResult, HandlerError>> {
        let result = self.fill_form(&request);
        Box::pin(ready(result.inspect_err(|error| self.refusal.set(&error.to_string()))))
    }
}
