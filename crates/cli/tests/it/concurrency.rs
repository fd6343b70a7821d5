//! Concurrent edits of the same files by several processes, some of them killed: acknowledged edits survive.

use std::collections::BTreeSet;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::home::{Home, demo};

/// Number of processes, and edits of each: the full count with `SWITCHBOARD_LONG=1`.
fn load() -> (usize, usize) {
    let is_long = std::env::var_os("SWITCHBOARD_LONG").is_some_and(|value| value == "1");
    if is_long { (24, 50) } else { (8, 8) }
}

/// Runs a command to its end, or kills it after this long. Returns whether it reported success.
fn acknowledged(mut command: Command, kill_after: Option<Duration>) -> bool {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    if let Some(time) = kill_after {
        std::thread::sleep(time);
        // A process that has exited acknowledged its edit.
        let _ = child.kill();
    }
    child.wait().unwrap().success()
}

/// When an edit is killed: every other one, after 0 to 15 ms, so that all stages of an edit are hit.
fn killed_after(worker: usize, edit: usize) -> Option<Duration> {
    let micros = (worker * 7919 + edit * 104_729) % 15_000;
    (edit % 2 == 1).then(|| Duration::from_micros(micros as u64))
}

#[test]
fn s7_every_acknowledged_edit_survives_kills() {
    let home = Home::new();
    let (workers, edits) = load();
    let mut kept = BTreeSet::new();
    let mut gone = BTreeSet::new();
    std::thread::scope(|scope| {
        let worker = |worker: usize| {
            let home = &home;
            move || {
                let (mut kept, mut gone) = (BTreeSet::new(), BTreeSet::new());
                for edit in 0..edits {
                    let name = format!("server-{worker}-{edit}");
                    let add = home.command(&["add", "-s", "user", &name, "--", "program", &name]);
                    if acknowledged(add, killed_after(worker, edit)) {
                        kept.insert(name);
                    }
                    // Every fifth one is removed again.
                    let name = format!("server-{worker}-{}", edit / 5 * 5);
                    if edit % 5 == 4
                        && kept.contains(&name)
                        && acknowledged(home.command(&["remove", "-s", "user", &name]), None)
                    {
                        kept.remove(&name);
                        gone.insert(name);
                    }
                }
                (kept, gone)
            }
        };
        let running: Vec<_> = (0..workers).map(|number| scope.spawn(worker(number))).collect();
        for thread in running {
            let (more_kept, more_gone) = thread.join().unwrap();
            kept.extend(more_kept);
            gone.extend(more_gone);
        }
    });
    let stored = home.servers("config/switchboard/mcp.json");
    let stored: BTreeSet<String> = stored.as_object().unwrap().keys().cloned().collect();
    assert!(kept.len() >= workers * edits / 3, "too few edits were acknowledged: {}", kept.len());
    assert_eq!(kept.difference(&stored).collect::<Vec<_>>(), Vec::<&String>::new(), "acknowledged and lost");
    assert_eq!(
        gone.intersection(&stored).collect::<Vec<_>>(),
        Vec::<&String>::new(),
        "removed and back again"
    );
    // The next edit removes leftovers of killed ones.
    home.run_ok(&["add", "-s", "user", "last", "--", "program"]);
    let files: Vec<_> = std::fs::read_dir(home.at("config/switchboard")).unwrap().collect();
    assert_eq!(files.len(), 1, "{files:?}");
}

#[test]
fn s7_definitions_seen_by_concurrent_processes_are_all_pinned() {
    let (workers, rounds) = if load().0 > 8 { (24, 4) } else { (8, 1) };
    let name = |worker, round| format!("demo-{worker}-{round}");
    let all = || (0..workers).flat_map(|worker| (0..rounds).map(move |round| (worker, round)));
    let servers: serde_json::Map<String, Value> =
        all().map(|(worker, round)| (name(worker, round), demo())).collect();
    let home = Home::with(json!(servers));
    std::thread::scope(|scope| {
        for worker in 0..workers {
            let home = &home;
            scope.spawn(move || {
                for round in 0..rounds {
                    let server = name(worker, round);
                    let list = || home.command(&["tools", "--server", &server]);
                    // One that is killed in between, then one that is not.
                    acknowledged(list(), Some(Duration::from_millis((worker * 31 % 200) as u64)));
                    assert!(acknowledged(list(), None), "{server}");
                }
            });
        }
    });
    let projects = std::fs::read_dir(home.at("state/switchboard/projects")).unwrap();
    let file = projects.map(|project| project.unwrap().path().join("definitions.json")).next().unwrap();
    let pinned: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let missing: Vec<String> =
        all().map(|(worker, round)| name(worker, round)).filter(|name| pinned.get(name).is_none()).collect();
    assert_eq!(missing, Vec::<String>::new(), "listed and not pinned");
}
