//! The steps before anything is started: is there an entry, may it be run, can it be.

use std::time::Instant;

use switchboard::host::config::{Approval, Off, Plan, Problem, Scope, Start};

use crate::configured::{Files, NONE, quoted, reach, variable};
use crate::doctor::report::{Report, Stop, Trouble};
use crate::failure::Status;
use crate::sanitize::one_line;

/// What will be run, if that much is in order.
///
/// # Errors
/// The step that is not.
pub(crate) fn read_entry(report: &mut Report, files: &Files, name: &str) -> Result<Plan, Stop> {
    let began = Instant::now();
    let word = quoted(&one_line(name));
    let stop = |report: &mut Report, step, said: String, next: String| {
        Err(report.failed(step, began, Trouble::new(Status::Other, said, next)))
    };
    let Some(server) = files.resolved.server(name) else {
        let names: Vec<String> = files.resolved.servers.iter().map(|server| one_line(&server.name)).collect();
        let faults: Vec<String> = files.resolved.faults.iter().map(ToString::to_string).collect();
        let next = match (&faults[..], &names[..]) {
            ([fault, ..], _) => format!("mend the file that cannot be read: {fault}"),
            ([], []) => NONE.to_owned(),
            ([], names) => format!("use one of those there are: {}", names.join(", ")),
        };
        return stop(report, "entry", format!("no file has a server {:?}", one_line(name)), next);
    };
    let file = files.of(server.scope).map(|file| file.display().to_string()).unwrap_or_default();
    let Some(entry) = &server.entry else {
        let fault = server.plan.as_ref().err().map(ToString::to_string).unwrap_or_default();
        return stop(report, "entry", fault, "mend its entry".to_owned());
    };
    let hidden = files.resolved.shadowed.iter().filter(|other| other.name == name);
    let hidden: String = hidden.map(|other| format!("; it hides one of the scope {}", other.scope)).collect();
    let said = format!("{} in {file} (scope {}){hidden}", reach(entry), server.scope);
    _ = report.passed("entry", began.elapsed(), said);

    match &server.approval {
        Some(Approval::New) => {
            let said = "it comes from the project, and you have not approved it".to_owned();
            return stop(report, "approval", said, format!("switchboard approve {word}"));
        }
        Some(Approval::Changed(_)) => {
            let said = "it is not what you approved any more".to_owned();
            return stop(report, "approval", said, format!("switchboard approve {word}"));
        }
        Some(Approval::Approved) => {
            _ = report.passed("approval", began.elapsed(), "you approved exactly this")
        }
        None if server.scope == Scope::Managed => {}
        None => _ = report.passed("approval", began.elapsed(), "none is needed: it is in a file of your own"),
    }
    let plan = match &server.plan {
        Ok(plan) => plan.clone(),
        Err(fault) => {
            let (step, next) = match fault.problem() {
                Problem::Unset { variable } => ("variables", format!("export {}=…", one_line(variable))),
                _ => ("entry", "mend its entry".to_owned()),
            };
            return stop(report, step, fault.to_string(), next);
        }
    };
    let names = entry.variables();
    if !names.is_empty() {
        let state = |name: &String| {
            let how = if variable(name).is_some() { "set" } else { "not set, its default is used" };
            format!("{} ({how})", one_line(name))
        };
        let said = names.iter().map(state).collect::<Vec<_>>().join(", ");
        _ = report.passed("variables", began.elapsed(), said);
    }
    if plan.start == Start::Off(Off::Disabled) {
        let said = "its entry says that it is disabled".to_owned();
        return stop(report, "enabled", said, format!("switchboard enable {word}"));
    }
    Ok(plan)
}
