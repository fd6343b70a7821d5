//! One run of the suite: one role at one revision, a whole set or one scenario.

use super::Role;
use super::listing::{Listing, RequirementLevel, SETS};

/// One run of the suite.
#[derive(Debug)]
pub(super) struct SuiteRun<'a> {
    pub(super) role: Role,
    /// The tested program.
    pub(super) program: &'a str,
    pub(super) revision: &'a str,
    scenario: Option<&'a str>,
}

impl<'a> SuiteRun<'a> {
    pub(super) fn new(role: Role, program: &'a str, revision: &'a str, scenario: Option<&'a str>) -> Self {
        Self { role, program, revision, scenario }
    }

    /// Returns the scenarios it runs.
    pub(super) fn scenarios(&self, listing: &Listing) -> Vec<(String, RequirementLevel)> {
        let mut all = listing.at(self.role, self.revision);
        all.retain(|(name, _)| self.scenario.is_none_or(|wanted| wanted == name));
        all
    }

    /// Returns whether it runs the whole set.
    pub(super) fn is_complete(&self) -> bool {
        self.scenario.is_none()
    }

    /// Returns the arguments for the suite.
    pub(super) fn arguments(&self) -> Vec<&str> {
        match self.scenario {
            Some(name) => vec!["--scenario", name, "--spec-version", self.revision, "--force"],
            None if SETS.contains(&self.revision) => vec!["--requirements", self.revision],
            None => vec!["--suite", "all", "--spec-version", self.revision],
        }
    }

    /// Returns the name of its results directory.
    pub(super) fn folder(&self) -> String {
        format!("{}-{}", self.program, self.revision)
    }
}
