//! Selectors: which callers and targets a rule is about, arguments apart. Shared by rules, limits and audit.

use super::document::TomlTable;
use super::error::PolicyError;
use super::name_set::NameSet;
use super::rule::Effect;
use super::subject::Subject;
use super::target::{Target, TargetKind, TargetView};
use super::uri_set::{TemplateReading, UriSet};

/// The keys of a selector in a document.
pub(crate) const SELECTOR_KEYS: [&str; 10] =
    ["principal", "issuer", "view", "server", "kind", "tool", "prompt", "uri", "ignore_case", "annotations"];

/// A set of callers and targets. A condition that is absent is met by all.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Selector {
    pub(super) principal: Option<NameSet>,
    pub(super) issuer: Option<NameSet>,
    pub(super) view: Option<NameSet>,
    pub(super) server: Option<NameSet>,
    pub(super) kinds: Vec<TargetKind>,
    pub(super) name: NameCondition,
    pub(super) annotations: Vec<AnnotationCondition>,
}

/// A condition on the name of a target.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum NameCondition {
    Any,
    Tool(NameSet),
    Prompt(NameSet),
    Uri(UriSet),
}

/// A condition on an annotation of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AnnotationCondition {
    pub(super) annotation: Annotation,
    pub(super) expected: bool,
}

/// An annotation of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Annotation {
    ReadOnly,
    Destructive,
    Idempotent,
    OpenWorld,
}

impl Annotation {
    const NAMES: [(&'static str, Self); 4] = [
        ("read_only", Self::ReadOnly),
        ("destructive", Self::Destructive),
        ("idempotent", Self::Idempotent),
        ("open_world", Self::OpenWorld),
    ];
}

impl Selector {
    /// Reads the selector of a table. `default_issuer` is that of principals that are named without one.
    ///
    /// # Errors
    /// When a condition is invalid.
    pub(crate) fn read(table: &TomlTable<'_>, default_issuer: Option<&str>) -> Result<Self, PolicyError> {
        let ignores_case = table.boolean("ignore_case")?.unwrap_or(false);
        let exact = |key: &str| Ok(table.strings(key)?.map(|globs| NameSet::new(globs, false)));
        let folded = |key: &str| Ok(table.strings(key)?.map(|globs| NameSet::new(globs, ignores_case)));
        let principal: Option<NameSet> = exact("principal")?;
        let issuer: Option<NameSet> = match (exact("issuer")?, &principal) {
            (None, Some(names)) if !names.is_everything() => {
                default_issuer.map(|issuer| NameSet::new([issuer], false))
            }
            (issuer, _) => issuer,
        };
        let mut name = NameCondition::Any;
        let mut named_by = None;
        for key in ["tool", "prompt", "uri"] {
            let Some(entry) = table.get(key) else { continue };
            if let Some(other) = named_by.replace(key) {
                return Err(entry.invalid(format!("a rule has either `{other}` or `{key}`; write two rules")));
            }
            let globs = entry.strings()?;
            name = match key {
                "tool" => NameCondition::Tool(NameSet::new(globs, ignores_case)),
                "prompt" => NameCondition::Prompt(NameSet::new(globs, ignores_case)),
                _ => NameCondition::Uri(UriSet::new(globs).map_err(|why| entry.invalid(why))?),
            };
        }
        Ok(Self {
            principal,
            issuer,
            view: exact("view")?,
            server: folded("server")?,
            kinds: read_kinds(table)?,
            name,
            annotations: read_annotations(table)?,
        })
    }

    /// Returns whether the selector matches. Where there is more than one reading, the effect decides which one counts.
    pub(crate) fn matches(&self, subject: &Subject<'_>, view: &TargetView<'_>, effect: Effect) -> bool {
        self.matches_caller(subject, effect) && self.matches_target(view, effect)
    }

    /// Returns whether the selector matches the caller, whatever the target.
    pub(crate) fn matches_caller(&self, subject: &Subject<'_>, effect: Effect) -> bool {
        let is_view = match (&self.view, subject.view) {
            (Some(set), Some(view)) => set.matches(view),
            (Some(_), None) => false,
            (None, _) => true,
        };
        let is_principal = match (&self.principal, subject.principal) {
            (Some(set), Some(principal)) => set.matches(principal),
            (Some(_), None) => false,
            (None, _) => true,
        };
        let names_someone = self.principal.as_ref().is_some_and(|principals| !principals.is_everything());
        let is_issuer = match (&self.issuer, subject.issuer) {
            (Some(issuers), Some(issuer)) => issuers.matches(issuer),
            (Some(_), None) => false,
            // The same subject of another issuer is another person: a name alone allows local callers only.
            (None, Some(_)) => !names_someone || effect == Effect::Deny,
            (None, None) => true,
        };
        is_view && is_principal && is_issuer
    }

