//! From rules, memory and effects to a verdict with its reason. Pure: nothing is asked, read or stored here.

use std::fmt;

use switchboard_config::{Rule, RuleError, Rules, Verdict};
use switchboard_protocol::ToolAnnotations;

use crate::permission::approver::{Answer, Memory};
use crate::permission::ledger::Recalled;

/// Whether what a server says of its tools is believed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trust {
    /// It is not: every tool may destroy, and reaches the world outside.
    #[default]
    Untrusted,
    /// The user said so.
    Trusted,
}

/// What a tool does, as far as we believe it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Effects {
    /// Changes nothing.
    pub read_only: bool,
    /// May destroy something.
    pub destructive: bool,
    /// May be repeated without further effect.
    pub idempotent: bool,
    /// Deals with the world outside.
    pub open_world: bool,
}

impl Effects {
    /// The worst: what is assumed of a tool nobody vouches for.
    pub const WORST: Self = Self { read_only: false, destructive: true, idempotent: false, open_world: true };

    /// What is believed of a tool that says this of itself.
    pub fn of(annotations: Option<&ToolAnnotations>, trust: Trust) -> Self {
        match (trust, annotations) {
            (Trust::Untrusted, _) => Self::WORST,
            (Trust::Trusted, None) => Self::said(&ToolAnnotations::new()),
            (Trust::Trusted, Some(annotations)) => Self::said(annotations),
        }
    }

    fn said(annotations: &ToolAnnotations) -> Self {
        Self {
            read_only: annotations.is_read_only(),
            destructive: annotations.is_destructive(),
            idempotent: annotations.is_idempotent(),
            open_world: annotations.is_open_world(),
        }
    }
}

/// What the user knows better than the server: effects of tools that match a pattern.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overrides(Vec<(Rule, ToolAnnotations)>);

impl Overrides {
    /// No overrides.
    pub fn new() -> Self {
        Self::default()
    }

    /// With these effects for what matches a pattern, written as in a rule; of several that match, the last that says
    /// something counts.
    ///
    /// # Errors
    /// When the pattern is none.
    pub fn with(mut self, pattern: &str, effects: ToolAnnotations) -> Result<Self, RuleError> {
        // As strict as a rule that allows: effects may be made to look better than they are.
        self.0.push((Rule::new(Verdict::Allow, pattern)?, effects));
        Ok(self)
    }

    /// The annotations with what the user says in place of what the server says. With a word of the user's, that word
    /// alone is believed of an untrusted server.
    fn apply(&self, call: &Call<'_>) -> Effects {
        let mut said = match call.trust {
            Trust::Untrusted => ToolAnnotations::new(),
            Trust::Trusted => call.annotations.cloned().unwrap_or_default(),
        };
        let mut is_overridden = false;
        for (_, effects) in self.0.iter().filter(|(rule, _)| rule.matches(call.server, call.tool)) {
            is_overridden = true;
            said.read_only_hint = effects.read_only_hint.or(said.read_only_hint);
            said.destructive_hint = effects.destructive_hint.or(said.destructive_hint);
            said.idempotent_hint = effects.idempotent_hint.or(said.idempotent_hint);
            said.open_world_hint = effects.open_world_hint.or(said.open_world_hint);
        }
        match is_overridden {
            true => Effects::said(&said),
            false => Effects::of(call.annotations, call.trust),
        }
    }
}

/// What happens to a call no rule and no memory speaks of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stance {
    /// By its effects: what only reads is made; what may destroy or reaches the world outside is asked.
    #[default]
    ByEffects,
    /// Everything is asked.
    AskAlways,
    /// Everything is made: for those who are in a sandbox, or have written their rules.
    AllowAll,
    /// Nothing is made.
    DenyAll,
    /// The user asked for this very call: it is made, unless the tool is annotated as destructive and its server is not
    /// trusted; then somebody is asked.
    Requested,
}

/// A call that is to be decided.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The server.
    pub server: &'a str,
    /// The tool, by the server's own name for it.
    pub tool: &'a str,
    /// What the tool says of itself.
    pub annotations: Option<&'a ToolAnnotations>,
    /// Whether that is believed.
    pub trust: Trust,
}

/// A verdict and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// What happens.
    pub verdict: Verdict,
    /// Why.
    pub reason: Reason,
}

