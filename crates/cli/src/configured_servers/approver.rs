//! Approvers of tool calls: ask at the terminal, allow everything, or deny everything.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use switchboard::host::permission::{
    AnswerLifetime, ApprovalAnswer, ApprovalReply, ApprovalRequest, Approver, BoxFuture, DecisionReason,
};

use crate::elicitation::StdinLines;
use crate::error::CommandError;
use crate::output::{Screen, indented, pretty};
use crate::sanitize::{one_line, sanitize};

/// Approver that asks the user at the terminal.
pub(crate) struct TerminalApprover {
    screen: Arc<Screen>,
    stdin: Arc<StdinLines>,
    declined: DeclinedFlag,
}

/// Flag that is set when the user declines a call.
#[derive(Clone, Debug, Default)]
pub(crate) struct DeclinedFlag(Arc<AtomicBool>);

impl DeclinedFlag {
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Returns the error with which the command ends after the user declined.
    pub(crate) fn error() -> CommandError {
        CommandError::other("declined", "Not called.")
    }
}

impl TerminalApprover {
    pub(crate) fn new(screen: Arc<Screen>, stdin: Arc<StdinLines>, declined: DeclinedFlag) -> Self {
        Self { screen, stdin, declined }
    }

    async fn ask_user(&self, question: &ApprovalRequest) -> ApprovalReply {
        self.print_question(question);
        let reply = self.read_reply(question.can_remember).await;
        self.declined.0.store(reply.answer == ApprovalAnswer::Deny, Ordering::Relaxed);
        reply
    }

    /// Prints how the definition of a tool has changed, and asks whether to call it.
    pub(crate) async fn confirm_change(&self, diff: &str) -> ApprovalReply {
        self.screen.write(diff);
        self.read_reply(true).await
    }

    async fn read_reply(&self, can_remember: bool) -> ApprovalReply {
        let choices = if can_remember { "[y/N/always]" } else { "[y/N]" };
        loop {
            self.screen.write(&format!("Call it? {choices} "));
            let Some(line) = self.stdin.next_line().await else {
                self.screen.say("");
                return ApprovalReply::new(ApprovalAnswer::Deny, AnswerLifetime::Once);
            };
            match line.trim().to_lowercase().as_str() {
                "y" | "yes" => return ApprovalReply::new(ApprovalAnswer::Allow, AnswerLifetime::Once),
                "" | "n" | "no" => return ApprovalReply::new(ApprovalAnswer::Deny, AnswerLifetime::Once),
                "a" | "always" if can_remember => {
                    return ApprovalReply::new(ApprovalAnswer::Allow, AnswerLifetime::Always);
                }
                _ => self.screen.say("  y calls it this once, n does not, always remembers your yes"),
            }
        }
    }

    fn print_question(&self, question: &ApprovalRequest) {
        let Screen { out, .. } = &*self.screen;
        let name = format!("{}/{}", one_line(&question.server), one_line(&question.tool));
        let why = match &question.reason {
            DecisionReason::Rule(rule) => {
                format!("needs your confirmation: the rule `{}` says so", one_line(&rule.to_string()))
            }
            _ => "is marked as destructive by its server".to_owned(),
        };
        self.screen.say(&format!("\n{} {why}", out.bold(&name)));
        if question.has_changed {
            self.screen.warn("its definition has changed since you answered about it");
        }
        for suspicion in &question.suspicions {
            self.screen.warn(&one_line(&suspicion.to_string()));
        }
        if let Some(description) = &question.description {
            let text = indented(&sanitize(description), "  ", out.prose_width());
            self.screen.write(&out.dim(&text));
        }
        if let Some(arguments) = question.arguments.as_ref().filter(|raw| raw.as_str() != "{}") {
            self.screen.write(&indented(&pretty(arguments), "  ", out.width));
        }
    }
}

impl Approver for TerminalApprover {
    fn ask<'a>(&'a self, question: &'a ApprovalRequest) -> BoxFuture<'a, ApprovalReply> {
        Box::pin(self.ask_user(question))
    }
}

impl fmt::Debug for TerminalApprover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TerminalApprover").finish_non_exhaustive()
    }
}

/// Approver that allows every call, for `--yes`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AllowingApprover;

impl Approver for AllowingApprover {
    fn ask<'a>(&'a self, _: &'a ApprovalRequest) -> BoxFuture<'a, ApprovalReply> {
        Box::pin(std::future::ready(ApprovalReply::new(ApprovalAnswer::Allow, AnswerLifetime::Once)))
    }
}

/// Approver that denies every call because there is no terminal, and records that it was asked.
#[derive(Clone, Debug, Default)]
pub(crate) struct DenyingApprover(Arc<AtomicBool>);

impl DenyingApprover {
    /// Returns whether a call needed confirmation.
    pub(crate) fn was_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Approver for DenyingApprover {
    fn ask<'a>(&'a self, _: &'a ApprovalRequest) -> BoxFuture<'a, ApprovalReply> {
        self.0.store(true, Ordering::Relaxed);
        Box::pin(std::future::ready(ApprovalReply::new(ApprovalAnswer::Deny, AnswerLifetime::Once)))
    }
}
