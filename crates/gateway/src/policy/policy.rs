//! The policy: decides about calls and filters lists.

use std::collections::BTreeSet;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};

use switchboard_protocol::Raw;

use super::argument_path::ArgumentPath;
use super::decision::{Decision, DenyReason};
use super::document::{parse_document, parse_section};
use super::error::PolicyError;
use super::explanation::{MatchingRule, PolicyExplanation};
use super::inspection::inspect;
use super::lint::{PolicyWarning, find_ineffective, find_unmatched};
use super::name_set::NameSet;
use super::rule::{Effect, PolicyRule, RuleStatus};
use super::rule_document::{PolicyDocument, read_rules};
use super::subject::Subject;
use super::table::DecisionTable;
use super::target::{Target, TargetKind, TargetView, has_invisible_characters};

/// Rules about calls, compiled. Immutable; a changed document is a new policy.
#[derive(Debug)]
pub struct Policy {
    default: Effect,
    rules: Vec<PolicyRule>,
    table: DecisionTable,
    /// The servers whose annotations rules rely on.
    trusted: NameSet,
    warnings: Vec<PolicyWarning>,
    /// Whether each rule has decided about a request.
    used: Box<[AtomicBool]>,
}

/// The arguments of a decision.
#[derive(Clone, Copy)]
enum DecidedArguments<'a> {
    Given(Option<&'a Raw>),
    /// Any arguments: conditions of deny rules may not hold, and those of allow rules may.
    Unknown,
}

