//! The scenarios that are not counted, as `conformance/not-built.txt` lists them.

use std::fs;
use std::path::Path;

use super::Role;
use super::listing::{Listing, Scenario};
use crate::command::TaskError;

/// The scenarios that are not counted.
#[derive(Debug, Default)]
pub(super) struct Exceptions(Vec<Exception>);

/// A scenario that is not counted.
#[derive(Debug, PartialEq)]
pub(super) struct Exception {
    role: Role,
    name: String,
    /// The only program it applies to.
    program: Option<String>,
    pub(super) why: ExceptionReason,
}

/// Reason why a scenario is not counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExceptionReason {
    /// Not supported yet; it must fail until then.
    NotBuilt,
    /// Not applicable.
    NotAsked,
}

impl Exceptions {
    pub(super) fn read(file: &Path) -> Result<Self, TaskError> {
        let failed = |what: String| TaskError::new(format!("{}: {what}", file.display()));
        let text = fs::read_to_string(file).map_err(|error| failed(error.to_string()))?;
        Self::parse(&text).map_err(failed)
    }

    /// Parses the file: a heading names the reason, the lines below it a role and a scenario, and optionally a program.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut why = None;
        let mut found = Vec::new();
        for line in text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
            if !line.starts_with(' ') {
                why = Some(heading(line)?);
                continue;
            }
            let words: Vec<&str> = line.split_whitespace().collect();
            let (Some(why), [role, name, rest @ ..]) = (why, words.as_slice()) else {
                return Err(format!("`{line}` is no role and scenario under a heading"));
            };
            let program = match rest {
                [] => None,
                [program] => Some((*program).to_owned()),
                _ => return Err(format!("`{line}` names more than a role, a scenario and a program")),
            };
            let role = Role::parse(role).ok_or(format!("there is no role `{role}`"))?;
            found.push(Exception { role, name: (*name).to_owned(), program, why });
        }
        Ok(Self(found))
    }

    /// Returns the exception that applies to a program.
    pub(super) fn find(&self, role: Role, program: &str, name: &str) -> Option<&Exception> {
        let of = |exception: &&Exception| exception.program.as_deref().is_none_or(|only| only == program);
        self.0.iter().filter(of).find(|exception| exception.role == role && exception.name == name)
    }

    fn lists(&self, role: Role, name: &str) -> bool {
        self.0.iter().any(|exception| exception.role == role && exception.name == name)
    }

    /// Checks that both lists agree: an entry that the suite does not have is misleading, and a scenario that is
    /// neither run nor listed would be overlooked.
    pub(super) fn check_against(&self, listing: &Listing) -> Result<(), TaskError> {
        let unknown = self.0.iter().filter(|exception| !listing.has(exception.role, &exception.name));
        let unknown: Vec<_> = unknown.map(|Exception { role, name, .. }| format!("{role} {name}")).collect();
        if !unknown.is_empty() {
            let unknown = unknown.join(", ");
            return Err(TaskError::new(format!(
                "conformance/not-built.txt lists what the suite does not have: {unknown}"
            )));
        }
        let is_listed = |scenario: &&Scenario| self.lists(scenario.role, &scenario.name);
        match listing.without_revision().find(|scenario| !is_listed(scenario)) {
            None => Ok(()),
            Some(Scenario { role, name, .. }) => Err(TaskError::new(format!(
                "the suite has {role} {name}, which is run at no revision and not listed in conformance/not-built.txt"
            ))),
        }
    }
}

fn heading(line: &str) -> Result<ExceptionReason, String> {
    match line.split_once(": ") {
        Some(("not built", _)) => Ok(ExceptionReason::NotBuilt),
        Some(("not asked", _)) => Ok(ExceptionReason::NotAsked),
        _ => Err(format!("`{line}` is no heading: say `not built: …` or `not asked: …`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_says_why() {
        let text = "# a\n\nnot built: later\n  client auth/a\n\nnot asked: a draft\n  server sep-1\n";
        let read = Exceptions::parse(text).unwrap();
        assert_eq!(read.find(Role::Client, "p", "auth/a").unwrap().why, ExceptionReason::NotBuilt);
        assert_eq!(read.find(Role::Server, "p", "sep-1").unwrap().why, ExceptionReason::NotAsked);
        assert_eq!(read.find(Role::Server, "p", "auth/a"), None);
        assert!(Exceptions::parse("  client auth/a\n").is_err());
        assert!(Exceptions::parse("flaky: sometimes\n").is_err());
    }

    #[test]
    fn an_exception_may_be_of_one_program() {
        let read = Exceptions::parse("not asked: a draft\n  server sep-1 one\n").unwrap();
        assert!(read.find(Role::Server, "one", "sep-1").is_some());
        assert_eq!(read.find(Role::Server, "other", "sep-1"), None);
        assert!(Exceptions::parse("not asked: a draft\n  server sep-1 one two\n").is_err());
    }

    #[test]
    fn the_list_and_the_suite_must_agree() {
        let agrees = |list: &str, suite: &str| {
            let suite = Listing::new(&format!("Server scenarios (…):\n{suite}"));
            Exceptions::parse(list).unwrap().check_against(&suite).is_ok()
        };
        let (list, run) = ("not asked: a draft\n  server a\n", "  - b [2025-06-18]\n");
        assert!(agrees(list, &format!("  - a [extension]\n{run}")));
        assert!(!agrees(list, run));
        assert!(!agrees("", &format!("  - a [extension]\n{run}")));
    }

    #[test]
    fn only_what_may_wait_is_listed() {
        let read = Exceptions::parse(include_str!("../../../conformance/not-built.txt")).unwrap();
        let is_of_hop = |name: &str| ["tasks-status-notifications", "server-sse-polling"].contains(&name);
        for Exception { role, name, program, why } in &read.0 {
            let may_wait = match (why, program.as_deref()) {
                (ExceptionReason::NotBuilt, Some("gateway-legacy")) => {
                    ["tasks-mrtr-input", "tasks-required-task-error"].contains(&name.as_str())
                }
                (ExceptionReason::NotBuilt, _) => name.starts_with("auth/"),
                (ExceptionReason::NotAsked, None) => name.starts_with("sep-2640-"),
                (ExceptionReason::NotAsked, Some("everything-server")) => name.starts_with("tasks-"),
                (ExceptionReason::NotAsked, Some("gateway-modern")) => is_of_hop(name),
                (ExceptionReason::NotAsked, Some("gateway-legacy")) => {
                    is_of_hop(name)
                        || name == "tasks-mrtr-composition"
                        || name.starts_with("input-required-result-")
                }
                (ExceptionReason::NotAsked, Some(_)) => name == "tasks-status-notifications",
            };
            assert!(may_wait, "{role} {name}");
        }
    }
}
