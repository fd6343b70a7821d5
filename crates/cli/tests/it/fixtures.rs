//! Test fixtures: runs the program to its end or on a pseudo-terminal, with a timeout for every step; fake servers.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

/// Timeout of one step of a test.
pub(crate) const STEP_TIMEOUT: Duration = Duration::from_secs(120);

pub(crate) const SWITCHBOARD: &str = env!("CARGO_BIN_EXE_switchboard");

/// Returns the command with these arguments, in a fixed environment.
pub(crate) fn switchboard<A: AsRef<OsStr>>(args: impl IntoIterator<Item = A>) -> Command {
    let mut command = Command::new(SWITCHBOARD);
    command.args(args).env_remove("COLUMNS").env_remove("NO_COLOR").env("TERM", "xterm-256color");
    // Ignores the servers that the developer has configured.
    command.env("XDG_CONFIG_HOME", "/nonexistent/config").env("XDG_STATE_HOME", "/nonexistent/state");
    command
}

/// Exit code and output of a finished command.
pub(crate) struct CommandOutput {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl CommandOutput {
    /// Returns its standard output as JSON.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out)
            .unwrap_or_else(|error| panic!("{error}: {:?} {:?}", self.out, self.err))
    }

    /// Returns the error of its standard error, which must be one JSON object.
    pub(crate) fn error(&self) -> serde_json::Value {
        assert_eq!(self.err.trim_end().lines().count(), 1, "{:?}", self.err);
        serde_json::from_str::<serde_json::Value>(&self.err).unwrap()["error"].clone()
    }
}

/// Runs a command to its end, without a terminal and with empty input.
pub(crate) fn run(args: &[&str]) -> CommandOutput {
    run_fed(args, "")
}

/// Runs a command to its end with this standard input.
pub(crate) fn run_fed(args: &[&str], input: &str) -> CommandOutput {
    run_command(switchboard(args), input)
}

/// Runs any command to its end with this standard input.
pub(crate) fn run_command(mut command: Command, input: &str) -> CommandOutput {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A program need not read its input.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let out = StreamReader::listen(child.stdout.take().unwrap());
    let err = StreamReader::listen(child.stderr.take().unwrap());
    let code = wait(&mut child).code().unwrap();
    CommandOutput { code, out: out.all(), err: err.all() }
}

/// Runs a command on the demo server.
pub(crate) fn demo(args: &[&str]) -> CommandOutput {
    run(&on_demo(args))
}

/// Appends the command of the demo server to the arguments.
pub(crate) fn on_demo<'a>(args: &[&'a str]) -> Vec<&'a str> {
    [args, &["--", SWITCHBOARD, "demo-server"]].concat()
}

/// Waits for a child to exit; kills it after the timeout.
pub(crate) fn wait(child: &mut Child) -> ExitStatus {
    if !ends(Pid::from_child(child)) {
        child.kill().unwrap();
        panic!("the program did not end in time");
    }
    child.wait().unwrap()
}

/// Returns whether a process exits within the timeout.
pub(crate) fn ends(pid: Pid) -> bool {
    let Ok(process) = pidfd_open(pid, PidfdFlags::empty()) else { return true };
    let within = Timespec::try_from(STEP_TIMEOUT).unwrap();
    let mut watched = [PollFd::new(&process, PollFlags::IN)];
    poll(&mut watched, Some(&within)).unwrap() == 1
}

/// Reads a stream in a thread, and waits for expected text.
#[derive(Clone)]
pub(crate) struct StreamReader {
    state: Arc<(Mutex<StreamState>, Condvar)>,
}

#[derive(Default)]
struct StreamState {
    bytes: Vec<u8>,
    has_ended: bool,
}

impl StreamReader {
    pub(crate) fn listen(mut stream: impl Read + Send + 'static) -> Self {
        let heard = Self { state: Arc::default() };
        let ours = heard.clone();
        let _reader: JoinHandle<()> = std::thread::spawn(move || {
            let mut chunk = [0; 4096];
            // A closed terminal returns an error instead of the end of the stream.
            while let Ok(count @ 1..) = stream.read(&mut chunk) {
                ours.state.0.lock().unwrap().bytes.extend(&chunk[..count]);
                ours.state.1.notify_all();
            }
            ours.state.0.lock().unwrap().has_ended = true;
            ours.state.1.notify_all();
        });
        heard
    }

    /// Waits until the text appears after the offset `from`; returns the offset after it.
    pub(crate) fn wait_for(&self, text: &str, from: usize) -> usize {
        let (lock, changed) = &*self.state;
        let end = Instant::now() + STEP_TIMEOUT;
        let mut state = lock.lock().unwrap();
        loop {
            let found = state.bytes[from..].windows(text.len()).position(|part| part == text.as_bytes());
            if let Some(at) = found {
                return from + at + text.len();
            }
            let left = end.saturating_duration_since(Instant::now());
            let said = String::from_utf8_lossy(&state.bytes[from..]).into_owned();
            assert!(!left.is_zero() && !state.has_ended, "{text:?} was not said, but {said:?}");
            state = changed.wait_timeout(state, left).unwrap().0;
        }
    }

