//! Decides strictly whether a scenario has passed.

use super::Role;
use super::checks::{ScenarioChecks, Status};

/// Exit code of a client that gave up waiting.
const GAVE_UP: i32 = 124;

/// Scenarios in which a client must exit with an error.
const MAY_FAIL: &[&str] = &[
    "auth/scope-retry-limit",
    "auth/resource-mismatch",
    "auth/iss-supported-missing",
    "auth/iss-wrong-issuer",
    "auth/iss-unexpected",
    "auth/iss-normalized",
    "auth/metadata-issuer-mismatch",
    "http-invalid-tool-headers",
];

/// Returns the reasons why a scenario has not passed; empty if it has.
pub(super) fn faults(role: Role, scenario: &str, recorded: &ScenarioChecks) -> Vec<String> {
    let checks = recorded.checks(scenario);
    let mut faults = Vec::new();
    for check in checks {
        match check.status {
            Status::Failure => faults.push(format!("{}: {}", check.id, check.text)),
            Status::Warning => faults.push(format!("warning, {}: {}", check.id, check.text)),
            Status::Success | Status::Silent => {}
        }
    }
    if checks.is_empty() {
        faults.push("the suite recorded nothing".into());
    } else if own_successes(scenario, recorded) == 0 {
        faults.push("no check of its own has succeeded".into());
    }
    if role == Role::Client {
        match recorded.exit(scenario) {
            None => faults.push("its client did not end".into()),
            Some(GAVE_UP) => faults.push("its client gave up waiting".into()),
            Some(code) if code != 0 && !MAY_FAIL.contains(&scenario) => {
                faults.push(format!("its client ended with {code}"));
            }
            Some(_) => {}
        }
    }
    faults
}

/// Returns how many checks of a scenario's own have succeeded. Every scenario has a check of the messages' shape, too, which
/// succeeds when there are none.
pub(super) fn own_successes(scenario: &str, recorded: &ScenarioChecks) -> usize {
    let is_own = |id: &str| !id.starts_with("wire-schema-");
    let checks = recorded.checks(scenario).iter();
    checks.filter(|check| check.status == Status::Success && is_own(&check.id)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(role: Role, checks: &str, exits: &str) -> Vec<String> {
        faults(role, "a", &ScenarioChecks::parse(checks, exits))
    }

    #[test]
    fn a_success_of_its_own_is_needed() {
        assert_eq!(of(Role::Server, "a\tSUCCESS\tx\tgood", ""), [""; 0]);
        assert_eq!(of(Role::Server, "a\tSUCCESS\twire-schema-valid\tgood", "").len(), 1);
        assert_eq!(of(Role::Server, "a\tSKIPPED\tx\tnot tried", "").len(), 1);
        assert_eq!(of(Role::Server, "b\tSUCCESS\tx\tgood", ""), ["the suite recorded nothing"]);
    }

    #[test]
    fn failures_and_warnings_count() {
        let checks = "a\tSUCCESS\tx\tgood\na\tFAILURE\ty\tbad\na\tWARNING\tz\todd";
        assert_eq!(of(Role::Server, checks, ""), ["y: bad", "warning, z: odd"]);
    }

    #[test]
    fn a_client_must_end_well() {
        let good = "a\tSUCCESS\tx\tgood";
        assert_eq!(of(Role::Client, good, "a\t0"), [""; 0]);
        assert_eq!(of(Role::Client, good, "a\t1"), ["its client ended with 1"]);
        assert_eq!(of(Role::Client, good, "a\t124"), ["its client gave up waiting"]);
        assert_eq!(of(Role::Client, good, ""), ["its client did not end"]);
        let may = "http-invalid-tool-headers";
        let recorded = ScenarioChecks::parse(&format!("{may}\tSUCCESS\tx\tgood"), &format!("{may}\t1"));
        assert_eq!(faults(Role::Client, may, &recorded), [""; 0]);
    }
}