/// Why a verdict is what it is; its text is for people.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Reason {
    /// A rule says so.
    Rule(Rule),
    /// Somebody answered so before.
    Remembered(Recalled),
    /// Somebody answered so now.
    Answered(Memory),
    /// By what the tool does.
    Effects(Effects),
    /// The policy says so of everything.
    Stance(Stance),
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.verdict {
            Verdict::Allow => f.write_str("allowed: ")?,
            Verdict::Ask => f.write_str("needs to be asked: ")?,
            Verdict::Deny => f.write_str("denied: ")?,
        }
        match &self.reason {
            Reason::Rule(rule) => write!(f, "the rule `{rule}` says so"),
            Reason::Remembered(Recalled { memory: Memory::Always, .. }) => {
                f.write_str("this was answered for good")
            }
            Reason::Remembered(_) => f.write_str("this was answered for the session"),
            Reason::Answered(_) => f.write_str("this was answered just now"),
            Reason::Effects(effects) if effects.read_only => f.write_str("it only reads"),
            Reason::Effects(Effects { destructive: true, open_world: true, .. }) => {
                f.write_str("it may destroy something and reaches the world outside, as far as is known")
            }
            Reason::Effects(Effects { destructive: true, .. }) => f.write_str("it may destroy something"),
            Reason::Effects(Effects { open_world: true, .. }) => f.write_str("it reaches the world outside"),
            Reason::Effects(_) => f.write_str("it destroys nothing and stays inside"),
            Reason::Stance(Stance::AskAlways) => f.write_str("every call is asked"),
            Reason::Stance(Stance::AllowAll) => f.write_str("every call is allowed"),
            Reason::Stance(Stance::Requested) => f.write_str("calling it is consent"),
            Reason::Stance(_) => f.write_str("no rule allows it"),
        }
    }
}

/// What the user wants, written down.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Policy {
    /// Rules.
    pub rules: Rules,
    /// What the user knows better than servers.
    pub overrides: Overrides,
    /// What happens where nothing else is said.
    pub stance: Stance,
}

impl Policy {
    /// With these rules, and else by effects.
    pub fn new(rules: Rules) -> Self {
        Self { rules, ..Self::default() }
    }

    /// With this stance.
    #[must_use]
    pub fn with_stance(mut self, stance: Stance) -> Self {
        self.stance = stance;
        self
    }

    /// With these overrides.
    #[must_use]
    pub fn with_overrides(mut self, overrides: Overrides) -> Self {
        self.overrides = overrides;
        self
    }

    /// What is believed of a tool's effects.
    pub fn effects(&self, call: &Call<'_>) -> Effects {
        self.overrides.apply(call)
    }

    /// What happens to a call, given what was answered before. Depends on its arguments alone.
    pub fn decide(&self, call: &Call<'_>, recalled: Option<Recalled>) -> Decision {
        let found = self.rules.find(call.server, call.tool);
        let by_rule = |rule: &Rule| Decision { verdict: rule.verdict(), reason: Reason::Rule(rule.clone()) };
        // Somebody who wrote `ask` wants to be asked each time, whatever was answered before; a no still counts.
        let refused = recalled.filter(|recalled| recalled.answer == Answer::Deny);
        if let Some(rule) = found.deny {
            return by_rule(rule);
        }
        if let Some(recalled) = refused {
            return Decision { verdict: Verdict::Deny, reason: Reason::Remembered(recalled) };
        }
        if let Some(rule) = found.ask {
            return by_rule(rule);
        }
        if let Some(recalled) = recalled {
            return Decision { verdict: Verdict::Allow, reason: Reason::Remembered(recalled) };
        }
        if let Some(rule) = found.allow {
            return by_rule(rule);
        }
        let by_stance = |verdict| Decision { verdict, reason: Reason::Stance(self.stance) };
        match self.stance {
            Stance::AskAlways => by_stance(Verdict::Ask),
            Stance::AllowAll => by_stance(Verdict::Allow),
            Stance::DenyAll => by_stance(Verdict::Deny),
            Stance::Requested => {
                let is_marked = |said: &&ToolAnnotations| {
                    said.destructive_hint == Some(true) && said.read_only_hint != Some(true)
                };
                match call.annotations.filter(is_marked) {
                    Some(said) if call.trust == Trust::Untrusted => {
                        Decision { verdict: Verdict::Ask, reason: Reason::Effects(Effects::said(said)) }
                    }
                    _ => by_stance(Verdict::Allow),
                }
            }
            Stance::ByEffects => {
                let effects = self.effects(call);
                let is_harmless = effects.read_only || !(effects.destructive || effects.open_world);
                let verdict = if is_harmless { Verdict::Allow } else { Verdict::Ask };
                Decision { verdict, reason: Reason::Effects(effects) }
            }
        }
    }
}
