//! Links to shell scripts, and requests over them.

use std::future::poll_fn;
use std::sync::Arc;

use switchboard_session::link::{ExchangeKind, Frame, Inlet, Link, LinkError, Mirror, OutgoingRequest};
use switchboard_session::{ConnectionLimits, MuxLink};
use switchboard_transport::stdio::{ChildHandle, Stdio, Supervision, spawn};

pub(crate) fn sh(script: impl Into<String>) -> Stdio {
    Stdio::new("sh").args(["-c".to_owned(), script.into()])
}

/// The script looked after by the group only.
pub(crate) fn group(script: impl Into<String>) -> Stdio {
    sh(script).supervision(Supervision::GroupOnly)
}

pub(crate) fn link(command: &Stdio) -> (Arc<MuxLink>, ChildHandle) {
    let (pipe, child) = spawn(command).expect("the command starts");
    (MuxLink::start(pipe, ConnectionLimits::default()), child)
}

/// Asks and waits for the answer.
pub(crate) async fn ask(link: &MuxLink, id: i64) -> Result<String, LinkError> {
    let mut exchange = link.open(OutgoingRequest {
        id: id.into(),
        method: "ping",
        params: "{}",
        mirror: Mirror::default(),
        kind: ExchangeKind::Call,
        call: None,
    });
    exchange.done().await.map(|answer| format!("{answer:?}"))
}

/// How the link ends, and when.
pub(crate) async fn end_of(link: &MuxLink) -> LinkError {
    ask(link, 9_999).await.expect_err("nobody answers this")
}

pub(crate) async fn next_frames(inlet: &mut impl Inlet) -> (Vec<Frame>, Result<(), LinkError>) {
    let mut frames = Vec::new();
    let end = poll_fn(|cx| inlet.poll_frames(cx, &mut frames)).await;
    (frames, end)
}
