//! Clients of others with our server over pipes: rmcp in both eras, and the TypeScript SDK, which must hear of progress.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;
use switchboard_testkit::Failed;

use crate::interop::peer::place;
use crate::interop::{Test, block_on};

pub(crate) const TESTS: &[Test] = &[
    ("rmcp_client_calls_our_server_in_the_modern_era", || calls("modern", "2026-07-28")),
    ("rmcp_client_calls_our_server_in_the_legacy_era", || calls("legacy", "2025-11-25")),
    ("rmcp_client_finds_our_era_by_itself", || calls("auto", "2026-07-28")),
    (
        "v7_typescript_loses_no_more_progress_with_us_than_with_rmcp",
        v7_typescript_loses_no_more_progress_with_us_than_with_rmcp,
    ),
];

/// The example server, which cargo builds beside the tests.
pub(crate) fn our_server() -> PathBuf {
    let tests = std::env::current_exe().expect("this program has a path");
    let target =
        tests.parent().and_then(|deps| deps.parent()).expect("tests are built in target/<profile>/deps");
    target.join("examples/serve_tools")
}

fn calls(era: &'static str, revision: &'static str) -> Result<(), Failed> {
    block_on(async move {
        let output = tokio::process::Command::new(place("SWITCHBOARD_INTEROP_RMCP_CLIENT"))
            .args(["--era", era, "--nonce", "nonce 12345", "--"])
            .arg(our_server())
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .output()
            .await
            .expect("the client starts");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{errors}");
        let seen: Value = serde_json::from_slice(&output.stdout).expect("one line of JSON");
        assert_eq!(seen["protocolVersion"], revision);
        assert_eq!(seen["server"]["name"], "serve-tools");
        assert_eq!(seen["echoed"], "nonce 12345");
        let tools: Vec<_> =
            seen["tools"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        assert_eq!(tools, ["echo", "add", "slow"]);
        assert_eq!(seen["slow"], "done");
        assert_eq!(seen["progress"], 10);
        assert_eq!(seen["unknown"], -32602);
    })
}

/// In how many of these calls the TypeScript SDK lost the last progress.
async fn lost(server: &Path, tool: &str, arguments: &str) -> u64 {
    let output = tokio::process::Command::new("node")
        .arg(place("SWITCHBOARD_INTEROP_NODE").join("progress-client.mjs"))
        .args(["--tool", tool, "--args", arguments, "--calls", "20", "--"])
        .arg(server)
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await
        .expect("the client starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let seen: Value = serde_json::from_slice(&output.stdout).expect("one line of JSON");
    eprintln!("{}: {seen}", server.display());
    seen["lost"].as_u64().expect("a number")
}

/// The SDK drops progress that it reads together with the answer, so that a machine under load decides, too. It must
/// not be worse than rmcp in three measurements one after another, by more than one call in ten.
fn v7_typescript_loses_no_more_progress_with_us_than_with_rmcp() -> Result<(), Failed> {
    block_on(async {
        let mut measured = Vec::new();
        for _ in 0..3 {
            // Both report ten steps, the last of them right before the answer.
            let theirs = lost(&place("SWITCHBOARD_INTEROP_RMCP_SERVER"), "steps", r#"{"count":10}"#).await;
            let ours = lost(&our_server(), "slow", r#"{"seconds":0}"#).await;
            if ours <= theirs.max(2) {
                return;
            }
            measured.push((ours, theirs));
        }
        panic!("lost with us and with rmcp: {measured:?}");
    })
}
