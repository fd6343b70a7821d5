//! The totals that complete runs must have, as `conformance/totals.txt` lists them: a suite that silently runs less must not
//! pass.

use std::fs;
use std::path::Path;

use crate::command::TaskError;

/// The totals of all runs.
#[derive(Debug, Default, PartialEq)]
pub(super) struct ExpectedTotals(Vec<ExpectedRow>);

/// The totals of one run.
#[derive(Debug, PartialEq)]
struct ExpectedRow {
    program: String,
    revision: String,
    totals: RunTotals,
}

/// What has passed in one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RunTotals {
    /// Required scenarios.
    pub(super) required: usize,
    /// Other scenarios.
    pub(super) others: usize,
    /// Successful checks of the scenarios' own, in all of them.
    pub(super) checks: usize,
}

impl ExpectedTotals {
    pub(super) fn read(file: &Path) -> Result<Self, TaskError> {
        let failed = |what: String| TaskError::new(format!("{}: {what}", file.display()));
        let text = fs::read_to_string(file).map_err(|error| failed(error.to_string()))?;
        Self::parse(&text).map_err(failed)
    }

    /// Parses the file: a program, a revision and three numbers in each line.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut rows = Vec::new();
        for line in text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [program, revision, numbers @ ..] = words.as_slice() else {
                return Err(format!("`{line}` names no program and revision"));
            };
            let numbers: Result<Vec<usize>, _> = numbers.iter().map(|number| number.parse()).collect();
            let Ok([required, others, checks]) = numbers.as_deref() else {
                return Err(format!("`{line}` has not three numbers: required, others, checks"));
            };
            rows.push(ExpectedRow {
                program: (*program).to_owned(),
                revision: (*revision).to_owned(),
                totals: RunTotals { required: *required, others: *others, checks: *checks },
            });
        }
        Ok(Self(rows))
    }

    /// Returns why a complete run has not the totals it must have. The number of scenarios is exact; more checks are fine.
    pub(super) fn fault(&self, program: &str, revision: &str, passed: RunTotals) -> Option<String> {
        let row = self.0.iter().find(|row| row.program == program && row.revision == revision);
        let is_met = row.is_some_and(|ExpectedRow { totals, .. }| {
            (passed.required, passed.others) == (totals.required, totals.others)
                && passed.checks >= totals.checks
        });
        let line = |totals: RunTotals| format!("{} {} {}", totals.required, totals.others, totals.checks);
        (!is_met).then(|| {
            let expected = row.map_or("nothing".to_owned(), |row| line(row.totals));
            format!("{program} {revision} {}: conformance/totals.txt expects {expected}", line(passed))
        })
    }

    /// Returns the runs that are not among these.
    pub(super) fn missing(&self, runs: &[(&str, &str)]) -> Vec<String> {
        let is_missing = |row: &&ExpectedRow| !runs.contains(&(row.program.as_str(), row.revision.as_str()));
        self.0.iter().filter(is_missing).map(|row| format!("{} {}", row.program, row.revision)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOTALS: &str = "# a comment\n\none 2025-11-25 30 3 120\ntwo 2026-07-28 37 9 0\n";

    #[test]
    fn a_run_with_fewer_scenarios_or_checks_is_at_fault() {
        let expected = ExpectedTotals::parse(TOTALS).unwrap();
        let fault = |required, others, checks| {
            expected.fault("one", "2025-11-25", RunTotals { required, others, checks })
        };
        assert_eq!(fault(30, 3, 120), None);
        assert_eq!(fault(30, 3, 121), None, "more checks are fine");
        for (required, others, checks) in [(29, 3, 120), (31, 3, 120), (30, 2, 120), (30, 3, 119), (0, 0, 0)]
        {
            assert!(fault(required, others, checks).is_some(), "{required} {others} {checks}");
        }
        let passed = RunTotals { required: 30, others: 3, checks: 120 };
        let fault = expected.fault("three", "2025-11-25", passed).unwrap();
        assert_eq!(fault, "three 2025-11-25 30 3 120: conformance/totals.txt expects nothing");
    }

    #[test]
    fn a_run_that_did_not_happen_is_missing() {
        let expected = ExpectedTotals::parse(TOTALS).unwrap();
        assert_eq!(expected.missing(&[("one", "2025-11-25")]), ["two 2026-07-28"]);
        assert!(expected.missing(&[("one", "2025-11-25"), ("two", "2026-07-28")]).is_empty());
    }

    #[test]
    fn every_line_has_three_numbers() {
        for line in ["one", "one 2025-11-25 30 3", "one 2025-11-25 30 3 120 7", "one 2025-11-25 30 3 many"] {
            assert!(ExpectedTotals::parse(line).is_err(), "{line}");
        }
    }

    #[test]
    fn the_required_scenarios_are_those_of_the_suite() {
        let pinned = include_str!("../../../conformance/totals.txt");
        let pinned = ExpectedTotals::parse(pinned).unwrap();
        for ExpectedRow { program, revision, totals } in &pinned.0 {
            let required = match (program.as_str(), revision.as_str()) {
                ("everything-client", "2025-11-25") => 18,
                ("everything-client", "2026-07-28") => 32,
                (_, "2025-11-25") => 30,
                // Two assert a key that the server chose; see `not-built.txt`.
                ("gateway-legacy", "2026-07-28") => 35,
                (_, "2026-07-28") => 37,
                _ => 0,
            };
            assert_eq!(totals.required, required, "{program} {revision}");
            assert!(totals.checks >= totals.required + totals.others, "{program} {revision}");
        }
    }
}
