//! The steps of a server that is a program: which file it is, and what it is given.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

use switchboard::Stdio;
use switchboard::http::Secret;

use crate::doctor::report::{Report, Stop, Trouble};
use crate::failure::{Status, start_hint};
use crate::sanitize::one_line;

/// A program as a plan has it.
pub(crate) struct Program<'a> {
    pub(crate) command: &'a str,
    pub(crate) args: &'a [String],
    pub(crate) env: &'a BTreeMap<String, Secret>,
    pub(crate) inherit_env: &'a [String],
    pub(crate) cwd: Option<&'a PathBuf>,
}

/// The command, if its program is there.
///
/// # Errors
/// The step that says where it was looked for.
pub(crate) fn find_program(report: &mut Report, program: &Program<'_>) -> Result<Stdio, Stop> {
    let began = Instant::now();
    let mut command = Stdio::new(program.command).args(program.args);
    for (name, value) in program.env {
        command = command.env(name, value.expose());
    }
    for name in program.inherit_env {
        command = command.inherit_env(name);
    }
    if let Some(cwd) = program.cwd {
        command = command.cwd(cwd);
    }
    match command.file() {
        Ok(file) => {
            let place = program.cwd.map(|cwd| format!(", run in {}", cwd.display())).unwrap_or_default();
            _ = report.passed("program", began.elapsed(), format!("{}{place}", file.display()));
        }
        Err(why) => {
            let trouble = Trouble::new(Status::Unreachable, why.to_string(), start_hint(why.fault));
            return Err(report.failed("program", began, trouble));
        }
    }
    let names = command.environment().into_iter().map(|(name, _)| one_line(&name.to_string_lossy()));
    let missing: Vec<String> = program
        .inherit_env
        .iter()
        .filter(|name| std::env::var_os(name).is_none())
        .map(|name| one_line(name))
        .collect();
    let mut said = names.collect::<Vec<_>>().join(", ");
    if !missing.is_empty() {
        said += &format!("; not set, so not inherited: {}", missing.join(", "));
    }
    _ = report.passed("environment", began.elapsed(), format!("passes {said}"));
    Ok(command)
}
