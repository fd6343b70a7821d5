//! F123 to F139 for our server: clients that are slow, silent, greedy or gone.

use std::time::{Duration, Instant};

use serde_json::json;
use switchboard::client::RevisionPolicy;
use switchboard::server::{HttpServerOptions, ListenerLimits};
use switchboard_testkit::STEP_TIMEOUT;
use tokio::net::TcpSocket;

use crate::http_faults::raw::{Stand, Told, call, legacy_call, modern, post, request};
use crate::http_faults::scripted_server::ms;

const HEAD: Duration = Duration::from_millis(300);

fn quick() -> ListenerLimits {
    let mut limits = ListenerLimits::default();
    limits.header_time = HEAD;
    limits
}

async fn quick_stand(options: HttpServerOptions) -> Stand {
    Stand::with(options, quick(), RevisionPolicy::Any).await
}

fn in_time(begun: Instant) -> bool {
    begun.elapsed() >= HEAD - ms(20) && begun.elapsed() < STEP_TIMEOUT
}

#[tokio::test]
async fn f123_a_connection_that_says_nothing_is_closed() {
    let stand = quick_stand(HttpServerOptions::default()).await;
    let begun = Instant::now();
    let mut wire = stand.connect().await;
    assert!(wire.end().await.is_empty());
    assert!(in_time(begun), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn f124_half_a_header_is_closed_at_the_same_time() {
    let stand = quick_stand(HttpServerOptions::default()).await;
    for half in ["POST /mcp HT", "P", "PR", "PRI * HTTP/2.0\r\n\r\nSM", "POST /mcp HTTP/1.1\r\nx: "] {
        let begun = Instant::now();
        let mut wire = stand.connect().await;
        wire.write(half.as_bytes()).await;
        wire.end().await;
        assert!(in_time(begun), "{half:?}: {:?}", begun.elapsed());
    }
}

#[tokio::test]
async fn f124_bytes_that_drip_do_not_extend_the_time() {
    let stand = quick_stand(HttpServerOptions::default()).await;
    for spoken in [false, true] {
        let mut wire = stand.connect().await;
        if spoken {
            wire.write(&call("echo", &[])).await;
            assert_eq!(wire.answer().await.status, 200);
        }
        let begun = Instant::now();
        let (mut reading, mut writing) = wire.stream.into_split();
        let dripping = tokio::spawn(async move {
            use tokio::io::AsyncWriteExt;
            let head = format!("POST /mcp HTTP/1.1\r\nx: {}", "y".repeat(1000));
            for byte in head.as_bytes() {
                if writing.write_all(&[*byte]).await.is_err() {
                    return;
                }
                tokio::time::sleep(ms(20)).await;
            }
        });
        let mut rest = Vec::new();
        let ended = tokio::io::AsyncReadExt::read_to_end(&mut reading, &mut rest);
        let _ = tokio::time::timeout(STEP_TIMEOUT, ended).await.expect("the server hangs up");
        assert!(in_time(begun), "{:?}", begun.elapsed());
        dripping.abort();
    }
}

#[tokio::test]
async fn f124_the_time_between_requests_is_another() {
    // Far above the time for headers, so that a machine that is late by seconds changes nothing.
    const IDLE: Duration = Duration::from_secs(6);
    let mut limits = quick();
    limits.idle = IDLE;
    let stand = Stand::with(HttpServerOptions::default(), limits, RevisionPolicy::Any).await;
    let mut wire = stand.connect().await;
    wire.write(&call("echo", &[])).await;
    assert_eq!(wire.answer().await.status, 200);
    tokio::time::sleep(2 * HEAD).await;
    wire.write(&call("echo", &[])).await;
    assert_eq!(wire.answer().await.status, 200, "an idle connection outlives the time for headers");
    let begun = Instant::now();
    wire.end().await;
    assert!(begun.elapsed() >= IDLE - ms(20) && begun.elapsed() < STEP_TIMEOUT);
}

#[tokio::test]
async fn f125_a_slow_body_is_given_up() {
    let mut options = HttpServerOptions::default();
    options.body_time = HEAD;
    let stand = quick_stand(options).await;
    let mut wire = stand.connect().await;
    let begun = Instant::now();
    wire.write(b"POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n").await;
    wire.write(b"content-length: 100\r\n\r\n{\"jsonrpc\"").await;
    let answer = wire.answer().await;
    assert_eq!(answer.status, 408);
    assert!(in_time(begun), "{:?}", begun.elapsed());
    wire.end().await;
}

#[tokio::test]
async fn f125_a_body_that_trickles_is_given_up_before_its_time() {
    let mut options = HttpServerOptions::default();
    options.body_patience = HEAD;
    let stand = quick_stand(options).await;
    let mut wire = stand.connect().await;
    let begun = Instant::now();
    wire.write(b"POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n").await;
    wire.write(b"content-length: 100000\r\n\r\n{\"jsonrpc\"").await;
    assert_eq!(wire.answer().await.status, 408);
    assert!(in_time(begun), "{:?}", begun.elapsed());
    wire.end().await;
}

#[tokio::test]
async fn f126_a_body_beyond_the_limit_is_not_read() {
    let mut options = HttpServerOptions::default();
    options.body_bytes = 1024;
    let stand = quick_stand(options).await;
    let head = "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n";
    let announced = format!("{head}content-length: 10000000\r\n\r\n");
    let chunk = format!("400\r\n{}\r\n", "x".repeat(1024));
    let chunked = format!("{head}transfer-encoding: chunked\r\n\r\n{}", chunk.repeat(2));
    for request in [announced, chunked] {
        let mut wire = stand.connect().await;
        wire.write(request.as_bytes()).await;
        let answer = wire.answer().await;
        assert_eq!((answer.status, answer.header("connection")), (413, Some("close")));
        wire.end().await;
    }
    assert_eq!(stand.ask(&call("echo", &[])).await.status, 200);
}

#[tokio::test]
async fn f127_too_many_headers_and_too_long_ones_are_refused() {
    let stand = Stand::open().await;
    let many: Vec<String> = (0..200).map(|number| format!("x-{number}: y")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let long = format!("x: {}", "y".repeat(600_000));
    for headers in [many, vec![&*long]] {
        assert_eq!(stand.ask(&post(&headers, "{}")).await.status, 431);
    }
}

#[tokio::test]
async fn f128_a_reader_that_does_not_read_is_given_up_and_its_call_cancelled() {
    let mut options = HttpServerOptions::default();
    options.write_stall = HEAD;
    options.keep_alive = ms(100);
    options.stream_bytes = 64 * 1024;
    let stand = quick_stand(options).await;
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let mut stream = socket.connect(stand.at).await.unwrap();
    let request = call("floods", &["accept: application/json, text/event-stream"]);
    tokio::io::AsyncWriteExt::write_all(&mut stream, &request).await.unwrap();
    stand.told.until(&stand.told.cancelled, 1).await;
    // The connection is let go of too, not only its stream: asked to stop, the server has nothing to wait for.
    (stand.stop)();
    let mut stand = stand;
    let stopped = tokio::time::timeout(STEP_TIMEOUT, &mut stand.task).await;
    stopped.expect("nobody holds the server up").unwrap();
    let mut rest = Vec::new();
    let _ = tokio::io::AsyncReadExt::read_to_end(&mut stream, &mut rest).await;
    assert!(rest.starts_with(b"HTTP/1.1 200 OK") && !rest.ends_with(b"0\r\n\r\n"), "it is no orderly end");
}

#[tokio::test]
async fn f129_hanging_up_cancels_within_a_tenth_of_a_second() {
    let stand = Stand::open().await;
    let mut best = STEP_TIMEOUT;
    for turn in 1..=5 {
        let mut wire = stand.connect().await;
        wire.write(&call("waits", &["accept: application/json, text/event-stream"])).await;
        stand.told.until(&stand.told.started, turn).await;
        let begun = Instant::now();
        drop(wire);
        stand.told.until(&stand.told.cancelled, turn).await;
        best = best.min(begun.elapsed());
    }
    // A tenth of a second on an idle machine; without the hang-up being seen, it would wait for ever.
    assert!(best < STEP_TIMEOUT, "{best:?}");
}

#[tokio::test]
async fn f129_hanging_up_on_a_stream_cancels_too() {
    let stand = Stand::open().await;
    let mut wire = stand.connect().await;
    wire.write(&call("floods", &["accept: text/event-stream"])).await;
    wire.until("notifications/progress").await;
    let begun = Instant::now();
    drop(wire);
    stand.told.until(&stand.told.cancelled, 1).await;
    assert!(begun.elapsed() < STEP_TIMEOUT, "{:?}", begun.elapsed());
}

#[tokio::test]
async fn f129_hanging_up_is_no_cancellation_in_the_legacy_era() {
    let stand = Stand::open().await;
    let session = stand.initialize().await;
    let mut wire = stand.connect().await;
    wire.write(&legacy_call(&session, "waits", 2)).await;
    stand.told.until(&stand.told.started, 1).await;
    drop(wire);
    // Another request of the session is answered while the first goes on.
    assert_eq!(stand.ask(&legacy_call(&session, "echo", 3)).await.status, 200);
    stand.told.go.notify_one();
    stand.told.until(&stand.told.finished, 1).await;
    assert_eq!(Told::of(&stand.told.cancelled), 0);
    // The word for it is.
    let mut wire = stand.connect().await;
    wire.write(&legacy_call(&session, "waits", 4)).await;
    stand.told.until(&stand.told.started, 2).await;
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 4}});
    let session = format!("mcp-session-id: {session}");
    assert_eq!(stand.ask(&post(&[&session], &cancel.to_string())).await.status, 202);
    stand.told.until(&stand.told.cancelled, 1).await;
}

