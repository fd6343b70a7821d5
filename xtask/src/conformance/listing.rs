//! Contents of the suite: scenarios, their revisions, and sets of requirements.

use super::Role;

/// The revisions that have a set of requirements.
pub(super) const SETS: &[&str] = &["2025-11-25", "2026-07-28"];
/// The revisions that have scenarios and no set.
pub(super) const OLDER: &[&str] = &["2025-06-18", "2025-03-26"];

/// Contents of the suite.
#[derive(Debug, Default)]
pub(super) struct Listing {
    all: Vec<Scenario>,
    sets: Vec<Set>,
}

/// One scenario.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Scenario {
    pub(super) role: Role,
    pub(super) name: String,
    /// Empty for a scenario of an extension.
    revisions: Vec<String>,
}

#[derive(Debug)]
struct Set {
    revision: String,
    required: Vec<Scenario>,
    /// Run with the set but not required by it.
    others: Vec<Scenario>,
}

/// Whether a revision requires a scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RequirementLevel {
    Required,
    Other,
}

impl Listing {
    /// Parses the output of `list`.
    pub(super) fn new(printed: &str) -> Self {
        Self { all: scenarios(printed), sets: Vec::new() }
    }

    /// Adds the output of `list --requirements REVISION`.
    #[must_use]
    pub(super) fn with_set(mut self, revision: &str, printed: &str) -> Self {
        let (required, others) =
            printed.split_once("Run and reported, but never scored:").unwrap_or((printed, ""));
        self.sets.push(Set {
            revision: revision.to_owned(),
            required: scenarios(required),
            others: scenarios(others),
        });
        self
    }

    /// Returns whether the suite has this scenario.
    pub(super) fn has(&self, role: Role, name: &str) -> bool {
        self.all.iter().any(|scenario| scenario.role == role && scenario.name == name)
    }

    /// Returns the scenarios that no revision runs.
    pub(super) fn without_revision(&self) -> impl Iterator<Item = &Scenario> {
        self.all.iter().filter(|scenario| {
            let mut revisions = SETS.iter().chain(OLDER);
            !revisions.any(|revision| {
                self.at(scenario.role, revision).iter().any(|(name, _)| *name == scenario.name)
            })
        })
    }

    /// Returns the scenarios for a role at a revision.
    pub(super) fn at(&self, role: Role, revision: &str) -> Vec<(String, RequirementLevel)> {
        let of_role = |scenarios: &[Scenario], standing| {
            let chosen = scenarios.iter().filter(|scenario| scenario.role == role);
            chosen.map(|scenario| (scenario.name.clone(), standing)).collect::<Vec<_>>()
        };
        match self.sets.iter().find(|set| set.revision == revision) {
            Some(set) => {
                let mut chosen = of_role(&set.required, RequirementLevel::Required);
                chosen.extend(of_role(&set.others, RequirementLevel::Other));
                chosen
            }
            None => {
                let named = |scenario: &&Scenario| scenario.revisions.iter().any(|known| known == revision);
                let chosen: Vec<_> = self.all.iter().filter(named).cloned().collect();
                of_role(&chosen, RequirementLevel::Other)
            }
        }
    }
}

/// Parses `  - name [revisions]` below `Server scenarios …`, or `    - name [role]` below anything else.
fn scenarios(printed: &str) -> Vec<Scenario> {
    let mut heading = None;
    let mut found = Vec::new();
    for line in printed.lines() {
        let Some(entry) = line.trim_start().strip_prefix("- ") else {
            if !line.trim().is_empty() {
                heading = line.split_whitespace().next().and_then(|word| Role::parse(&word.to_lowercase()));
            }
            continue;
        };
        let (name, note) = entry.split_once(" [").unwrap_or((entry, "]"));
        let note = note.trim_end_matches(']');
        let Some(role) = Role::parse(note).or(heading) else { continue };
        let revisions = note.split(',').filter(|word| word.starts_with(|first: char| first.is_ascii_digit()));
        found.push(Scenario {
            role,
            name: name.to_owned(),
            revisions: revisions.map(str::to_owned).collect(),
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: &str = "\
Server scenarios (test against a server):
  - ping [2025-06-18,2025-11-25]
  - tasks-lifecycle [extension]

Client scenarios (test against a client):
  - tools_call [2025-06-18,2025-11-25,2026-07-28]

Authorization server scenarios (test against an authorization server):
  - authorization-code-grant [2025-03-26]
";

    const SET: &str = "\
Server scenarios (test against a server):
  - ping

Client scenarios (test against a client):
  - tools_call

Run and reported, but never scored:
  extension (2):
    - auth/dpop [client]
    - tasks-lifecycle [server]
";

    #[test]
    fn a_set_says_what_is_required_and_what_is_only_run() {
        let listing = Listing::new(ALL).with_set("2025-11-25", SET);
        assert_eq!(
            listing.at(Role::Server, "2025-11-25"),
            [
                ("ping".into(), RequirementLevel::Required),
                ("tasks-lifecycle".into(), RequirementLevel::Other)
            ]
        );
        assert_eq!(
            listing.at(Role::Client, "2025-11-25"),
            [
                ("tools_call".into(), RequirementLevel::Required),
                ("auth/dpop".into(), RequirementLevel::Other)
            ]
        );
    }

    #[test]
    fn a_revision_without_a_set_has_what_names_it() {
        let listing = Listing::new(ALL);
        assert_eq!(listing.at(Role::Server, "2025-06-18"), [("ping".into(), RequirementLevel::Other)]);
        assert_eq!(listing.at(Role::Server, "2025-03-26"), []);
        let left: Vec<_> = listing.without_revision().map(|scenario| scenario.name.as_str()).collect();
        assert_eq!(left, ["tasks-lifecycle"]);
        assert!(listing.has(Role::Server, "tasks-lifecycle"));
        assert!(!listing.has(Role::Client, "ping"));
    }
}
