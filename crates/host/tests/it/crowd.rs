//! Many servers at once, some of them broken, and changes of the set in any order.

use std::collections::BTreeMap;
use std::time::Duration;

use switchboard_host::config::RestartPolicy;
use switchboard_host::{Host, ServerSpec, Status, StatusKind};
use switchboard_testkit::{descriptor_count, is_running, trial, trial_leaving_tasks, wait_for_tasks};

use crate::hosts::{child, http, in_process, names, reopened, sh, until};
use crate::toy::{self, Toy};
use crate::web::Web;

switchboard_testkit::trials![
    trial_leaving_tasks:
        fifty_servers_of_which_five_are_broken,
        a_remote_server_that_goes_away_is_reached_again;
    trial:
        any_order_of_changes_ends_in_the_state_that_was_asked_for,
        more_servers_than_a_host_takes_are_refused,
        replacing_a_server_waits_for_the_old_one_to_end;
];

async fn fifty_servers_of_which_five_are_broken() {
    let web = Web::open(&Toy::full().server("toy")).await;
    let guarded = Web::open(&Toy::full().server("toy")).await;
    *guarded.token.lock() = Some("secret".to_owned());
    let host = Host::builder().without_resource_tools().build();
    let mut servers: Vec<(String, ServerSpec)> = Vec::new();
    for n in 0..45 {
        let spec = if n % 3 == 0 { child("toy") } else { http(&format!("{}/mcp", web.url)) };
        servers.push((format!("good{n}"), spec));
    }
    // Junk and silence go on until this file is there.
    let folder = tempfile::tempdir().unwrap();
    let open = folder.path().join("open").display().to_string();
    let broken = [
        ("missing", crate::checklist::missing()),
        ("exits", sh("exit 1")),
        ("junk", sh(&format!("while ! [ -e '{open}' ]; do echo junk; sleep 0.1; done"))),
        ("hangs", sh(&format!("while ! [ -e '{open}' ]; do sleep 0.1; done"))),
        ("login", http(&format!("{}/mcp", guarded.url))),
    ];
    for (name, mut spec) in broken {
        spec.restart = RestartPolicy::Never;
        // In between, so that nothing depends on who comes first.
        servers.insert(servers.len() / 2, (name.to_owned(), spec));
    }
    let setting = host.set_servers(servers);
    let waiting = async {
        loop {
            let good = host.status().iter().filter(|server| server.status == StatusKind::Connected).count();
            if good == 45 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let hangs = host.server_status("hangs").unwrap().status;
        assert_eq!(hangs, StatusKind::Pending, "the healthy ones do not wait for the hanging one");
        std::fs::write(&open, "").unwrap();
    };
    let (done, ()) = tokio::join!(setting, waiting);
    let failed: Vec<&str> = done.errors.keys().map(String::as_str).collect();
    assert_eq!(failed, ["exits", "hangs", "junk", "login", "missing"]);
    assert_eq!(names(&host).len(), 45 * 9);
    host.close().await;
}

/// Numbers that are the same in every run (a linear congruential generator, Knuth's constants).
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % most
    }
}

