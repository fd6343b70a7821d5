//! `switchboard ps`: the server processes that run now.

use std::ffi::OsStr;
use std::time::Duration;

use serde_json::{Value, json};
use switchboard::host::config::ServerConfig;
use switchboard::host::{ServerSpec, Transport};

use crate::args::PsArgs;
use crate::command::tools::encode;
use crate::configured::{Files, reach};
use crate::failure::Failure;
use crate::output::{Paper, Screen, Table, show_json};
use crate::processes::{Process, running};
use crate::sanitize::one_line;

pub(crate) fn run(args: &PsArgs) -> Result<(), Failure> {
    let (files, paper) = (Files::read()?, Paper::stdout());
    let processes = running();
    if args.json {
        let all: Vec<Value> = processes.iter().map(|process| described(&files, process)).collect();
        return show_json(&paper, &encode(&all)?);
    }
    if processes.is_empty() {
        Screen::new().say("no server runs now");
        return Ok(());
    }
    let mut table = Table::new(&["PID", "SERVER", "UPTIME", "STARTED BY", "COMMAND"]);
    for process in &processes {
        table.row([
            process.pid.map_or_else(|| "…".to_owned(), |pid| pid.to_string()),
            one_line(&names(&files, process).join(" or ")),
            process.uptime.map(span).unwrap_or_default(),
            process.host.to_string(),
            command(process),
        ]);
    }
    Ok(paper.print(&table.lay_out(&paper))?)
}

/// The configured servers that would run exactly this, in this project: mostly one, and none for other projects'.
fn names<'a>(files: &'a Files, process: &Process) -> Vec<&'a str> {
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

/// The command line with what may be secret covered.
fn command(process: &Process) -> String {
    reach(&ServerConfig::stdio(&process.program, &process.args))
}

fn described(files: &Files, process: &Process) -> Value {
    json!({
        "pid": process.pid, "supervisor": process.supervisor, "host": process.host,
        "servers": names(files, process), "uptimeSecs": process.uptime.map(|time| time.as_secs()),
        "command": command(process),
    })
}

/// A time for people: `7s`, `3m12s`, `5h04m`, `2d03h`.
fn span(time: Duration) -> String {
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
    fn times_are_short() {
        let shown = [7, 192, 18240, 183600].map(|seconds| span(Duration::from_secs(seconds)));
        assert_eq!(shown, ["7s", "3m12s", "5h04m", "2d03h"]);
    }
}
