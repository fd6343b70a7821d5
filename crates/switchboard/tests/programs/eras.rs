//! The era matrix: who meets whom in which revision, or learns in a typed error why not.
//!
//! Our client and our server, each legacy, modern or dual, over every binding that connects the two. What a ladder
//! does with servers that are not ours is told by the talks in `testdata/talks/eras`. The program is its own child.

use std::process::ExitCode;
use std::sync::Arc;

use switchboard::client::{ClientSession, RevisionPolicy, SessionState};
use switchboard::protocol::surface::TASKS_EXTENSION;
use switchboard::protocol::{CallToolResult, Content, Implementation, Revision, RpcError};
use switchboard::server::{Handler, HandlerOutcome, RequestContext, ServerRequest};
use switchboard::transport::link::{SingleLink, pair};
use switchboard::transport::{ConnectionLimits, MuxLink};
use switchboard::{CallError, Client, InProcess, Server, Stdio, json};
use switchboard_testkit::{Failed, Trial, block_on};

/// Names what the child serves.
const SERVE: &str = "SWITCHBOARD_ERAS_SERVE";

const R1: Revision = Revision::V2024_11_05;
const R2: Revision = Revision::V2025_03_26;
const R3: Revision = Revision::V2025_06_18;
const R4: Revision = Revision::V2025_11_25;
const R5: Revision = Revision::V2026_07_28;

const LEGACY: &[Revision] = &[R4, R3, R2, R1];
const MODERN: &[Revision] = &[R5];

/// How a meeting ends: in a revision, or with what each side speaks.
#[derive(Debug, Clone, Copy)]
enum Ends {
    In(Revision),
    Apart { ours: &'static [Revision], theirs: &'static [Revision] },
}

/// The client, the server, and how they meet: spec 2026-07-28, basic/versioning.
const MATRIX: [(&str, &str, Ends); 9] = [
    ("legacy", "legacy", Ends::In(R4)),
    ("legacy", "modern", Ends::Apart { ours: LEGACY, theirs: MODERN }),
    ("legacy", "dual", Ends::In(R4)),
    ("modern", "legacy", Ends::Apart { ours: MODERN, theirs: LEGACY }),
    ("modern", "modern", Ends::In(R5)),
    ("modern", "dual", Ends::In(R5)),
    ("dual", "legacy", Ends::In(R4)),
    ("dual", "modern", Ends::In(R5)),
    ("dual", "dual", Ends::In(R5)),
];

/// What connects the two sides.
#[derive(Debug, Clone, Copy)]
enum Binding {
    Memory,
    InProcess,
    Stdio,
}

/// Serves what a variable names, if it is set.
pub(crate) fn work_as_child() -> Option<ExitCode> {
    std::env::var(SERVE).ok().map(|offered| serve(&offered))
}

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for binding in [Binding::Memory, Binding::InProcess, Binding::Stdio] {
        for (ours, theirs, ends) in MATRIX {
            let name = format!("a_{ours}_client_meets_a_{theirs}_server [{binding:?}]");
            trials.push(trial(name, async move || meet(binding, ours, theirs, ends).await));
        }
        let name = format!("pinned_sides_meet_in_their_revision_or_not_at_all [{binding:?}]");
        trials.push(trial(name, async move || meet_pinned(binding).await));
    }
    trials
}

fn trial<F>(name: String, test: impl FnOnce() -> F + Send + 'static) -> Trial
where
    F: Future<Output = Result<(), String>>,
{
    Trial::test(name, move || block_on(test()).map_err(Failed::from))
}

/// Each of the five pinned revisions against each of the five, and against a server that speaks them all.
async fn meet_pinned(binding: Binding) -> Result<(), String> {
    for ours in Revision::ALL {
        meet(binding, ours.as_str(), "dual", Ends::In(ours)).await?;
        for theirs in Revision::ALL {
            let ends = if ours == theirs {
                Ends::In(ours)
            } else {
                Ends::Apart { ours: one(ours), theirs: one(theirs) }
            };
            meet(binding, ours.as_str(), theirs.as_str(), ends).await?;
        }
    }
    Ok(())
}

/// A revision as a list of one.
fn one(revision: Revision) -> &'static [Revision] {
    match revision {
        Revision::V2024_11_05 => &[R1],
        Revision::V2025_03_26 => &[R2],
        Revision::V2025_06_18 => &[R3],
        Revision::V2025_11_25 => &[R4],
        _ => &[R5],
    }
}

