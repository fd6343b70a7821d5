//! The permission policy: from rules, remembered answers and effects to a decision. Pure functions.

use std::fmt;

use switchboard_config::{Rule, RuleError, Rules, Verdict};
use switchboard_protocol::ToolAnnotations;

use crate::permission::approver::{AnswerLifetime, ApprovalAnswer};
use crate::permission::ledger::RememberedAnswer;

/// Whether the annotations of a server's tools are trusted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trust {
    /// Not trusted: every tool is assumed to be destructive and to interact with external entities.
    #[default]
    Untrusted,
    /// Trusted by the user.
    Trusted,
}

/// The assumed effects of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Effects {
    /// Does not modify its environment.
    pub read_only: bool,
    /// May perform destructive updates.
    pub destructive: bool,
    /// Repeating a call has no further effect.
    pub idempotent: bool,
    /// Interacts with external entities.
    pub open_world: bool,
}

impl Effects {
    /// The worst case, assumed of untrusted tools.
    pub const WORST: Self = Self { read_only: false, destructive: true, idempotent: false, open_world: true };

    /// Returns the assumed effects of a tool with these annotations.
    pub fn believed(annotations: Option<&ToolAnnotations>, trust: Trust) -> Self {
        match (trust, annotations) {
            (Trust::Untrusted, _) => Self::WORST,
            (Trust::Trusted, None) => Self::from_annotations(&ToolAnnotations::new()),
            (Trust::Trusted, Some(annotations)) => Self::from_annotations(annotations),
        }
    }

    fn from_annotations(annotations: &ToolAnnotations) -> Self {
        Self {
            read_only: annotations.is_read_only(),
            destructive: annotations.is_destructive(),
            idempotent: annotations.is_idempotent(),
            open_world: annotations.is_open_world(),
        }
    }
}

/// Annotations set by the user for tools that match a pattern; they override those of the server.
///
/// ```
/// use switchboard::host::permission::{EffectOverrides, Policy, PolicyCall, Rules, Trust, Verdict};
/// use switchboard::protocol::ToolAnnotations;
///
/// let reads = ToolAnnotations::new().with_read_only_hint(true);
/// let overrides = EffectOverrides::new().with("mcp__files__list", reads)?;
/// let policy = Policy::new(Rules::new([])).with_overrides(overrides);
/// let call = PolicyCall { server: "files", tool: "list", annotations: None, trust: Trust::Untrusted };
/// assert_eq!(policy.decide(&call, None).verdict, Verdict::Allow);
/// # Ok::<(), switchboard::host::permission::RuleError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EffectOverrides(Vec<(Rule, ToolAnnotations)>);

impl EffectOverrides {
    /// Creates an empty set of overrides.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds annotations for a pattern, which is written as in a rule. For each hint the last match that has it wins.
    ///
    /// # Errors
    /// When the pattern is invalid.
    pub fn with(mut self, pattern: &str, effects: ToolAnnotations) -> Result<Self, RuleError> {
        // Matches as strictly as an allow rule: an override can make effects look harmless.
        self.0.push((Rule::new(Verdict::Allow, pattern)?, effects));
        Ok(self)
    }

    /// Returns the effects with overrides applied. For an untrusted server only the overrides count.
    fn apply(&self, call: &PolicyCall<'_>) -> Effects {
        let mut annotations = match call.trust {
            Trust::Untrusted => ToolAnnotations::new(),
            Trust::Trusted => call.annotations.cloned().unwrap_or_default(),
        };
        let mut is_overridden = false;
        for (_, effects) in self.0.iter().filter(|(rule, _)| rule.matches(call.server, call.tool)) {
            is_overridden = true;
            annotations.read_only_hint = effects.read_only_hint.or(annotations.read_only_hint);
            annotations.destructive_hint = effects.destructive_hint.or(annotations.destructive_hint);
            annotations.idempotent_hint = effects.idempotent_hint.or(annotations.idempotent_hint);
            annotations.open_world_hint = effects.open_world_hint.or(annotations.open_world_hint);
        }
        match is_overridden {
            true => Effects::from_annotations(&annotations),
            false => Effects::believed(call.annotations, call.trust),
        }
    }
}

/// The policy for calls without a matching rule and without a remembered answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FallbackPolicy {
    /// By effects: read-only calls are allowed; for destructive or open-world ones the user is asked.
    #[default]
    ByEffects,
    /// Asks for every call.
    AskAlways,
    /// Allows every call: for sandboxes, or with complete rules.
    AllowAll,
    /// Denies every call.
    DenyAll,
    /// The user requested this very call: it is allowed, unless the tool is annotated as destructive and its server is not
    /// trusted; then the user is asked.
    Requested,
}

/// A call, as input of [`Policy::decide`].
#[derive(Clone, Copy, Debug)]
pub struct PolicyCall<'a> {
    /// The server.
    pub server: &'a str,
    /// The name of the tool on the server.
    pub tool: &'a str,
    /// The annotations of the tool.
    pub annotations: Option<&'a ToolAnnotations>,
    /// Whether they are trusted.
    pub trust: Trust,
}

/// A verdict and its reason.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// The verdict.
    pub verdict: Verdict,
    /// Why.
    pub reason: DecisionReason,
}

