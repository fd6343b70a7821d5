//! `switchboard gateway` in front of five servers that others wrote, in a home directory of its own, and a page for the
//! browser of one of them.

use std::collections::BTreeMap;
use std::process::Stdio;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::process::Command;
use tokio::task::JoinSet;

use crate::interop::listening::Listening;
use crate::interop::peer::{Mark, place};

/// The callers with keys.
const CALLERS: [&str; 5] = ["typescript", "python", "rmcp", "inspector", "mcporter"];

/// How clients reach the gateway.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Over {
    Http,
    HttpWithKeys,
    /// Each client starts a gateway.
    Pipes,
}

/// The gateway as one caller sees it.
pub(crate) struct GatewayBench {
    shared: Arc<SharedBench>,
    key: Option<String>,
}

struct SharedBench {
    home: tempfile::TempDir,
    files: String,
    page: String,
    gateway: Option<Listening>,
    /// The gateway as a command, for pipes.
    command: Vec<String>,
    /// Keys by the name of the caller.
    keys: BTreeMap<&'static str, String>,
    environment: Vec<(&'static str, String)>,
    /// Carried by the five servers.
    mark: Mark,
    _pages: JoinSet<()>,
}

impl GatewayBench {
    pub(crate) async fn start(over: Over) -> Self {
        let home = tempfile::tempdir().unwrap();
        let at = |below: &str| home.path().join(below).to_str().expect("a path in UTF-8").to_owned();
        for folder in ["config/switchboard", "state", "project", "files", "memory"] {
            std::fs::create_dir_all(home.path().join(folder)).unwrap();
        }
        let mark = Mark::new();
        let config = json!({ "mcpServers": servers(at, &mark, over) });
        std::fs::write(at("config/switchboard/mcp.json"), config.to_string()).unwrap();
        let environment =
            vec![("HOME", at("")), ("XDG_CONFIG_HOME", at("config")), ("XDG_STATE_HOME", at("state"))];
        let program = place("SWITCHBOARD_INTEROP_COMMAND_LINE").to_str().expect("a path in UTF-8").to_owned();
        let command = vec![program, "gateway".to_owned(), "--stdio".to_owned()];
        let mut pages = JoinSet::new();
        let page = serve_page(&mut pages).await;
        let mut bench = SharedBench {
            files: at("files"),
            page,
            gateway: None,
            command,
            keys: BTreeMap::new(),
            environment,
            mark,
            _pages: pages,
            home,
        };
        if over != Over::Pipes {
            if over == Over::HttpWithKeys {
                bench.keys = CALLERS.map(|name| (name, bench.create_key(name))).into();
            }
            bench.gateway = Some(bench.listen().await);
        }
        Self { shared: Arc::new(bench), key: None }
    }

    /// The same gateway for another caller, with the key of that name.
    pub(crate) fn as_caller(&self, name: &str) -> Self {
        let key = self.shared.keys.get(name).expect("created before the gateway has read its keys").clone();
        Self { shared: Arc::clone(&self.shared), key: Some(key) }
    }

    pub(crate) fn files(&self) -> &str {
        &self.shared.files
    }

    pub(crate) fn page(&self) -> &str {
        &self.shared.page
    }

    pub(crate) fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// The address of the gateway; none when clients start it.
    pub(crate) fn url(&self) -> Option<&str> {
        self.shared.gateway.as_ref().map(Listening::url)
    }

    pub(crate) fn command(&self) -> &[String] {
        &self.shared.command
    }

    pub(crate) fn environment(&self) -> &[(&'static str, String)] {
        &self.shared.environment
    }

    /// Writes a file of a client and returns its path.
    pub(crate) fn write(&self, name: &str, value: &Value) -> String {
        let path = self.shared.home.path().join(name);
        std::fs::write(&path, value.to_string()).unwrap();
        path.to_str().expect("a path in UTF-8").to_owned()
    }

    /// Checks what the calls of a client left on disk, and that it read its part of the graph back.
    pub(crate) fn check_traces(&self, name: &str, graph: &str) {
        let file = std::fs::read_to_string(format!("{}/{name}.txt", self.files())).unwrap();
        assert_eq!(file, format!("by {name}"));
        self.check_graph(name, graph);
        let memories = std::fs::read_dir(self.shared.home.path().join("memory")).unwrap();
        let memories = memories.map(|memory| std::fs::read_to_string(memory.unwrap().path()).unwrap());
        let with_it = memories.filter(|memory| holds_entity(memory, &entity(name))).count();
        assert_eq!(with_it, 1, "{name} is in one memory");
    }

    /// Checks that the memory has the entity that a client created; with keys, and no entity of another caller.
    pub(crate) fn check_graph(&self, name: &str, graph: &str) {
        assert!(holds_entity(graph, &entity(name)), "{name} is not in {graph}");
        if self.key.is_some() {
            let mut others = CALLERS.iter().filter(|caller| !name.starts_with(**caller));
            assert!(!others.any(|other| graph.contains(other)), "{name} sees the memory of others: {graph}");
        }
    }

    /// Ends the gateway; no server is left behind.
    pub(crate) async fn stop(self) {
        let Ok(mut shared) = Arc::try_unwrap(self.shared) else { panic!("a caller is still there") };
        if let Some(gateway) = shared.gateway.take() {
            shared.mark.assert_found();
            gateway.stop().await;
        }
        shared.mark.gone().await;
    }
}

impl SharedBench {
    fn switchboard(&self) -> std::process::Command {
        let mut command = std::process::Command::new(&self.command[0]);
        command.envs(self.environment.iter().cloned()).current_dir(self.home.path().join("project"));
        command
    }

