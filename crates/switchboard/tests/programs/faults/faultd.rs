//! The misbehaving server: honest but for the tool `fault`, which does what its case says.
//!
//! It speaks the legacy era on stdin and stdout, one line at a time, without a runtime, so that nothing but the case
//! decides which bytes leave and when. `echo` answers with its nonce; `hold` is answered after the next fault.

use std::io::{BufRead, Read, Write};
use std::process::{Command, exit};

use serde_json::{Value, json};

use crate::faults::case::{self, Say};

/// Names the case to play.
pub(crate) const FAULT: &str = "SWITCHBOARD_FAULT";

/// Serves until stdin ends.
pub(crate) fn play(fault: &str) {
    let case = case::find(fault);
    let mut server = Faultd { fault: fault.to_owned(), held: Vec::new(), gathered: Vec::new() };
    if let Some(case) = case {
        write(case.hello);
    }
    server.before_the_first_byte();
    let mut lines = std::io::stdin().lock();
    let mut line = String::new();
    loop {
        line.clear();
        if lines.read_line(&mut line).unwrap_or(0) == 0 {
            return;
        }
        let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
        server.hear(&message);
    }
}

struct Faultd {
    fault: String,
    held: Vec<(Value, String)>,
    gathered: Vec<(Value, String)>,
}

impl Faultd {
    fn is(&self, fault: &str) -> bool {
        self.fault == fault
    }

    /// What goes wrong before anything was said.
    fn before_the_first_byte(&self) {
        match self.fault.as_str() {
            "exit-0" => exit(0),
            "hang" => forever(),
            "slow" => _ = std::fs::read(std::env::var_os("GATE").unwrap()),
            _ => {}
        }
    }

    fn hear(&mut self, message: &Value) {
        let id = &message["id"];
        match message["method"].as_str().unwrap_or_default() {
            "server/discover" => self.probed(id),
            "initialize" => self.open(message),
            "ping" => say(&json!({"jsonrpc": "2.0", "id": id, "result": {}})),
            "tools/list" => {
                let schema = json!({"type": "object"});
                let tools: Vec<Value> = ["echo", "hold", "gather", "fault"]
                    .map(|name| json!({"name": name, "inputSchema": schema}))
                    .into();
                say(&json!({"jsonrpc": "2.0", "id": id, "result": {"tools": tools}}));
            }
            "tools/call" => self.call(id, &message["params"]),
            _ => {}
        }
    }

    fn probed(&self, id: &Value) {
        match self.fault.as_str() {
            "dies-of-probe" => exit(1),
            "answers-probe-and-dies" => {
                say(
                    &json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32600, "message": "initialize first"}}),
                );
                exit(1);
            }
            "ignores-probe" => {}
            _ => say(
                &json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "no such method"}}),
            ),
        }
    }

    fn open(&self, message: &Value) {
        if self.is("exit-3-in-handshake") {
            eprintln!("no such database");
            exit(3);
        }
        let revision = case::find(&self.fault).and_then(|case| case.revision);
        let revision = revision.map_or_else(|| message["params"]["protocolVersion"].clone(), Value::from);
        say(&json!({"jsonrpc": "2.0", "id": message["id"], "result": {
            "protocolVersion": revision,
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "faultd", "version": "1"},
        }}));
    }

    fn call(&mut self, id: &Value, params: &Value) {
        let nonce = params["arguments"]["nonce"].as_str().unwrap_or_default().to_owned();
        match params["name"].as_str().unwrap_or_default() {
            "hold" => self.held.push((id.clone(), nonce)),
            "gather" => self.gather(id, nonce, &params["arguments"]["of"]),
            "fault" => {
                self.misbehave(id, &nonce);
                for (id, nonce) in std::mem::take(&mut self.held) {
                    say(&reply(&id, &nonce));
                }
            }
            _ => say(&reply(id, &nonce)),
        }
    }

    /// Answers only when so many calls are there, in reverse order and in one write.
    fn gather(&mut self, id: &Value, nonce: String, of: &Value) {
        self.gathered.push((id.clone(), nonce));
        if self.gathered.len() as u64 >= of.as_u64().unwrap_or(1) {
            let answers = self.gathered.drain(..).rev();
            let text: String = answers.map(|(id, nonce)| format!("{}\n", reply(&id, &nonce))).collect();
            write(text.as_bytes());
        }
    }

    fn misbehave(&self, id: &Value, nonce: &str) {
        if let Some(case) = case::find(&self.fault) {
            match case.say {
                Say::Text(template) => write(fill(template, id, nonce).as_bytes()),
                Say::Bytes(make) => write(&make(&id.to_string(), nonce)),
                Say::Dribble(template) => {
                    for byte in fill(template, id, nonce).bytes() {
                        write(&[byte]);
                    }
                }
            }
            return;
        }
        match self.fault.as_str() {
            // More than once: the first is caught, to look for a stack overflow.
            "segv" => loop {
                let us = rustix::process::getpid();
                rustix::process::kill_process(us, rustix::process::Signal::SEGV).unwrap();
            },
            "closes-stdout" => {
                // Also what the descriptor is shared with: nothing but closing it ends the stream.
                rustix::stdio::dup2_stdout(std::fs::File::open("/dev/null").unwrap()).unwrap();
                forever();
            }
            "closes-stdin" => {
                rustix::stdio::dup2_stdin(std::fs::File::open("/dev/null").unwrap()).unwrap();
                say(&reply(id, nonce));
                forever();
            }
            "leaves-a-grandchild" => {
                Command::new("sleep").arg(std::env::var("TOKEN").unwrap()).spawn().unwrap();
                exit(5);
            }
            "endless" => loop {
                write(&[b'x'; 16 * 1024]);
            },
            "last-line-whole" => {
                write(reply(id, nonce).to_string().as_bytes());
                exit(0);
            }
            "last-line-cut" => {
                write(format!(r#"{{"jsonrpc":"2.0","id":{id},"resu"#).as_bytes());
                exit(0);
            }
            "floods-stderr" => {
                let chunk = vec![b'e'; 1 << 16];
                for _ in 0..std::env::var("CHUNKS").unwrap().parse::<usize>().unwrap() {
                    std::io::stderr().write_all(&chunk).unwrap();
                }
                eprintln!("\nlast words");
                say(&reply(id, nonce));
            }
            "stops-reading" => {
                say(&reply(id, nonce));
                forever();
            }
            other => panic!("no such fault: {other}"),
        }
    }
}

/// A template with `$ID`, `$NONCE` and `$OK`, the honest answer, filled in.
fn fill(template: &str, id: &Value, nonce: &str) -> String {
    template
        .replace("$OK", &reply(id, nonce).to_string())
        .replace("$ID", &id.to_string())
        .replace("$NONCE", nonce)
}

/// The honest answer.
pub(crate) fn reply(id: &Value, nonce: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": {"content": [{"type": "text", "text": nonce}]}})
}

fn say(message: &Value) {
    write(format!("{message}\n").as_bytes());
}

/// Past the buffer of the standard library, so that a write is a write.
fn write(bytes: &[u8]) {
    let mut rest = bytes;
    while !rest.is_empty() {
        match rustix::io::write(rustix::stdio::stdout(), rest) {
            Ok(written) => rest = &rest[written..],
            Err(rustix::io::Errno::INTR) => {}
            // The client has gone: so do we.
            Err(_) => exit(0),
        }
    }
}

/// Lives until it is killed.
fn forever() -> ! {
    loop {
        let mut nothing = [0];
        let _ = std::io::empty().read(&mut nothing);
        std::thread::park();
    }
}
