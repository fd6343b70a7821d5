//! How the program ends when it is told to, and what it leaves behind: nothing.

use std::path::Path;
use std::process::Stdio;
use std::time::Instant;

use rustix::process::Pid;
use serde_json::json;

use crate::home::Home;
use crate::stage::{Heard, PATIENCE, Running, SWITCHBOARD, broken_pipe, ends, on_demo, switchboard, wait};

/// The demo server behind a shell that starts a grandchild and writes down who they are.
fn family(folder: &Path, server: &str) -> [String; 3] {
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
fn ctrl_c_cancels_the_call_stops_the_whole_family_and_is_130() {
    for revision in ["2025-11-25", "2026-07-28"] {
        let folder = tempfile::tempdir().unwrap();
        let server = family(folder.path(), &format!("exec {SWITCHBOARD} demo-server"));
        let call =
            ["call", "countdown", "from=1000", "interval_ms=100", "--trace", "--revision", revision, "--"];
        let mut running = Running::start(switchboard(call.iter().map(|arg| (*arg).to_owned()).chain(server)));
        let at = running.err.wait_for("notifications/progress", 0);
        let family = ["child", "grandchild"].map(|who| pid(folder.path(), who));
        let began = Instant::now();
        running.interrupt();
        running.err.wait_for("notifications/cancelled", at);
        assert_eq!(wait(&mut running.child).code(), Some(130));
        assert!(began.elapsed() < PATIENCE, "{:?}", began.elapsed());
        assert!(family.into_iter().all(ends));
        assert!(!running.err.all().contains("error:"));
    }
}

#[test]
fn a_second_ctrl_c_ends_at_once_and_the_family_follows() {
    let folder = tempfile::tempdir().unwrap();
    // Heeds neither the end of its input nor a polite signal.
    let stubborn = format!("trap '' TERM; {SWITCHBOARD} demo-server; while true; do sleep 600; done");
    let server = family(folder.path(), &stubborn);
    let call = ["call", "countdown", "from=1000", "interval_ms=100", "--trace", "--"];
    let mut running = Running::start(switchboard(call.iter().map(|arg| (*arg).to_owned()).chain(server)));
    let at = running.err.wait_for("notifications/progress", 0);
    let family = ["child", "grandchild"].map(|who| pid(folder.path(), who));
    running.interrupt();
    running.err.wait_for("notifications/cancelled", at);
    let second = Instant::now();
    running.interrupt();
    assert_eq!(wait(&mut running.child).code(), Some(130));
    assert!(second.elapsed() < PATIENCE, "{:?}", second.elapsed());
    assert!(family.into_iter().all(ends));
}

#[test]
fn ctrl_c_while_the_server_starts_is_130_too() {
    let folder = tempfile::tempdir().unwrap();
    let fifo = folder.path().join("started");
    rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
    let script = format!("echo $$ > {}; exec sleep 600", fifo.display());
    let mut running = Running::start(switchboard(["tools", "--", "sh", "-c", &script]));
    // Opening a pipe with a name waits for the other side: this is when the server runs.
    let child: i32 = std::fs::read_to_string(&fifo).unwrap().trim().parse().unwrap();
    running.interrupt();
    assert_eq!(wait(&mut running.child).code(), Some(130));
    assert!(ends(Pid::from_raw(child).unwrap()));
}

#[test]
fn a_closed_output_is_a_quiet_end() {
    for args in [
        &["tools"][..],
        &["tools", "--json"],
        &["read", "demo://poem"],
        &["listen", "--resource", "demo://clock"],
    ] {
        let mut command = switchboard(on_demo(args));
        command.stdin(Stdio::null()).stdout(broken_pipe()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let err = Heard::listen(child.stderr.take().unwrap());
        assert_eq!(wait(&mut child).code(), Some(141), "{args:?}");
        let said = err.all();
        assert!(said.is_empty() || said.starts_with("listening for"), "{said}");
    }
}

#[test]
fn the_first_line_is_enough_for_head() {
    let script = format!("'{SWITCHBOARD}' tools -- '{SWITCHBOARD}' demo-server | head -1");
    let out = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
    assert_eq!(String::from_utf8(out.stdout).unwrap(), "10 tools\n");
    assert_eq!(String::from_utf8(out.stderr).unwrap(), "");
}

#[test]
fn a_command_that_is_done_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let server = family(folder.path(), &format!("exec {SWITCHBOARD} demo-server"));
    let args = ["tools", "--"].map(str::to_owned);
    let mut running = Running::start(switchboard(args.into_iter().chain(server)));
    assert_eq!(wait(&mut running.child).code(), Some(0));
    assert!(["child", "grandchild"].map(|who| pid(folder.path(), who)).into_iter().all(ends));
}

#[test]
fn c11_a_command_ends_with_its_answer_and_its_server_follows() {
    // Heeds neither the end of its input nor a polite signal: its supervisor takes four seconds for it.
    let stubborn = format!("trap '' TERM; {SWITCHBOARD} demo-server; while true; do sleep 600; done");
    for is_configured in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let server = family(folder.path(), &stubborn);
        let home = Home::with(json!({"stubborn": {"command": server[0], "args": server[1..]}}));
        let command = if is_configured {
            home.command(&["tools", "stubborn"])
        } else {
            let args = ["call", "add", "a=1", "b=2", "--"].map(str::to_owned);
            switchboard(args.into_iter().chain(server))
        };
        let mut running = Running::start(command);
        let code = wait(&mut running.child).code();
        let family = ["child", "grandchild"].map(|who| pid(folder.path(), who));
        assert_eq!(code, Some(0), "{}", running.err.all());
        let is_there = |pid: &Pid| rustix::process::test_kill_process(*pid).is_ok();
        assert!(family.iter().all(is_there), "the command did not wait for its server");
        assert!(family.into_iter().all(ends), "nothing is left");
    }
}
