//! Asking somebody: a person at a terminal, an application's dialogue, nobody.

use std::fmt;
use std::future::{Future, ready};
use std::pin::Pin;

use serde::{Deserialize, Serialize};
use switchboard_protocol::Raw;

use crate::permission::scan::Suspicion;
use crate::permission::verdict::{Effects, Reason};

/// A future behind a pointer, so that [`Approver`] can be a `dyn`.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What is asked. Everything but the server's name comes from the server and is to be shown as its words.
#[derive(Clone)]
#[non_exhaustive]
pub struct Question {
    /// The server, by the user's name for it.
    pub server: String,
    /// The tool, by the server's own name for it.
    pub tool: String,
    /// What the tool is said to do.
    pub description: Option<String>,
    /// What it would be called with.
    pub arguments: Option<Raw>,
    /// What is believed of its effects.
    pub effects: Effects,
    /// What is odd about its definition.
    pub suspicions: Vec<Suspicion>,
    /// Why somebody is asked.
    pub reason: Reason,
    /// Whether a yes may be remembered; not where a rule wants every call asked.
    pub can_remember: bool,
    /// Whether something was answered about it before, when it was defined otherwise.
    pub has_changed: bool,
}

impl fmt::Debug for Question {
    /// Without the arguments, which may be anything.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Question")
            .field("server", &self.server)
            .field("tool", &self.tool)
            .field("effects", &self.effects)
            .field("reason", &self.reason)
            .field("has_changed", &self.has_changed)
            .finish_non_exhaustive()
    }
}

/// Yes or no.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Answer {
    /// The call may be made.
    Allow,
    /// It may not.
    Deny,
}

/// How long an answer holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Memory {
    /// For this call.
    Once,
    /// Until the program ends.
    Session,
    /// Until it is taken back, or the definition changes.
    Always,
}

/// What somebody answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply {
    /// Yes or no.
    pub answer: Answer,
    /// For how long.
    pub memory: Memory,
}

impl Reply {
    /// This answer for this long.
    pub fn new(answer: Answer, memory: Memory) -> Self {
        Self { answer, memory }
    }
}

/// Somebody who can be asked.
///
/// # Cancellation
/// The future is dropped when the call is cancelled; what it shows should then go away.
pub trait Approver: Send + Sync + fmt::Debug {
    /// Asks whether the call may be made. One question is asked at a time.
    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Reply>;
}

/// Nobody is here: every question is answered with no.
#[derive(Clone, Copy, Debug, Default)]
pub struct NobodyToAsk;

impl Approver for NobodyToAsk {
    fn ask<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Reply> {
        Box::pin(ready(Reply::new(Answer::Deny, Memory::Once)))
    }
}
