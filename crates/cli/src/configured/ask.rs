//! Asks the user at the terminal whether a tool may be called.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use switchboard::host::permission::{
    AnswerLifetime, ApprovalAnswer, ApprovalReply, ApprovalRequest, Approver, BoxFuture, DecisionReason,
};

use crate::ask::Keyboard;
use crate::failure::{Failure, Status};
use crate::output::{Screen, indented, pretty};
use crate::sanitize::{one_line, sanitize};

/// Asks whoever sits at the terminal whether a tool may be called.
pub(crate) struct AtTerminal {
    screen: Arc<Screen>,
    keyboard: Arc<Keyboard>,
    declined: Declined,
}

/// Whether somebody said no.
#[derive(Clone, Debug, Default)]
pub(crate) struct Declined(Arc<AtomicBool>);

impl Declined {
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// What the command ends with then.
    pub(crate) fn failure() -> Failure {
        Failure::new(Status::Other, "declined", "Not called.")
    }
}

impl AtTerminal {
    pub(crate) fn new(screen: Arc<Screen>, keyboard: Arc<Keyboard>, declined: Declined) -> Self {
        Self { screen, keyboard, declined }
    }

    async fn decide(&self, question: &ApprovalRequest) -> ApprovalReply {
        self.show(question);
        let reply = self.choose(question.can_remember).await;
        self.declined.0.store(reply.answer == ApprovalAnswer::Deny, Ordering::Relaxed);
        reply
    }

    /// Shows how the definition of a tool has changed, and asks whether it may be called.
    pub(crate) async fn confirm_change(&self, diff: &str) -> ApprovalReply {
        self.screen.write(diff);
        self.choose(true).await
    }

    async fn choose(&self, can_remember: bool) -> ApprovalReply {
        let choices = if can_remember { "[y/N/always]" } else { "[y/N]" };
        loop {
            self.screen.write(&format!("Call it? {choices} "));
            let Some(line) = self.keyboard.line().await else {
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

    fn show(&self, question: &ApprovalRequest) {
        let Screen { paper, .. } = &*self.screen;
        let name = format!("{}/{}", one_line(&question.server), one_line(&question.tool));
        let why = match &question.reason {
            DecisionReason::Rule(rule) => {
                format!("needs your confirmation: the rule `{}` says so", one_line(&rule.to_string()))
            }
            _ => "is marked as destructive by its server".to_owned(),
        };
        self.screen.say(&format!("\n{} {why}", paper.bold(&name)));
        if question.has_changed {
            self.screen.warn("its definition has changed since you answered about it");
        }
        for suspicion in &question.suspicions {
            self.screen.warn(&one_line(&suspicion.to_string()));
        }
        if let Some(description) = &question.description {
            let text = indented(&sanitize(description), "  ", paper.prose());
            self.screen.write(&paper.dim(&text));
        }
        if let Some(arguments) = question.arguments.as_ref().filter(|raw| raw.as_str() != "{}") {
            self.screen.write(&indented(&pretty(arguments), "  ", paper.width));
        }
    }
}

impl Approver for AtTerminal {
    fn ask<'a>(&'a self, question: &'a ApprovalRequest) -> BoxFuture<'a, ApprovalReply> {
        Box::pin(self.decide(question))
    }
}

impl fmt::Debug for AtTerminal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AtTerminal").finish_non_exhaustive()
    }
}

/// The user said yes to everything beforehand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Agreed;

impl Approver for Agreed {
    fn ask<'a>(&'a self, _: &'a ApprovalRequest) -> BoxFuture<'a, ApprovalReply> {
        Box::pin(std::future::ready(ApprovalReply::new(ApprovalAnswer::Allow, AnswerLifetime::Once)))
    }
}

/// Nobody is here: every question is answered with no, and that there was one is remembered.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unasked(Arc<AtomicBool>);

impl Unasked {
    /// Whether somebody should have been asked.
    pub(crate) fn is_missed(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Approver for Unasked {
    fn ask<'a>(&'a self, _: &'a ApprovalRequest) -> BoxFuture<'a, ApprovalReply> {
        self.0.store(true, Ordering::Relaxed);
        Box::pin(std::future::ready(ApprovalReply::new(ApprovalAnswer::Deny, AnswerLifetime::Once)))
    }
}
