//! The steps before anything is started: is there an entry, may it be run, can it be.

use std::time::Instant;

use switchboard::host::ServerSpec;
use switchboard::host::config::{
    Approval, ConfigErrorKind, ConfiguredServer, OffReason, ServerConfig, StartPolicy,
};

use crate::configured::{Files, NONE, quoted, reach};
use crate::doctor::report::{Report, Stop, Trouble};
use crate::environment::variable;
use crate::failure::Status;
use crate::sanitize::one_line;

/// What will be run, if that much is in order.
///
/// # Errors
/// The step that is not.
pub(crate) fn read_entry(report: &mut Report, files: &Files, name: &str) -> Result<ServerSpec, Stop> {
    let (server, entry) = written(report, files, name)?;
    approved(report, server)?;
    let spec = filled_in(report, server, entry)?;
    if spec.start == StartPolicy::Off(OffReason::Disabled) {
        let next = format!("switchboard enable {}", quoted(&one_line(name)));
        return Err(wrong(report, "enabled", "disabled by its entry", next));
    }
    Ok(spec)
}

fn written<'a>(
    report: &mut Report,
    files: &'a Files,
    name: &str,
) -> Result<(&'a ConfiguredServer, &'a ServerConfig), Stop> {
    let began = Instant::now();
    let Some(server) = files.resolved.server(name) else {
        let names: Vec<String> = files.resolved.servers.iter().map(|server| one_line(&server.name)).collect();
        let next = match (&files.resolved.errors[..], &names[..]) {
            ([fault, ..], _) => format!("correct the file that cannot be read: {fault}"),
            ([], []) => NONE.to_owned(),
            ([], names) => format!("configured servers: {}", names.join(", ")),
        };
        return Err(wrong(report, "entry", format!("no server {:?} is configured", one_line(name)), next));
    };
    let Some(entry) = &server.entry else {
        let fault = server.plan.as_ref().err().map(ToString::to_string).unwrap_or_default();
        return Err(wrong(report, "entry", fault, "correct its entry"));
    };
    let file = files.of(server.scope).map(|file| file.display().to_string()).unwrap_or_default();
    let hidden = files.resolved.shadowed.iter().filter(|other| other.name == name);
    let hidden: String =
        hidden.map(|other| format!("; it hides a server of the scope {}", other.scope)).collect();
    let said = format!("{} in {file} (scope {}){hidden}", reach(entry), server.scope);
    _ = report.passed("entry", began.elapsed(), said);
    Ok((server, entry))
}

fn approved(report: &mut Report, server: &ConfiguredServer) -> Result<(), Stop> {
    let began = Instant::now();
    let next = || format!("switchboard approve {}", quoted(&one_line(&server.name)));
    let said = match &server.approval {
        Some(Approval::New) => {
            let said = "configured by the project, not approved yet";
            return Err(wrong(report, "approval", said, next()));
        }
        Some(Approval::Changed(_)) => {
            return Err(wrong(report, "approval", "changed since you approved it", next()));
        }
        Some(Approval::Approved) => "approved as it is".to_owned(),
        None => format!("not needed in the scope {}", server.scope),
    };
    _ = report.passed("approval", began.elapsed(), said);
    Ok(())
}

fn filled_in(
    report: &mut Report,
    server: &ConfiguredServer,
    entry: &ServerConfig,
) -> Result<ServerSpec, Stop> {
    let began = Instant::now();
    let spec = match &server.plan {
        Ok(plan) => ServerSpec::from(plan),
        Err(fault) => {
            let (step, next) = match fault.kind() {
                ConfigErrorKind::UnsetVariable { variable } => {
                    ("variables", format!("export {}=…", one_line(variable)))
                }
                _ => ("entry", "correct its entry".to_owned()),
            };
            return Err(wrong(report, step, fault.to_string(), next));
        }
    };
    let names = entry.variables();
    if !names.is_empty() {
        let state = |name: &String| {
            let how = if variable(name).is_some() { "set" } else { "not set, uses its default" };
            format!("{} ({how})", one_line(name))
        };
        let said = names.iter().map(state).collect::<Vec<_>>().join(", ");
        _ = report.passed("variables", began.elapsed(), said);
    }
    Ok(spec)
}

/// Something that the user has to put right.
fn wrong(report: &mut Report, step: &'static str, said: impl Into<String>, next: impl Into<String>) -> Stop {
    report.failed(step, Instant::now(), Trouble::new(Status::Other, said, next))
}
