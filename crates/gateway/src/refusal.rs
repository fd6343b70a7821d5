//! Refused requests, for whoever watches the gateway: denied, lacking a scope, or over a limit.
//!
//! Invariants: nothing is built while nobody watches; a watcher that falls behind loses the oldest refusals, and no request
//! waits for it.

use std::time::SystemTime;

use tokio::sync::broadcast;

use crate::audit::{AuditOutcome, strip_secrets};
use crate::policy::{Subject, Target};

/// Refusals that a slow watcher may be behind.
const CAPACITY: usize = 256;

/// A request that was refused; nothing was sent to a server.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refusal {
    /// When.
    pub time: SystemTime,
    /// The subject of the caller; `None` if it is anonymous.
    pub principal: Option<String>,
    /// The view; `None` for that of everything.
    pub view: Option<String>,
    /// The server; `None` for a list or a discovery.
    pub server: Option<String>,
    /// The kind of the target, or `list` or `discover`.
    pub kind: &'static str,
    /// The server's own name of the target. A URI without its query.
    pub name: String,
    /// Denied, lacking a scope, or rate limited.
    pub outcome: AuditOutcome,
    /// The rule or the limit; `None` for the default.
    pub rule: Option<String>,
    /// Why.
    pub reason: String,
}

/// Refused requests as they happen; see [`Gateway::refusals`](crate::Gateway::refusals).
#[derive(Debug)]
pub struct RefusalStream(broadcast::Receiver<Refusal>);

impl RefusalStream {
    /// Waits for the next refusal; `None` when the gateway is gone. Refusals that it was too slow for are skipped.
    pub async fn next(&mut self) -> Option<Refusal> {
        loop {
            match self.0.recv().await {
                Ok(refusal) => return Some(refusal),
                Err(broadcast::error::RecvError::Lagged(_)) => {}
                Err(broadcast::error::RecvError::Closed) => return None,
            }
        }
    }
}

/// Announces refusals.
#[derive(Debug)]
pub(crate) struct RefusalSender(broadcast::Sender<Refusal>);

impl Default for RefusalSender {
    fn default() -> Self {
        Self(broadcast::Sender::new(CAPACITY))
    }
}

impl RefusalSender {
    pub(crate) fn subscribe(&self) -> RefusalStream {
        RefusalStream(self.0.subscribe())
    }

    /// Announces a refusal, if somebody watches. `of` returns the outcome, the rule and the reason.
    pub(crate) fn announce(
        &self,
        subject: &Subject<'_>,
        target: Result<&Target<'_>, &'static str>,
        of: impl FnOnce() -> (AuditOutcome, Option<String>, String),
    ) {
        if self.0.receiver_count() == 0 {
            return;
        }
        let (outcome, rule, reason) = of();
        let text = |text: Option<&str>| text.map(str::to_owned);
        let (server, kind, name) = match target {
            Ok(target) if target.kind.is_uri() => {
                (Some(target.server.to_owned()), target.kind.as_str(), strip_secrets(target.name))
            }
            Ok(target) => (Some(target.server.to_owned()), target.kind.as_str(), target.name.to_owned()),
            Err(operation) => (None, operation, String::new()),
        };
        let (principal, view) = (text(subject.principal), text(subject.view));
        let refusal =
            Refusal { time: SystemTime::now(), principal, view, server, kind, name, outcome, rule, reason };
        // Nobody watches any more: fine.
        _ = self.0.send(refusal);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn refusals_reach_those_who_watch_and_hold_no_query() {
        let sender = RefusalSender::default();
        let announce = |uri| {
            let target = Target::resource("web", uri);
            sender.announce(&Subject::new("ada"), Ok(&target), || {
                (AuditOutcome::Denied, Some("rule 1".to_owned()), "a deny rule matches".to_owned())
            });
        };
        announce("https://example.com/before");
        let mut watching = sender.subscribe();
        announce("https://example.com/a?token=s3cret");
        let refusal = watching.next().await.unwrap();
        assert_eq!((refusal.principal.as_deref(), refusal.server.as_deref()), (Some("ada"), Some("web")));
        assert_eq!((refusal.kind, refusal.name.as_str()), ("resource", "https://example.com/a"));
        assert_eq!(refusal.outcome, AuditOutcome::Denied);
        drop(sender);
        assert_eq!(watching.next().await, None);
    }

    #[tokio::test]
    async fn a_watcher_that_falls_behind_gets_the_newest() {
        let sender = RefusalSender::default();
        let mut watching = sender.subscribe();
        for number in 0..=CAPACITY {
            let name = number.to_string();
            let target = Target::tool("files", &name);
            sender
                .announce(&Subject::anonymous(), Ok(&target), || (AuditOutcome::Denied, None, String::new()));
        }
        assert_eq!(watching.next().await.unwrap().name, "1");
    }
}