    /// Waits for the rest of the line at the offset `from`, and returns it.
    pub(crate) fn line(&self, from: usize) -> String {
        let end = self.wait_for("\n", from);
        String::from_utf8_lossy(&self.state.0.lock().unwrap().bytes[from..end]).trim_end().to_owned()
    }

    /// Waits for the end of the stream, and returns all of its text.
    pub(crate) fn all(&self) -> String {
        let (lock, changed) = &*self.state;
        let state = lock.lock().unwrap();
        let (state, timeout) =
            changed.wait_timeout_while(state, STEP_TIMEOUT, |state| !state.has_ended).unwrap();
        assert!(!timeout.timed_out(), "the stream does not end");
        String::from_utf8_lossy(&state.bytes).into_owned()
    }
}

/// The program on a pseudo-terminal.
pub(crate) struct Terminal {
    child: Child,
    keys: File,
    heard: StreamReader,
    read: usize,
}

impl Terminal {
    /// Starts a command on a pseudo-terminal of this many columns.
    pub(crate) fn start(mut command: Command, columns: u16) -> Self {
        use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let size = rustix::termios::Winsize { ws_row: 50, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        rustix::termios::tcsetwinsize(&master, size).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let open = || File::options().read(true).write(true).open(Path::new(name.to_str().unwrap())).unwrap();
        let child = command.stdin(open()).stdout(open()).stderr(open()).spawn().unwrap();
        // The command keeps the terminal open, too, which would prevent the end of the stream.
        drop(command);
        let keys = File::from(master);
        let heard = StreamReader::listen(keys.try_clone().unwrap());
        Self { child, keys, heard, read: 0 }
    }

    /// Waits until the text appears after everything waited for before.
    pub(crate) fn expect_text(&mut self, text: &str) {
        self.read = self.heard.wait_for(text, self.read);
    }

    /// Types a line.
    pub(crate) fn enter(&mut self, line: &str) {
        self.keys.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    /// Types a control character.
    pub(crate) fn press(&mut self, key: u8) {
        self.keys.write_all(&[key]).unwrap();
    }

    pub(crate) fn interrupt(&self) {
        kill_process(Pid::from_child(&self.child), Signal::INT).unwrap();
    }

    /// Waits for the program to exit; returns its exit code and all output.
    pub(crate) fn finish(mut self) -> (i32, String) {
        let code = wait(&mut self.child).code().unwrap();
        (code, self.heard.all())
    }
}

/// A running program, without a terminal.
pub(crate) struct RunningCommand {
    pub(crate) child: Child,
    pub(crate) out: StreamReader,
    pub(crate) err: StreamReader,
}

impl RunningCommand {
    pub(crate) fn start(mut command: Command) -> Self {
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let out = StreamReader::listen(child.stdout.take().unwrap());
        let err = StreamReader::listen(child.stderr.take().unwrap());
        Self { child, out, err }
    }

    pub(crate) fn terminate(&self) {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
    }

    pub(crate) fn interrupt(&self) {
        kill_process(Pid::from_child(&self.child), Signal::INT).unwrap();
    }
}

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
        let at = running.err.wait_for("listening at ", 0);
        let url = running.err.line(at);
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
        wait(&mut self.running.child).code()
    }
}

impl Drop for HttpDemo {
    fn drop(&mut self) {
        // It may have exited already.
        let _ = self.running.child.kill();
        let _ = self.running.child.wait();
    }
}

/// HTTP server that gives every request the same response, and records the request heads.
pub(crate) struct FakeHttpServer {
    pub(crate) url: String,
    heads: Arc<Mutex<String>>,
}

impl FakeHttpServer {
    /// Starts a server with this response: status line and headers, and body.
    pub(crate) fn start(head: &str, body: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let heads: Arc<Mutex<String>> = Arc::default();
        let kept = Arc::clone(&heads);
        let length = body.len();
        let answer =
            format!("HTTP/1.1 {head}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}");
        let _accepting: JoinHandle<()> = std::thread::spawn(move || {
            for stream in listener.incoming() {
                // A client may disconnect early.
                let _ = stream.and_then(|stream| answer_one(stream, &answer, &kept));
            }
        });
        Self { url, heads }
    }

    /// Returns the heads of all requests so far.
    pub(crate) fn requests(&self) -> String {
        self.heads.lock().unwrap().clone()
    }

    /// Runs a command with this server.
    pub(crate) fn run(&self, args: &[&str]) -> CommandOutput {
        run(&[args, &["--url", &self.url]].concat())
    }
}

fn answer_one(mut stream: TcpStream, answer: &str, kept: &Mutex<String>) -> std::io::Result<()> {
    stream.set_read_timeout(Some(STEP_TIMEOUT))?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut head = String::new();
    while reader.read_line(&mut head)? > 2 {}
    let length = head
        .lines()
        .find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length:")?.trim().parse().ok());
    reader.take(length.unwrap_or(0)).read_to_end(&mut Vec::new())?;
    kept.lock().unwrap().push_str(&head);
    stream.write_all(answer.as_bytes())
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
    pub(crate) fn at_terminal(&self, args: &[&str]) -> Terminal {
        let mut command = switchboard(self.args_for(args));
        command.env("NO_COLOR", "1");
        Terminal::start(command, 80)
    }
}

/// Returns the write end of a pipe whose reader is closed.
pub(crate) fn broken_pipe() -> OwnedFd {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    writer.into()
}