#[tokio::test]
async fn f133_a_panic_ends_its_own_request_only() {
    let stand = Stand::open().await;
    let mut wire = stand.connect().await;
    let mut incidents = Vec::new();
    for tool in ["panics", "panics_later"] {
        wire.write(&call(tool, &[])).await;
        let error = wire.answer().await.last()["error"].clone();
        assert_eq!(error["code"], -32603, "{error}");
        assert!(!error.to_string().contains("by design"), "nothing of what it said is told");
        let message = error["message"].as_str().unwrap();
        incidents.push(message.split_once("incident ").expect("it has a name").1.to_owned());
        // The connection survives.
        wire.write(&call("echo", &[])).await;
        assert_eq!(wire.answer().await.status, 200);
    }
    assert_ne!(incidents[0], incidents[1], "each can be found in the log");
    let session = stand.initialize().await;
    for tool in ["panics", "panics_later"] {
        let error = stand.ask(&legacy_call(&session, tool, 2)).await.last()["error"].clone();
        assert_eq!(error["code"], -32603, "{error}");
    }
    assert_eq!(stand.ask(&legacy_call(&session, "echo", 3)).await.status, 200);
}

#[tokio::test]
async fn f138_headers_of_sessions_are_ignored_in_the_modern_era() {
    for offer in [RevisionPolicy::Any, RevisionPolicy::ModernOnly] {
        let stand = Stand::with(HttpServerOptions::default(), ListenerLimits::default(), offer).await;
        let answer = stand.ask(&call("echo", &["mcp-session-id: nonsense", "last-event-id: s1-1"])).await;
        assert_eq!(answer.status, 200);
        assert_eq!(answer.header("mcp-session-id"), None);
        assert_eq!(answer.last()["result"]["content"][0]["text"], "{}");
    }
}

