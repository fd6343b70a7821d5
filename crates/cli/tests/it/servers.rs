//! Servers that the command talks to: the demo server over HTTP, a fake one, and scripts.

use std::path::PathBuf;

use switchboard_testkit::{CommandOutput, HttpScript, PseudoTerminal, RunningCommand, http_response};

use crate::commands::{run, switchboard};

/// The demo server over HTTP.
pub(crate) struct HttpDemo {
    pub(crate) running: RunningCommand,
    /// URL of its endpoint.
    pub(crate) url: String,
}

impl HttpDemo {
    /// Starts it on a free port, with additional arguments.
    pub(crate) fn start(args: &[&str]) -> Self {
        Self::start_at("127.0.0.1:0", args)
    }

    pub(crate) fn start_at(address: &str, args: &[&str]) -> Self {
        let running =
            RunningCommand::start(switchboard([&["demo-server", "--http", address], args].concat()));
        let url = running.err.line_after("listening at ");
        Self { running, url }
    }

    /// Returns the address it listens on.
    pub(crate) fn address(&self) -> String {
        self.url.trim_start_matches("http://").trim_end_matches("/mcp").to_owned()
    }

    /// Returns the URL of the HTTP+SSE endpoint.
    pub(crate) fn sse(&self) -> String {
        self.url.replace("/mcp", "/sse")
    }

    /// Runs a command with this server.
    pub(crate) fn run(&self, args: &[&str]) -> CommandOutput {
        run(&[args, &["--url", &self.url]].concat())
    }

    /// Sends SIGTERM and returns the exit code.
    pub(crate) fn stop(mut self) -> Option<i32> {
        self.running.terminate();
        self.running.wait().code()
    }
}

/// HTTP server that gives every request the same response.
pub(crate) struct FakeHttpServer {
    pub(crate) url: String,
    script: HttpScript,
}

impl FakeHttpServer {
    /// Starts a server with this response: status line and headers, and body.
    pub(crate) fn start(head: &str, body: &str) -> Self {
        let answer = http_response(head, &["connection: close"], body);
        let script = HttpScript::in_background(move |_| answer.clone());
        Self { url: script.url("/mcp"), script }
    }

    /// Returns all requests so far.
    pub(crate) fn requests(&self) -> String {
        self.script.log.requests().concat()
    }

    /// Runs a command with this server.
    pub(crate) fn run(&self, args: &[&str]) -> CommandOutput {
        run(&[args, &["--url", &self.url]].concat())
    }
}

/// A server written in Python, in a temporary directory.
pub(crate) struct Script {
    pub(crate) folder: tempfile::TempDir,
}

impl Script {
    /// Creates a legacy server whose results come from `answers(method, params)`; `None` there means method not found.
    pub(crate) fn server(answers: &str) -> Self {
        const FRAME: &str = r#"
import json, os, signal, sys, time

def send(message):
    sys.stdout.write(json.dumps(message, ensure_ascii=False) + "\n")
    sys.stdout.flush()

def base(method):
    if method == "initialize":
        return {"protocolVersion": "2025-11-25", "serverInfo": {"name": NAME, "version": "1"},
                "capabilities": {"tools": {}, "resources": {"subscribe": True}, "prompts": {}, "completions": {}, "logging": {}}}
    if method == "ping":
        return {}

NAME = "scripted"
"#;
        const LOOP: &str = r#"
for line in sys.stdin:
    message = json.loads(line)
    if "method" not in message or "id" not in message:
        continue
    method = message["method"]
    result = base(method) or answers(method, message.get("params", {}))
    if isinstance(result, dict) and "error!" in result:
        send({"jsonrpc": "2.0", "id": message["id"], "error": result["error!"]})
    elif result is not None:
        send({"jsonrpc": "2.0", "id": message["id"], "result": result})
    else:
        send({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "no " + method}})
"#;
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("server.py"), format!("{FRAME}\n{answers}\n{LOOP}")).unwrap();
        Self { folder }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("server.py")
    }

    /// Appends the command of this server to the arguments.
    pub(crate) fn args_for(&self, args: &[&str]) -> Vec<String> {
        let path = self.path().to_str().unwrap().to_owned();
        let server = ["--".to_owned(), "python3".to_owned(), "-S".to_owned(), path];
        args.iter().map(|arg| (*arg).to_owned()).chain(server).collect()
    }

    /// Runs a command on this server.
    pub(crate) fn run(&self, args: &[&str]) -> CommandOutput {
        let args = self.args_for(args);
        run(&args.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Runs a command on this server on a terminal without color, so that every escape sequence comes from the server.
    pub(crate) fn at_terminal(&self, args: &[&str]) -> PseudoTerminal {
        let mut command = switchboard(self.args_for(args));
        command.env("NO_COLOR", "1");
        PseudoTerminal::start(command, 80)
    }
}
