//! Totals: passed, failed and not yet supported scenarios, and whether they are the expected ones.

use super::checks::ScenarioChecks;
use super::exceptions::{ExceptionReason, Exceptions};
use super::expected_totals::{ExpectedTotals, RunTotals};
use super::judge;
use super::leg::SuiteRun;
use super::listing::RequirementLevel;
use crate::command::TaskError;

/// Totals of all runs.
#[derive(Debug, Default)]
pub(super) struct Tally {
    rows: Vec<Row>,
    failed: usize,
}

/// Totals of one run.
#[derive(Debug)]
struct Row {
    program: String,
    revision: String,
    required: Count,
    others: Count,
    /// Successful checks of the scenarios that have passed.
    checks: usize,
    /// Whether it was the whole set, not one scenario.
    is_complete: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq)]
struct Count {
    passed: usize,
    all: usize,
    not_built: usize,
}

impl Tally {
    /// Evaluates one run, and prints failures.
    pub(super) fn add(
        &mut self,
        leg: &SuiteRun<'_>,
        scenarios: &[(String, RequirementLevel)],
        recorded: &ScenarioChecks,
        exceptions: &Exceptions,
    ) {
        let mut row = Row {
            program: leg.program.to_owned(),
            revision: leg.revision.to_owned(),
            required: Count::default(),
            others: Count::default(),
            checks: 0,
            is_complete: leg.is_complete(),
        };
        for (name, standing) in scenarios {
            let count = match standing {
                RequirementLevel::Required => &mut row.required,
                RequirementLevel::Other => &mut row.others,
            };
            let mut faults = judge::faults(leg.role, name, recorded);
            match exceptions.find(leg.role, leg.program, name).map(|exception| exception.why) {
                Some(ExceptionReason::NotAsked) => continue,
                Some(ExceptionReason::NotBuilt) if !faults.is_empty() => {
                    count.all += 1;
                    count.not_built += 1;
                    continue;
                }
                Some(ExceptionReason::NotBuilt) => {
                    faults.push("it passes: take it out of conformance/not-built.txt".into());
                }
                None => {}
            }
            count.all += 1;
            if faults.is_empty() {
                count.passed += 1;
                row.checks += judge::own_successes(name, recorded);
                continue;
            }
            self.failed += 1;
            println!("FAILED {} {} {name}", leg.program, leg.revision);
            faults.iter().for_each(|fault| println!("    {fault}"));
        }
        self.rows.push(row);
    }

    /// Prints the totals, and compares those of complete runs with what is expected. `everything` says that all runs that are
    /// expected were to be made.
    pub(super) fn finish(self, expected: &ExpectedTotals, everything: bool) -> Result<(), TaskError> {
        println!();
        self.rows.iter().for_each(|row| println!("{}", row.text()));
        let complete = self.rows.iter().filter(|row| row.is_complete);
        let mut unexpected: Vec<String> =
            complete.filter_map(|row| expected.fault(&row.program, &row.revision, row.totals())).collect();
        if everything {
            let runs: Vec<_> =
                self.rows.iter().map(|row| (row.program.as_str(), row.revision.as_str())).collect();
            let missing = expected.missing(&runs).into_iter();
            unexpected.extend(missing.map(|run| format!("{run}: not run, but in conformance/totals.txt")));
        }
        unexpected.iter().for_each(|fault| println!("UNEXPECTED {fault}"));
        if self.rows.iter().all(|row| row.required.all + row.others.all == 0) {
            return Err(TaskError::new("no scenario was run"));
        }
        match self.failed {
            0 if unexpected.is_empty() => Ok(()),
            0 => Err(TaskError::new("the conformance totals are not those of conformance/totals.txt")),
            failed => Err(TaskError::new(format!("{failed} conformance scenarios failed"))),
        }
    }
}

impl Row {
    fn totals(&self) -> RunTotals {
        RunTotals { required: self.required.passed, others: self.others.passed, checks: self.checks }
    }

    fn text(&self) -> String {
        let Self { program, revision, required, others, checks, .. } = self;
        let parts: Vec<String> = [(required, "required"), (others, "others")]
            .into_iter()
            .filter(|(count, _)| count.all > 0)
            .map(|(count, name)| count.text(name))
            .collect();
        format!("{program} {revision}: {}; {checks} checks", parts.join("; "))
    }
}

impl Count {
    fn text(self, name: &str) -> String {
        let Self { passed, all, not_built } = self;
        match not_built {
            0 => format!("{passed}/{all} {name}"),
            _ => format!("{passed}/{all} {name}, {not_built} not built yet"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::Role;

    #[test]
    fn what_is_not_built_must_fail() {
        let exceptions = Exceptions::parse("not built: later\n  server a\n  server b\n").unwrap();
        let recorded =
            ScenarioChecks::parse("a\tSUCCESS\tx\tgood\nb\tFAILURE\tx\tbad\nc\tSUCCESS\tx\tgood", "");
        let scenarios = ["a", "b", "c"].map(|name| (name.to_owned(), RequirementLevel::Required));
        let mut tally = Tally::default();
        tally.add(
            &SuiteRun::new(Role::Server, "everything-server", "2026-07-28", None),
            &scenarios,
            &recorded,
            &exceptions,
        );
        assert_eq!(tally.rows[0].required, Count { passed: 1, all: 3, not_built: 1 });
        assert_eq!(tally.failed, 1);
    }

    #[test]
    fn a_complete_run_must_have_the_expected_totals() {
        let finish = |scenario, checks: &str, totals: &str| {
            let recorded = ScenarioChecks::parse(checks, "");
            let scenarios = [("a".to_owned(), RequirementLevel::Required)];
            let leg = SuiteRun::new(Role::Server, "one", "2026-07-28", scenario);
            let mut tally = Tally::default();
            tally.add(&leg, &scenarios, &recorded, &Exceptions::default());
            tally.finish(&ExpectedTotals::parse(totals).unwrap(), scenario.is_none()).is_ok()
        };
        let (one, two) = ("a\tSUCCESS\tx\tgood", "a\tSUCCESS\tx\tgood\na\tSUCCESS\ty\tgood");
        assert!(finish(None, two, "one 2026-07-28 1 0 2"));
        assert!(!finish(None, one, "one 2026-07-28 1 0 2"), "a check less");
        assert!(!finish(None, two, "one 2026-07-28 2 0 2"), "a scenario less");
        assert!(!finish(None, two, ""), "not pinned");
        assert!(
            !finish(None, two, "one 2026-07-28 1 0 2\ntwo 2026-07-28 1 0 1"),
            "another program was not run"
        );
        assert!(finish(Some("a"), one, "one 2026-07-28 37 0 200"), "a part is not compared");
    }

    #[test]
    fn what_is_not_built_is_never_counted_as_passed() {
        let row = Row {
            program: "everything-client".into(),
            revision: "2026-07-28".into(),
            required: Count { passed: 7, all: 32, not_built: 25 },
            others: Count { passed: 1, all: 1, not_built: 0 },
            checks: 40,
            is_complete: true,
        };
        let text = "everything-client 2026-07-28: 7/32 required, 25 not built yet; 1/1 others; 40 checks";
        assert_eq!(row.text(), text);
    }
}
