//! The steps of a server that is a program: which file it is, and what it is given.

use std::time::Instant;

use switchboard::Stdio;
use switchboard::session::link::StartFault;

use crate::doctor::report::{Report, Stop, Trouble};
use crate::failure::Status;
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
            let next = match why.fault {
                StartFault::NotFound => {
                    "check the spelling, install it, or write its full path (`which` says it) into the entry"
                }
                StartFault::NotExecutable => "make it executable (chmod +x), or name its interpreter",
                StartFault::BadDirectory => "check the entry's `cwd`",
                _ => "run the command by itself to see what is wrong",
            };
            let trouble = Trouble::new(Status::Unreachable, why.to_string(), next);
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
        said += &format!("; to be inherited, but not set: {}", missing.join(", "));
    }
    _ = report.passed("environment", began.elapsed(), format!("it is given {said}"));
    Ok(())
}
