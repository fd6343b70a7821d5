//! The permission gate: decides about calls, asks the user if necessary, and remembers answers.
//!
//! Invariants: at most one approval request is open at a time; calls that waited for it decide again, because its answer
//! may apply to them. No lock is held while the user is asked.

use std::sync::Arc;

use parking_lot::{Mutex, RwLock};
use switchboard_config::Verdict;
use switchboard_protocol::{Raw, Tool};
use tokio::sync::Semaphore;

use crate::config::escape::escape_invisible;
use crate::permission::approver::{ApprovalAnswer, ApprovalRequest, Approver, DenyingApprover};
use crate::permission::definition::{DefinitionHash, ServerIdentity};
use crate::permission::known_server::{KnownServer, KnownServers};
use crate::permission::ledger::{AnswerKey, Ledger};
use crate::permission::policy::{Decision, DecisionReason, Policy, PolicyCall, Trust};
use crate::permission::scan::suspicions;

/// A call was denied.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{}/{} is {decision}", escape_invisible(server), escape_invisible(tool))]
pub struct PermissionDenied {
    /// The server.
    pub server: String,
    /// The tool.
    pub tool: String,
    /// The decision.
    pub decision: Decision,
}

/// Decides about calls by a policy, remembered answers and an [`Approver`].
///
/// ```
/// use switchboard::host::permission::{FallbackPolicy, Gate, Policy, Rules, Verdict};
/// use switchboard::protocol::Tool;
/// use switchboard::json;
///
/// let gate = Gate::new(Policy::new(Rules::new([])));
/// let tool = Tool::new("delete", json!({ "type": "object" }));
/// assert_eq!(gate.decide(&gate.subject("files", &tool)).verdict, Verdict::Ask);
///
/// gate.set_policy(Policy::default().with_fallback(FallbackPolicy::DenyAll)); // at run time
/// assert_eq!(gate.decide(&gate.subject("files", &tool)).verdict, Verdict::Deny);
/// ```
#[derive(Debug)]
pub struct Gate {
    policy: RwLock<Arc<Policy>>,
    // Held for a lookup or an insertion, never across an await.
    ledger: Mutex<Ledger>,
    // Likewise.
    known_servers: Mutex<KnownServers>,
    approver: Arc<dyn Approver>,
    one_request: Semaphore,
}

impl From<Policy> for Gate {
    fn from(policy: Policy) -> Self {
        Self::new(policy)
    }
}

/// The tool of a call, and the identity of its server.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The configured name of the server.
    pub server: &'a str,
    /// The identity of the server.
    pub identity: ServerIdentity,
    /// Whether its annotations are trusted.
    pub trust: Trust,
    /// The tool as listed.
    pub tool: &'a Tool,
    /// The hash of its definition.
    pub definition: DefinitionHash,
}

impl Gate {
    /// Creates a gate without remembered answers and without an approver.
    pub fn new(policy: Policy) -> Self {
        Self {
            policy: RwLock::new(Arc::new(policy)),
            ledger: Mutex::new(Ledger::in_memory()),
            known_servers: Mutex::default(),
            approver: Arc::new(DenyingApprover),
            one_request: Semaphore::new(1),
        }
    }

    /// Sets the ledger of remembered answers.
    #[must_use]
    pub fn with_ledger(mut self, ledger: Ledger) -> Self {
        self.ledger = Mutex::new(ledger);
        self
    }

    /// Sets the approver.
    #[must_use]
    pub fn with_approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.approver = approver;
        self
    }

    /// Returns the current policy.
    pub fn policy(&self) -> Arc<Policy> {
        Arc::clone(&self.policy.read())
    }

    /// Replaces the policy.
    pub fn set_policy(&self, policy: Policy) {
        *self.policy.write() = Arc::new(policy);
    }

    /// Replaces the known servers, which have an identity and a trust level. Others are untrusted.
    pub fn set_servers(&self, servers: impl IntoIterator<Item = (String, KnownServer)>) {
        let known_servers = KnownServers::new(servers);
        *self.known_servers.lock() = known_servers;
    }

    /// Returns the subject of a call: a tool with the identity and trust level of its server.
    pub fn subject<'a>(&self, server: &'a str, tool: &'a Tool) -> Subject<'a> {
        let mut known_servers = self.known_servers.lock();
        let KnownServer { identity, trust } = known_servers.server(server);
        Subject { server, identity, trust, tool, definition: known_servers.definition(server, tool) }
    }

    /// Returns the decision about a call without asking the user.
    pub fn decide(&self, subject: &Subject<'_>) -> Decision {
        self.decide_by(subject, key(subject))
    }

    fn decide_by(&self, subject: &Subject<'_>, key: AnswerKey<'_>) -> Decision {
        let remembered = self.ledger.lock().recall(key);
        self.policy().decide(&call(subject), remembered)
    }

    /// Decides about a call with these arguments and asks the user if necessary.
    ///
    /// # Errors
    /// When the call is denied.
    ///
    /// # Cancellation
    /// Dropping the future drops the approval request; nothing is remembered.
    pub async fn permit(
        &self,
        subject: &Subject<'_>,
        arguments: Option<&Raw>,
    ) -> Result<Decision, PermissionDenied> {
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
                Err(PermissionDenied { server, tool, decision })
            }
        }
    }

    async fn ask(&self, subject: &Subject<'_>, key: AnswerKey<'_>, arguments: Option<&Raw>) -> Decision {
        // The semaphore is never closed.
        let _permit = self.one_request.acquire().await.ok();
        let decision = self.decide_by(subject, key);
        if decision.verdict != Verdict::Ask {
            return decision;
        }
        let request = ApprovalRequest {
            server: subject.server.to_owned(),
            tool: subject.tool.name.clone(),
            description: subject.tool.description.clone(),
            arguments: arguments.cloned(),
            effects: self.policy().effects(&call(subject)),
            suspicions: suspicions(subject.tool),
            can_remember: !matches!(decision.reason, DecisionReason::Rule(_)),
            has_changed: self.ledger.lock().has_changed(key),
            reason: decision.reason,
        };
        let reply = self.approver.ask(&request).await;
        // A denial is remembered even if a rule asks for every call.
        if request.can_remember || reply.answer == ApprovalAnswer::Deny {
            let stored = self.ledger.lock().remember(key, subject.server, reply);
            if let Err(error) = stored {
                tracing::warn!(%error, "answer not stored; it is valid for this session only");
            }
        }
        let verdict = match reply.answer {
            ApprovalAnswer::Allow => Verdict::Allow,
            ApprovalAnswer::Deny => Verdict::Deny,
        };
        Decision { verdict, reason: DecisionReason::Answered(reply.lifetime) }
    }

    /// Revokes the answers about a tool, or about all tools of a server. Returns whether there was one.
    ///
    /// # Errors
    /// When the change cannot be stored.
    pub fn forget(
        &self,
        server: ServerIdentity,
        tool: Option<&str>,
    ) -> Result<bool, crate::config::ConfigError> {
        self.ledger.lock().forget(server, tool)
    }
}

fn key<'a>(subject: &Subject<'a>) -> AnswerKey<'a> {
    AnswerKey { server: subject.identity, tool: &subject.tool.name, definition: subject.definition }
}

fn call<'a>(subject: &Subject<'a>) -> PolicyCall<'a> {
    PolicyCall {
        server: subject.server,
        tool: &subject.tool.name,
        annotations: subject.tool.annotations.as_ref(),
        trust: subject.trust,
    }
}