    pub(super) fn matches_target(&self, view: &TargetView<'_>, effect: Effect) -> bool {
        let target = view.target;
        self.includes_kind(target.kind)
            && self.server.as_ref().is_none_or(|servers| servers.matches(target.server))
            && self.matches_name(view, effect)
            && self.annotations.iter().all(|condition| condition.matches(target))
    }

    fn matches_name(&self, view: &TargetView<'_>, effect: Effect) -> bool {
        let target = view.target;
        match &self.name {
            NameCondition::Any => true,
            NameCondition::Tool(names) | NameCondition::Prompt(names) => names.matches(target.name),
            NameCondition::Uri(_)
                if target.kind.base() == TargetKind::Template
                    && matches!(view.template(), TemplateReading::Invalid) =>
            {
                effect == Effect::Deny
            }
            NameCondition::Uri(uris) => match (target.kind, effect) {
                // In a list: hidden if every URI is denied, shown if some URI may be allowed.
                (TargetKind::Template, Effect::Deny) => uris.covers(view.template()),
                (TargetKind::Template, Effect::Allow) => uris.intersects(view.template()),
                // Suggestions name URIs: none may be denied, and all must be allowed.
                (TargetKind::TemplateCompletion, Effect::Deny) => uris.intersects(view.template()),
                (TargetKind::TemplateCompletion, Effect::Allow) => uris.covers(view.template()),
                _ => uris.matches(view.uri(), effect),
            },
        }
    }

    /// Returns whether all targets of a kind match, whatever their server and name.
    pub(super) fn includes_all_of_kind(&self, kind: TargetKind) -> bool {
        let has_every_name = match &self.name {
            NameCondition::Any => true,
            NameCondition::Tool(names) | NameCondition::Prompt(names) => names.is_everything(),
            NameCondition::Uri(uris) => uris.is_everything(),
        };
        has_every_name
            && self.includes_kind(kind)
            && self.server.as_ref().is_none_or(NameSet::is_everything)
            && self.annotations.is_empty()
    }

    /// Returns whether targets of a kind can match: by the kinds, the name condition and the annotations.
    pub(super) fn includes_kind(&self, kind: TargetKind) -> bool {
        let is_listed = |listed: &TargetKind| {
            // A rule about resources is a rule about the templates that stand for them.
            let is_template_of = *listed == TargetKind::Resource && kind.base() == TargetKind::Template;
            *listed == kind || *listed == kind.base() || is_template_of
        };
        let has_name = match self.name {
            NameCondition::Any => true,
            NameCondition::Tool(_) => kind.base() == TargetKind::Tool,
            NameCondition::Prompt(_) => kind.base() == TargetKind::Prompt,
            NameCondition::Uri(_) => kind.is_uri(),
        };
        let is_kind = self.kinds.is_empty() || self.kinds.iter().any(is_listed);
        is_kind && has_name && (self.annotations.is_empty() || kind.base() == TargetKind::Tool)
    }
}

impl AnnotationCondition {
    fn matches(self, target: &Target<'_>) -> bool {
        let default = switchboard_protocol::ToolAnnotations::default();
        let annotations = target.annotations.unwrap_or(&default);
        let found = match self.annotation {
            Annotation::ReadOnly => annotations.is_read_only(),
            Annotation::Destructive => annotations.is_destructive(),
            Annotation::Idempotent => annotations.is_idempotent(),
            Annotation::OpenWorld => annotations.is_open_world(),
        };
        found == self.expected
    }
}

fn read_kinds(table: &TomlTable<'_>) -> Result<Vec<TargetKind>, PolicyError> {
    let Some(entry) = table.get("kind") else { return Ok(Vec::new()) };
    let mut kinds = Vec::new();
    for word in entry.strings()? {
        let found = TargetKind::ALL.into_iter().filter(|kind| kind.as_str() == word);
        let before = kinds.len();
        kinds.extend(found);
        if kinds.len() == before {
            let mut known: Vec<&str> = TargetKind::ALL.into_iter().map(TargetKind::as_str).collect();
            known.dedup();
            return Err(entry.invalid(format!("`{word}` is not a kind; known are {}", known.join(", "))));
        }
    }
    match kinds.is_empty() {
        true => Err(entry.invalid("an empty list of kinds matches nothing; leave `kind` out to match all")),
        false => Ok(kinds),
    }
}

fn read_annotations(table: &TomlTable<'_>) -> Result<Vec<AnnotationCondition>, PolicyError> {
    let Some(entry) = table.get("annotations") else { return Ok(Vec::new()) };
    let annotations = entry.table()?;
    annotations.check_keys(&Annotation::NAMES.map(|(name, _)| name))?;
    let mut conditions = Vec::new();
    for (name, annotation) in Annotation::NAMES {
        if let Some(expected) = annotations.boolean(name)? {
            conditions.push(AnnotationCondition { annotation, expected });
        }
    }
    Ok(conditions)
}
