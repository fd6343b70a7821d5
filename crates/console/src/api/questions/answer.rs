//! What a question asks for, and whether an answer fits.

use switchboard_json::{FromRaw, OrderedMap, Raw};
use switchboard_protocol::{
    CreateMessageResult, ElicitAction, ElicitParams, ElicitResult, FormSchema, Root as ProtocolRoot,
};

use super::form_answer::check_form;
use crate::contract::{Answer, QuestionBody, Root};

/// What a question asks for.
#[derive(Debug)]
pub(super) enum QuestionKind {
    Form(FormSchema),
    Url,
    Sampling,
    Roots,
}

/// An answer that fits its question.
#[derive(Debug)]
pub(super) enum CheckedAnswer {
    Elicited(ElicitResult),
    Sampled(Box<CreateMessageResult>),
    Roots(Vec<ProtocolRoot>),
    /// The user declines to send a message or roots.
    Declined,
}

impl QuestionKind {
    /// Returns the kind and the body of an elicitation.
    pub(super) fn of_elicitation(request: ElicitParams) -> Option<(Self, QuestionBody)> {
        match request {
            ElicitParams::Form(form) => {
                let schema = Raw::encode(&form.requested_schema).ok()?;
                let schema_json = schema.as_str().to_owned();
                let body = QuestionBody::Form { message: form.message, schema_json };
                Some((Self::Form(form.requested_schema), body))
            }
            ElicitParams::Url(page) => {
                Some((Self::Url, QuestionBody::Url { message: page.message, url: page.url }))
            }
            _ => None,
        }
    }

    /// Checks an answer.
    ///
    /// # Errors
    /// Why it does not fit.
    pub(super) fn check(&self, answer: Answer) -> Result<CheckedAnswer, String> {
        let action = |action| Ok(CheckedAnswer::Elicited(ElicitResult::new(action)));
        match (self, answer) {
            (Self::Form(schema), Answer::Accept { content_json }) => {
                let values = form_values(content_json.as_deref().unwrap_or("{}"))?;
                check_form(schema, &values)?;
                Ok(CheckedAnswer::Elicited(ElicitResult::accept(values)))
            }
            (Self::Url, Answer::Accept { .. }) => action(ElicitAction::Accept),
            (Self::Form(_) | Self::Url, Answer::Decline) => action(ElicitAction::Decline),
            (Self::Form(_) | Self::Url, Answer::Cancel) => action(ElicitAction::Cancel),
            (Self::Sampling, Answer::Sampling { result_json }) => {
                let result = Raw::parse(result_json).map_err(|error| format!("it is not JSON: {error}"))?;
                let result = CreateMessageResult::from_raw(&result)
                    .map_err(|error| format!("it is no result of a model: {error}"))?;
                Ok(CheckedAnswer::Sampled(Box::new(result)))
            }
            (Self::Roots, Answer::Roots { roots }) => {
                roots.into_iter().map(protocol_root).collect::<Result<_, _>>().map(CheckedAnswer::Roots)
            }
            (Self::Sampling | Self::Roots, Answer::Decline | Answer::Cancel) => Ok(CheckedAnswer::Declined),
            _ => Err("it is an answer to another kind of question".to_owned()),
        }
    }
}

fn form_values(text: &str) -> Result<OrderedMap<Raw>, String> {
    let content = Raw::parse(text.to_owned()).map_err(|error| format!("it is not JSON: {error}"))?;
    OrderedMap::from_raw(&content).map_err(|_| "it is not a JSON object".to_owned())
}

fn protocol_root(root: Root) -> Result<ProtocolRoot, String> {
    if !root.uri.starts_with("file://") {
        return Err(format!("the root `{}` is no URI of a file", root.uri));
    }
    let mut converted = ProtocolRoot::new(root.uri);
    converted.name = root.name;
    Ok(converted)
}