/// What the matching rules say together.
#[derive(Default)]
struct Verdicts<'a> {
    denied_by: Option<&'a PolicyRule>,
    allowed_by: Option<&'a PolicyRule>,
    /// A deny rule that scopes would lift, and all these scopes.
    lifted_by: Option<(&'a PolicyRule, BTreeSet<String>)>,
    /// The allow rule that needs the fewest further scopes.
    needs: Option<(&'a PolicyRule, Vec<String>)>,
}

impl Policy {
    /// Returns the policy that allows everything.
    pub fn allow_all() -> Self {
        Self::new(PolicyDocument {
            default: Effect::Allow,
            rules: Vec::new(),
            trusted: NameSet::new([""; 0], false),
        })
    }

    /// Parses a document.
    ///
    /// # Errors
    /// Names the line, the rule and the key that is invalid.
    pub fn parse(text: &str) -> Result<Self, PolicyError> {
        Ok(Self::new(parse_document(text, read_rules)?))
    }

    /// Compiles the document in the table `section` of another document, such as `[policy]` of a gateway's configuration.
    ///
    /// # Errors
    /// As [`Self::parse`]; when there is no such table.
    pub fn parse_section(text: &str, section: &str) -> Result<Self, PolicyError> {
        Ok(Self::new(parse_section(text, section, read_rules)?))
    }

    fn new(PolicyDocument { default, rules, trusted }: PolicyDocument) -> Self {
        let table = DecisionTable::new(&rules);
        let warnings = find_ineffective(default, &rules);
        let used = rules.iter().map(|_| AtomicBool::new(false)).collect();
        Self { default, rules, table, trusted, warnings, used }
    }

    /// Returns the effect on calls that no rule matches.
    pub fn default_effect(&self) -> Effect {
        self.default
    }

    /// Returns whether rules rely on the annotations that a server lists (`trust_annotations`). For other servers, pass
    /// none.
    pub fn trusts_annotations(&self, server: &str) -> bool {
        self.trusted.matches(server)
    }

    /// Returns the number of rules.
    pub fn rule_count(&self) -> usize {
        self.rules.len()
    }

    /// Returns the rules in order, as they are written, with whether each has decided about a request of a gateway.
    pub fn rules(&self) -> impl Iterator<Item = RuleStatus> + '_ {
        let status = |(rule, used): (&PolicyRule, &AtomicBool)| RuleStatus {
            rule: rule.reference(),
            effect: rule.effect,
            source_json: rule.source.clone(),
            has_decided: used.load(Ordering::Relaxed),
        };
        self.rules.iter().zip(&self.used).map(status)
    }

    /// Remembers that a rule has decided about a request.
    pub(crate) fn mark_used(&self, decision: &Decision) {
        if let Some(used) = decision.rule().and_then(|rule| self.used.get(rule.index)) {
            used.store(true, Ordering::Relaxed);
        }
    }

    /// Returns the rules that can never take effect.
    pub fn warnings(&self) -> &[PolicyWarning] {
        &self.warnings
    }

    /// Returns the principals, with their issuers, that rules name without wildcards.
    pub fn named_principals(&self) -> BTreeSet<(String, Option<String>)> {
        fn literals(set: Option<&NameSet>) -> Vec<&str> {
            set.and_then(NameSet::literals).map(Iterator::collect).unwrap_or_default()
        }
        let mut named = BTreeSet::new();
        for rule in &self.rules {
            let issuers = literals(rule.selector.issuer.as_ref());
            for principal in literals(rule.selector.principal.as_ref()) {
                match issuers.is_empty() {
                    true => _ = named.insert((principal.to_owned(), None)),
                    false => named.extend(
                        issuers.iter().map(|issuer| (principal.to_owned(), Some((*issuer).to_owned()))),
                    ),
                }
            }
        }
        named
    }

    /// Returns the rules that match none of these targets: they are probably misspelled.
    pub fn unmatched<'a>(&self, catalog: impl IntoIterator<Item = Target<'a>>) -> Vec<PolicyWarning> {
        find_unmatched(&self.rules, catalog)
    }

    /// Decides about a call. `arguments` are the bytes that are sent on; none count as an empty object.
    ///
    /// The arguments of a derived target, such as a task, are those of the call that created it. Without them the
    /// decision is that of [`Self::is_visible`]: the call itself was decided about.
    pub fn decide(&self, subject: &Subject<'_>, target: &Target<'_>, arguments: Option<&Raw>) -> Decision {
        let is_derived = target.kind != target.kind.base();
        let arguments = match arguments {
            None if is_derived => DecidedArguments::Unknown,
            // Peers treat `"arguments": null` like none.
            Some(raw) if raw.as_str() == "null" => DecidedArguments::Given(None),
            arguments => DecidedArguments::Given(arguments),
        };
        self.decide_about(subject, target, arguments)
    }

    /// Returns whether a list shows the target: `false` only if every call of it would be denied. A call that needs a
    /// further scope counts as possible, so that a client can ask for the scope.
    pub fn is_visible(&self, subject: &Subject<'_>, target: &Target<'_>) -> bool {
        !matches!(self.decide_about(subject, target, DecidedArguments::Unknown), Decision::Deny { .. })
    }

    /// Returns whether the caller may be allowed some target of a kind: `false` only if [`Self::is_visible`] is `false` for every
    /// target of it, whatever servers and names there are.
    pub fn may_show_kind(&self, subject: &Subject<'_>, kind: TargetKind) -> bool {
        let mut may_allow = self.default == Effect::Allow;
        for rule in self.rules.iter().filter(|rule| rule.selector.matches_caller(subject, rule.effect)) {
            let applies = rule.conditions.is_empty() || kind.has_arguments();
            match rule.effect {
                // One that scopes lift denies nothing for certain: the client can ask for them.
                Effect::Deny
                    if rule.conditions.is_empty()
                        && rule.scopes.is_empty()
                        && rule.selector.includes_all_of_kind(kind) =>
                {
                    return false;
                }
                Effect::Deny => {}
                Effect::Allow => may_allow |= applies && rule.selector.includes_kind(kind),
            }
        }
        may_allow
    }

    /// Explains what the rules say about a target, for operators.
    pub fn explain(&self, subject: &Subject<'_>, target: &Target<'_>) -> PolicyExplanation {
        let view = TargetView::new(target);
        let rules = self.table.candidates(target).into_iter().map(|index| &self.rules[index]);
        let matching = rules.filter(|rule| rule.selector.matches(subject, &view, rule.effect));
        PolicyExplanation {
            listing: self.decide_about(subject, target, DecidedArguments::Unknown),
            rules: matching.map(|rule| MatchingRule::new(rule, subject)).collect(),
        }
    }

    fn decide_about(
        &self,
        subject: &Subject<'_>,
        target: &Target<'_>,
        arguments: DecidedArguments<'_>,
    ) -> Decision {
        let by_default = || match self.default {
            Effect::Allow => Decision::Allow { rule: None },
            Effect::Deny => Decision::Deny { rule: None, reason: DenyReason::Default },
        };
        if self.rules.is_empty() {
            return by_default();
        }
        if !target.kind.is_uri() && has_invisible_characters(target.name) {
            return Decision::Deny { rule: None, reason: DenyReason::InvisibleCharacters };
        }
        let view = TargetView::new(target);
        let candidates = self.table.candidates(target);
        let matching = candidates.into_iter().map(|index| &self.rules[index]);
        let matching: Vec<&PolicyRule> =
            matching.filter(|rule| rule.selector.matches(subject, &view, rule.effect)).collect();
        if let DecidedArguments::Given(Some(raw)) = arguments
            && let Some(denied) = refuse_ambiguous(&matching, target.kind, raw)
        {
            return denied;
        }
        let mut verdicts = Verdicts::default();
        for rule in matching {
            verdicts.add(rule, subject, target.kind, arguments);
        }
        verdicts.decide(self.default).unwrap_or_else(by_default)
    }
}

