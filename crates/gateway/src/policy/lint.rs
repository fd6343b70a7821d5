//! Warnings about rules that can never take effect, and about rules that match no known target.

use std::fmt;

use super::decision::RuleRef;
use super::name_set::NameSet;
use super::rule::{Effect, PolicyRule};
use super::selector::{Annotation, NameCondition, Selector};
use super::target::{Target, TargetKind, TargetView};

/// A remark about a rule that probably does not do what its author wants.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PolicyWarning {
    /// The rule.
    pub rule: RuleRef,
    /// The line of the rule, from 1.
    pub line: usize,
    /// The kind of warning.
    pub kind: PolicyWarningKind,
}

/// The kind of a [`PolicyWarning`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PolicyWarningKind {
    /// A list of the rule is empty, so that nothing matches.
    EmptySet(&'static str),
    /// Two conditions exclude each other.
    Contradiction(&'static str),
    /// Another rule already decides all calls of this one.
    Shadowed(RuleRef),
    /// The rule allows what the default allows.
    AllowedByDefault,
    /// The rule matches none of the known targets.
    NoTarget,
}

impl fmt::Display for PolicyWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {} ", self.line, self.rule)?;
        match &self.kind {
            PolicyWarningKind::EmptySet(key) => write!(f, "can never match: `{key}` is an empty list"),
            PolicyWarningKind::Contradiction(why) => write!(f, "can never match: {why}"),
            PolicyWarningKind::Shadowed(other) => {
                write!(f, "has no effect: {other} already decides all its calls")
            }
            PolicyWarningKind::AllowedByDefault => f.write_str(
                "has no effect: the default already allows its calls; deny them by default, or remove it",
            ),
            PolicyWarningKind::NoTarget => {
                f.write_str("matches nothing that the servers offer; check its names")
            }
        }
    }
}

/// Finds the rules that can never take effect.
pub(super) fn find_ineffective(default: Effect, rules: &[PolicyRule]) -> Vec<PolicyWarning> {
    // Pairs are compared only up to this number of rules: loading stays quick.
    const MAX_COMPARED: usize = 1_000;
    let compared = &rules[..rules.len().min(MAX_COMPARED)];
    let find = |rule: &PolicyRule| {
        empty_set(rule)
            .map(PolicyWarningKind::EmptySet)
            .or_else(|| contradiction(rule).map(PolicyWarningKind::Contradiction))
            .or_else(|| {
                let mut others = compared.iter().filter(|_| rule.index < MAX_COMPARED);
                let shadow = others.find(|other| shadows(other, rule));
                shadow.map(|other| PolicyWarningKind::Shadowed(other.reference()))
            })
            .or_else(|| {
                let is_moot = default == Effect::Allow && rule.effect == Effect::Allow;
                is_moot.then_some(PolicyWarningKind::AllowedByDefault)
            })
    };
    rules.iter().filter_map(|rule| Some(warning(rule, find(rule)?))).collect()
}

/// Finds the rules that match none of the targets. Rules about kinds that no target has are left out: those targets are not
/// known.
pub(super) fn find_unmatched<'a>(
    rules: &[PolicyRule],
    catalog: impl IntoIterator<Item = Target<'a>>,
) -> Vec<PolicyWarning> {
    let mut unmatched: Vec<&PolicyRule> = rules.iter().collect();
    let mut known_kinds = Vec::new();
    for target in catalog {
        if !known_kinds.contains(&target.kind.base()) {
            known_kinds.push(target.kind.base());
        }
        let view = TargetView::new(&target);
        // The rules of derived kinds are about targets that are not listed: their base counts.
        let matches = |rule: &PolicyRule| {
            let mut selector = rule.selector.clone();
            selector.kinds = selector.kinds.iter().map(|kind| kind.base()).collect();
            // A deny rule in its widest reading: what it may match is not misspelled.
            selector.matches_target(&view, Effect::Deny) || selector.matches_target(&view, Effect::Allow)
        };
        unmatched.retain(|rule| !matches(rule));
    }
    let is_known = |rule: &&PolicyRule| {
        TargetKind::ALL
            .iter()
            .any(|kind| known_kinds.contains(&kind.base()) && rule.selector.includes_kind(*kind))
    };
    unmatched.into_iter().filter(is_known).map(|rule| warning(rule, PolicyWarningKind::NoTarget)).collect()
}

