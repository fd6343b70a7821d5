//! Clients written with the SDKs of others, with our server over HTTP, in both eras.

use std::process::Stdio;

use serde_json::Value;
use switchboard_testkit::Failed;
use tokio::process::Command;

use crate::interop::client::our_server;
use crate::interop::listening::{self, Listening};
use crate::interop::peer::place;
use crate::interop::{Test, block_on};

pub(crate) const TESTS: &[Test] = &[
    ("typescript_client_over_http_in_the_modern_era", || calls(typescript, "modern", MODERN)),
    ("typescript_client_over_http_in_the_legacy_era", || calls(typescript, "legacy", LEGACY)),
    ("typescript_client_over_http_finds_our_era", || calls(typescript, "auto", MODERN)),
    ("python_client_over_http_in_the_modern_era", || {
        // It asks nobody when it is told the revision, so it does not learn a name.
        sees(python, "modern", MODERN, Value::Null)
    }),
    ("python_client_over_http_in_the_legacy_era", || calls(python, "legacy", LEGACY)),
    ("python_client_over_http_finds_our_era", || calls(python, "auto", MODERN)),
    ("rmcp_client_over_http_in_the_modern_era", || calls(rmcp, "modern", MODERN)),
    ("rmcp_client_over_http_in_the_legacy_era", || calls(rmcp, "legacy", LEGACY)),
    ("rmcp_client_over_http_finds_our_era", || calls(rmcp, "auto", MODERN)),
];

const MODERN: &str = "2026-07-28";
const LEGACY: &str = "2025-11-25";

fn typescript() -> Command {
    let mut command = Command::new("node");
    command.arg(place("SWITCHBOARD_INTEROP_NODE").join("ts-client.mjs"));
    command
}

fn python() -> Command {
    listening::python("py_client.py")
}

fn rmcp() -> Command {
    Command::new(place("SWITCHBOARD_INTEROP_RMCP_CLIENT"))
}

fn calls(client: fn() -> Command, era: &'static str, revision: &'static str) -> Result<(), Failed> {
    sees(client, era, revision, "serve-tools".into())
}

fn sees(
    client: fn() -> Command,
    era: &'static str,
    revision: &'static str,
    name: Value,
) -> Result<(), Failed> {
    block_on(async move {
        let server = Listening::ours(&our_server()).await;
        let output = client()
            .args(["--era", era, "--nonce", "nonce 12345 é", "--url", server.url()])
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .output()
            .await
            .expect("the client starts");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{errors}");
        let seen: Value = serde_json::from_slice(&output.stdout).expect("one line of JSON");
        assert_eq!(seen["protocolVersion"], revision);
        assert_eq!(seen["server"]["name"], name, "{seen}");
        assert_eq!(seen["tools"], serde_json::json!(["echo", "add", "slow"]));
        assert_eq!(seen["echoed"], "nonce 12345 é");
        assert_eq!(seen["slow"], "done");
        assert_eq!(seen["progress"], 10);
        assert_eq!(seen["unknown"], -32602);
        assert_eq!(seen["cancelled"], true);
        assert_eq!(seen["again"], "still here");
        // Neither in its log nor where its user hears of them.
        assert_eq!(errors, "", "the client complained");
        assert!(seen["errors"].as_array().is_none_or(Vec::is_empty), "{seen}");
        server.stop().await;
    })
}
