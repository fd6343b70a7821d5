//! Totals: passed, failed and not yet supported scenarios.

use super::checks::ScenarioChecks;
use super::exceptions::{ExceptionReason, Exceptions};
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
                continue;
            }
            self.failed += 1;
            println!("FAILED {} {} {name}", leg.program, leg.revision);
            faults.iter().for_each(|fault| println!("    {fault}"));
        }
        self.rows.push(row);
    }

    /// Prints the totals.
    pub(super) fn finish(self) -> Result<(), TaskError> {
        println!();
        self.rows.iter().for_each(|row| println!("{}", row.text()));
        if self.rows.iter().all(|row| row.required.all + row.others.all == 0) {
            return Err(TaskError::new("no scenario was run"));
        }
        match self.failed {
            0 => Ok(()),
            failed => Err(TaskError::new(format!("{failed} conformance scenarios failed"))),
        }
    }
}

impl Row {
    fn text(&self) -> String {
        let Self { program, revision, required, others } = self;
        let parts: Vec<String> = [(required, "required"), (others, "others")]
            .into_iter()
            .filter(|(count, _)| count.all > 0)
            .map(|(count, name)| count.text(name))
            .collect();
        format!("{program} {revision}: {}", parts.join("; "))
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
    fn what_is_not_built_is_never_counted_as_passed() {
        let row = Row {
            program: "everything-client".into(),
            revision: "2026-07-28".into(),
            required: Count { passed: 7, all: 32, not_built: 25 },
            others: Count { passed: 1, all: 1, not_built: 0 },
        };
        assert_eq!(row.text(), "everything-client 2026-07-28: 7/32 required, 25 not built yet; 1/1 others");
    }
}
