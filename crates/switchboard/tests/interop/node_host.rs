//! Our server under a host written for Node, which hands its children sockets where others hand pipes.

use std::process::Stdio;

use libtest_mimic::Failed;
use serde_json::Value;

use crate::client::our_server;
use crate::{Test, block_on};

pub(crate) const TESTS: &[Test] = &[("a_node_host_talks_to_our_server_over_sockets", talks_over_sockets)];

/// Starts the server given as its argument, talks to it, and prints what it saw as one line of JSON.
const HOST: &str = r#"
const { spawn } = require("node:child_process");
const { readdirSync, readlinkSync } = require("node:fs");
const child = spawn(process.argv[1], [], { stdio: ["pipe", "pipe", "inherit"] });
// The server moves its ends out of the way of stray prints, so they are looked for among all it has open.
const open = () => readdirSync(`/proc/${child.pid}/fd`).map((fd) => readlinkSync(`/proc/${child.pid}/fd/${fd}`));
const say = (message) => child.stdin.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");
const seen = { echoes: 0 };
let text = "";
child.stdout.on("data", (chunk) => {
    text += chunk;
    const lines = text.split("\n");
    text = lines.pop();
    for (const line of lines) {
        const message = JSON.parse(line);
        if (message.id === 1) {
            seen.revision = message.result.protocolVersion;
            seen.sockets = open().filter((name) => name.startsWith("socket:")).length;
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
        assert_eq!(seen["sockets"], 2, "this is what the test is about");
        assert_eq!(seen["revision"], "2025-11-25");
        assert_eq!(seen["echoes"], 64);
        assert_eq!(seen["code"], 0, "it leaves when its host does");
    })
}
