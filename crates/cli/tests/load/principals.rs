//! Two principals, interleaved, in both eras, through upstreams with state: each sees only its own. Processes are those of
//! one principal; an HTTP upstream is shared, and learns nothing of who calls.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Value, json};
use switchboard::client::{
    ClientHandler, ClientSession, HandlerCapabilities, HandlerError, RequestingServer, RevisionPolicy,
};
use switchboard::protocol::{ElicitParams, ElicitResult, OrderedMap, Raw};
use switchboard::server::{HttpListener, HttpServerOptions, HttpService};
use switchboard::transport::link::BoxFuture;
use switchboard_testkit::trials;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::gateway_process::GatewayProcess;
use crate::join::{join_all, load_trial};
use crate::seeded::{Seeded, call_count, seed};
use crate::{PART, ledger_server, stateful_server};

trials! {
    load_trial: two_principals_never_see_each_others_state
}

const PRINCIPALS: [&str; 2] = ["ada", "grace"];
/// Sessions of each principal, half of them of either era.
const SESSIONS: usize = 4;
const WATCHDOG: Duration = Duration::from_secs(180);

/// One caller: a secret word that no other may see, and what its calls returned.
struct Principal {
    name: &'static str,
    word: String,
    /// Counters by upstream and process. Each is returned once, and all of them are this caller's.
    ledger: Mutex<BTreeMap<(String, u64), BTreeSet<u64>>>,
    /// A legacy process asks for the only call in flight: held shared by calls, alone by questions.
    quiet: tokio::sync::RwLock<()>,
    asked: AtomicUsize,
}

/// The user of a principal, who answers with the secret word.
struct User(Arc<Principal>);

impl ClientHandler for User {
    fn capabilities(&self) -> HandlerCapabilities {
        HandlerCapabilities::none().with_forms()
    }

    fn elicit<'a>(
        &'a self,
        _: ElicitParams,
        _: &'a RequestingServer,
    ) -> BoxFuture<'a, Result<ElicitResult, HandlerError>> {
        Box::pin(async move {
            self.0.asked.fetch_add(1, Ordering::Relaxed);
            let word = Raw::encode(&self.0.word).unwrap();
            Ok(ElicitResult::accept([("word".to_owned(), word)].into_iter().collect::<OrderedMap<Raw>>()))
        })
    }
}

struct Load {
    gateway: GatewayProcess,
    seed: u64,
    calls: usize,
    next: AtomicUsize,
}

async fn two_principals_never_see_each_others_state() {
    let (seed, calls) = (seed(), call_count(2_000, 100_000));
    let mut random = Seeded::new(seed);
    let seen: Arc<Mutex<Vec<u8>>> = Arc::default();
    let shared = serve_shared(Arc::clone(&seen)).await;
    let gateway = GatewayProcess::start(&PRINCIPALS, |_, mark| {
        let program = std::env::current_exe().unwrap();
        let child = |era: &str| {
            json!({
                "command": program,
                "args": [mark],
                "share": "per-principal",
                "env": { PART: "stateful", ledger_server::ERA: era },
            })
        };
        json!({ "legacy": child("legacy"), "modern": child("modern"), "shared": { "url": shared } })
    });
    eprintln!("seed {seed}, {calls} calls");
    let load = Load { gateway, seed, calls, next: AtomicUsize::new(0) };
    let principals = PRINCIPALS.map(|name| {
        let word = format!("{name}-{:016x}", random.next());
        let quiet = tokio::sync::RwLock::new(());
        Arc::new(Principal { name, word, ledger: Mutex::default(), quiet, asked: AtomicUsize::new(0) })
    });
    for principal in &principals {
        load.enter(principal).await;
    }
    let workers = (0..SESSIONS * PRINCIPALS.len()).map(|number| load.work(number, &principals[number % 2]));
    join_all(workers).await;
    check_ledgers(seed, &principals);
    check_shared(seed, &seen.lock(), &principals);
    load.gateway.stop().await;
}

impl Load {
    /// Leaves the secret word with every process of a principal.
    async fn enter(&self, principal: &Arc<Principal>) {
        let session = self.session(principal, RevisionPolicy::ModernOnly).await;
        for upstream in ["legacy", "modern"] {
            let arguments = json!({ "word": principal.word, "number": 0 });
            let state = self.call(&session, upstream, "enter", arguments).await;
            self.check(principal, upstream, &state, 0);
        }
    }

    async fn session(&self, principal: &Arc<Principal>, revisions: RevisionPolicy) -> ClientSession {
        self.gateway.connect(principal.name, revisions, User(Arc::clone(principal))).await
    }

