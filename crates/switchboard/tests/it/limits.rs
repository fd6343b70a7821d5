//! docs/limits.md, row by row: every figure in its tables is what the code does, and every row is looked at.
//!
//! What can be set is compared with its default. What is fixed, and private to its crate, is compared with the line of
//! the source that says so: whoever changes that line changes the table, and this file, with it.

use std::path::Path;
use std::time::Duration;

use switchboard::client::HttpLimits;
use switchboard::client::Limits;
use switchboard::gateway::GatewayOptions;
use switchboard::server::ServerLimits;
use switchboard::server::{HttpServerOptions, ListenerLimits};
use switchboard::service::StreamLimits;
use switchboard::service::task::{TaskBudget, TaskLimits};
use switchboard::transport::ConnectionLimits;
use switchboard::transport::http::server::ByteBudget;
use switchboard::transport::stdio::StopTimeouts;

/// A row as the code has it.
struct Row {
    section: &'static str,
    what: &'static str,
    figure: String,
}

fn count(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn size(bytes: usize) -> String {
    match bytes {
        bytes if bytes.is_multiple_of(1 << 20) => format!("{} MiB", bytes >> 20),
        bytes if bytes.is_multiple_of(1 << 10) => format!("{} KiB", bytes >> 10),
        bytes => format!("{bytes} bytes"),
    }
}

fn seconds(time: Duration) -> String {
    format!("{} s", time.as_secs())
}

fn minutes(time: Duration) -> String {
    format!("{} min", time.as_secs() / 60)
}

fn hours(time: Duration) -> String {
    format!("{} h", time.as_secs() / 3600)
}

fn budget(budget: ByteBudget) -> String {
    format!("{}, {}", size(budget.all), size(budget.per_client))
}

/// What is fixed: the figure, and the lines of the source that say so.
fn fixed(figure: &str, lines: &[(&str, &str)]) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (file, line) in lines {
        let source =
            std::fs::read_to_string(root.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        assert!(
            source.contains(line),
            "{file} no longer has `{line}`: bring docs/limits.md and this test in line with what it says now"
        );
    }
    figure.to_owned()
}

fn sessions_and_connections() -> Vec<Row> {
    let (limits, peer) = (Limits::default(), ConnectionLimits::default());
    let client = |what, figure| Row { section: "A client session", what, figure };
    let connection = |what, figure| Row { section: "A connection", what, figure };
    vec![
        client("start, from the process or connection to an open session", seconds(limits.startup)),
        client("the probe for the modern era", seconds(limits.probe)),
        client("a call without any word on it", seconds(limits.call_idle)),
        client("a call in all", minutes(limits.call_total)),
        client("a pause for questions that may be of another call, in all", minutes(limits.shared_pause)),
        client("reading a resource or a prompt", seconds(limits.read)),
        client("a completion", seconds(limits.complete)),
        client(
            "one page of a list, all of it",
            format!("{}, {}", seconds(limits.page), seconds(limits.list)),
        ),
        client("pages, entries of a list", format!("{}, {}", limits.pages, count(limits.entries))),
        client("rounds of input for one call", count(limits.rounds)),
        client(
            "cached answers",
            format!(
                "{}, {}, {}",
                hours(limits.cache_ttl),
                count(limits.cache_entries),
                size(limits.cache_bytes)
            ),
        ),
        client("progress reports to a caller", format!("{} a second", limits.progress_per_second)),
        client("questions of the server answered at once", count(limits.upcalls)),
        client("closing", seconds(limits.close)),
        connection("requests under way", count(peer.pending)),
        connection(
            "waiting to be written",
            format!("{} messages, {}", count(peer.queued_messages), size(peer.queued_bytes)),
        ),
        connection("notifications nobody takes", count(peer.notes)),
        connection("a message we send", size(peer.outbound_bytes)),
        connection("nothing read by the far side while something waits", seconds(peer.write_stall)),
        connection("answers after the far side stopped reading", seconds(peer.write_failed_grace)),
    ]
}

fn messages_and_children() -> Vec<Row> {
    let message = |what, figure| Row { section: "A message", what, figure };
    let child = |what, figure| Row { section: "A child process", what, figure };
    let limits_of_json = "crates/json/src/limits.rs";
    let seal = "crates/session/src/era/modern";
    let ladder = StopTimeouts::default();
    let steps = [ladder.eof, ladder.term, ladder.kill].map(seconds).join(", ");
    vec![
        message("nesting", fixed("128 levels", &[(limits_of_json, "MAX_DEPTH: usize = 128;")])),
        message(
            "values turned into typed data",
            fixed("250,000", &[(limits_of_json, "MAX_NODES: usize = 250_000;")]),
        ),
        message(
            "an id, a method",
            fixed(
                "128 bytes, 256 bytes",
                &[
                    ("crates/protocol/src/jsonrpc/id.rs", "MAX_ID_BYTES: usize = 128;"),
                    ("crates/protocol/src/jsonrpc/envelope.rs", "MAX_METHOD_BYTES: usize = 256;"),
                ],
            ),
        ),
        message(
            "messages in a batch",
            fixed("1,024", &[("crates/protocol/src/jsonrpc/members.rs", "MAX_BATCH: usize = 1024;")]),
        ),
        message(
            "the state of a question (`requestState`)",
            fixed(
                "32 KiB, 10 min, accepted once",
                &[
                    (&*format!("{seal}/seal.rs"), "MAX_BYTES: usize = 32 * 1024;"),
                    (&*format!("{seal}/server.rs"), "ROUND_TTL: Duration = Duration::from_secs(600);"),
                ],
            ),
        ),
        message(
            "used states a server remembers",
            fixed("262,144", &[(&*format!("{seal}/used_states.rs"), "MAX_USED: usize = 262_144;")]),
        ),
        child(
            "a line",
            fixed(
                "16 MiB",
                &[
                    ("crates/transport/src/stdio/line.rs", "DEFAULT_LINE_LIMIT: usize = 16 * 1024 * 1024;"),
                    ("crates/transport/src/stdio/line.rs", "ENDLESS: usize = 8;"),
                ],
            ),
        ),
        child("stop: after stdin closes, after TERM, after KILL", steps),
        child(
            "what is kept of stderr",
            fixed(
                "64 KiB, lines of 8 KiB",
                &[
                    ("crates/transport/src/stdio/stderr.rs", "RING: usize = 64 * 1024;"),
                    ("crates/transport/src/stdio/stderr.rs", "LINE: usize = 8 * 1024;"),
                ],
            ),
        ),
    ]
}

fn http_client() -> Vec<Row> {
    let row = |what, figure| Row { section: "HTTP, client", what, figure };
    let limits = HttpLimits::default();
    let options = "crates/http/src/options.rs";
    vec![
        row("a document or event", format!("{}, unpacked", size(limits.event_bytes))),
        row(
            "connecting, TLS",
            fixed(
                "10 s, 10 s",
                &[
                    (options, "connect_timeout: Duration::from_secs(10),"),
                    (options, "tls_timeout: Duration::from_secs(10),"),
                ],
            ),
        ),
        row("a pause in a document", seconds(limits.body_idle)),
        row("reads repeated when the server is busy", count(limits.retries as usize)),
        row(
            "going back to a broken stream",
            fixed(
                "5 times without anything new",
                &[("crates/transport/src/http/client/resume.rs", "RESUMES: u32 = 5;")],
            ),
        ),
        row("a stream that only listens, without a byte", seconds(limits.stream_idle)),
        row(
            "headers",
            fixed(
                "100, 64 KiB",
                &[
                    ("crates/http/src/pool.rs", "MAX_HEADERS: usize = 100;"),
                    ("crates/http/src/pool.rs", "MAX_HEAD_BYTES: usize = 64 * 1024;"),
                ],
            ),
        ),
        row(
            "redirects, same origin, 307 and 308",
            fixed("3", &[("crates/http/src/redirect.rs", "MAX_REDIRECTS: usize = 3;")]),
        ),
        row("leaving a session", seconds(limits.session_end)),
    ]
}

fn http_server() -> Vec<Row> {
    let row = |what, figure| Row { section: "HTTP, server", what, figure };
    let (options, listener) = (HttpServerOptions::default(), ListenerLimits::default());
    let body = format!(
        "{}, {}, at least {}/s after {}",
        size(options.body_bytes),
        seconds(options.body_time),
        size(options.body_rate),
        seconds(options.body_patience)
    );
    let three = |one: usize, two: usize, three: &str| format!("{}, {}, {three}", count(one), count(two));
    vec![
        row("a request body", body),
        row("from the connection to the end of the headers", seconds(listener.header_time)),
        row("between requests", seconds(listener.idle)),
        row(
            "connections, from one address",
            format!("{}, {}", count(listener.connections), count(listener.connections_per_address)),
        ),
        row(
            "streams that only listen, of one client, from one address",
            three(options.streams, options.streams_per_client, &count(options.streams_per_address)),
        ),
        row(
            "sessions, of one client, idle",
            three(options.sessions, options.sessions_per_client, &minutes(options.session_idle)),
        ),
        row(
            "events kept for a session",
            format!("{}, {}", count(options.replay_events), size(options.replay_bytes)),
        ),
        row("events kept for all sessions, for those of one client", budget(options.replay_budget)),
        row(
            "waiting for a slow reader",
            format!("{}, {}", size(options.stream_bytes), seconds(options.write_stall)),
        ),
        row("waiting for slow readers on all streams, on those of one client", budget(options.stream_budget)),
        row("keep-alive comments", seconds(options.keep_alive)),
        row(
            "TLS handshakes at once, the time of one with the first headers",
            format!("{}, {}", count(listener.handshakes), seconds(listener.header_time)),
        ),
        row(
            "a certificate or key file, looking whether it changed (*fixed*)",
            fixed(
                "1 MiB, every 1 s",
                &[
                    ("crates/transport/src/http/server/tls.rs", "MAX_FILE: u64 = 1024 * 1024;"),
                    (
                        "crates/transport/src/http/server/tls.rs",
                        "CHECK_INTERVAL: Duration = Duration::from_secs(1);",
                    ),
                ],
            ),
        ),
        row("shutting down", seconds(listener.drain)),
    ]
}

fn resource_server() -> Vec<Row> {
    let auth = |file: &str| format!("crates/auth/src/{file}.rs");
    let row = |what, figure, lines: &[(&str, &str)]| {
        let lines: Vec<_> = lines.iter().map(|(file, line)| (auth(file), *line)).collect();
        let lines: Vec<_> = lines.iter().map(|(file, line)| (file.as_str(), *line)).collect();
        Row { section: "A resource server", what, figure: fixed(figure, &lines) }
    };
    let (cache, source) = ("resource_server/jwks_cache", "resource_server/jwks_source");
    let (opaque, file) = ("resource_server/introspection", "resource_server/api_key_file");
    let proof = "resource_server/dpop_proof";
    vec![
        row("a token", "16 KiB", &[("jws/verify", "MAX_TOKEN: usize = 16 * 1024;")]),
        row(
            "difference of the clocks",
            "60 s",
            &[("resource_server/claims", "CLOCK_SKEW: Duration = Duration::from_secs(60);")],
        ),
        row(
            "a verified token is not verified again",
            "60 s, 10,000 tokens",
            &[
                ("resource_server/config", "MAX_CACHED: Duration = Duration::from_secs(60);"),
                ("resource_server/config", "CACHED_TOKENS: usize = 10_000;"),
            ],
        ),
        row(
            "an opaque token that was rejected is not introspected again",
            "5 s, 10,000 tokens",
            &[
                ("resource_server/config", "MAX_REJECTED: Duration = Duration::from_secs(5);"),
                ("resource_server/config", "REJECTED_TOKENS: usize = 10_000;"),
            ],
        ),
        row("keys of an issuer", "100", &[("jws/jwk", "MAX_KEYS: usize = 100;")]),
        row(
            "keys are fresh, by their `Cache-Control`",
            "1 min to 24 h, 10 min by default",
            &[
                (source, "DEFAULT_MAX_AGE: Duration = Duration::from_secs(600);"),
                (source, "(Duration::from_secs(60), Duration::from_secs(24 * 3600));"),
            ],
        ),
        row(
            "keys are used while the issuer cannot be reached",
            "24 h",
            &[(cache, "MAX_STALE: Duration = Duration::from_secs(24 * 3600);")],
        ),
        row(
            "after a failed fetch, between fetches for unknown keys",
            "5 s, 30 s",
            &[
                (cache, "RETRY_INTERVAL: Duration = Duration::from_secs(5);"),
                (cache, "MISS_INTERVAL: Duration = Duration::from_secs(30);"),
            ],
        ),
        row(
            "introspections at once, one of them",
            "32, 10 s",
            &[(opaque, "CONCURRENCY: usize = 32;"), (opaque, "TIMEOUT: Duration = Duration::from_secs(10);")],
        ),
        row(
            "a DPoP proof, its id",
            "8 KiB, 256 bytes",
            &[(proof, "MAX_PROOF: usize = 8 * 1024;"), (proof, "MAX_ID: usize = 256;")],
        ),
        row(
            "the time of a proof and ours, with nonces",
            "60 s, 600 s",
            &[(proof, "MAX_AGE: u64 = 60;"), (proof, "2 * NONCE_PERIOD.as_secs()")],
        ),
        row(
            "a nonce is renewed, and is valid",
            "every 300 s, until the next but one",
            &[("resource_server/dpop_nonce", "NONCE_PERIOD: Duration = Duration::from_secs(300);")],
        ),
        row("proofs that are remembered", "262,144", &[(proof, "USED_PROOFS: usize = 262_144;")]),
        row(
            "a file of API keys, looking whether it changed",
            "16 MiB, every 1 s",
            &[
                ("resource_server/api_key", "MAX_FILE_BYTES: u64 = 16 * 1024 * 1024;"),
                (file, "CHECK_INTERVAL: Duration = Duration::from_secs(1);"),
            ],
        ),
    ]
}

fn servers() -> Vec<Row> {
    let row = |what, figure| Row { section: "A server", what, figure };
    let (limits, tasks, bytes) = (ServerLimits::default(), TaskLimits::default(), TaskBudget::default());
    let streams = StreamLimits::default();
    let kept = fixed("4,096", &[("crates/service/src/task/store.rs", "Self::new(4096)")]);
    vec![
        row("requests of a connection answered at once", count(limits.requests)),
        row(
            "requests of a server answered at once, time of a request",
            fixed("none", &[("crates/session/src/server/server.rs", "layers: Vec::new(),")]),
        ),
        row("requests under way when the client has gone", seconds(limits.drain)),
        row(
            "tasks that run, for one client",
            format!("{}, {}", count(tasks.max_running), tasks.max_running_per_owner),
        ),
        row(
            "tasks that are kept",
            format!("{kept}, {} unless the caller asks for up to {}", hours(tasks.ttl), hours(tasks.max_ttl)),
        ),
        row("results of tasks, for one client", format!("{}, {}", size(bytes.total), size(bytes.per_client))),
        row("a question to the client", minutes(limits.ask)),
        row(
            "items of a stream in its result (`StreamLimits`)",
            format!("{} items, {}", count(streams.items), size(streams.bytes)),
        ),
    ]
}

fn many_servers() -> Vec<Row> {
    let row = |what, figure| Row { section: "Many servers", what, figure };
    let one = |what, figure: &str, file: &str, line: &str| row(what, fixed(figure, &[(file, line)]));
    let host = |file: &str| format!("crates/host/src/{file}.rs");
    let config = |file: &str| format!("crates/config/src/{file}.rs");
    let (disk, retry, slot) = (config("disk"), host("connection/retry"), host("slot/slot"));
    let (validate, profile) = (host("validation/validate"), host("registry/profile"));
    let schema = |file: &str| format!("crates/design/src/schema/validator/{file}.rs");
    let (plan, refresh) = (config("plan"), host("connection/refresh"));
    vec![
        one("a file of servers, of approvals", "1 MiB", &disk, "MAX_FILE_BYTES: u64 = 1024 * 1024;"),
        one(
            "a file of remembered answers",
            "4 MiB",
            &host("permission/ledger"),
            "MAX_FILE_BYTES: u64 = 4 * 1024 * 1024;",
        ),
        one(
            "a file of pinned definitions",
            "32 MiB",
            &host("registry/pin_file"),
            "MAX_FILE_BYTES: u64 = 32 * 1024 * 1024;",
        ),
        row(
            "the text of a pinned definition, of all in a file",
            fixed(
                "16 KiB, 4 MiB",
                &[
                    (&host("registry/pin"), "MAX_TEXT: usize = 16 * 1024;"),
                    (&host("registry/pin"), "MAX_TEXTS: usize = 4 * 1024 * 1024;"),
                ],
            ),
        ),
        one("another program's file", "64 MiB", &disk, "MAX_FOREIGN_FILE_BYTES: u64 = 64 * 1024 * 1024;"),
        one("nesting of a file", "64 levels", &config("document"), "MAX_DEPTH: usize = 64;"),
        one(
            "an argument, variable, header or address, variables filled in",
            "128 KiB",
            &config("expand"),
            "MAX_LENGTH: usize = 128 * 1024;",
        ),
        one(
            "starting a server (`startupTimeout`)",
            "60 s, settable",
            &plan,
            "DEFAULT_STARTUP_TIMEOUT: Duration = Duration::from_secs(60);",
        ),
        one(
            "tries in a row to start a server again (`restart`)",
            "5, settable",
            &plan,
            "DEFAULT_MAX_FAILURES: u32 = 5;",
        ),
        one("a rule", "1,024 bytes", &config("rule"), "MAX_LENGTH: usize = 1024;"),
        one(
            "a tool's name",
            "64 characters, settable from 32",
            &config("name"),
            "pub const DEFAULT: Self = Self(64);\n    /// The least limit: shorter names have no room for the pair beside the hash.\n    pub const MIN: Self = Self(32);",
        ),
        row(
            "an input schema for a provider",
            fixed(
                "64 levels, 20,000 values, 256 KiB",
                &[
                    (&profile, "MAX_DEPTH: usize = 64;"),
                    (&profile, "MAX_NODES: usize = 20_000;"),
                    (&profile, "MAX_BYTES: usize = 256 * 1024;"),
                ],
            ),
        ),
        one(
            "looking whether files changed",
            "every 500 ms, settable",
            &host("config/watch"),
            "DEFAULT_INTERVAL: Duration = Duration::from_millis(500);",
        ),
        one("servers of a host", "256", &host("registry/registry"), "MAX_SERVERS: usize = 256;"),
        row(
            "tools of a server, of a host",
            format!(
                "{}, {}",
                count(Limits::default().entries),
                fixed("50,000", &[(&host("registry/registry"), "MAX_TOOLS: usize = 50_000;")])
            ),
        ),
        row(
            "calls under way on a server: here, over HTTP",
            fixed(
                "256, 128",
                &[
                    (&slot, "MAX_LOCAL_CALLS: usize = 256;"),
                    (&slot, "MAX_REMOTE_CALLS: usize = 128;"),
                    (&host("slot/call_limiter"), "MAX_QUEUED: usize = 256;"),
                ],
            ),
        ),
        row(
            "a stored manifest; all of a folder",
            fixed(
                "16 MiB; 512 (*fixed*)",
                &[
                    (&host("manifest_store"), "MAX_MANIFEST_BYTES: u64 = 16 * 1024 * 1024;"),
                    (&host("manifest_store"), "MAX_MANIFESTS: usize = 512;"),
                ],
            ),
        ),
        row(
            "a list whose lifetime is over",
            fixed(
                "its lifetime, at least 10 s (*fixed*)",
                &[(&refresh, "MIN_LIFETIME: Duration = Duration::from_secs(10);")],
            ),
        ),
        row("keyed sessions of a server, of one caller with it, of a host (`SessionLimits`)", {
            let limits = switchboard::host::SessionLimits::default();
            let (server, owner, total) = (limits.per_server, limits.per_owner, limits.total);
            format!("{}, {}, {}", count(server), count(owner), count(total))
        }),
        one(
            "a keyed session that nobody uses (`idle_timeout`)",
            "10 min, settable",
            &slot,
            "DEFAULT_IDLE_TIMEOUT: Duration = Duration::from_secs(10 * 60);",
        ),
        row(
            "a pause after a failed start of a keyed session",
            fixed(
                "0.5 s, doubling to 30 s (*fixed*)",
                &[
                    (&host("slot/start_pause"), "FIRST_PAUSE: Duration = Duration::from_millis(500);"),
                    (&host("slot/start_pause"), "LONGEST_PAUSE: Duration = Duration::from_secs(30);"),
                ],
            ),
        ),
        row(
            "a pause before a server is started again",
            fixed(
                "up to 0.5 s, doubling to 30 s",
                &[
                    (&retry, "INITIAL_BOUND: Duration = Duration::from_millis(500);"),
                    (&retry, "MAX_BOUND: Duration = Duration::from_secs(30);"),
                ],
            ),
        ),
        one(
            "two exits alike within a second of the start",
            "2",
            &retry,
            "EARLY_EXIT: Duration = Duration::from_secs(1);",
        ),
        one("up without a failure", "60 s", &retry, "STABLE: Duration = Duration::from_secs(60);"),
        one(
            "the tools of a server that is away",
            "10 min",
            &host("connection/task"),
            "GRACE_PERIOD: Duration = Duration::from_secs(10 * 60);",
        ),
        row(
            "lists asked for after changes",
            fixed(
                "one a second; to one a minute when nothing changed, or it failed",
                &[
                    (&refresh, "MIN_INTERVAL: Duration = Duration::from_secs(1);"),
                    (&refresh, "MAX_INTERVAL: Duration = Duration::from_secs(60);"),
                ],
            ),
        ),
        row(
            "a schema that is checked",
            fixed(
                "256 KiB, 8 MiB decoded, 10,000 subschemas (*fixed*)",
                &[
                    (&validate, "MAX_SCHEMA_BYTES: usize = 256 * 1024;"),
                    (&host("validation/decoded_size"), "MAX_SCHEMA_BYTES: usize = 8 * 1024 * 1024;"),
                    (&schema("index"), "MAX_SCHEMAS: usize = 10_000;"),
                ],
            ),
        ),
        one(
            "steps to validate one value",
            "1,000,000, some tens of ms (*fixed*)",
            &schema("options"),
            "MAX_STEPS: u64 = 1_000_000;",
        ),
        row(
            "compiled patterns: one, all of a server",
            fixed(
                "256 KiB, 2 MiB (*fixed*)",
                &[
                    (&schema("pattern"), "MAX_PATTERN_BYTES: usize = 256 * 1024;"),
                    (&schema("pattern"), "MAX_BYTES: usize = 2 * 1024 * 1024;"),
                ],
            ),
        ),
        one(
            "nesting while validating, schema and value together",
            "320 (*fixed*)",
            &schema("evaluate"),
            "MAX_DEPTH: u32 = 320;",
        ),
        row(
            "arguments and results that are checked",
            fixed(
                "1 MiB, 16 MiB decoded (*fixed*)",
                &[
                    (&validate, "MAX_VALUE_BYTES: usize = 1024 * 1024;"),
                    (&host("validation/decoded_size"), "MAX_BYTES: usize = 16 * 1024 * 1024;"),
                ],
            ),
        ),
        row(
            "a result for a model (`SpillPolicy`)",
            fixed("100 KB, settable", &[(&host("policy/spill"), "max_inline_bytes: 100_000")]),
        ),
        row(
            "files of results",
            fixed("256 MiB, settable", &[(&host("policy/spill"), "max_total_bytes: 256 * 1024 * 1024")]),
        ),
        one("events that wait for a listener", "1,024", &host("event"), "BUFFERED_EVENTS: usize = 1024;"),
        one(
            "credentials sent to servers that a host remembers for masks",
            "1,024 (*fixed*)",
            &host("connection/sent_credentials"),
            "MAX_CREDENTIALS: usize = 1024;",
        ),
    ]
}

fn gateway() -> Vec<Row> {
    let options = GatewayOptions::default();
    let row = |what, figure| Row { section: "A gateway", what, figure };
    let source = |name: &str| format!("crates/gateway/src/{name}.rs");
    let (parked, instructions) = (options.parked, source("instructions"));
    vec![
        row("entries of a page of a list", count(options.page_size)),
        row("the first lists wait for servers that are starting", seconds(options.startup_wait)),
        row("silence of a call whose client asked for progress", seconds(options.keep_alive)),
        row(
            "parked calls, of one caller, on one server",
            format!("{}, {}, {}", count(parked.total), count(parked.per_principal), count(parked.per_server)),
        ),
        row(
            "parked calls of one caller on one server",
            fixed(
                "as many as are left for the others (*fixed*)",
                &[(&source("parked"), "limits.per_server.saturating_sub(on_server), ParkedBound::Share")],
            ),
        ),
        row("a parked call", minutes(parked.lifetime)),
        row(
            "kept results: bytes in all, of one principal",
            format!("{}, {}", size(options.results.total), size(options.results.per_principal)),
        ),
        row("a kept result", minutes(options.results.lifetime)),
        row(
            "questions of one call at once",
            fixed("64 (*fixed*)", &[(&source("questions"), "MAX_QUESTIONS: usize = 64;")]),
        ),
        row(
            "a question waits for others of its call",
            fixed(
                "25 ms (*fixed*)",
                &[(&source("held_exchange"), "GATHER: Duration = Duration::from_millis(25);")],
            ),
        ),
        row(
            "instructions of one server, of all",
            fixed(
                "4 KiB, 16 KiB (*fixed*)",
                &[
                    (&instructions, "MAX_OF_SERVER: usize = 4 * 1024;"),
                    (&instructions, "MAX_OF_ALL: usize = 16 * 1024;"),
                ],
            ),
        ),
        row(
            "tasks that are listed and announced, of one caller, of all",
            fixed(
                "1,000, 10,000 (*fixed*), for a day",
                &[
                    (&source("owned_tasks"), "MAX_TASKS_PER_OWNER: usize = 1_000;"),
                    (&source("owned_tasks"), "MAX_TASKS: usize = 10_000;"),
                    (&source("tasks/create"), "LISTED: Duration = Duration::from_secs(24 * 60 * 60);"),
                ],
            ),
        ),
        row(
            "an id that a server gives a task, the id of the gateway",
            fixed(
                "512 bytes, 4 KiB (*fixed*)",
                &[
                    (&source("tasks/task_handle"), "MAX_UPSTREAM_ID_BYTES: usize = 512;"),
                    (&source("tasks/task_handle"), "MAX_BYTES: usize = 4 * 1024;"),
                ],
            ),
        ),
        row(
            "the id of a task without a lifetime",
            fixed(
                "30 days (*fixed*)",
                &[(
                    &source("tasks/task_handle"),
                    "DEFAULT_LIFETIME: Duration = Duration::from_secs(30 * 24 * 60 * 60);",
                )],
            ),
        ),
        row(
            "clients asked to visit a URL, after their call",
            fixed(
                "1,000, 10 min (*fixed*)",
                &[
                    (&source("url_questions"), "MAX_QUESTIONS: usize = 1_000;"),
                    (&source("url_questions"), "LIFETIME: Duration = Duration::from_secs(10 * 60);"),
                ],
            ),
        ),
        row(
            "clients whose roots are remembered",
            fixed("10,000 (*fixed*)", &[(&source("roots_cache"), "CAPACITY: usize = 10_000;")]),
        ),
        row(
            "a cursor, a URI that is matched with templates",
            fixed(
                "16 KiB, 8 KiB (*fixed*)",
                &[
                    (&source("page"), "MAX_CURSOR: usize = 16 * 1024;"),
                    (&source("uri_template"), "MAX_URI: usize = 8 * 1024;"),
                ],
            ),
        ),
        row(
            "a URI template; its literals and expressions",
            fixed(
                "8 KiB; 64 (*fixed*)",
                &[
                    (&source("uri_template"), "MAX_TEMPLATE: usize = 8 * 1024;"),
                    (&source("uri_template"), "MAX_PARTS: usize = 64;"),
                ],
            ),
        ),
        row(
            "what is compared of a URI with the templates of one server",
            fixed("32 KiB (*fixed*)", &[(&source("template_index"), "MAX_COMPARED: usize = 4 * MAX_URI;")]),
        ),
        row(
            "a configuration file",
            fixed(
                "1 MiB (*fixed*)",
                &[(&source("config/document"), "MAX_DOCUMENT_BYTES: usize = 1024 * 1024;")],
            ),
        ),
        row(
            "calls under way after a signal (`--drain`)",
            fixed(
                "30 s",
                &[(
                    "crates/cli/src/gateway/settings.rs",
                    "DEFAULT_DRAIN: Duration = Duration::from_secs(30);",
                )],
            ),
        ),
        row(
            "the path of a Unix socket",
            fixed(
                "100 bytes (*fixed*)",
                &[("crates/transport/src/http/server/unix_socket.rs", "MAX_PATH: usize = 100;")],
            ),
        ),
        row(
            "decisions that `plan` compares",
            fixed(
                "1,000,000 (*fixed*)",
                &[("crates/cli/src/plan/decision_change.rs", "MAX_DECISIONS: usize = 1_000_000;")],
            ),
        ),
    ]
}

fn gateway_views() -> Vec<Row> {
    let row = |what, figure, lines: &[(&str, &str)]| {
        let lines: Vec<_> =
            lines.iter().map(|(file, line)| (format!("crates/gateway/src/{file}.rs"), *line)).collect();
        let lines: Vec<_> = lines.iter().map(|(file, line)| (file.as_str(), *line)).collect();
        Row { section: "Views of a gateway", what, figure: fixed(figure, &lines) }
    };
    vec![
        row(
            "views; their document",
            "100; 1 MiB",
            &[("view/view", "MAX_VIEWS: usize = 100;"), ("view/view", "MAX_DOCUMENT: usize = 1024 * 1024;")],
        ),
        row(
            "the name of a view, of a tool in it",
            "64, 128 characters",
            &[("view/check", "MAX_VIEW_NAME: usize = 64;"), ("view/check", "MAX_TOOL_NAME: usize = 128;")],
        ),
        row(
            "names of one list; one name",
            "1,000; 1 KiB",
            &[("view/select", "MAX_NAMES: usize = 1_000;"), ("view/select", "MAX_NAME: usize = 1_024;")],
        ),
        row(
            "servers of a view, tools of a server, arguments of a tool with a table",
            "1,000 each",
            &[("view/check", "MAX_TABLES: usize = 1_000;")],
        ),
        row(
            "a description or instructions; a fixed value",
            "16 KiB; 64 KiB",
            &[
                ("view/check", "MAX_TEXT: usize = 16 * 1024;"),
                ("view/check", "MAX_FIXED: usize = 64 * 1024;"),
            ],
        ),
        row(
            "the least size above which results are kept; the longest head",
            "256 bytes; 64 KiB",
            &[("view/check", "MIN_ABOVE: usize = 256;"), ("view/check", "MAX_HEAD: usize = 64 * 1024;")],
        ),
        row(
            "calls under way of a view that was removed, in legacy sessions over HTTP",
            "60 s",
            &[("view_server", "END_TIMEOUT: Duration = Duration::from_secs(60);")],
        ),
        row(
            "one part that `read_result` reads: by default, at most",
            "8 KiB, 64 KiB",
            &[
                ("results/read", "DEFAULT_LENGTH: usize = 8 * 1024;"),
                ("results/read", "MAX_LENGTH: usize = 64 * 1024;"),
            ],
        ),
        row(
            "a search of `read_result`: its text, places it returns",
            "1 KiB, 20",
            &[("results/read", "MAX_SEARCH: usize = 1_024;"), ("results/read", "MAX_PLACES: usize = 20;")],
        ),
    ]
}

fn gateway_policy() -> Vec<Row> {
    let row = |what, figure, lines: &[(&str, &str)]| {
        let lines: Vec<_> =
            lines.iter().map(|(file, line)| (format!("crates/gateway/src/{file}.rs"), *line)).collect();
        let lines: Vec<_> = lines.iter().map(|(file, line)| (file.as_str(), *line)).collect();
        Row { section: "Policy, limits and audit of a gateway", what, figure: fixed(figure, &lines) }
    };
    vec![
        row(
            "a policy document; its rules",
            "1 MiB; 10,000",
            &[
                ("policy/document", "MAX_DOCUMENT_BYTES: usize = 1024 * 1024;"),
                ("policy/rule_document", "MAX_RULES: usize = 10_000;"),
            ],
        ),
        row(
            "limits, payload rules of a document",
            "1,000 each",
            &[
                ("limits/limit_document", "MAX_LIMITS: usize = 1_000;"),
                ("audit/policy_section", "MAX_PAYLOAD_RULES: usize = 1_000;"),
            ],
        ),
        row(
            "a regular expression: source, compiled",
            "4 KiB, 256 KiB",
            &[
                ("policy/regex", "MAX_PATTERN_BYTES: usize = 4 * 1024;"),
                ("policy/regex", "MAX_COMPILED_BYTES: usize = 256 * 1024;"),
            ],
        ),
        row(
            "a text that is matched with a regular expression",
            "16 KiB",
            &[("policy/regex", "MAX_TEXT_BYTES: usize = 16 * 1024;")],
        ),
        row(
            "the path of an argument: segments, values it reaches",
            "16; 10,000",
            &[
                ("policy/argument_path", "MAX_SEGMENTS: usize = 16;"),
                ("policy/argument_path", "MAX_VALUES: usize = 10_000;"),
            ],
        ),
        row(
            "rules compared for shadowing",
            "the first 1,000",
            &[("policy/lint", "MAX_COMPARED: usize = 1_000;")],
        ),
        row(
            "tracked buckets (`MemoryLimitStore::new`)",
            "100,000, settable",
            &[("limits/memory_limit_store", "DEFAULT_CAPACITY: usize = 100_000;")],
        ),
        row(
            "records that wait to be written (`AuditOptions::queue`, `audit.queue` to 1,000,000)",
            "1,024, settable",
            &[("audit/options", "queue: 1_024,"), ("config/audit_config", "MAX_QUEUE: u64 = 1_000_000;")],
        ),
        row(
            "recorded arguments, a recorded result (`max_payload`)",
            "16 KiB each, settable",
            &[("audit/options", "max_payload: 16 * 1024,")],
        ),
        row(
            "a text in a record, such as a name or URI",
            "1 KiB",
            &[("audit/record", "MAX_TEXT_BYTES: usize = 1024;")],
        ),
        row("resources in the record of a stream", "32", &[("audit/record", "MAX_URIS: usize = 32;")]),
        row(
            "servers, tools, rules with metrics of their own",
            "256, 1,000, 1,000",
            &[
                ("metrics/gateway_metrics", "MAX_SERVERS: usize = 256;"),
                ("metrics/gateway_metrics", "MAX_TOOLS: usize = 1_000;"),
                ("metrics/gateway_metrics", "MAX_RULES: usize = 1_000;"),
            ],
        ),
        row(
            "an audit file; files in all (`AuditFileOptions`; `audit.max_bytes`, `audit.files` to 1,000)",
            "64 MiB; 5, settable",
            &[
                ("audit/file", "max_bytes: 64 * 1024 * 1024, files: 5"),
                ("config/audit_config", "MAX_FILES: u64 = 1_000;"),
            ],
        ),
    ]
}

fn logins() -> Vec<Row> {
    let row = |what, figure, lines: &[(&str, &str)]| {
        let lines: Vec<_> =
            lines.iter().map(|(file, line)| (format!("crates/auth/src/{file}.rs"), *line)).collect();
        let lines: Vec<_> = lines.iter().map(|(file, line)| (file.as_str(), *line)).collect();
        Row { section: "A login", what, figure: fixed(figure, &lines) }
    };
    let elsewhere =
        |what, figure, lines: &[(&str, &str)]| Row { section: "A login", what, figure: fixed(figure, lines) };
    let helper = "crates/transport/src/http/client/header_helper.rs";
    vec![
        elsewhere(
            "a header helper: run, output",
            "10 s unless the entry sets `timeout`, 64 KiB",
            &[
                (helper, "DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);"),
                (helper, "MAX_OUTPUT: usize = 64 * 1024;"),
            ],
        ),
        elsewhere(
            "looking for the login of another process",
            "every 1 s",
            &[(
                "crates/host/src/connection/connectors.rs",
                "LOGIN_POLL_INTERVAL: Duration = Duration::from_secs(1);",
            )],
        ),
        elsewhere(
            "a file with an identity token",
            "64 KiB",
            &[("crates/switchboard/src/login/options.rs", "MAX_TOKEN_BYTES: u64 = 64 * 1024;")],
        ),
        row(
            "a login in a browser",
            "10 min",
            &[("loopback", "LOGIN_TIMEOUT: Duration = Duration::from_secs(600);")],
        ),
        row(
            "connections to the callback port at once, one of them",
            "64, 10 s, 16 KiB",
            &[
                ("loopback", "MAX_CONNECTIONS: usize = 64;"),
                ("loopback", "REQUEST_TIMEOUT: Duration = Duration::from_secs(10);"),
                ("loopback", "MAX_REQUEST: usize = 16 * 1024;"),
            ],
        ),
        row(
            "step-ups for the same scopes, in all",
            "2, 6 in 10 min",
            &[
                ("oauth/step_up_log", "MAX_FOR_SCOPES: usize = 2;"),
                ("oauth/step_up_log", "MAX_IN_ALL: usize = 6;"),
                ("oauth/step_up_log", "WINDOW: Duration = Duration::from_secs(600);"),
            ],
        ),
        row(
            "an access token, a refresh token, a client id or secret",
            "16 KiB, 16 KiB, 2 KiB",
            &[
                ("sizes", "MAX_ACCESS_TOKEN: usize = 16 * 1024;"),
                ("sizes", "MAX_REFRESH_TOKEN: usize = 16 * 1024;"),
                ("sizes", "MAX_CLIENT_ID: usize = 2 * 1024;"),
            ],
        ),
        row(
            "a list of scopes, a URL or identifier in metadata",
            "8 KiB, 2 KiB",
            &[("sizes", "MAX_SCOPES: usize = 8 * 1024;"), ("sizes", "MAX_URL: usize = 2 * 1024;")],
        ),
        row("a metadata document or an answer", "1 MiB", &[("fetch", "MAX_DOCUMENT: usize = 1024 * 1024;")]),
        row(
            "one of them, a token request with its retry for a nonce",
            "15 s, 45 s",
            &[
                ("fetch", "EXCHANGE_TIMEOUT: Duration = Duration::from_secs(15);"),
                ("fetch", "TOKEN_TIMEOUT: Duration = Duration::from_secs(45);"),
            ],
        ),
        row(
            "authorization servers of a resource that are tried",
            "4",
            &[("discovery/discover", "MAX_ISSUERS: usize = 4;")],
        ),
        row(
            "the token store: grants, clients, bytes",
            "1,000, 1,000, 4 MiB",
            &[
                ("store/contents", "MAX_GRANTS: usize = 1000;"),
                ("store/contents", "MAX_CLIENTS: usize = 1000;"),
                ("store/file", "MAX_BYTES: u64 = 4 * 1024 * 1024;"),
            ],
        ),
        row(
            "waiting for another process that refreshes the same token",
            "60 s",
            &[("store/file", "REFRESH_LOCK_TIMEOUT: Duration = Duration::from_secs(60);")],
        ),
        row(
            "a device code: valid, pause between polls",
            "what the server says, at most 30 min, 1 to 60 s",
            &[
                ("device", "LONGEST_LIFETIME: Duration = Duration::from_secs(30 * 60);"),
                ("device", "SHORTEST_INTERVAL: Duration = Duration::from_secs(1);"),
                ("device", "LONGEST_INTERVAL: Duration = Duration::from_secs(60);"),
            ],
        ),
    ]
}

fn login_commands() -> Vec<Row> {
    let row = |what, figure, file: &str, line| {
        let figure = fixed(figure, &[(&format!("crates/cli/src/{file}.rs"), line)]);
        Row { section: "A login", what, figure }
    };
    vec![
        row(
            "`add` asks a server whether it wants a login",
            "3 s",
            "command/added_login",
            "PROBE_TIMEOUT: Duration = Duration::from_secs(3);",
        ),
        row(
            "`why` checks a token",
            "30 s, or `--timeout`",
            "command/why_login",
            "CHECK_TIMEOUT: Duration = Duration::from_secs(30);",
        ),
        row(
            "a token whose claims `why` reads",
            "64 KiB",
            "login/token_claims",
            "MAX_TOKEN: usize = 64 * 1024;",
        ),
    ]
}

#[test]
fn the_tables_of_limits_say_what_the_code_does() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/limits.md");
    let text = std::fs::read_to_string(path).unwrap();
    let expected = [
        sessions_and_connections(),
        messages_and_children(),
        http_client(),
        http_server(),
        resource_server(),
        logins(),
        login_commands(),
        servers(),
        many_servers(),
        gateway(),
        gateway_views(),
        gateway_policy(),
    ];
    let mut expected: Vec<Row> = expected.into_iter().flatten().collect();
    let (mut section, mut wrong) = ("", Vec::new());
    for line in text.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            section = heading.split(" (").next().unwrap();
        }
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        if !line.starts_with("| ") || cells[0] == "what" {
            continue;
        }
        match expected.iter().position(|row| row.section == section && row.what == cells[0]) {
            Some(at) => {
                let row = expected.remove(at);
                if row.figure != cells[1] {
                    wrong.push(format!(
                        "{section}, {}: it says {:?}, it is {:?}",
                        row.what, cells[1], row.figure
                    ));
                }
            }
            None => wrong.push(format!("{section}, {}: nothing asserts this row", cells[0])),
        }
    }
    wrong.extend(expected.iter().map(|row| format!("{}, {}: the row is missing", row.section, row.what)));
    assert!(wrong.is_empty(), "docs/limits.md:\n{}", wrong.join("\n"));
}
