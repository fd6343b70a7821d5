//! Calls over fifty upstreams that crash at random, reconciled with the upstreams' own ledgers: every call ends, a result
//! means exactly one execution, "nothing was sent" means none, and nothing is executed twice. The gateway's memory stays
//! flat, its descriptors return to their number at the start, and no process is left behind.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Value, json};
use switchboard::CallError;
use switchboard::client::{ClientSession, RevisionPolicy};
use switchboard_testkit::{trials, wait_until};

use crate::gateway_process::GatewayProcess;
use crate::join::{join_all, load_trial};
use crate::seeded::{Seeded, call_count, seed};
use crate::{PART, ledger_server};

trials! {
    load_trial: crashing_upstreams_lose_and_double_no_call_silently
}

const CALLERS: [&str; 2] = ["ada", "grace"];
const UPSTREAMS: usize = 50;
const WORKERS: usize = 24;
/// One call in so many makes its upstream crash; more in a long run, where upstreams would else mostly wait to be started
/// again.
fn crash_interval(calls: usize) -> usize {
    (calls / 400).max(150)
}

/// Whether the callers of an upstream share a process.
fn is_shared(upstream: usize) -> bool {
    !upstream.is_multiple_of(3)
}

/// Only a hang exceeds it, however busy the machine is.
const WATCHDOG: Duration = Duration::from_secs(180);
/// Returns what the gateway may grow by during so many calls after its warm-up: less than if each of them leaked 1 KiB, at least
/// what buffers of connections and fragmentation take, and at most what they take in the longest run.
fn growth_limit_kib(calls: usize) -> u64 {
    (calls as u64 / 2).clamp(4 * 1024, 24 * 1024)
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Ending {
    Result,
    /// The gateway says that nothing was sent.
    NotSent,
    /// The gateway says that it may have run.
    Unknown,
}

/// One call as its caller saw it.
struct CallRecord {
    id: String,
    upstream: usize,
    crash: &'static str,
    ending: Ending,
}

struct Load {
    gateway: GatewayProcess,
    seed: u64,
    calls: usize,
    next: AtomicUsize,
    records: Mutex<Vec<CallRecord>>,
    /// Memory after the warm-up.
    warm: Mutex<Option<u64>>,
}

async fn crashing_upstreams_lose_and_double_no_call_silently() {
    let (seed, calls) = (seed(), call_count(20_000, 1_000_000));
    let gateway = GatewayProcess::start(&CALLERS, |home, mark| {
        let program = std::env::current_exe().unwrap();
        let server = |number: usize| {
            let spec = json!({
                "command": program,
                "args": [mark],
                "share": if is_shared(number) { "always" } else { "per-principal" },
                "restart": 1000,
                "env": {
                    PART: "ledger",
                    ledger_server::LEDGER: home.join(format!("ledger-{number}")),
                    ledger_server::ERA: if number.is_multiple_of(2) { "legacy" } else { "modern" },
                },
            });
            (format!("up{number}"), spec)
        };
        (0..UPSTREAMS).map(server).collect::<serde_json::Map<String, Value>>().into()
    });
    eprintln!("seed {seed}, {calls} calls");
    let load = Load {
        gateway,
        seed,
        calls,
        next: AtomicUsize::new(0),
        records: Mutex::default(),
        warm: Mutex::default(),
    };
    load.use_all_upstreams("start").await;
    let descriptors = load.gateway.descriptor_count();
    let workers = (0..WORKERS).map(|number| load.work(number));
    join_all(workers).await;
    load.reconcile();
    load.use_all_upstreams("end").await;
    // The connections of the workers end when the gateway has noticed that they are closed.
    wait_until(format!("at most {descriptors} descriptors"), || {
        load.gateway.descriptor_count() <= descriptors
    })
    .await;
    load.gateway.stop().await;
}

impl Load {
    /// Makes a call of each caller to each upstream, again until it has a result, and waits until all their processes run. No client
    /// is connected afterwards.
    async fn use_all_upstreams(&self, phase: &str) {
        for caller in CALLERS {
            let session = self.gateway.connect(caller, RevisionPolicy::ModernOnly, ()).await;
            for upstream in 0..UPSTREAMS {
                let arguments = json!({ "id": format!("{phase}-{caller}-{upstream}"), "crash": "none" });
                let tool = format!("up{upstream}__record");
                while session.call_tool(&*tool, arguments.clone()).await.is_err() {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            }
        }
        // The main session of each upstream, which is the only one if it is shared; each process has a supervisor.
        let keyed = (0..UPSTREAMS).filter(|upstream| !is_shared(*upstream)).count() * CALLERS.len();
        let wanted = 2 * (UPSTREAMS + keyed);
        let running = || self.gateway.upstream_processes().len();
        wait_until(format!("{wanted} processes"), || running() == wanted).await;
    }

    /// Makes calls until all are made; the era of a worker is that of its number.
    async fn work(&self, number: usize) {
        let revisions = if number % 4 < 2 { RevisionPolicy::LegacyOnly } else { RevisionPolicy::ModernOnly };
        let session = self.gateway.connect(CALLERS[number % 2], revisions, ()).await;
        let mut random = Seeded::new(self.seed ^ (number as u64) << 32);
        loop {
            let call = self.next.fetch_add(1, Ordering::Relaxed);
            if call >= self.calls {
                return;
            }
            if call == self.calls / 4 {
                *self.warm.lock() = Some(self.gateway.memory_kib());
            }
            if call % (crash_interval(self.calls) * 3) == 250 {
                self.kill_an_upstream(&mut random);
            }
            let crash = match random.below(crash_interval(self.calls) * 3) {
                0 => "before",
                1 => "after",
                2 => "amid",
                _ => "none",
            };
            let record = self.call(&session, &mut random, format!("c{call}"), crash).await;
            self.records.lock().push(record);
        }
    }

    async fn call(
        &self,
        session: &ClientSession,
        random: &mut Seeded,
        id: String,
        crash: &'static str,
    ) -> CallRecord {
        let upstream = random.below(UPSTREAMS);
        let arguments = json!({ "id": id, "crash": crash });
        let call = session.call_tool(format!("up{upstream}__record"), arguments).into_future();
        let answer = tokio::time::timeout(WATCHDOG, call).await;
        let answer = answer.unwrap_or_else(|_| panic!("seed {}: call {id} of up{upstream} hangs", self.seed));
        let ending = match answer {
            Ok(result) => {
                assert_eq!(
                    result.text(),
                    format!("recorded {id}"),
                    "seed {}: another call's answer",
                    self.seed
                );
                Ending::Result
            }
            Err(CallError::Remote(error)) => {
                let data = error.data.as_ref().map(|data| data.as_str().to_owned()).unwrap_or_default();
                match serde_json::from_str::<Value>(&data).unwrap_or_default()["reason"].as_str() {
                    Some("upstream_unavailable" | "upstream_busy") => Ending::NotSent,
                    Some("upstream_failed" | "upstream_timeout") => Ending::Unknown,
                    _ => panic!("seed {}: call {id} of up{upstream}: {error:?}", self.seed),
                }
            }
            Err(error) => panic!("seed {}: call {id} of up{upstream}: {error}", self.seed),
        };
        CallRecord { id, upstream, crash, ending }
    }

    /// Kills one process that has the mark, whatever it is doing; a supervisor or a server.
    fn kill_an_upstream(&self, random: &mut Seeded) {
        let processes = self.gateway.upstream_processes();
        if !processes.is_empty() {
            let pid = processes[random.below(processes.len())];
            let _ = std::process::Command::new("kill").args(["-9", &pid.to_string()]).status();
        }
    }

    /// Compares what the callers saw with what the upstreams wrote.
    fn reconcile(&self) {
        let mut ledger: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for upstream in 0..UPSTREAMS {
            let text =
                std::fs::read_to_string(self.gateway.at(&format!("ledger-{upstream}"))).unwrap_or_default();
            for id in text.lines() {
                // The other calls are not counted.
                if id.starts_with('c') {
                    ledger.entry(id.to_owned()).or_default().push(upstream);
                }
            }
        }
        let records = self.records.lock();
        assert_eq!(records.len(), self.calls, "seed {}: every call ends", self.seed);
        let mut endings: BTreeMap<Ending, usize> = BTreeMap::new();
        for record in records.iter() {
            let CallRecord { id, upstream, crash, ending } = record;
            *endings.entry(*ending).or_default() += 1;
            let executions = ledger.remove(id).unwrap_or_default();
            let told =
                format!("seed {}: call {id} of up{upstream}, crash {crash}, ended as {ending:?}", self.seed);
            assert!(executions.iter().all(|ran| ran == upstream), "{told}, ran on {executions:?}");
            let range = match (ending, *crash) {
                (Ending::Result, "none") => 1..=1,
                (Ending::Result, _) => panic!("{told}: a crash has no result"),
                (Ending::NotSent, _) | (Ending::Unknown, "before") => 0..=0,
                (Ending::Unknown, _) => 0..=1,
            };
            assert!(range.contains(&executions.len()), "{told}, ran {} times", executions.len());
        }
        assert!(ledger.is_empty(), "seed {}: executed, but never called: {ledger:?}", self.seed);
        let (warm, end) = (self.warm.lock().unwrap(), self.gateway.memory_kib());
        eprintln!("{endings:?}; memory {warm} KiB warm, {end} KiB at the end");
        let limit = growth_limit_kib(self.calls - self.calls / 4);
        assert!(end <= warm + limit, "seed {}: {warm} KiB grew to {end}, by more than {limit}", self.seed);
        let results = endings.get(&Ending::Result).copied().unwrap_or_default();
        assert!(results * 2 > self.calls, "seed {}: too few results prove little: {endings:?}", self.seed);
    }
}