    async fn work(&self, worker: usize, principal: &Arc<Principal>) {
        let is_legacy = (worker / 2).is_multiple_of(2);
        let revisions = if is_legacy { RevisionPolicy::LegacyOnly } else { RevisionPolicy::ModernOnly };
        let session = self.session(principal, revisions).await;
        let mut random = Seeded::new(self.seed ^ (worker as u64) << 32);
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if number >= self.calls {
                return;
            }
            let arguments = json!({ "number": number });
            match random.below(100) {
                0..80 => {
                    let upstream = if random.below(2) == 0 { "legacy" } else { "modern" };
                    let _shared = principal.quiet.read().await;
                    let state = self.call(&session, upstream, "count", arguments).await;
                    self.check(principal, upstream, &state, number);
                }
                80..96 => {
                    let state = self.call(&session, "shared", "count", arguments).await;
                    assert_eq!(state["number"], number, "seed {}: another call's answer: {state}", self.seed);
                }
                chance => {
                    let upstream = if chance % 2 == 0 { "legacy" } else { "modern" };
                    let _alone = principal.quiet.write().await;
                    let state = self.call(&session, upstream, "ask", arguments).await;
                    self.check(principal, upstream, &state, number);
                    assert_eq!(
                        state["answer"], principal.word,
                        "seed {}: {}: {state}",
                        self.seed, principal.name
                    );
                }
            }
        }
    }

    async fn call(&self, session: &ClientSession, upstream: &str, tool: &str, arguments: Value) -> Value {
        let call = session.call_tool(format!("{upstream}__{tool}"), arguments.clone()).into_future();
        let answer = tokio::time::timeout(WATCHDOG, call).await;
        let told = format!("seed {}: {tool} {arguments} of {upstream}", self.seed);
        let result = answer.unwrap_or_else(|_| panic!("{told} hangs"));
        let result = result.unwrap_or_else(|error| panic!("{told}: {error}"));
        serde_json::from_str(&result.text()).unwrap_or_else(|_| panic!("{told}: {}", result.text()))
    }

    /// Checks that a state is that of this principal and records it.
    fn check(&self, principal: &Principal, upstream: &str, state: &Value, number: usize) {
        let told = format!("seed {}: {} got {state} of {upstream}", self.seed, principal.name);
        assert_eq!(state["word"], principal.word, "{told}; so far {:?}", principal.ledger.lock());
        assert_eq!(state["number"], number, "{told}");
        let key = (upstream.to_owned(), state["pid"].as_u64().unwrap());
        let is_new =
            principal.ledger.lock().entry(key).or_default().insert(state["counter"].as_u64().unwrap());
        assert!(is_new, "{told}: a counter came twice");
    }
}

/// Every process counted the calls of one principal, without a gap: nobody else called it.
fn check_ledgers(seed: u64, principals: &[Arc<Principal>; 2]) {
    let [ada, grace] = principals.each_ref().map(|principal| principal.ledger.lock().clone());
    for (process, counters) in ada.iter().chain(&grace) {
        let expected: BTreeSet<u64> = (1..=counters.len() as u64).collect();
        assert_eq!(
            *counters, expected,
            "seed {seed}: {process:?} was called by somebody else; {ada:?} {grace:?}"
        );
    }
    let both: Vec<_> = ada.keys().filter(|process| grace.contains_key(*process)).collect();
    assert!(both.is_empty(), "seed {seed}: processes of both: {both:?}");
    for principal in principals {
        assert!(principal.asked.load(Ordering::Relaxed) > 0, "{} was never asked", principal.name);
    }
}

/// The shared upstream was sent neither keys nor names.
fn check_shared(seed: u64, seen: &[u8], principals: &[Arc<Principal>; 2]) {
    let seen = String::from_utf8_lossy(seen).to_lowercase();
    assert!(seen.contains("tools/call"), "seed {seed}: what is searched must be there");
    let words = principals.iter().flat_map(|principal| [principal.name, principal.word.as_str()]);
    for word in words.chain(["sbk_", "authorization", "bearer"]) {
        assert!(!seen.contains(word), "seed {seed}: the shared upstream was told {word:?}");
    }
}

/// Serves a stateful server over HTTP, behind a relay that keeps what it is sent, and returns its URL.
async fn serve_shared(seen: Arc<Mutex<Vec<u8>>>) -> String {
    let listener = HttpListener::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let address = listener.address().unwrap();
    let service = HttpService::new(&stateful_server::build(), HttpServerOptions::default());
    tokio::spawn(listener.serve(service));
    let relay = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", relay.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((near, _)) = relay.accept().await {
            let far = TcpStream::connect(address).await.unwrap();
            let ((mut near_in, mut near_out), (mut far_in, mut far_out)) =
                (near.into_split(), far.into_split());
            tokio::spawn(async move { tokio::io::copy(&mut far_in, &mut near_out).await });
            let seen = Arc::clone(&seen);
            tokio::spawn(async move {
                let mut chunk = [0; 8192];
                while let Ok(count @ 1..) = near_in.read(&mut chunk).await {
                    seen.lock().extend_from_slice(&chunk[..count]);
                    if far_out.write_all(&chunk[..count]).await.is_err() {
                        return;
                    }
                }
            });
        }
    });
    url
}
