//! The steps of a server that is a program: which file it is, and what it is given.

use std::time::Instant;

use switchboard::Stdio;

use crate::doctor::report::{Report, Stop, Trouble};
use crate::failure::{Status, start_hint};
use crate::sanitize::one_line;

/// Checks that the program is there, and reports what it is given.
///
/// # Errors
/// The step that says where it was looked for.
pub(crate) fn find_program(report: &mut Report, command: &Stdio) -> Result<(), Stop> {
    let began = Instant::now();
    match command.file() {
        Ok(file) => {
            let place =
                command.directory().map(|cwd| format!(", run in {}", cwd.display())).unwrap_or_default();
            _ = report.passed("program", began.elapsed(), format!("{}{place}", file.display()));
        }
        Err(why) => {
            let trouble = Trouble::new(Status::Unreachable, why.to_string(), start_hint(why.kind));
            return Err(report.failed("program", began, trouble));
        }
    }
    let names = command.environment().into_iter().map(|(name, _)| one_line(&name.to_string_lossy()));
    let missing: Vec<String> = command
        .inherited_variables()
        .iter()
        .filter(|name| std::env::var_os(name).is_none())
        .map(|name| one_line(&name.to_string_lossy()))
        .collect();
    let mut said = names.collect::<Vec<_>>().join(", ");
    if !missing.is_empty() {
        said += &format!("; not set, so not inherited: {}", missing.join(", "));
    }
    _ = report.passed("environment", began.elapsed(), format!("passes {said}"));
    Ok(())
}