impl FromStr for Policy {
    type Err = PolicyError;

    fn from_str(text: &str) -> Result<Self, PolicyError> {
        Self::parse(text)
    }
}

/// Refuses arguments that peers read differently on the path of a rule.
fn refuse_ambiguous(matching: &[&PolicyRule], kind: TargetKind, arguments: &Raw) -> Option<Decision> {
    if !kind.has_arguments() {
        return None;
    }
    let first = matching.iter().find(|rule| !rule.conditions.is_empty())?;
    let paths: Vec<&ArgumentPath> =
        matching.iter().flat_map(|rule| rule.conditions.iter().map(|condition| &condition.path)).collect();
    let reason = inspect(arguments, &paths).err()?;
    Some(Decision::Deny { rule: Some(first.reference()), reason })
}

impl<'a> Verdicts<'a> {
    fn add(
        &mut self,
        rule: &'a PolicyRule,
        subject: &Subject<'_>,
        kind: TargetKind,
        arguments: DecidedArguments<'_>,
    ) {
        let accepts = match arguments {
            // Only tools and prompts have arguments.
            _ if !rule.conditions.is_empty() && !kind.has_arguments() => false,
            DecidedArguments::Given(arguments) => rule.accepts_arguments(arguments),
            DecidedArguments::Unknown => rule.effect == Effect::Allow || rule.conditions.is_empty(),
        };
        if !accepts {
            return;
        }
        let missing = rule.missing_scopes(subject);
        match rule.effect {
            Effect::Deny if rule.scopes.is_empty() => {
                self.denied_by.get_or_insert(rule);
            }
            Effect::Deny if !missing.is_empty() => {
                let (_, scopes) = self.lifted_by.get_or_insert_with(|| (rule, BTreeSet::new()));
                scopes.extend(missing);
            }
            Effect::Deny => {}
            Effect::Allow if missing.is_empty() => {
                self.allowed_by.get_or_insert(rule);
            }
            Effect::Allow => {
                let rank = |scopes: &Vec<String>| (scopes.len(), scopes.clone());
                let is_better = self.needs.as_ref().is_none_or(|(_, known)| rank(&missing) < rank(known));
                if is_better {
                    self.needs = Some((rule, missing));
                }
            }
        }
    }

    /// Combines the verdicts: deny overrides, then scopes, then allow. `None` leaves it to the default.
    fn decide(self, default: Effect) -> Option<Decision> {
        let Self { denied_by, allowed_by, lifted_by, needs } = self;
        if let Some(rule) = denied_by {
            return Some(Decision::Deny { rule: Some(rule.reference()), reason: DenyReason::Rule });
        }
        let is_allowed = allowed_by.is_some() || default == Effect::Allow;
        let needs = needs.filter(|_| !is_allowed);
        if !is_allowed && needs.is_none() {
            return None;
        }
        let asked_by = lifted_by.as_ref().map(|(rule, _)| *rule).or(needs.as_ref().map(|(rule, _)| *rule));
        if let Some(rule) = asked_by {
            let mut scopes = lifted_by.map(|(_, scopes)| scopes).unwrap_or_default();
            scopes.extend(needs.map(|(_, scopes)| scopes).unwrap_or_default());
            return Some(Decision::MissingScope {
                rule: Some(rule.reference()),
                scopes: scopes.into_iter().collect(),
            });
        }
        allowed_by.map(|rule| Decision::Allow { rule: Some(rule.reference()) })
    }
}
