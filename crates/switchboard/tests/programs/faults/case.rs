//! Faults that are only bytes: what the tool `fault` writes, what its caller gets, what is counted. Data and one run.
//!
//! Every case runs against a real process with another call under way, which must come back unharmed, and one more
//! made afterwards. Counters that a case does not name must not move.

mod bytes;
mod ids;

use std::time::{Duration, Instant};

use switchboard::client::SessionState;
use switchboard::protocol::CallToolResult;
use switchboard::protocol::DecodeKind;
use switchboard::protocol::jsonrpc::{MessageErrorKind, SyntaxErrorKind};
use switchboard::transport::LinkError;
use switchboard::transport::link::{Counts, PeerHint};
use switchboard::{CallError, json};
use switchboard_testkit::{STEP_TIMEOUT, Trial};

use crate::faults::sessions::{Watched, close_politely, echo, faultd, legacy, real};

/// What the caller of `fault` gets.
pub(crate) type Outcome = Result<CallToolResult, CallError>;

/// One fault.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// Written before anything else.
    pub(crate) hello: &'static [u8],
    /// Written by the tool `fault`.
    pub(crate) say: Say,
    /// What its caller must get.
    pub(crate) want: fn(&Outcome) -> bool,
    /// What must have been counted when it is over.
    pub(crate) counts: fn(&mut Counts),
    /// The revision the server insists on.
    pub(crate) revision: Option<&'static str>,
    /// The longest line taken, where it is not the usual one.
    pub(crate) line_limit: Option<usize>,
    /// Whether another call is under way meanwhile.
    pub(crate) company: bool,
    /// How long the call may take: short where nothing can answer it.
    pub(crate) within: Duration,
}

/// What is written.
pub(crate) enum Say {
    /// A template, in one write.
    Text(&'static str),
    /// Bytes made from the id and the nonce, in one write.
    Bytes(fn(id: &str, nonce: &str) -> Vec<u8>),
    /// A template, one byte at a time.
    Dribble(&'static str),
}

const fn case(name: &'static str, say: Say, want: fn(&Outcome) -> bool, counts: fn(&mut Counts)) -> Case {
    Case {
        name,
        hello: b"",
        say,
        want,
        counts,
        revision: None,
        line_limit: None,
        company: true,
        within: STEP_TIMEOUT,
    }
}

/// How long a call waits that nothing can answer.
const SHORT: Duration = Duration::from_secs(2);

pub(crate) fn find(name: &str) -> Option<&'static Case> {
    all().find(|case| case.name == name)
}

fn all() -> impl Iterator<Item = &'static Case> {
    bytes::CASES.iter().chain(ids::CASES)
}

pub(crate) fn trials() -> Vec<Trial> {
    all().map(|case| real(case.name, move || run(case))).collect()
}

/// Runs every case once, for a look at what they leave behind.
pub(crate) async fn run_all() {
    for case in all() {
        run(case).await;
    }
}

async fn run(case: &'static Case) {
    let mut command = faultd(case.name);
    if let Some(limit) = case.line_limit {
        command = command.line_limit(limit);
    }
    let watched = Watched::new(command);
    let session = legacy().connect(watched.clone()).await.expect("the handshake is honest");
    let start = Instant::now();
    let held = async {
        if case.company {
            let held = session.call_tool("hold", json!({ "nonce": "held" })).await.expect("unharmed");
            assert_eq!(held.text(), "held");
        }
    };
    let fault = async { session.call_tool("fault", json!({ "nonce": "n-7" })).timeout(case.within).await };
    let ((), outcome) = tokio::join!(held, fault);
    assert!((case.want)(&outcome), "{}: {outcome:?}", case.name);
    assert!(start.elapsed() < case.within + STEP_TIMEOUT, "{:?}", start.elapsed());
    echo(&session, "afterwards").await.expect("the connection stays");

    let mut counts = Counts::default();
    (case.counts)(&mut counts);
    assert_eq!(session.counts(), counts, "{}", case.name);
    assert_eq!(watched.pending(), 0, "an entry is left");
    assert!(matches!(session.state(), SessionState::Ready), "{:?}", session.state());
    close_politely(&session).await;
}

fn nothing(_: &mut Counts) {}

fn ok(outcome: &Outcome) -> bool {
    matches!(outcome, Ok(result) if result.text() == "n-7")
}

fn malformed(outcome: &Outcome, is: fn(MessageErrorKind) -> bool) -> bool {
    matches!(outcome, Err(CallError::Link(LinkError::Malformed(why))) if is(why.error.kind()))
}

fn unexpected(outcome: &Outcome) -> bool {
    malformed(outcome, |kind| matches!(kind, MessageErrorKind::Syntax(SyntaxErrorKind::Unexpected(_))))
}

fn no_shape(outcome: &Outcome) -> bool {
    malformed(outcome, |kind| kind == MessageErrorKind::NoShape)
}

fn too_deep(outcome: &Outcome) -> bool {
    malformed(outcome, |kind| kind == MessageErrorKind::Syntax(SyntaxErrorKind::TooDeep))
}

fn hinted(outcome: &Outcome, expected: PeerHint) -> bool {
    matches!(outcome, Err(CallError::TimedOut { hint: Some(hint), .. }) if *hint == expected)
}

fn too_many_nodes(outcome: &Outcome) -> bool {
    matches!(outcome, Err(CallError::Protocol { error, .. }) if matches!(error.kind(), DecodeKind::TooManyNodes { .. }))
}

fn too_many_nodes_as_data(outcome: &Outcome) -> bool {
    let typed = outcome.as_ref().ok().map(CallToolResult::structured::<serde_json::Value>);
    matches!(typed, Some(Err(error)) if matches!(error.kind(), DecodeKind::TooManyNodes { .. }))
}

fn structured(outcome: &Outcome, text: &str) -> bool {
    let content = outcome.as_ref().ok().and_then(|result| result.structured_content.as_ref());
    content.is_some_and(|content| content.as_str() == text)
}
