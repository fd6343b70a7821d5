//! The one way to a permitted call: decide, ask if need be, remember.
//!
//! Invariants: at most one question is open at a time; whoever waited for it decides anew, since the answer may hold
//! for them too. No lock is held while somebody is asked.

use std::sync::Arc;

use parking_lot::{Mutex, RwLock};
use switchboard_config::Verdict;
use switchboard_protocol::{Raw, Tool};
use tokio::sync::Semaphore;

use crate::config::visible::visible;
use crate::permission::approver::{Answer, Approver, NobodyToAsk, Question};
use crate::permission::definition::{DefinitionHash, ServerIdentity};
use crate::permission::known::{Book, Known};
use crate::permission::ledger::{Key, Ledger};
use crate::permission::scan::suspicions;
use crate::permission::verdict::{Call, Decision, Policy, Reason, Trust};

/// A call that may not be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{}/{} is {decision}", visible(server), visible(tool))]
pub struct Refused {
    /// The server.
    pub server: String,
    /// The tool.
    pub tool: String,
    /// Why not.
    pub decision: Decision,
}

/// What decides about calls, and remembers.
#[derive(Debug)]
pub struct Gate {
    policy: RwLock<Arc<Policy>>,
    // Held to look up or store an answer, never across an await.
    ledger: Mutex<Ledger>,
    // Likewise.
    book: Mutex<Book>,
    approver: Arc<dyn Approver>,
    one_question: Semaphore,
}

impl From<Policy> for Gate {
    fn from(policy: Policy) -> Self {
        Self::new(policy)
    }
}

/// The tool a call is for.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The server, by the user's name for it.
    pub server: &'a str,
    /// The server as it is reached.
    pub identity: ServerIdentity,
    /// Whether what it says is believed.
    pub trust: Trust,
    /// The tool, as listed.
    pub tool: &'a Tool,
    /// The hash of what was listed.
    pub definition: DefinitionHash,
}

impl Gate {
    /// Decides by this policy, with nothing remembered and nobody to ask.
    pub fn new(policy: Policy) -> Self {
        Self {
            policy: RwLock::new(Arc::new(policy)),
            ledger: Mutex::new(Ledger::in_memory()),
            book: Mutex::default(),
            approver: Arc::new(NobodyToAsk),
            one_question: Semaphore::new(1),
        }
    }

    /// With these answers.
    #[must_use]
    pub fn with_ledger(mut self, ledger: Ledger) -> Self {
        self.ledger = Mutex::new(ledger);
        self
    }

    /// With somebody to ask.
    #[must_use]
    pub fn with_approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.approver = approver;
        self
    }

    /// The policy as it is.
    pub fn policy(&self) -> Arc<Policy> {
        Arc::clone(&self.policy.read())
    }

    /// Decides by another policy from now on.
    pub fn set_policy(&self, policy: Policy) {
        *self.policy.write() = Arc::new(policy);
    }

    /// Knows these servers from now on, and no others: whom to trust, and whom an answer is about.
    pub fn set_servers(&self, servers: impl IntoIterator<Item = (String, Known)>) {
        let book = Book::new(servers);
        *self.book.lock() = book;
    }

    /// A tool of a server, by what is known of both.
    pub fn subject<'a>(&self, server: &'a str, tool: &'a Tool) -> Subject<'a> {
        let mut book = self.book.lock();
        let Known { identity, trust } = book.server(server);
        Subject { server, identity, trust, tool, definition: book.definition(server, tool) }
    }

    /// What would happen to a call now; nobody is asked.
    pub fn decide(&self, subject: &Subject<'_>) -> Decision {
        self.decide_by(subject, key(subject))
    }

    fn decide_by(&self, subject: &Subject<'_>, key: Key<'_>) -> Decision {
        let recalled = self.ledger.lock().recall(key);
        self.policy().decide(&call(subject), recalled)
    }

    /// Whether a call with these arguments may be made; asks if need be.
    ///
    /// # Errors
    /// Says why not.
    ///
    /// # Cancellation
    /// Dropping it takes the question back; nothing is remembered.
    pub async fn permit(&self, subject: &Subject<'_>, arguments: Option<&Raw>) -> Result<Decision, Refused> {
        let key = key(subject);
        let decision = self.decide_by(subject, key);
        let decision = match decision.verdict {
            Verdict::Ask => self.ask(subject, key, arguments).await,
            Verdict::Allow | Verdict::Deny => decision,
        };
        match decision.verdict {
            Verdict::Allow => Ok(decision),
            Verdict::Ask | Verdict::Deny => {
                let (server, tool) = (subject.server.to_owned(), subject.tool.name.clone());
                Err(Refused { server, tool, decision })
            }
        }
    }

    async fn ask(&self, subject: &Subject<'_>, key: Key<'_>, arguments: Option<&Raw>) -> Decision {
        // The semaphore is never closed; were it, asking twice at once would be the lesser evil.
        let _turn = self.one_question.acquire().await.ok();
        let decision = self.decide_by(subject, key);
        if decision.verdict != Verdict::Ask {
            return decision;
        }
        let question = Question {
            server: subject.server.to_owned(),
            tool: subject.tool.name.clone(),
            description: subject.tool.description.clone(),
            arguments: arguments.cloned(),
            effects: self.policy().effects(&call(subject)),
            suspicions: suspicions(subject.tool),
            can_remember: !matches!(decision.reason, Reason::Rule(_)),
            has_changed: self.ledger.lock().has_changed(key),
            reason: decision.reason,
        };
        let reply = self.approver.ask(&question).await;
        // A no is worth remembering also where a rule asks: it is what the rule is for.
        if question.can_remember || reply.answer == Answer::Deny {
            let stored = self.ledger.lock().remember(key, subject.server, reply);
            if let Err(fault) = stored {
                tracing::warn!(%fault, "an answer could not be stored and holds for this session only");
            }
        }
        let verdict = match reply.answer {
            Answer::Allow => Verdict::Allow,
            Answer::Deny => Verdict::Deny,
        };
        Decision { verdict, reason: Reason::Answered(reply.memory) }
    }

    /// Takes back what was answered about a tool, or about all tools of a server. Returns whether anything was.
    ///
    /// # Errors
    /// When that cannot be stored.
    pub fn forget(&self, server: ServerIdentity, tool: Option<&str>) -> Result<bool, crate::config::Fault> {
        self.ledger.lock().forget(server, tool)
    }
}

fn key<'a>(subject: &Subject<'a>) -> Key<'a> {
    Key { server: subject.identity, tool: &subject.tool.name, definition: subject.definition }
}

fn call<'a>(subject: &Subject<'a>) -> Call<'a> {
    Call {
        server: subject.server,
        tool: &subject.tool.name,
        annotations: subject.tool.annotations.as_ref(),
        trust: subject.trust,
    }
}
