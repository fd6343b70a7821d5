//! Records of one run: the checks of each scenario, and the exit codes of its clients.

use std::collections::BTreeMap;

/// Records of one run.
#[derive(Debug, Default)]
pub(super) struct ScenarioChecks {
    checks: BTreeMap<String, Vec<Check>>,
    exits: BTreeMap<String, i32>,
}

/// One check of a scenario.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Check {
    pub(super) status: Status,
    pub(super) id: String,
    pub(super) text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    Success,
    Failure,
    Warning,
    /// Skipped, or for information only.
    Silent,
}

impl ScenarioChecks {
    /// Parses the checks and the exit codes of the clients, tab-separated, one per line.
    pub(super) fn parse(checks: &str, exits: &str) -> Self {
        let mut recorded = Self::default();
        for line in checks.lines() {
            let mut fields = line.splitn(4, '\t');
            let mut field = || fields.next().unwrap_or_default();
            let (scenario, status, id, text) = (field(), field(), field(), field());
            let status = match status {
                "SUCCESS" => Status::Success,
                "FAILURE" => Status::Failure,
                "WARNING" => Status::Warning,
                _ => Status::Silent,
            };
            let check = Check { status, id: id.to_owned(), text: text.to_owned() };
            recorded.checks.entry(scenario.to_owned()).or_default().push(check);
        }
        for line in exits.lines() {
            if let Some((scenario, code)) = line.split_once('\t') {
                recorded.exits.insert(scenario.to_owned(), code.trim().parse().unwrap_or(-1));
            }
        }
        recorded
    }

    pub(super) fn checks(&self, scenario: &str) -> &[Check] {
        self.checks.get(scenario).map_or(&[], Vec::as_slice)
    }

    /// Returns the exit code of a scenario's client; `None` if no client exited.
    pub(super) fn exit(&self, scenario: &str) -> Option<i32> {
        self.exits.get(scenario).copied()
    }
}
