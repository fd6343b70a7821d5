//! What one decision of a policy costs: the calls are decisions about a call of `echo`, half of them denied by its
//! argument.

use std::hint::black_box;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};

use bench_gateway::policy;
use bench_kit::{ClientArgs, Fail, Session, fixture};
use switchboard::gateway::policy::{Decision, Policy, Subject, Target};
use switchboard::protocol::Raw;

struct Decisions {
    policy: Policy,
    /// Arguments that are allowed, and arguments that are not.
    arguments: [Raw; 2],
    next: AtomicUsize,
}

impl Decisions {
    fn new() -> Result<Self, Fail> {
        let arguments = |text: &str| Raw::parse(format!(r#"{{"text":"{text}"}}"#));
        Ok(Self {
            policy: policy()?,
            arguments: [arguments(fixture::TEXT)?, arguments("secret")?],
            next: AtomicUsize::new(0),
        })
    }
}

impl Session for Decisions {
    async fn open(_: &ClientArgs) -> Result<Self, Fail> {
        Self::new()
    }

    async fn echo(&self, text: &str) -> Result<usize, Fail> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let (subject, target) = (Subject::new("ada"), Target::tool("s000", "echo"));
        let decision = self.policy.decide(black_box(&subject), &target, Some(&self.arguments[number % 2]));
        match (number % 2, &decision) {
            (0, Decision::Allow { .. }) | (1, Decision::Deny { .. }) => Ok(text.len()),
            _ => Err(format!("decision {number} is {decision:?}").into()),
        }
    }

    async fn big(&self) -> Result<usize, Fail> {
        Err("a decision has no result".into())
    }

    async fn list(&self) -> Result<usize, Fail> {
        Err("a decision has no list".into())
    }

    async fn usage(&self) -> Result<String, Fail> {
        Err("a decision has no server".into())
    }

    async fn close(self) -> Result<(), Fail> {
        Ok(())
    }
}

fn main() -> ExitCode {
    bench_kit::inside(&["policy"], |_| async { Decisions::new() })
}