async fn meet(binding: Binding, ours: &str, theirs: &str, ends: Ends) -> Result<(), String> {
    let session = session(binding, &Client::new().with_revisions(offer(ours)), theirs);
    let told = |error: String| format!("{ours} meets {theirs}: {error}");
    match (session.initialize().await, ends) {
        (Ok(()), Ends::In(revision)) => {
            let agreed = session.info().map_err(|error| told(error.to_string()))?.revision;
            if agreed != revision {
                return Err(told(format!("agreed on {agreed} instead of {revision}")));
            }
            let served = served_in(&session).await.map_err(|error| told(error.to_string()))?;
            if served != revision.as_str() {
                return Err(told(format!("agreed on {revision}, and was served in {served}")));
            }
            session.close().await;
            Ok(())
        }
        (
            Err(CallError::NoCommonRevision { ours, theirs, .. }),
            Ends::Apart { ours: expected, theirs: named },
        ) => {
            let named: Vec<_> = named.iter().map(|revision| revision.as_str().to_owned()).collect();
            if ours != expected || theirs != named {
                return Err(told(format!("the error names {ours:?} and {theirs:?}")));
            }
            match session.state() {
                SessionState::Failed(CallError::NoCommonRevision { .. }) => Ok(()),
                other => Err(told(format!("the session is {other:?} after its opening failed"))),
            }
        }
        (Ok(()), Ends::Apart { .. }) => Err(told("they met".to_owned())),
        (Err(error), _) => Err(told(error.to_string())),
    }
}

/// The revision in which the server answers a call.
async fn served_in(session: &ClientSession) -> Result<String, CallError> {
    let result = session.call_tool("revision", json!({})).await?;
    Ok(result.content.first().and_then(Content::as_text).unwrap_or_default().to_owned())
}

fn session(binding: Binding, client: &Client, theirs: &str) -> ClientSession {
    match binding {
        Binding::Memory => {
            let (near, far) = pair();
            let server = server(theirs);
            tokio::spawn(async move { server.serve(far).await });
            client.session(SingleLink::new(MuxLink::start(near, ConnectionLimits::default())))
        }
        Binding::InProcess => client.session(InProcess::new(&server(theirs))),
        Binding::Stdio => {
            let program = std::env::current_exe().expect("a test knows its own program");
            client.session(Stdio::new(program).env(SERVE, theirs))
        }
    }
}

fn offer(name: &str) -> RevisionPolicy {
    match name {
        "legacy" => RevisionPolicy::LegacyOnly,
        "modern" => RevisionPolicy::ModernOnly,
        "dual" => RevisionPolicy::Any,
        revision => RevisionPolicy::Only(revision.parse().expect("the name of a revision")),
    }
}

struct Says;

impl Handler for Says {
    fn handle(&self, request: ServerRequest, cx: RequestContext) -> HandlerOutcome {
        match request {
            ServerRequest::CallTool(_) => {
                HandlerOutcome::now(CallToolResult::new([Content::text(cx.revision().as_str())]))
            }
            other => HandlerOutcome::error(RpcError::method_not_found(other.method())),
        }
    }
}

fn server(offered: &str) -> Arc<Server> {
    let capabilities = json!({ "tools": {}, "extensions": { TASKS_EXTENSION: {} } });
    let capabilities = serde_json::from_value(capabilities).expect("capabilities of the specification");
    Server::builder(Implementation::new("eras", "1.0.0"), capabilities).revisions(offer(offered)).build(Says)
}

fn serve(offered: &str) -> ExitCode {
    match block_on(switchboard::serve_stdio(&server(offered))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