#[tokio::test]
async fn f139_other_methods_are_not_allowed() {
    let stand =
        Stand::with(HttpServerOptions::default(), ListenerLimits::default(), RevisionPolicy::ModernOnly)
            .await;
    for verb in ["GET", "DELETE", "PUT", "TRACE", "OPTIONS", "PATCH"] {
        let answer = stand.ask(&request(verb, &["accept: text/event-stream"], "")).await;
        assert_eq!((answer.status, answer.header("allow")), (405, Some("POST")), "{verb}");
    }
    let stand = Stand::open().await;
    for verb in ["PUT", "TRACE", "OPTIONS", "PATCH"] {
        let answer = stand.ask(&request(verb, &[], "")).await;
        assert_eq!((answer.status, answer.header("allow")), (405, Some("GET, POST, DELETE")), "{verb}");
    }
}

#[tokio::test]
async fn requests_from_elsewhere_and_of_another_type_are_turned_away() {
    let stand = Stand::open().await;
    let good = String::from_utf8(call("echo", &[])).unwrap();
    let with = |from: &str, to: &str| good.replace(from, to);
    let json = "content-type: application/json";
    for (request, status) in [
        (good.clone(), 200),
        (with("host: localhost", "host: 127.0.0.1:9"), 200),
        (with("host: localhost", "host: evil.example"), 403),
        (with("host: localhost", "host: localhost.evil.example"), 403),
        (with("host: localhost", "host: localhost\r\nhost: evil.example"), 403),
        (with(json, &format!("{json}\r\norigin: http://localhost:3000")), 200),
        (with(json, &format!("{json}\r\norigin: https://evil.example")), 403),
        (with(json, &format!("{json}\r\norigin: null")), 403),
        (with(json, &format!("{json}\r\nsec-fetch-site: cross-site")), 403),
        (with(json, "content-type: text/plain"), 415),
        (with(json, "content-type: application/json; charset=latin1"), 415),
        (with(json, "x: y"), 415),
        (with("POST /mcp", "POST /other"), 404),
    ] {
        assert_eq!(stand.ask(request.as_bytes()).await.status, status, "{request}");
    }
}

