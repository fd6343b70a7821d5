//! Our server on its own stdin and stdout, as a process: F040, F056, F076, its end, and a client of either era.

use std::time::Instant;

use serde_json::json;
use switchboard::client::RevisionPolicy;
use switchboard::{CallError, Client, Stdio};
use switchboard_testkit::STEP_TIMEOUT;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::task::JoinSet;

use crate::faults::part::{PART, cast};
use crate::faults::sessions::{Watched, close_politely, echo, real};

switchboard_testkit::trials![real:
    f053_any_text_survives_the_way_there_and_back,
    f056_stray_output_of_a_handler_cannot_reach_the_wire,
    crowd_256_calls_at_once_on_our_own_server,
    serving_on_stdio_ends_with_its_input,
    serving_on_stdio_a_damaged_start_is_survived,
];

fn server() -> Stdio {
    Stdio::new(std::env::current_exe().unwrap()).env(PART, "server")
}

const ERAS: [RevisionPolicy; 2] = [RevisionPolicy::LegacyOnly, RevisionPolicy::ModernOnly];

async fn f053_any_text_survives_the_way_there_and_back() {
    for era in ERAS {
        let session = Client::new().with_revisions(era).connect(server()).await.unwrap();
        echo(&session, "a\nb\r\n\u{2028}\u{2029}\u{85}\0\u{7f}\u{feff}😀\"\\").await.unwrap();
        close_politely(&session).await;
    }
}

async fn f056_stray_output_of_a_handler_cannot_reach_the_wire() {
    for era in ERAS {
        let watched = Watched::new(server());
        let session = Client::new().with_revisions(era).connect(watched.clone()).await.unwrap();
        let result = session.call_tool("stray", json!({"nonce": "n"})).await.unwrap();
        assert_eq!(result.text(), "n");
        assert_eq!(session.counts(), Default::default(), "no junk came by");
        close_politely(&session).await;
        let said = watched.children()[0].stderr_tail();
        assert!(said.contains("stray n") && said.contains("stray from below"), "{said}");
    }
}

async fn crowd_256_calls_at_once_on_our_own_server() {
    for era in ERAS {
        let session = Client::new().with_revisions(era).connect(server()).await.unwrap();
        let mut calls = JoinSet::new();
        for number in 0..256 {
            let session = session.clone();
            calls.spawn(async move { echo(&session, &format!("n-{number}")).await.unwrap() });
        }
        calls.join_all().await;
        let refused = session.call_tool("no-such", json!({})).await;
        assert!(matches!(refused, Err(CallError::Remote(_))), "{refused:?}");
        close_politely(&session).await;
    }
}

async fn serving_on_stdio_ends_with_its_input() {
    let mut server = cast("server", &[]).spawn().unwrap();
    let start = Instant::now();
    drop(server.stdin.take());
    let status = server.wait().await.unwrap();
    assert!(status.success() && start.elapsed() < STEP_TIMEOUT, "{status} {:?}", start.elapsed());
}

async fn serving_on_stdio_a_damaged_start_is_survived() {
    let mut server = cast("server", &[]).spawn().unwrap();
    let mut stdin = server.stdin.take().unwrap();
    stdin
        .write_all(b"\xef\xbb\xbf\r\n\xff\xfe junk\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r\n")
        .await
        .unwrap();
    drop(stdin);
    let mut said = String::new();
    server.stdout.take().unwrap().read_to_string(&mut said).await.unwrap();
    let lines: Vec<serde_json::Value> =
        said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["error"]["code"], -32700);
    assert_eq!(lines[1], json!({"jsonrpc": "2.0", "id": 1, "result": {}}));
    assert!(server.wait().await.unwrap().success());
}
