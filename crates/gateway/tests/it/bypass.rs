//! Attempts to get past the policy of a running gateway (`bypass_attempts.rs`). Each is named; none may reach what is denied.
//!
//! What counts is what the upstream did and what the client learned: an attempt is through if the upstream has counted a
//! request, if the answer has a mark that only a denied target gives, or if it is a success where none is due. The clients have
//! tasks, handles and questions from before the policy. That the attempts can fail is a trial of its own: without a policy
//! those of every class get through.

use std::collections::{BTreeMap, BTreeSet};

use switchboard::gateway::policy::Policy;
use switchboard::gateway::view::View;
use switchboard::gateway::{Gateway, GatewayOptions};
use switchboard::host::ServerSpec;
use switchboard::host::config::SharePolicy;
use switchboard::protocol::Raw;
use switchboard::server::{Caller, HttpListener, HttpServerOptions, HttpService};
use switchboard::{Http, InProcess};
use switchboard_testkit::{trial_leaving_tasks, trials};
use tokio::task::JoinSet;

use crate::access::post;
use crate::attack_client::{Answer, AttackClient, Loot};
use crate::bypass_attempts::{Attempt, CLASSES, LOOKALIKES};
use crate::cells::{Bench, Cell, Reach, Side, serve_http};
use crate::person::Person;
use crate::witness_upstream::{self, Witness};

trials! {
    trial_leaving_tasks:
        no_attempt_gets_past_a_deny_list,
        no_attempt_gets_past_an_allow_list,
        without_a_policy_attempts_of_every_class_get_through,
        no_batch_gets_past_the_policy,
        no_legacy_subscription_gets_past_the_policy,
}

/// Everything is allowed but these.
const DENY_LIST: &str = r#"
default = "allow"
[[rule]]
effect = "deny"
tool = ["echo", "ask", "job", "large"]
[[rule]]
effect = "deny"
prompt = "greet"
[[rule]]
effect = "deny"
uri = ["note://one", "page://secret/**"]
[[rule]]
effect = "deny"
tool = "meta"
arguments = { mode = { equals = "raw" } }
"#;

/// Only these are allowed.
const ALLOW_LIST: &str = r#"
default = "deny"
[[rule]]
effect = "allow"
server = "up"
tool = "counts"
[[rule]]
effect = "allow"
server = "up"
tool = "meta"
arguments = { mode = { in = ["plain"] } }
[[rule]]
effect = "allow"
prompt = "ask"
[[rule]]
effect = "allow"
uri = "note://ask"
"#;

/// Only a denied target answers with one of these.
const MARKS: [&str; 4] = ["PASSED", "text of note://one", "text of page://secret", "Which color"];

fn cell(client: Side) -> Cell {
    Cell { client, upstream: Side::Modern, reach: Reach::InProcess }
}

async fn open(cell: Cell, document: &str) -> Bench {
    cell.open_with(GatewayOptions::default().with_policy(Policy::parse(document).unwrap())).await
}

/// Returns what the upstream did, apart from what the test itself asks of it.
async fn done_by(bench: &Bench) -> BTreeMap<String, i64> {
    let mut counts = bench.counts().await;
    counts.remove("runs of counts");
    counts
}

/// How a client reaches the gateway, and in which eras.
#[derive(Clone, Copy, Debug)]
struct Route {
    client: Side,
    upstream: Side,
    is_http: bool,
}

const ROUTES: [Route; 4] = [
    Route { client: Side::Modern, upstream: Side::Modern, is_http: false },
    Route { client: Side::Modern, upstream: Side::Modern, is_http: true },
    // Calls that ask are parked here.
    Route { client: Side::Modern, upstream: Side::Legacy, is_http: true },
    Route { client: Side::Legacy, upstream: Side::Legacy, is_http: true },
];

/// The view of the clients: results that are large are kept.
const VIEW: &str = "[views.v]\nservers = \"up\"\nlarge_results = { above = 1_000 }\n";

/// A gateway whose clients have got what they can, and then a policy.
struct Attacked {
    gateway: Gateway,
    witness: Witness,
    client: AttackClient,
    loot: Loot,
    _serving: JoinSet<()>,
}

