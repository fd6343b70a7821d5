//! Questions of a server answered from what the user wrote beforehand, keyed by the names of fields.

use std::future::ready;
use std::sync::{Arc, OnceLock};

use switchboard::protocol::{ElicitParams, ElicitResult, OrderedMap};
use switchboard::session::link::BoxFuture;
use switchboard::{Abilities, Answers, Asker, Raw, Refusal};

use crate::ask::field;
use crate::failure::Failure;

/// The answers to every form a server may send. It is told that forms can be filled in, and that no URL is visited.
#[derive(Debug)]
pub(crate) struct Scripted {
    answers: OrderedMap<Raw>,
    refused: Refused,
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
            std::fs::read_to_string(given).map_err(|error| wrong(format!("cannot read {given}: {error}")))?
        };
        let answers = Raw::parse(text).and_then(|raw| raw.decode());
        let answers = answers.map_err(|error| wrong(format!("the answers are no JSON object: {error}")))?;
        Ok(Self { answers, refused })
    }

    fn answer(&self, asked: &ElicitParams) -> Result<ElicitResult, Refusal> {
        let ElicitParams::Form(form) = asked else {
            return Err(Refusal::new("a URL can only be agreed to at a terminal"));
        };
        let schema = &form.requested_schema;
        let mut content = OrderedMap::new();
        for (name, field) in schema.properties.iter() {
            let value = match self.answers.get(name) {
                Some(value) => Some(field::scripted(field, value).map_err(|why| {
                    Refusal::new(format!(
                        "the answer for `{name}` does not fit ({}): {why}",
                        field::kind(field)
                    ))
                })?),
                None => field::default(field),
            };
            match value {
                Some(value) => _ = content.insert(name, value),
                None if schema.required.iter().any(|needed| needed == name) => {
                    return Err(Refusal::new(format!(
                        "the server asks for `{name}`, and the answers do not have it"
                    )));
                }
                None => {}
            }
        }
        Ok(ElicitResult::accept(content))
    }
}

impl Answers for Scripted {
    fn abilities(&self) -> Abilities {
        Abilities::none().with_forms()
    }

    fn elicit<'a>(
        &'a self,
        request: ElicitParams,
        _: &'a Asker,
    ) -> BoxFuture<'a, Result<ElicitResult, Refusal>> {
        let answered = self.answer(&request);
        Box::pin(ready(answered.inspect_err(|refusal| _ = self.refused.0.set(refusal.to_string()))))
    }
}
