//! Requests that stand alone: no session, no table. The client hanging up is the cancellation.

use std::any::{Any, TypeId};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use http::StatusCode;
use switchboard_protocol::jsonrpc::Request;
use switchboard_protocol::{Raw, RequestId, RpcError};
use switchboard_session::link::Exchange;
use switchboard_session::server::{Answered, Answering, Caller, MessageClass, Outcome, ReplyChannel};
use tokio::sync::Notify;

use crate::http::message::{note_text, response_text};
use crate::http::server::accept::Accept;
use crate::http::server::body::ReplyBody;
use crate::http::server::budget::Budget;
use crate::http::server::door::Inner;
use crate::http::server::mirror::check_mirror;
use crate::http::server::reply::{self, Reply, event, status_of};
use crate::http::server::stream::{Feed, Weight};
use crate::http::server::visitor::{Known, Visitor};

/// Answers one request, in the order of the specification: its envelope, its headers, then what it asks.
pub(crate) async fn answer(
    inner: &Arc<Inner>,
    visitor: &mut Visitor,
    accept: Accept,
    request: Request,
    says: MessageClass,
) -> Reply {
    let id = request.id.clone();
    let refused = |error: RpcError| reply::refusal(Some(&id), StatusCode::BAD_REQUEST, error);
    let version = match says.alone() {
        Some(Ok(version)) => version,
        Some(Err(error)) => return refused(error.clone()),
        None => return refused(RpcError::invalid_params("params._meta must name the protocol version")),
    };
    let schema = |tool: &str| inner.server.input_schema(tool);
    if let Err(error) = check_mirror(visitor.headers(), version, &request, schema) {
        return refused(error);
    }
    let listens = &*request.method == "subscriptions/listen" || inner.server.is_long_lived(&request.method);
    if listens && !accept.events {
        return reply::needs_stream();
    }
    let permit = match listens.then(|| inner.admit_stream(visitor)).transpose() {
        Ok(permit) => permit,
        Err(refused) => return reply::turned(refused),
    };
    let streams = accept.names_events || accept.only_events() || (accept.events && listens);
    let wants_stream = inner.streams_at_once(accept, &request.method);
    let back = Arc::new(Upgrade {
        feed: OnceLock::new(),
        stream_bytes: inner.options.stream_bytes,
        budget: Arc::clone(&inner.stream_budget),
        allowed: streams,
        upgraded: AtomicBool::new(wants_stream),
        told: Notify::new(),
        known: visitor.take(&inner.options),
    });
    let metadata = inner.options.resource_metadata.as_deref();
    match inner.server.answer(&inner.no_session, request, says, Arc::clone(&back) as Arc<dyn ReplyChannel>) {
        Answered::Refused(error) => {
            let status = match status_of(error.code) {
                StatusCode::OK => StatusCode::BAD_REQUEST,
                status => status,
            };
            let outcome = Err(error);
            reply::challenged(reply::answer(accept, status, &id, &outcome), &outcome, metadata)
        }
        Answered::Now(outcome) => back.finish(metadata, accept, &id, &outcome),
        Answered::Later(mut answering) => {
            tokio::select! {
                biased;
                outcome = &mut answering, if !wants_stream => back.finish(metadata, accept, &id, &outcome),
                // What is answered only at its end is a stream from the start, unless it is refused at once.
                () = async { if !listens { back.upgraded().await } } => {
                    let feed = back.feed();
                    let tending = Tending { keep_alive: inner.options.keep_alive, stall: inner.options.write_stall };
                    tokio::spawn(go_on(answering, id, Arc::clone(&feed), tending));
                    reply::stream(ReplyBody::events(feed).with_permit(permit))
                }
            }
        }
    }
}

fn whole(metadata: Option<&str>, accept: Accept, id: &RequestId, outcome: &Outcome) -> Reply {
    let status = outcome.as_ref().map_or_else(|error| status_of(error.code), |_| StatusCode::OK);
    reply::challenged(reply::answer(accept, status, id, outcome), outcome, metadata)
}

/// How an event stream is looked after.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tending {
    pub(crate) keep_alive: Duration,
    pub(crate) stall: Duration,
}

/// Goes on with a request whose answer has become a stream, until it is answered or the client hangs up.
async fn go_on(mut answering: Answering, id: RequestId, feed: Arc<Feed>, tending: Tending) {
    let mut tick =
        tokio::time::interval(tending.keep_alive.min(tending.stall) / 4 + Duration::from_millis(1));
    loop {
        tokio::select! {
            biased;
            outcome = &mut answering => {
                feed.push(event(None, &response_text(Some(&id), outcome.as_ref())), Weight::Must);
                feed.end();
                return;
            }
            // Dropping the request here cancels it.
            () = std::future::poll_fn(|cx| feed.poll_left(cx)) => return,
            _ = tick.tick() => feed.tend(tending.keep_alive, tending.stall),
        }
    }
}

/// The way back of a request that stands alone: its first word turns the answer into a stream.
struct Upgrade {
    /// Made for the first word: most requests say none.
    feed: OnceLock<Arc<Feed>>,
    stream_bytes: usize,
    budget: Arc<Budget>,
    allowed: bool,
    upgraded: AtomicBool,
    told: Notify,
    known: Known,
}

impl Upgrade {
    fn feed(&self) -> Arc<Feed> {
        Arc::clone(self.feed.get_or_init(|| {
            let client = self.known.client();
            Feed::new(self.stream_bytes, &self.budget, client.as_ref())
        }))
    }

    /// The whole answer: as a stream when something was said before it, so that it is not lost.
    fn finish(&self, metadata: Option<&str>, accept: Accept, id: &RequestId, outcome: &Outcome) -> Reply {
        if !self.upgraded.load(Ordering::Acquire) {
            return whole(metadata, accept, id, outcome);
        }
        let feed = self.feed();
        feed.push(event(None, &response_text(Some(id), outcome.as_ref())), Weight::Must);
        feed.end();
        reply::stream(ReplyBody::events(feed))
    }

    async fn upgraded(&self) {
        loop {
            let told = self.told.notified();
            if self.upgraded.load(Ordering::Acquire) {
                return;
            }
            told.await;
        }
    }
}

impl ReplyChannel for Upgrade {
    fn note(&self, method: &str, params: Option<&Raw>) {
        // Over HTTP a stream ends with its answer; the other way to end is for pipes.
        if !self.allowed || method == "notifications/cancelled" {
            return;
        }
        let weight = match method {
            "notifications/progress" | "notifications/message" => Weight::Note,
            _ => Weight::Must,
        };
        self.feed().push(event(None, &note_text(method, params.map(Raw::as_str))), weight);
        self.upgraded.store(true, Ordering::Release);
        self.told.notify_waiters();
    }

    fn is_behind(&self) -> bool {
        self.feed.get().is_some_and(|feed| feed.is_behind())
    }

    fn ask(&self, _method: &str, _params: &Raw) -> Option<Exchange> {
        None
    }

    fn caller(&self) -> Option<&Caller> {
        self.known.caller.as_ref()
    }

    fn extension(&self, of: TypeId) -> Option<&(dyn Any + Send + Sync)> {
        self.known.extension(of)
    }
}