    fn create_key(&self, name: &str) -> String {
        let mut command = self.switchboard();
        command.args(["key", "create", name, "--file"]).arg(self.home.path().join("keys.json"));
        let created = String::from_utf8(command.output().unwrap().stdout).unwrap();
        let key = created.split_whitespace().find(|word| word.starts_with("sbk_"));
        key.expect("a key is printed").to_owned()
    }

    async fn listen(&self) -> Listening {
        let mut command = self.switchboard();
        command.args(["gateway", "--http", "127.0.0.1:0"]);
        match self.keys.is_empty() {
            false => drop(command.arg("--api-keys").arg(self.home.path().join("keys.json"))),
            true => drop(command.arg("--anonymous")),
        }
        Listening::start(Command::from(command), "/mcp").await
    }
}

/// Returns the entity that a client of this name creates.
pub(crate) fn entity(name: &str) -> Value {
    json!({ "name": name, "entityType": "client", "observations": ["asks"] })
}

/// Returns whether a text of JSON values, or a text in one of them, has an object with all members of the entity.
fn holds_entity(text: &str, entity: &Value) -> bool {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>().map_while(Result::ok);
    values.any(|value| value_holds(&value, entity))
}

fn value_holds(value: &Value, entity: &Value) -> bool {
    match value {
        Value::Object(members) => {
            let mut wanted = entity.as_object().into_iter().flatten();
            wanted.all(|(name, value)| members.get(name) == Some(value))
                || members.values().any(|member| value_holds(member, entity))
        }
        Value::Array(elements) => elements.iter().any(|element| value_holds(element, entity)),
        Value::String(text) => holds_entity(text, entity),
        _ => false,
    }
}

/// The configuration of the five servers.
fn servers(at: impl Fn(&str) -> String, mark: &Mark, over: Over) -> Value {
    let node = place("SWITCHBOARD_INTEROP_NODE").join("node_modules/.bin");
    let npm = |name: &str| node.join(name).to_str().expect("a path in UTF-8").to_owned();
    let current = place("SWITCHBOARD_INTEROP_CURRENT_NODE").join("node_modules/.bin/playwright-mcp");
    let env = json!({ Mark::VARIABLE: mark.text(), "MEMORY_FILE_PATH": at("memory/all.jsonl") });
    // The memory server reads and writes its file without a lock, so that of several processes some lose what they wrote.
    // With keys each caller has a process of its own, and it gets a file of its own.
    let memory = match over {
        Over::HttpWithKeys => {
            let script = "MEMORY_FILE_PATH=\"$0/$$.jsonl\" exec node \"$1\"";
            json!({ "command": "sh", "args": ["-c", script, at("memory"), npm("mcp-server-memory")], "env": env })
        }
        Over::Http | Over::Pipes => {
            json!({ "command": "node", "args": [npm("mcp-server-memory")], "env": env })
        }
    };
    json!({
        "everything": { "command": "node", "args": [npm("mcp-server-everything")], "env": env },
        "filesystem": { "command": "node", "args": [npm("mcp-server-filesystem"), at("files")], "env": env },
        "memory": memory,
        "time": { "command": place("SWITCHBOARD_INTEROP_PYTHON").join("bin/mcp-server-time"), "env": env },
        "playwright": {
            "command": place("SWITCHBOARD_INTEROP_CURRENT_NODE_PROGRAM"),
            "args": [
                current, "--headless", "--isolated", "--no-sandbox",
                "--executable-path", place("SWITCHBOARD_INTEROP_CHROMIUM"), "--output-dir", at("browser"),
            ],
            "env": env,
        },
    })
}

/// Serves one page to everyone and returns its address.
async fn serve_page(tasks: &mut JoinSet<()>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    tasks.spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let body = "<!doctype html><title>Page of the test</title><p>Hello.";
                let head = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close";
                let mut request = [0; 4096];
                let _ = stream.read(&mut request).await;
                let answer = format!("{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
                let _ = stream.write_all(answer.as_bytes()).await;
            });
        }
    });
    url
}

/// Runs a client to its end and returns what it printed; of the gateway it started nothing is left.
pub(crate) async fn run_to_text(bench: &GatewayBench, client: &mut Command) -> String {
    let output = client
        .envs(bench.environment().iter().cloned())
        .current_dir(bench.files())
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await
        .expect("the client starts");
    let (printed, errors) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{client:?}\n{printed}\n{errors}");
    if bench.url().is_none() {
        bench.shared.mark.gone().await;
    }
    printed.into_owned()
}

/// As [`run_to_text`], for JSON.
pub(crate) async fn run_to_json(bench: &GatewayBench, client: &mut Command) -> Value {
    let printed = run_to_text(bench, client).await;
    serde_json::from_str(&printed).unwrap_or_else(|error| panic!("{client:?} printed {printed}: {error}"))
}