impl Attacked {
    async fn open(route: Route, document: &str) -> Self {
        let (server, witness) = witness_upstream::build(route.upstream.revisions());
        let host = Gateway::host_builder().build();
        let mut serving = JoinSet::new();
        let up: ServerSpec = match route.upstream {
            Side::Modern => InProcess::new(&server).into(),
            // Over HTTP it names the call of each question, so that several can wait.
            Side::Legacy => Http::new(serve_http(&server, &mut serving).await).into(),
        };
        host.connect("up", up.share(SharePolicy::Always)).await.unwrap();
        let views = View::parse_all(VIEW).unwrap();
        let gateway = Gateway::new(host, GatewayOptions::default().with_views(views));
        let view = gateway.view("v").unwrap();
        let listener = HttpListener::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let url = format!("http://{}/mcp", listener.address().unwrap());
        let options = HttpServerOptions::default().with_authenticate(authenticate);
        serving.spawn(listener.serve(HttpService::new(&view, options)));
        let connect = async |name: &str| match route.is_http {
            true => AttackClient::connect(Http::new(url.as_str()).header("x-user", name), route.client).await,
            false => {
                let dial = InProcess::new(&view).with_caller(Caller::new(name));
                AttackClient::connect(dial, route.client).await
            }
        };
        let (client, other) = (connect("mallory").await, connect("ada").await);
        let loot = Loot {
            era: route.client,
            tasks: vec![client.start_task("up__job").await],
            tasks_of_others: vec![other.start_task("up__job").await],
            handles: vec![client.keep_result("up__large").await],
            handles_of_others: vec![other.keep_result("up__large").await],
            question: client.question("up__ask").await,
            question_of_another: other.question("up__ask").await,
        };
        gateway.set_policy(Policy::parse(document).unwrap());
        Self { gateway, witness, client, loot, _serving: serving }
    }

    /// What has reached the upstream, apart from what both policies allow.
    fn reached(&self) -> BTreeMap<String, usize> {
        let mut counts = self.witness.counts();
        counts.remove("tools/call counts");
        counts
    }

    /// Returns how an attempt got through, if it did.
    async fn attempt(&self, Attempt { method, members, .. }: &Attempt) -> Option<String> {
        let before = self.reached();
        let answer = self.client.request(method, members).await;
        let learned = match &answer {
            Answer::Result(result) => {
                // These succeed without what is denied.
                let may_succeed = ["tools/call", "tasks/list"].contains(method);
                !may_succeed || self.has_mark(result)
            }
            Answer::Stream(accepted) => {
                self.has_mark(accepted)
                    || accepted.as_str().contains("note:")
                    || accepted.as_str().contains("page:")
            }
            Answer::Timeout => true,
            Answer::Error(_) | Answer::Rejected(_) => false,
        };
        let after = self.reached();
        (learned || after != before).then(|| format!("{answer}; the upstream got {after:?}"))
    }

    fn has_mark(&self, text: &Raw) -> bool {
        let ids = self.loot.tasks.iter().chain(&self.loot.tasks_of_others).map(String::as_str);
        MARKS.into_iter().chain(ids).any(|mark| text.as_str().contains(mark))
    }

    /// Checks that the policy is in force and that the client still reaches what is allowed.
    async fn check(&self) {
        let plain = r#""name":"up__meta","arguments":{"mode":"plain"}"#;
        let plain = self.client.request("tools/call", plain).await;
        assert!(matches!(&plain, Answer::Result(_)), "{plain}");
    }
}

fn authenticate(parts: &http::request::Parts) -> Result<Option<Caller>, switchboard::server::AuthRejection> {
    Ok(parts.headers.get("x-user").and_then(|name| name.to_str().ok()).map(Caller::new))
}

/// Makes all attempts on all routes; there are at least 300 on each.
async fn attempt_all(document: &str) {
    for route in ROUTES {
        let attacked = Attacked::open(route, document).await;
        let (mut names, mut through) = (BTreeSet::new(), Vec::new());
        for (class, attempts) in CLASSES {
            for attempt in attempts(&attacked.loot) {
                let name = format!("{class}: {}", attempt.name);
                if let Some(how) = attacked.attempt(&attempt).await {
                    through.push(format!("{name}: {how}"));
                }
                assert!(names.insert(name.clone()), "two attempts are named {name}");
            }
        }
        assert!(through.is_empty(), "{route:?}: {through:#?}");
        assert!(names.len() >= 300, "{route:?}: {} attempts", names.len());
        attacked.check().await;
        attacked.gateway.host().close().await;
    }
}

