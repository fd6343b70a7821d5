//! Our server under a host written for Node, which hands its children sockets where others hand pipes.

use std::process::Stdio;

use serde_json::Value;
use switchboard_testkit::Failed;

use crate::interop::client::our_server;
use crate::interop::{Test, block_on};

pub(crate) const TESTS: &[Test] = &[("a_node_host_talks_to_our_server_over_sockets", talks_over_sockets)];

/// Starts the server given as its argument, talks to it, and prints what it saw as one line of JSON.
const HOST: &str = r#"
const { spawn } = require("node:child_process");
const { readlinkSync } = require("node:fs");
const child = spawn(process.argv[1], [], { stdio: ["pipe", "pipe", "inherit"] });
// Our ends of the two: what the child has is of the same kind.
const kind = (stream) => readlinkSync(`/proc/self/fd/${stream._handle.fd}`).split(":")[0];
const say = (message) => child.stdin.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");
const seen = { kinds: [kind(child.stdin), kind(child.stdout)], echoes: 0 };
let text = "";
child.stdout.on("data", (chunk) => {
    text += chunk;
    const lines = text.split("\n");
    text = lines.pop();
    for (const line of lines) {
        const message = JSON.parse(line);
        if (message.id === 1) {
            seen.revision = message.result.protocolVersion;
            say({ method: "notifications/initialized" });
            for (let n = 0; n < 64; n++) {
                const big = "x".repeat(n * 4096);
                say({ id: 100 + n, method: "tools/call", params: { name: "echo", arguments: { text: big } } });
            }
        } else if (message.result.content[0].text.length === (message.id - 100) * 4096) {
            seen.echoes += 1;
        }
        if (seen.echoes === 64) child.stdin.end();
    }
});
child.on("exit", (code) => console.log(JSON.stringify({ ...seen, code })));
const clientInfo = { name: "host", version: "1" };
const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
say({ id: 1, method: "initialize", params });
"#;

fn talks_over_sockets() -> Result<(), Failed> {
    block_on(async {
        let output = tokio::process::Command::new("node")
            .args(["--eval", HOST])
            .arg(our_server())
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .output()
            .await
            .expect("node starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let seen: Value = serde_json::from_slice(&output.stdout).expect("one line of JSON");
        let sockets = serde_json::json!(["socket", "socket"]);
        assert_eq!(seen["kinds"], sockets, "this is what the test is about");
        assert_eq!(seen["revision"], "2025-11-25");
        assert_eq!(seen["echoes"], 64);
        assert_eq!(seen["code"], 0, "it leaves when its host does");
    })
}
