//! Steps for a program: find its file, list the variables passed to it.

use std::time::Instant;

use switchboard::Stdio;

use crate::doctor::report::{DoctorReport, StepError, StepFailed};
use crate::error::{ExitKind, start_hint};
use crate::sanitize::one_line;

/// Checks that the program exists, and reports the variables passed to it.
///
/// # Errors
/// Returns an error after the step that failed.
pub(crate) fn check_program(report: &mut DoctorReport, command: &Stdio) -> Result<(), StepFailed> {
    let began = Instant::now();
    match command.file() {
        Ok(file) => {
            let directory =
                command.directory().map(|cwd| format!(", run in {}", cwd.display())).unwrap_or_default();
            report.passed("program", began.elapsed(), format!("{}{directory}", file.display()));
        }
        Err(why) => {
            let error = StepError::new(ExitKind::Unreachable, why.to_string(), start_hint(why.kind));
            return Err(report.failed("program", began, error));
        }
    }
    let names = command.environment().into_iter().map(|(name, _)| one_line(&name.to_string_lossy()));
    let missing: Vec<String> = command
        .inherited_variables()
        .iter()
        .filter(|name| std::env::var_os(name).is_none())
        .map(|name| one_line(&name.to_string_lossy()))
        .collect();
    let mut variables = names.collect::<Vec<_>>().join(", ");
    if !missing.is_empty() {
        variables += &format!("; not set, so not inherited: {}", missing.join(", "));
    }
    report.passed("environment", began.elapsed(), format!("passes {variables}"));
    Ok(())
}