/// In a process of its own, whose descriptors and children are nobody else's.
async fn any_order_of_changes_ends_in_the_state_that_was_asked_for() {
    let mut changing = std::process::Command::new(std::env::current_exe().unwrap());
    changing.env(toy::PART, CHANGES).stdin(std::process::Stdio::null());
    let output = tokio::task::spawn_blocking(move || changing.output().unwrap()).await.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The part of this program that changes servers at random.
pub(crate) const CHANGES: &str = "changes";

/// Plays that part.
pub(crate) fn play() {
    // More than one thread: what follows what is then up to chance as well.
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(changes());
}

async fn changes() {
    const NAMES: [&str; 4] = ["a", "b", "c", "d"];
    let seed = std::env::var("SWITCHBOARD_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(7);
    let before = descriptor_count();
    let mut dice = Dice(seed);
    let host =
        Host::builder().with_server("inside", &Toy::full().server("inside")).without_resource_tools().build();
    // What was asked for: the plan of each, and whether it is on.
    let mut wanted: BTreeMap<&str, (usize, bool)> = BTreeMap::new();
    let plans = [child("toy"), in_process("inside"), child("legacy")];
    let mut pids: Vec<u32> = Vec::new();
    for _ in 0..1000 {
        let name = NAMES[dice.below(NAMES.len())];
        match dice.below(6) {
            0 | 1 => {
                let mut set: BTreeMap<&str, (usize, bool)> = BTreeMap::new();
                for name in NAMES {
                    if dice.below(3) > 0 {
                        let kind = dice.below(plans.len());
                        let on = wanted.get(name).is_none_or(|(was, on)| *was != kind || *on);
                        set.insert(name, (kind, on));
                    }
                }
                let servers = set.iter().map(|(name, (kind, _))| (*name, plans[*kind].clone()));
                let done = host.set_servers(servers.collect::<Vec<_>>()).await;
                assert!(done.errors.is_empty(), "seed {seed}: {:?}", done.errors);
                wanted = set;
            }
            2 => {
                let on = dice.below(2) == 0;
                if let Some(entry) = wanted.get_mut(name) {
                    host.toggle(name, on).await.unwrap();
                    entry.1 = on;
                }
            }
            3 if wanted.contains_key(name) => host.reconnect(name).await.unwrap(),
            4 if wanted.get(name).is_some_and(|(kind, on)| *kind != 1 && *on) => {
                if let Ok(said) = host.call_tool(name, "pid", ()).await {
                    pids.push(said.text().parse().unwrap());
                    let _ = host.call_tool(name, "die", ()).await;
                }
            }
            _ => {
                let _ = host.call_tool(name, "echo", ()).await;
            }
        }
    }
    // Whatever was killed last comes back by itself.
    for (name, (_, on)) in &wanted {
        if *on {
            until(&host, name, |status| matches!(status, Status::Ready(_))).await;
        }
    }
    assert_eq!(host.servers(), wanted.keys().copied().collect::<Vec<_>>(), "seed {seed}");
    let on = wanted.values().filter(|(_, on)| *on).count();
    assert_eq!(names(&host).len(), on * 9, "seed {seed}: {wanted:?}");
    for (name, (_, on)) in &wanted {
        let word = if *on { StatusKind::Connected } else { StatusKind::Disabled };
        assert_eq!(host.server_status(name).unwrap().status, word, "seed {seed}: {name}");
    }
    host.close().await;
    assert!(pids.iter().all(|pid| !is_running(*pid)), "seed {seed}: a process is left");
    wait_for_tasks().await;
    assert!(
        descriptor_count() <= before + 4,
        "seed {seed}: {before} descriptors before, {} after",
        descriptor_count()
    );
}

async fn a_remote_server_that_goes_away_is_reached_again() {
    let server = Toy::full().server("toy");
    let web = Web::open(&server).await;
    let host = Host::builder().build();
    let mut spec = http(&format!("{}/mcp", web.url));
    spec.restart = RestartPolicy::WithBackoff { max_failures: 50 };
    host.connect("web", spec).await.unwrap();
    let address = web.url.strip_prefix("http://").unwrap().to_owned();
    drop(web);
    let error = loop {
        // What was on its way may still arrive.
        if let Err(error) = host.call_tool("web", "echo", ()).await {
            break error;
        }
    };
    assert!(!error.to_string().is_empty());
    until(&host, "web", |status| matches!(status, Status::BackingOff { .. })).await;
    let _back = Web::open_at(&server, &address).await;
    reopened(&host, "web", 1).await;
    host.call_tool("web", "echo", ()).await.unwrap();
    host.close().await;
}

async fn more_servers_than_a_host_takes_are_refused() {
    let host =
        Host::builder().with_server("s", &Toy::new(&["a"]).server("s")).without_resource_tools().build();
    let done = host.set_servers((0..260).map(|n| (format!("s{n}"), in_process("s")))).await;
    assert_eq!((done.added.len(), done.errors.len()), (256, 4));
    assert!(done.errors["s256"].contains("at most 256 servers"), "{}", done.errors["s256"]);
    let error = host.connect("another", in_process("s")).await.unwrap_err();
    assert!(error.to_string().contains("at most 256"), "{error}");
    assert_eq!(names(&host).len(), 256);
    host.close().await;
}

async fn replacing_a_server_waits_for_the_old_one_to_end() {
    let directory = tempfile::tempdir().unwrap();
    let lock = directory.path().join("lock");
    // Both want the same file, and each takes a moment to let go of it.
    let env = [("LOCK", lock.to_str().unwrap())];
    let host = Host::builder().build();
    host.connect("locked", crate::hosts::child_with("locked", &env)).await.unwrap();
    let mut other = crate::hosts::child_with("locked", &env);
    other.call_timeout = Some(Duration::from_secs(9));
    let done = host.set_servers([("locked", other)]).await;
    assert!(done.errors.is_empty(), "{:?}", done.errors);
    host.close().await;
}
