//! Sets of items that a view selects: by name, or by URI.

use super::document::{NameList, Selection};
use crate::policy::{Effect, NameSet, TemplateReading, UriReadings, UriSet};

/// The most names of one list.
pub(super) const MAX_NAMES: usize = 1_000;
/// The longest name or glob, in bytes.
pub(super) const MAX_NAME: usize = 1_024;

/// Names that are selected. Matching is exact: case and Unicode form count.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct NameSelection {
    /// `None` selects all.
    include: Option<NameSet>,
    exclude: Option<NameSet>,
}

impl NameSelection {
    pub(super) fn new(selection: Option<&Selection>) -> Result<Self, String> {
        let Some(selection) = selection else { return Ok(Self::default()) };
        let include = selection.include.as_ref().map(name_set).transpose()?;
        Ok(Self { include, exclude: Some(name_set(&selection.exclude)?) })
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.include.as_ref().is_none_or(|names| names.matches(name))
            && !self.exclude.as_ref().is_some_and(|names| names.matches(name))
    }

    /// Returns whether no name can be selected.
    pub(super) fn is_empty(&self) -> bool {
        self.include.as_ref().is_some_and(NameSet::is_empty)
            || self.exclude.as_ref().is_some_and(NameSet::is_everything)
    }
}

/// URIs that are selected. Where a URI has several readings, all must be included and none excluded.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct UriSelection {
    include: Option<UriSet>,
    exclude: Option<UriSet>,
}

impl UriSelection {
    pub(super) fn new(selection: Option<&Selection>) -> Result<Self, String> {
        let Some(selection) = selection else { return Ok(Self::default()) };
        let include = selection.include.as_ref().map(uri_set).transpose()?;
        let exclude = Some(uri_set(&selection.exclude)?).filter(|set| !set.is_empty());
        Ok(Self { include, exclude })
    }

    pub(super) fn has(&self, uri: &str) -> bool {
        if self.include.is_none() && self.exclude.is_none() {
            return true;
        }
        let readings = UriReadings::new(uri);
        self.include.as_ref().is_none_or(|uris| uris.matches(&readings, Effect::Allow))
            && !self.exclude.as_ref().is_some_and(|uris| uris.matches(&readings, Effect::Deny))
    }

    /// Returns whether some URI of a template may be selected.
    pub(super) fn has_template(&self, template: &str) -> bool {
        if self.include.is_none() && self.exclude.is_none() {
            return true;
        }
        let reading = TemplateReading::new(template);
        !matches!(reading, TemplateReading::Invalid)
            && self.include.as_ref().is_none_or(|uris| uris.intersects(&reading))
            && !self.exclude.as_ref().is_some_and(|uris| uris.covers(&reading))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.include.as_ref().is_some_and(UriSet::is_empty)
    }
}

/// Checks and compiles a list of globs.
pub(super) fn name_set(names: &NameList) -> Result<NameSet, String> {
    check_list(names)?;
    Ok(NameSet::new(&names.0, false))
}

fn uri_set(names: &NameList) -> Result<UriSet, String> {
    check_list(names)?;
    UriSet::new(names.0.clone())
}

fn check_list(NameList(names): &NameList) -> Result<(), String> {
    if names.len() > MAX_NAMES {
        return Err(format!("{} names exceed the limit of {MAX_NAMES}; use wildcards", names.len()));
    }
    match names.iter().find(|name| name.is_empty() || name.len() > MAX_NAME) {
        Some(name) if name.is_empty() => Err("a name is empty; write `*` for all".to_owned()),
        Some(_) => Err(format!("a name is longer than {MAX_NAME} bytes")),
        None => Ok(()),
    }
}