async fn no_attempt_gets_past_a_deny_list() {
    attempt_all(DENY_LIST).await;
}

async fn no_attempt_gets_past_an_allow_list() {
    attempt_all(ALLOW_LIST).await;
}

async fn without_a_policy_attempts_of_every_class_get_through() {
    for route in ROUTES {
        let attacked = Attacked::open(route, "default = \"allow\"").await;
        for (class, attempts) in CLASSES {
            let attempts = attempts(&attacked.loot);
            let mut through = Vec::new();
            for attempt in &attempts {
                if let Some(how) = attacked.attempt(attempt).await {
                    assert!(!attempt.is_of_another, "{route:?} {class}: {}: {how}", attempt.name);
                    through.push(attempt.name.as_str());
                }
            }
            // A legacy client is asked in its session: it has no answer to retry with.
            let is_empty = class == "answer" && route.client == Side::Legacy;
            assert_eq!(attempts.is_empty(), is_empty, "{route:?} {class}");
            let expected = !is_empty && !LOOKALIKES.contains(&class);
            assert_eq!(!through.is_empty(), expected, "{route:?} {class}: {through:?}");
        }
        attacked.gateway.host().close().await;
    }
}

async fn no_batch_gets_past_the_policy() {
    let bench = open(cell(Side::Legacy), DENY_LIST).await;
    let options = HttpServerOptions::default()
        .with_authenticate(|_: &http::request::Parts| Ok(Some(Caller::new("mallory"))));
    let listener = HttpListener::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let address = listener.address().unwrap().to_string();
    let mut tasks = JoinSet::new();
    tasks.spawn(listener.serve(HttpService::new(bench.gateway.server(), options)));
    let initialize = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}"#;
    let (head, _) = post(&address, "", initialize).await;
    let session = head.lines().find(|line| line.starts_with("mcp-session-id: ")).unwrap();
    let headers = format!("{session}\r\nmcp-protocol-version: 2025-03-26\r\n");
    post(&address, &headers, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
    let before = done_by(&bench).await;

    let call = |id: &str, tool: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{{"leak":"PASSED"}}}}}}"#
        )
    };
    let (denied, other) = (call("2", "up__echo"), call("3", "up__nothing"));
    let read = r#"{"jsonrpc":"2.0","id":4,"method":"resources/read","params":{"uri":"note://one"}}"#;
    let subscribe =
        r#"{"jsonrpc":"2.0","id":5,"method":"resources/subscribe","params":{"uri":"note://one"}}"#;
    let note = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    for body in [
        format!("[{denied}]"),
        format!("[{denied},{denied}]"),
        format!("[{other},{denied}]"),
        format!("[{denied},{other}]"),
        format!("[{note},{denied}]"),
        format!("[[{denied}]]"),
        format!("[{},{}]", call("\"a\"", "up__echo"), call("\"b\"", "up__nothing")),
        format!("[{read}]"),
        format!("[{read},{denied}]"),
        format!("[{subscribe},{read}]"),
        format!("{denied}{other}"),
        denied.replace("\"id\":2,", ""),
        denied.replace("\"id\":2", "\"id\":null"),
        format!("[{}]", denied.replace("\"id\":2,", "")),
    ] {
        let (_, answer) = post(&address, &headers, &body).await;
        assert!(!MARKS.iter().any(|mark| answer.contains(mark)), "{body}: {answer}");
        assert_eq!(done_by(&bench).await, before, "{body}");
    }
    bench.close().await;
}

async fn no_legacy_subscription_gets_past_the_policy() {
    let bench = open(cell(Side::Legacy), DENY_LIST).await;
    let session = bench.client(&Person::new("mallory")).await;
    for uri in [
        "note://one",
        "NOTE://one",
        "note://%6fne",
        "page://secret/7",
        "page://%73ecret/7",
        "gateway://up/note://one",
    ] {
        assert!(session.subscribe(uri).await.is_err(), "{uri}");
    }
    assert_eq!(bench.counts().await.get("subscribed").copied().unwrap_or_default(), 0);
    assert!(session.subscribe("note://ask").await.is_ok());
    bench.counted("subscribed", 1).await;
    bench.close().await;
}
