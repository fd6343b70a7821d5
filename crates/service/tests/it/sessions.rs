//! Sessions with a server in every revision and over every transport.

use std::sync::Arc;

use serde_json::Value;
use switchboard_protocol::{Raw, Revision};
use switchboard_session::link::{LinkError, SingleLink, pair};
use switchboard_session::server::{InProcess, Server};
use switchboard_session::{CallError, Client, ClientSession, ConnectionLimits, MuxLink, RevisionPolicy};
use switchboard_transport::http::client::Http;
use switchboard_transport::http::server::{HttpListener, HttpServerOptions, HttpService};

/// A protocol revision and a transport. Equal if the revisions are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Setup {
    pub(crate) revision: Revision,
    transport: Transport,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Transport {
    /// In process.
    Process,
    /// Over a pipe, as with stdio.
    Pipe,
    Http,
}

impl PartialEq for Setup {
    fn eq(&self, other: &Self) -> bool {
        self.revision == other.revision
    }
}

impl std::fmt::Display for Setup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} over {:?}", self.revision, self.transport)
    }
}

impl Setup {
    pub(crate) const fn new(revision: Revision) -> Self {
        Self { revision, transport: Transport::Process }
    }

    /// Whether the end of the session cancels its requests, even while a caller still waits for them.
    pub(crate) fn ends_with_its_session(self) -> bool {
        self.transport != Transport::Http || self != MODERN
    }

    const fn over(self, transport: Transport) -> Self {
        Self { transport, ..self }
    }
}

pub(crate) const MODERN: Setup = Setup::new(Revision::V2026_07_28);
pub(crate) const NEWEST_LEGACY: Setup = Setup::new(Revision::V2025_11_25);
pub(crate) const OLDER: Setup = Setup::new(Revision::V2025_06_18);
/// Both eras over every transport.
pub(crate) const ERAS: [Setup; 6] = [
    MODERN,
    MODERN.over(Transport::Pipe),
    MODERN.over(Transport::Http),
    NEWEST_LEGACY,
    NEWEST_LEGACY.over(Transport::Pipe),
    NEWEST_LEGACY.over(Transport::Http),
];
/// As [`ERAS`], and the newest revision that reports invalid arguments differently.
pub(crate) const REVISIONS: [Setup; 8] =
    [ERAS[0], ERAS[1], ERAS[2], ERAS[3], ERAS[4], ERAS[5], OLDER, OLDER.over(Transport::Http)];

/// Opens a session in one revision.
pub(crate) async fn session(server: &Arc<Server>, at: Setup) -> ClientSession {
    connect(&Client::new(), server, at).await
}

pub(crate) async fn connect(client: &Client, server: &Arc<Server>, at: Setup) -> ClientSession {
    let client = client.clone().with_revisions(RevisionPolicy::Only(at.revision));
    match at.transport {
        Transport::Process => client.connect(InProcess::new(server)).await.unwrap(),
        Transport::Pipe => {
            let (near, far) = pair();
            let server = Arc::clone(server);
            tokio::spawn(async move { server.serve(far).await });
            client.connect(SingleLink::new(MuxLink::start(near, ConnectionLimits::default()))).await.unwrap()
        }
        Transport::Http => {
            let listener = HttpListener::bind(([127, 0, 0, 1], 0).into()).await.unwrap();
            let address = listener.address().unwrap();
            tokio::spawn(listener.serve(HttpService::new(server, HttpServerOptions::default())));
            client.connect(Http::new(format!("http://{address}/mcp"))).await.unwrap()
        }
    }
}

pub(crate) fn raw(value: Value) -> Raw {
    Raw::from(value)
}

/// Returns the outcome of a tool call in one word: the error code, `failed`, or `fine`.
pub(crate) async fn outcome(session: &ClientSession, tool: &str, args: Value) -> (String, String) {
    match session.call_tool_raw(tool.to_owned(), raw(args)).await {
        Ok(result) if result.is_error => ("failed".to_owned(), result.text()),
        Ok(result) => ("fine".to_owned(), result.text()),
        Err(CallError::Remote(error)) => (error.code.to_string(), error.message),
        // Over HTTP it is a challenge.
        Err(CallError::Link(LinkError::Challenged(challenge))) => {
            (challenge.error.clone().unwrap_or_default(), challenge.scope.clone().unwrap_or_default())
        }
        Err(other) => panic!("{other:?}"),
    }
}

/// Sends any request; returns its result, or the code and message of its error.
pub(crate) async fn ask(
    session: &ClientSession,
    method: &str,
    params: Value,
) -> Result<Value, (i32, String)> {
    match session.request_raw(method, raw(params)).await {
        Ok(result) => Ok(result.decode().unwrap()),
        Err(CallError::Remote(error)) => Err((error.code.0, error.message)),
        Err(other) => panic!("{method}: {other:?}"),
    }
}
