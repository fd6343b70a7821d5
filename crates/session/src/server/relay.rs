//! Relays questions of another server: a handler that is a client itself passes them on without answering them, and keeps
//! nothing in between.

use serde_core::de::DeserializeOwned;
use switchboard_protocol::{InputRequired, InputResponses};

use crate::era::Questions;
use crate::request::AskError;
use crate::server::RequestContext;

/// The answers of a client to relayed questions.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RelayedAnswers {
    /// The answers, by the keys of the questions.
    pub responses: InputResponses,
    /// The state that the other server gave with its questions.
    pub state: Option<String>,
}

impl RequestContext {
    /// Answers the request with the questions of another server, under its keys. The handler is dropped here. The client sends
    /// the request again with its answers, and the handler finds them with [`Self::relayed_answers`].
    ///
    /// The state of the other server travels inside the sealed state of this one: nothing is kept in memory.
    ///
    /// Returns only if the questions cannot be relayed: the client expects a request for each of them.
    pub async fn relay_questions(&self, input: InputRequired) -> AskError {
        self.era().relay_questions(AsRef::<Questions>::as_ref(self), input).await
    }

    /// Returns the answers to the questions that an earlier run has relayed; `None` for a first request.
    pub fn relayed_answers(&self) -> Option<RelayedAnswers> {
        let (responses, state) = self.era().relayed_answers(AsRef::<Questions>::as_ref(self))?;
        Some(RelayedAnswers { responses, state })
    }

    /// Returns the result of a [step](Self::step) that an earlier run of the handler has finished.
    pub fn finished_step<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        self.era().step(AsRef::<Questions>::as_ref(self), key)?.decode().ok()
    }
}
