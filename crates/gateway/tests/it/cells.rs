//! The cells of the matrix: the era of the client, the era of the upstream, and how the upstream is reached.

use std::sync::Arc;
use std::time::Duration;

use switchboard::client::{ClientHandler, RevisionPolicy};
use switchboard::gateway::{Gateway, GatewayOptions};
use switchboard::host::config::SharePolicy;
use switchboard::host::{Host, ServerSpec};
use switchboard::protocol::Root;
use switchboard::server::{HttpListener, HttpServerOptions, HttpService};
use switchboard::{Client, Http, InProcess, Server, Stdio, json};
use switchboard_session::ClientSession;
use switchboard_testkit::STEP_TIMEOUT;
use tokio::task::JoinSet;

use crate::person::Person;
use crate::task_upstream;
use crate::upstream::{self, Counts};

/// The revisions of one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Legacy,
    Modern,
}

impl Side {
    pub(crate) fn revisions(self) -> RevisionPolicy {
        match self {
            Self::Legacy => RevisionPolicy::LegacyOnly,
            Self::Modern => RevisionPolicy::ModernOnly,
        }
    }
}

/// How an upstream is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    InProcess,
    Child,
    Http,
}

/// One cell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell {
    pub(crate) client: Side,
    pub(crate) upstream: Side,
    pub(crate) reach: Reach,
}

/// All twelve cells.
pub(crate) fn cells() -> Vec<Cell> {
    let sides = [Side::Legacy, Side::Modern];
    let reaches = [Reach::InProcess, Reach::Child, Reach::Http];
    let cells = sides.into_iter().flat_map(|client| {
        sides
            .into_iter()
            .flat_map(move |upstream| reaches.into_iter().map(move |reach| Cell { client, upstream, reach }))
    });
    cells.collect()
}

/// A gateway in front of one upstream named `up`. Everything ends when it is dropped.
pub(crate) struct Bench {
    pub(crate) gateway: Gateway,
    pub(crate) host: Host,
    client: Side,
    _tasks: JoinSet<()>,
}

impl Cell {
    /// Opens a gateway with default options.
    pub(crate) async fn open(self) -> Bench {
        self.open_with(GatewayOptions::default()).await
    }

    pub(crate) async fn open_with(self, options: GatewayOptions) -> Bench {
        self.open_server((options, |spec| spec), upstream::build, "").await
    }

    /// Opens a gateway with these settings of the server.
    pub(crate) async fn open_with_spec(self, settings: impl FnOnce(ServerSpec) -> ServerSpec) -> Bench {
        self.open_server((GatewayOptions::default(), settings), upstream::build, "").await
    }

    /// Opens a gateway in front of a server whose tools run as tasks.
    pub(crate) async fn open_tasks(self, options: GatewayOptions) -> Bench {
        self.open_server((options, |spec| spec), task_upstream::build, "tasks-").await
    }

    async fn open_server(
        self,
        (options, settings): (GatewayOptions, impl FnOnce(ServerSpec) -> ServerSpec),
        build: fn(RevisionPolicy) -> Arc<Server>,
        part: &str,
    ) -> Bench {
        let mut tasks = JoinSet::new();
        let spec: ServerSpec = match self.reach {
            Reach::InProcess => InProcess::new(&build(self.upstream.revisions())).into(),
            Reach::Http => {
                let url = serve_http(&build(self.upstream.revisions()), &mut tasks).await;
                Http::new(url).into()
            }
            Reach::Child => {
                let side = if self.upstream == Side::Legacy { "legacy" } else { "modern" };
                let program = std::env::current_exe().unwrap();
                Stdio::new(program).env(upstream::PART, format!("{part}{side}")).into()
            }
        };
        let host = Gateway::host_builder().build();
        // All share one session, which the host can ask for its counts.
        let spec = spec.startup_timeout(STEP_TIMEOUT).share(SharePolicy::Always);
        host.connect("up", settings(spec)).await.unwrap();
        let gateway = Gateway::new(host.clone(), options);
        Bench { gateway, host, client: self.client, _tasks: tasks }
    }
}

/// Serves over HTTP on loopback and returns the URL.
pub(crate) async fn serve_http(server: &Arc<Server>, tasks: &mut JoinSet<()>) -> String {
    let listener = HttpListener::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let url = format!("http://{}/mcp", listener.address().unwrap());
    tasks.spawn(listener.serve(HttpService::new(server, HttpServerOptions::default())));
    url
}

impl Bench {
    /// Connects a client with this user.
    pub(crate) async fn client(&self, person: &Arc<Person>) -> ClientSession {
        self.client_with(Arc::clone(person), person.name).await
    }

    pub(crate) async fn client_with(&self, handler: impl ClientHandler, name: &str) -> ClientSession {
        let root = Root::new(format!("file:///home/{name}"));
        Client::new()
            .with_revisions(self.client.revisions())
            .with_answers(handler)
            .with_roots([root])
            .connect(InProcess::new(self.gateway.server()))
            .await
            .unwrap()
    }

    /// Asks the upstream itself what happened to it.
    pub(crate) async fn counts(&self) -> Counts {
        let text = self.host.call_tool("up", "counts", json!({})).await.unwrap().text();
        text_to_counts(&text)
    }

    /// Waits until something has happened to the upstream so many times.
    pub(crate) async fn counted(&self, what: &str, times: i64) {
        for _ in 0..10_000 {
            if self.counts().await.get(what).copied().unwrap_or_default() == times {
                return;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        panic!("{what}: {:?}, not {times}", self.counts().await);
    }

    /// Drops the gateway; the host and its upstream stay.
    pub(crate) fn without_gateway(mut self) -> Self {
        self.gateway = Gateway::new(self.host.clone(), GatewayOptions::default());
        self
    }

    pub(crate) async fn close(self) {
        self.host.close().await;
    }
}

fn text_to_counts(text: &str) -> Counts {
    switchboard::protocol::Raw::parse(text.to_owned()).unwrap().decode().unwrap()
}
