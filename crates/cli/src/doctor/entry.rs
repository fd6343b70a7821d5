//! Steps before anything is started: check the entry, its approval and its variables.

use std::time::Instant;

use switchboard::host::ServerSpec;
use switchboard::host::config::{
    Approval, ConfigErrorKind, ConfiguredServer, OffReason, ServerConfig, StartPolicy,
};

use crate::configured_servers::{ConfigFiles, NO_SERVERS_HINT, command_or_url};
use crate::doctor::report::{DoctorReport, StepError, StepFailed};
use crate::environment::variable;
use crate::error::ExitKind;
use crate::sanitize::one_line;
use crate::shell_quote::shell_quote;

/// Checks the entry of a server and returns its spec.
///
/// # Errors
/// Returns an error after the step that failed.
pub(crate) fn check_entry(
    report: &mut DoctorReport,
    files: &ConfigFiles,
    name: &str,
) -> Result<ServerSpec, StepFailed> {
    let (server, entry) = find_entry(report, files, name)?;
    check_approval(report, server)?;
    let spec = expand_entry(report, server, entry)?;
    if spec.start == StartPolicy::Off(OffReason::Disabled) {
        let next = format!("switchboard enable {}", shell_quote(&one_line(name)));
        return Err(failed(report, "enabled", "disabled by its entry", next));
    }
    Ok(spec)
}

fn find_entry<'a>(
    report: &mut DoctorReport,
    files: &'a ConfigFiles,
    name: &str,
) -> Result<(&'a ConfiguredServer, &'a ServerConfig), StepFailed> {
    let began = Instant::now();
    let Some(server) = files.resolved.server(name) else {
        let names: Vec<String> = files.resolved.servers.iter().map(|server| one_line(&server.name)).collect();
        let next = match (&files.resolved.errors[..], &names[..]) {
            ([fault, ..], _) => format!("correct the file that cannot be read: {fault}"),
            ([], []) => NO_SERVERS_HINT.to_owned(),
            ([], names) => format!("configured servers: {}", names.join(", ")),
        };
        return Err(failed(report, "entry", format!("no server {:?} is configured", one_line(name)), next));
    };
    let Some(entry) = &server.entry else {
        let fault = server.plan.as_ref().err().map(ToString::to_string).unwrap_or_default();
        return Err(failed(report, "entry", fault, "correct its entry"));
    };
    let file = files.path(server.scope).map(|file| file.display().to_string()).unwrap_or_default();
    let hidden = files.resolved.shadowed.iter().filter(|other| other.name == name);
    let hidden: String =
        hidden.map(|other| format!("; it hides a server of the scope {}", other.scope)).collect();
    let message = format!("{} in {file} (scope {}){hidden}", command_or_url(entry), server.scope);
    report.passed("entry", began.elapsed(), message);
    Ok((server, entry))
}

fn check_approval(report: &mut DoctorReport, server: &ConfiguredServer) -> Result<(), StepFailed> {
    let began = Instant::now();
    let next = || format!("switchboard approve {}", shell_quote(&one_line(&server.name)));
    let message = match &server.approval {
        Some(Approval::New) => {
            let message = "configured by the project, not approved yet";
            return Err(failed(report, "approval", message, next()));
        }
        Some(Approval::Changed(_)) => {
            return Err(failed(report, "approval", "changed since you approved it", next()));
        }
        Some(Approval::Approved) => "approved".to_owned(),
        None => format!("not needed in the scope {}", server.scope),
    };
    report.passed("approval", began.elapsed(), message);
    Ok(())
}

fn expand_entry(
    report: &mut DoctorReport,
    server: &ConfiguredServer,
    entry: &ServerConfig,
) -> Result<ServerSpec, StepFailed> {
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
            return Err(failed(report, step, fault.to_string(), next));
        }
    };
    let names = entry.variables();
    if !names.is_empty() {
        let state = |name: &String| {
            let how = if variable(name).is_some() { "set" } else { "not set, uses the default" };
            format!("{} ({how})", one_line(name))
        };
        let message = names.iter().map(state).collect::<Vec<_>>().join(", ");
        report.passed("variables", began.elapsed(), message);
    }
    Ok(spec)
}

/// Reports a failed step that the user has to correct.
fn failed(
    report: &mut DoctorReport,
    step: &'static str,
    message: impl Into<String>,
    next: impl Into<String>,
) -> StepFailed {
    report.failed(step, Instant::now(), StepError::new(ExitKind::Other, message, next))
}