#[tokio::test]
async fn a_stop_ends_listen_streams_with_a_result_and_lets_calls_finish() {
    let stand = Stand::open().await;
    let mut listening = stand.connect().await;
    let params = json!({"notifications": {"toolsListChanged": true}});
    listening.write(&modern(&json!("l"), "subscriptions/listen", params, &[])).await;
    listening.until("subscriptions/acknowledged").await;
    let mut waiting = stand.connect().await;
    waiting.write(&call("waits", &[])).await;
    stand.told.until(&stand.told.started, 1).await;
    let mut idle = stand.connect().await;
    idle.write(&call("echo", &[])).await;
    assert_eq!(idle.answer().await.status, 200);
    (stand.stop)();
    let last = listening.until(r#""result""#).await;
    assert!(last.contains(r#""id":"l""#), "{last}");
    listening.end().await;
    idle.end().await;
    stand.told.go.notify_one();
    assert_eq!(waiting.answer().await.last()["result"]["content"][0]["text"], "waited");
    waiting.end().await;
    assert!(tokio::net::TcpStream::connect(stand.at).await.is_err(), "nobody listens any more");
}

#[tokio::test]
async fn s10_a_request_that_can_be_read_in_two_ways_is_refused() {
    let stand = Stand::open().await;
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
    let length = format!("Content-Length: {}\r\n", body.len());
    let chunked = format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
    for (text, status) in [
        (format!("{head}{length}\r\n{body}"), 200),
        (format!("{head}Transfer-Encoding: chunked\r\n\r\n{chunked}"), 200),
        (format!("{head}{length}Transfer-Encoding: chunked\r\n\r\n{chunked}"), 400),
        (format!("{head}Transfer-Encoding: chunked\r\n{length}\r\n{chunked}"), 400),
        (format!("{head}{length}\r\n{body}").replacen("\r\n", "\n", 1), 400),
        (format!("{head}{length}\n{body}"), 400),
        (format!("{head}{length}\n"), 400),
        (format!("{head}Content-Encoding: gzip\r\n{length}\r\n{body}"), 415),
        (format!("{head}Content-Encoding: identity\r\n{length}\r\n{body}"), 200),
    ] {
        assert_eq!(stand.ask(text.as_bytes()).await.status, status, "{text:?}");
        // The same as the second request of a connection, sent along with the first.
        let mut wire = stand.connect().await;
        wire.write(format!("{head}{length}\r\n{body}{text}").as_bytes()).await;
        assert_eq!(wire.answer().await.status, 200);
        assert_eq!(wire.answer().await.status, status, "{text:?}");
    }
    let evil = format!("{head}{length}\r\n{body}").replace("localhost", "[::1].evil.com");
    assert_eq!(stand.ask(evil.as_bytes()).await.status, 403);
}
