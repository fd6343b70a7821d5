//! Shutdown of the program: signals, closed output, and no leftover processes.

use std::path::Path;
use std::process::Stdio;
use std::time::Instant;

use rustix::process::Pid;
use serde_json::json;
use switchboard_testkit::{OutputReader, RunningCommand, STEP_TIMEOUT, exits_in_time, wait_for_child};

use crate::commands::{SWITCHBOARD, broken_pipe, on_demo, switchboard};
use crate::home::Home;

/// The demo server in a shell that starts a grandchild and writes down the process ids.
fn process_tree(folder: &Path, server: &str) -> [String; 3] {
    let script = format!(
        "sleep 600 & echo $! > {0}/grandchild; echo $$ > {0}/child.new; mv {0}/child.new {0}/child; {server}",
        folder.display()
    );
    ["sh".to_owned(), "-c".to_owned(), script]
}

fn pid(folder: &Path, who: &str) -> Pid {
    let text = std::fs::read_to_string(folder.join(who)).unwrap();
    Pid::from_raw(text.trim().parse().unwrap()).unwrap()
}

#[test]
fn ctrl_c_cancels_the_call_stops_all_descendants_and_exits_with_130() {
    for revision in ["2025-11-25", "2026-07-28"] {
        let folder = tempfile::tempdir().unwrap();
        let server = process_tree(folder.path(), &format!("exec {SWITCHBOARD} demo-server"));
        let call =
            ["call", "countdown", "from=1000", "interval_ms=100", "--trace", "--revision", revision, "--"];
        let mut running =
            RunningCommand::start(switchboard(call.iter().map(|arg| (*arg).to_owned()).chain(server)));
        let at = running.err.wait_for("notifications/progress", 0);
        let process_tree = ["child", "grandchild"].map(|who| pid(folder.path(), who));
        let began = Instant::now();
        running.interrupt();
        running.err.wait_for("notifications/cancelled", at);
        assert_eq!(running.wait().code(), Some(130));
        assert!(began.elapsed() < STEP_TIMEOUT, "{:?}", began.elapsed());
        assert!(process_tree.into_iter().all(exits_in_time));
        assert!(!running.err.all().contains("error:"));
    }
}

#[test]
fn a_second_ctrl_c_exits_immediately_and_the_supervisor_stops_the_descendants() {
    let folder = tempfile::tempdir().unwrap();
    // Ignores the end of its input and SIGTERM.
    let stubborn = format!("trap '' TERM; {SWITCHBOARD} demo-server; while true; do sleep 600; done");
    let server = process_tree(folder.path(), &stubborn);
    let call = ["call", "countdown", "from=1000", "interval_ms=100", "--trace", "--"];
    let mut running =
        RunningCommand::start(switchboard(call.iter().map(|arg| (*arg).to_owned()).chain(server)));
    let at = running.err.wait_for("notifications/progress", 0);
    let process_tree = ["child", "grandchild"].map(|who| pid(folder.path(), who));
    running.interrupt();
    running.err.wait_for("notifications/cancelled", at);
    let second = Instant::now();
    running.interrupt();
    assert_eq!(running.wait().code(), Some(130));
    assert!(second.elapsed() < STEP_TIMEOUT, "{:?}", second.elapsed());
    assert!(process_tree.into_iter().all(exits_in_time));
}

#[test]
fn ctrl_c_during_startup_exits_with_130() {
    let folder = tempfile::tempdir().unwrap();
    let fifo = folder.path().join("started");
    rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
    let script = format!("echo $$ > {}; exec sleep 600", fifo.display());
    let mut running = RunningCommand::start(switchboard(["tools", "--", "sh", "-c", &script]));
    // Opening a named pipe blocks until the server runs.
    let child: i32 = std::fs::read_to_string(&fifo).unwrap().trim().parse().unwrap();
    running.interrupt();
    assert_eq!(running.wait().code(), Some(130));
    assert!(exits_in_time(Pid::from_raw(child).unwrap()));
}

#[test]
fn a_closed_output_ends_the_command_silently() {
    for args in [
        &["tools"][..],
        &["tools", "--json"],
        &["read", "demo://poem"],
        &["listen", "--resource", "demo://clock"],
    ] {
        let mut command = switchboard(on_demo(args));
        command.stdin(Stdio::null()).stdout(broken_pipe()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let err = OutputReader::new(child.stderr.take().unwrap());
        assert_eq!(wait_for_child(&mut child).code(), Some(141), "{args:?}");
        let said = err.all();
        assert!(said.is_empty() || said.starts_with("listening for"), "{said}");
    }
}

#[test]
fn head_may_close_the_pipe_after_one_line() {
    let script = format!("'{SWITCHBOARD}' tools -- '{SWITCHBOARD}' demo-server | head -1");
    let out = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
    assert_eq!(String::from_utf8(out.stdout).unwrap(), "10 tools\n");
    assert_eq!(String::from_utf8(out.stderr).unwrap(), "");
}

#[test]
fn a_finished_command_leaves_no_process() {
    let folder = tempfile::tempdir().unwrap();
    let server = process_tree(folder.path(), &format!("exec {SWITCHBOARD} demo-server"));
    let args = ["tools", "--"].map(str::to_owned);
    let mut running = RunningCommand::start(switchboard(args.into_iter().chain(server)));
    assert_eq!(running.wait().code(), Some(0));
    assert!(["child", "grandchild"].map(|who| pid(folder.path(), who)).into_iter().all(exits_in_time));
}

#[test]
fn c11_a_command_ends_with_its_response_and_its_server_is_stopped() {
    // Ignores the end of its input and SIGTERM: its supervisor needs four seconds.
    let stubborn = format!("trap '' TERM; {SWITCHBOARD} demo-server; while true; do sleep 600; done");
    for is_configured in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let server = process_tree(folder.path(), &stubborn);
        let home = Home::with(json!({"stubborn": {"command": server[0], "args": server[1..]}}));
        let command = if is_configured {
            home.command(&["tools", "stubborn"])
        } else {
            let args = ["call", "add", "a=1", "b=2", "--"].map(str::to_owned);
            switchboard(args.into_iter().chain(server))
        };
        let mut running = RunningCommand::start(command);
        let code = running.wait().code();
        let process_tree = ["child", "grandchild"].map(|who| pid(folder.path(), who));
        assert_eq!(code, Some(0), "{}", running.err.all());
        let is_there = |pid: &Pid| rustix::process::test_kill_process(*pid).is_ok();
        assert!(process_tree.iter().all(is_there), "the command did not wait_for_child for its server");
        assert!(process_tree.into_iter().all(exits_in_time), "nothing is left");
    }
}
