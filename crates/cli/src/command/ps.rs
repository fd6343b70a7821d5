//! `switchboard ps`: lists the running server processes.

use std::ffi::OsStr;
use std::time::Duration;

use serde_json::{Value, json};
use switchboard::host::config::ServerConfig;
use switchboard::host::{ServerSpec, Transport};

use crate::args::PsArgs;
use crate::configured_servers::{ConfigFiles, command_or_url};
use crate::error::CommandError;
use crate::output::{OutputStream, Screen, TextTable, encode, print_json};
use crate::processes::{ServerProcess, running_servers};
use crate::sanitize::one_line;

pub(crate) fn run(args: &PsArgs) -> Result<(), CommandError> {
    let (files, out) = (ConfigFiles::read()?, OutputStream::stdout());
    let processes = running_servers();
    if args.json {
        let all: Vec<Value> = processes.iter().map(|process| process_json(&files, process)).collect();
        return print_json(&out, &encode(&all)?);
    }
    if processes.is_empty() {
        Screen::new().say("no server is running");
        return Ok(());
    }
    let mut table = TextTable::new(&["PID", "SERVER", "UPTIME", "STARTED BY", "COMMAND"]);
    for process in &processes {
        table.push_row([
            process.pid.map_or_else(|| "…".to_owned(), |pid| pid.to_string()),
            one_line(&names(&files, process).join(" or ")),
            process.uptime.map(format_duration).unwrap_or_default(),
            process.host.to_string(),
            command(process),
        ]);
    }
    Ok(out.print(&table.render(&out))?)
}

/// Returns the configured servers of this project with exactly this command: usually one, and none for other projects.
fn names<'a>(files: &'a ConfigFiles, process: &ServerProcess) -> Vec<&'a str> {
    let runs_this = |spec: ServerSpec| match &spec.transport {
        Transport::Stdio(stdio) => {
            stdio.program() == process.program.as_str()
                && stdio.arguments().iter().eq(process.args.iter().map(OsStr::new))
        }
        _ => false,
    };
    let servers = files.resolved.servers.iter();
    let found = servers.filter(|server| ServerSpec::from_configured(server).is_ok_and(runs_this));
    found.map(|server| server.name.as_str()).collect()
}

/// Returns the command line, secrets masked.
fn command(process: &ServerProcess) -> String {
    command_or_url(&ServerConfig::stdio(&process.program, &process.args))
}

fn process_json(files: &ConfigFiles, process: &ServerProcess) -> Value {
    json!({
        "pid": process.pid, "supervisor": process.supervisor, "host": process.host,
        "servers": names(files, process), "uptimeSecs": process.uptime.map(|time| time.as_secs()),
        "command": command(process),
    })
}

/// Formats a duration: `7s`, `3m12s`, `5h04m`, `2d03h`.
fn format_duration(time: Duration) -> String {
    let seconds = time.as_secs();
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86400);
    match (days, hours, minutes) {
        (1.., ..) => format!("{days}d{:02}h", hours % 24),
        (_, 1.., _) => format!("{hours}h{:02}m", minutes % 60),
        (.., 1..) => format!("{minutes}m{:02}s", seconds % 60),
        _ => format!("{seconds}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_at_most_two_units() {
        let shown = [7, 192, 18240, 183600].map(|seconds| format_duration(Duration::from_secs(seconds)));
        assert_eq!(shown, ["7s", "3m12s", "5h04m", "2d03h"]);
    }
}