/// The reason of a decision.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum DecisionReason {
    /// A rule.
    Rule(Rule),
    /// A remembered answer.
    Remembered(RememberedAnswer),
    /// The answer of the user to this call.
    Answered(AnswerLifetime),
    /// The effects of the tool.
    Effects(Effects),
    /// The fallback policy.
    Fallback(FallbackPolicy),
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.verdict {
            Verdict::Allow => f.write_str("allowed: ")?,
            Verdict::Ask => f.write_str("needs to be asked: ")?,
            Verdict::Deny => f.write_str("denied: ")?,
        }
        match &self.reason {
            DecisionReason::Rule(rule) => write!(f, "the rule `{rule}` says so"),
            DecisionReason::Remembered(RememberedAnswer { lifetime: AnswerLifetime::Always, .. }) => {
                f.write_str("this was answered for good")
            }
            DecisionReason::Remembered(_) => f.write_str("this was answered for the session"),
            DecisionReason::Answered(_) => f.write_str("this was answered just now"),
            DecisionReason::Effects(effects) if effects.read_only => f.write_str("it only reads"),
            DecisionReason::Effects(Effects { destructive: true, open_world: true, .. }) => {
                f.write_str("it may destroy something and reaches the world outside, as far as is known")
            }
            DecisionReason::Effects(Effects { destructive: true, .. }) => {
                f.write_str("it may destroy something")
            }
            DecisionReason::Effects(Effects { open_world: true, .. }) => {
                f.write_str("it reaches the world outside")
            }
            DecisionReason::Effects(_) => f.write_str("it destroys nothing and stays inside"),
            DecisionReason::Fallback(FallbackPolicy::AskAlways) => f.write_str("every call is asked"),
            DecisionReason::Fallback(FallbackPolicy::AllowAll) => f.write_str("every call is allowed"),
            DecisionReason::Fallback(FallbackPolicy::Requested) => f.write_str("calling it is consent"),
            DecisionReason::Fallback(_) => f.write_str("no rule allows it"),
        }
    }
}

/// The permission policy of a user.
///
/// ```
/// use switchboard::host::permission::{Policy, PolicyCall, Rule, Rules, Trust, Verdict};
///
/// let rules = Rules::new([Rule::new(Verdict::Allow, "mcp__files__read_*")?, Rule::new(Verdict::Deny, "mcp__shell")?]);
/// let policy = Policy::new(rules);
/// let verdict = |server, tool| {
///     policy.decide(&PolicyCall { server, tool, annotations: None, trust: Trust::Untrusted }, None).verdict
/// };
/// assert_eq!(verdict("files", "read_text"), Verdict::Allow);
/// assert_eq!(verdict("shell", "run"), Verdict::Deny);
/// assert_eq!(verdict("files", "delete"), Verdict::Ask); // no rule: by its effects
/// # Ok::<(), switchboard::host::permission::RuleError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Policy {
    /// The rules.
    pub rules: Rules,
    /// Overrides of annotations.
    pub overrides: EffectOverrides,
    /// The policy for other calls.
    pub fallback: FallbackPolicy,
}

impl Policy {
    /// Creates a policy with these rules that otherwise decides by effects.
    pub fn new(rules: Rules) -> Self {
        Self { rules, ..Self::default() }
    }

    /// Sets the fallback policy.
    #[must_use]
    pub fn with_fallback(mut self, fallback: FallbackPolicy) -> Self {
        self.fallback = fallback;
        self
    }

    /// Sets the overrides.
    #[must_use]
    pub fn with_overrides(mut self, overrides: EffectOverrides) -> Self {
        self.overrides = overrides;
        self
    }

    /// Returns the assumed effects of a tool.
    pub fn effects(&self, call: &PolicyCall<'_>) -> Effects {
        self.overrides.apply(call)
    }

    /// Decides about a call, given a remembered answer. A pure function.
    pub fn decide(&self, call: &PolicyCall<'_>, remembered: Option<RememberedAnswer>) -> Decision {
        let found = self.rules.find(call.server, call.tool);
        let by_rule =
            |rule: &Rule| Decision { verdict: rule.verdict(), reason: DecisionReason::Rule(rule.clone()) };
        // An ask rule asks for every call despite a remembered approval; a remembered denial still applies.
        let refused = remembered.filter(|remembered| remembered.answer == ApprovalAnswer::Deny);
        if let Some(rule) = found.deny {
            return by_rule(rule);
        }
        if let Some(remembered) = refused {
            return Decision { verdict: Verdict::Deny, reason: DecisionReason::Remembered(remembered) };
        }
        if let Some(rule) = found.ask {
            return by_rule(rule);
        }
        if let Some(remembered) = remembered {
            return Decision { verdict: Verdict::Allow, reason: DecisionReason::Remembered(remembered) };
        }
        if let Some(rule) = found.allow {
            return by_rule(rule);
        }
        let by_stance = |verdict| Decision { verdict, reason: DecisionReason::Fallback(self.fallback) };
        match self.fallback {
            FallbackPolicy::AskAlways => by_stance(Verdict::Ask),
            FallbackPolicy::AllowAll => by_stance(Verdict::Allow),
            FallbackPolicy::DenyAll => by_stance(Verdict::Deny),
            FallbackPolicy::Requested => {
                let is_marked = |annotations: &&ToolAnnotations| {
                    annotations.destructive_hint == Some(true) && annotations.read_only_hint != Some(true)
                };
                match call.annotations.filter(is_marked) {
                    Some(annotations) if call.trust == Trust::Untrusted => Decision {
                        verdict: Verdict::Ask,
                        reason: DecisionReason::Effects(Effects::from_annotations(annotations)),
                    },
                    _ => by_stance(Verdict::Allow),
                }
            }
            FallbackPolicy::ByEffects => {
                let effects = self.effects(call);
                let is_harmless = effects.read_only || !(effects.destructive || effects.open_world);
                let verdict = if is_harmless { Verdict::Allow } else { Verdict::Ask };
                Decision { verdict, reason: DecisionReason::Effects(effects) }
            }
        }
    }
}