fn warning(rule: &PolicyRule, kind: PolicyWarningKind) -> PolicyWarning {
    PolicyWarning { rule: rule.reference(), line: rule.line, kind }
}

fn empty_set(rule: &PolicyRule) -> Option<&'static str> {
    let selector = &rule.selector;
    let sets = [
        ("principal", &selector.principal),
        ("issuer", &selector.issuer),
        ("view", &selector.view),
        ("server", &selector.server),
    ];
    let is_empty = |set: &Option<NameSet>| set.as_ref().is_some_and(NameSet::is_empty);
    let by_name = match &selector.name {
        NameCondition::Any => None,
        NameCondition::Tool(names) => names.is_empty().then_some("tool"),
        NameCondition::Prompt(names) => names.is_empty().then_some("prompt"),
        NameCondition::Uri(uris) => uris.is_empty().then_some("uri"),
    };
    let by_set = sets.into_iter().find(|(_, set)| is_empty(set)).map(|(key, _)| key);
    let by_argument = rule.conditions.iter().any(|condition| condition.is_unsatisfiable()).then_some("in");
    by_set.or(by_name).or(by_argument)
}

fn contradiction(rule: &PolicyRule) -> Option<&'static str> {
    let selector = &rule.selector;
    let included = |kind: &TargetKind| selector.includes_kind(*kind);
    if !TargetKind::ALL.iter().any(included) {
        return Some("no target of its `kind` has this name or these annotations");
    }
    let expects = |annotation, expected| {
        selector.annotations.iter().any(|own| own.annotation == annotation && own.expected == expected)
    };
    if expects(Annotation::ReadOnly, true)
        && (expects(Annotation::Destructive, true) || expects(Annotation::Idempotent, false))
    {
        return Some("a read-only tool is not destructive, and is idempotent");
    }
    let has_arguments = |kind: &TargetKind| included(kind) && kind.has_arguments();
    if !rule.conditions.is_empty() && !TargetKind::ALL.iter().any(has_arguments) {
        return Some("only tools and prompts have arguments");
    }
    None
}

/// Returns whether `other` decides all calls of `rule`, so that `rule` has no effect.
fn shadows(other: &PolicyRule, rule: &PolicyRule) -> bool {
    if other.index == rule.index {
        return false;
    }
    let is_effective = match (other.effect, rule.effect) {
        (Effect::Deny, _) => other.scopes.is_empty() && other.conditions.is_empty(),
        (Effect::Allow, Effect::Allow) => {
            other.conditions.is_empty() && other.scopes.iter().all(|scope| rule.scopes.contains(scope))
        }
        (Effect::Allow, Effect::Deny) => false,
    };
    // Of two equal rules the later one is named. An allow rule with conditions refuses ambiguous arguments, which a
    // wider one without conditions does not.
    let is_first =
        other.index < rule.index || !(rule.effect == other.effect && covers(&rule.selector, &other.selector));
    let is_plain = rule.conditions.is_empty() || other.effect == Effect::Deny;
    is_effective && is_first && is_plain && covers(&other.selector, &rule.selector)
}

/// Returns whether everything that `narrow` matches is certainly matched by `wide`.
fn covers(wide: &Selector, narrow: &Selector) -> bool {
    let sets = [
        (&wide.principal, &narrow.principal),
        (&wide.issuer, &narrow.issuer),
        (&wide.view, &narrow.view),
        (&wide.server, &narrow.server),
    ];
    let covers_set = |(wide, narrow): &(&Option<NameSet>, &Option<NameSet>)| match (wide, narrow) {
        (None, _) => true,
        (Some(wide), Some(narrow)) => wide.covers(narrow),
        (Some(_), None) => false,
    };
    let has_kinds =
        TargetKind::ALL.into_iter().all(|kind| !narrow.includes_kind(kind) || wide.includes_kind(kind));
    let has_names = match (&wide.name, &narrow.name) {
        (NameCondition::Any, _) => true,
        (NameCondition::Tool(wide), NameCondition::Tool(narrow))
        | (NameCondition::Prompt(wide), NameCondition::Prompt(narrow)) => wide.covers(narrow),
        (NameCondition::Uri(wide), NameCondition::Uri(narrow)) => wide.covers_set(narrow),
        _ => false,
    };
    let has_annotations = wide.annotations.iter().all(|own| narrow.annotations.contains(own));
    sets.iter().all(covers_set) && has_kinds && has_names && has_annotations
}
