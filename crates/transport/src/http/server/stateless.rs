//! Stateless requests of the modern era: no session. Closing the connection cancels the request.

use std::any::{Any, TypeId};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use http::StatusCode;
use switchboard_protocol::jsonrpc::Request;
use switchboard_protocol::{ErrorCode, Raw, RequestId, RpcError};
use switchboard_session::link::Exchange;
use switchboard_session::server::{
    AnswerOutcome, Caller, MessageClass, Outcome, ReplyChannel, ResponseFuture,
};
use tokio::sync::Notify;

use crate::http::message::{note_text, response_text};
use crate::http::server::authenticate::ChallengeContext;
use crate::http::server::budget::Budget;
use crate::http::server::event_queue::{Delivery, EventQueue};
use crate::http::server::mirror::check_mirror;
use crate::http::server::pending_request::{PendingRequest, RequestMetadata};
use crate::http::server::reply::{self, Reply, encode_message_event, status_of};
use crate::http::server::service::Inner;
use crate::http::server::{Accept, ReplyBody};

/// Answers one request, with the checks in the order of the specification: envelope, headers, then the method.
pub(crate) async fn answer(
    inner: &Arc<Inner>,
    pending: &mut PendingRequest,
    accept: Accept,
    request: Request,
    class: MessageClass,
) -> Reply {
    let id = request.id.clone();
    let reject = |error: RpcError| reply::rpc_error(Some(&id), StatusCode::BAD_REQUEST, error);
    let version = match class.self_contained_version() {
        Some(Ok(version)) => version,
        Some(Err(error)) => return reject(error.clone()),
        None => return reject(RpcError::invalid_params("params._meta must name the protocol version")),
    };
    let schema = |tool: &str| inner.server.input_schema(tool, pending.caller.as_deref());
    if let Err(error) = check_mirror(pending.headers(), version, &request, schema) {
        return reject(error);
    }
    let listens = &*request.method == "subscriptions/listen" || inner.server.is_long_lived(&request.method);
    if listens && !accept.events {
        return reply::needs_stream();
    }
    let permit = match listens.then(|| inner.admit_stream(pending)).transpose() {
        Ok(permit) => permit,
        Err(reject) => return reply::rejected(reject),
    };
    let streams = accept.names_events || accept.only_events() || (accept.events && listens);
    let wants_stream = inner.streams_at_once(accept, &request.method);
    let reply_channel = Arc::new(StatelessReplyChannel {
        statuses: ErrorStatuses::for_client(&inner.options().ok_status_clients, &class),
        queue: OnceLock::new(),
        stream_bytes: inner.options().stream_bytes,
        budget: Arc::clone(&inner.stream_budget),
        allowed: streams,
        upgraded: AtomicBool::new(wants_stream),
        upgrade_notify: Notify::new(),
        http_request: pending.take_metadata(inner.options()),
    });
    let context = inner.options().challenge_context();
    let statuses = reply_channel.statuses;
    match inner.server.answer(
        &inner.no_session,
        request,
        class,
        Arc::clone(&reply_channel) as Arc<dyn ReplyChannel>,
    ) {
        AnswerOutcome::Refused(error) => {
            let status = statuses.of_refusal(error.code);
            let outcome = Err(error);
            reply::with_challenge(reply::answer(accept, status, &id, &outcome), &outcome, context)
        }
        AnswerOutcome::Now(outcome) => reply_channel.finish(context, accept, &id, &outcome),
        AnswerOutcome::Later(mut response) => {
            tokio::select! {
                biased;
                outcome = &mut response, if !wants_stream => reply_channel.finish(context, accept, &id, &outcome),
                // A long-lived request is a stream from the start, unless it is rejected at once.
                () = async { if !listens { reply_channel.upgraded().await } } => {
                    let queue = reply_channel.queue();
                    let maintenance = StreamMaintenance { keep_alive: inner.options().keep_alive, stall: inner.options().write_stall };
                    tokio::spawn(stream_reply(response, id, Arc::clone(&queue), maintenance));
                    reply::stream_response(ReplyBody::events(queue).with_permit(permit))
                }
            }
        }
    }
}

/// The HTTP statuses of errors for one client.
#[derive(Debug, Clone, Copy)]
enum ErrorStatuses {
    /// Those of the specification.
    Specified,
    /// 200 for errors that are about the request alone.
    Ok,
}

impl ErrorStatuses {
    fn for_client(ok_status_clients: &[String], class: &MessageClass) -> Self {
        // Few servers have such clients: the name is not read without them.
        let is_listed = !ok_status_clients.is_empty()
            && class.client_info().is_some_and(|client| ok_status_clients.contains(&client.name));
        if is_listed { Self::Ok } else { Self::Specified }
    }

    fn of(self, code: ErrorCode) -> StatusCode {
        let is_of_request = matches!(
            code,
            ErrorCode::MISSING_CLIENT_CAPABILITY | ErrorCode::METHOD_NOT_FOUND | ErrorCode::INVALID_REQUEST
        );
        match self {
            Self::Ok if is_of_request => StatusCode::OK,
            Self::Ok | Self::Specified => status_of(code),
        }
    }

    /// Returns the status of an error with which a request is refused before its handler.
    fn of_refusal(self, code: ErrorCode) -> StatusCode {
        match (status_of(code), self.of(code)) {
            (StatusCode::OK, _) => StatusCode::BAD_REQUEST,
            (_, status) => status,
        }
    }
}

/// Intervals of keep-alive comments and of stall detection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StreamMaintenance {
    pub(crate) keep_alive: Duration,
    pub(crate) stall: Duration,
}

/// Drives a request whose response has become a stream, until it is answered or the client disconnects.
async fn stream_reply(
    mut response: ResponseFuture,
    id: RequestId,
    queue: Arc<EventQueue>,
    maintenance: StreamMaintenance,
) {
    let mut tick =
        tokio::time::interval(maintenance.keep_alive.min(maintenance.stall) / 4 + Duration::from_millis(1));
    loop {
        tokio::select! {
            biased;
            outcome = &mut response => {
                queue.push(encode_message_event(&response_text(Some(&id), outcome.as_ref())), Delivery::Required);
                queue.end();
                return;
            }
            // Dropping the request here cancels it.
            () = std::future::poll_fn(|cx| queue.poll_abandoned(cx)) => return,
            _ = tick.tick() => queue.maintain(maintenance.keep_alive, maintenance.stall),
        }
    }
}

/// The reply channel of a stateless request. The first notification turns the response into a stream.
struct StatelessReplyChannel {
    statuses: ErrorStatuses,
    /// Created with the first notification: most requests send none.
    queue: OnceLock<Arc<EventQueue>>,
    stream_bytes: usize,
    budget: Arc<Budget>,
    allowed: bool,
    upgraded: AtomicBool,
    upgrade_notify: Notify,
    http_request: RequestMetadata,
}

impl StatelessReplyChannel {
    fn queue(&self) -> Arc<EventQueue> {
        Arc::clone(self.queue.get_or_init(|| {
            let client = self.http_request.client_id();
            EventQueue::new(self.stream_bytes, &self.budget, client.as_ref())
        }))
    }

    /// Returns the reply: a stream if notifications precede the response, otherwise one document.
    fn finish(
        &self,
        context: ChallengeContext<'_>,
        accept: Accept,
        id: &RequestId,
        outcome: &Outcome,
    ) -> Reply {
        if !self.upgraded.load(Ordering::Acquire) {
            let status =
                outcome.as_ref().map_or_else(|error| self.statuses.of(error.code), |_| StatusCode::OK);
            return reply::with_challenge(reply::answer(accept, status, id, outcome), outcome, context);
        }
        let queue = self.queue();
        queue.push(encode_message_event(&response_text(Some(id), outcome.as_ref())), Delivery::Required);
        queue.end();
        reply::stream_response(ReplyBody::events(queue))
    }

    async fn upgraded(&self) {
        loop {
            let upgrade_notify = self.upgrade_notify.notified();
            if self.upgraded.load(Ordering::Acquire) {
                return;
            }
            upgrade_notify.await;
        }
    }
}

impl ReplyChannel for StatelessReplyChannel {
    fn note(&self, method: &str, params: Option<&Raw>) {
        // Over HTTP the end of the stream tells the client; the notification is for pipes.
        if !self.allowed || method == "notifications/cancelled" {
            return;
        }
        let delivery = match method {
            "notifications/progress" | "notifications/message" => Delivery::Droppable,
            _ => Delivery::Required,
        };
        self.queue().push(encode_message_event(&note_text(method, params.map(Raw::as_str))), delivery);
        self.upgraded.store(true, Ordering::Release);
        self.upgrade_notify.notify_waiters();
    }

    fn is_behind(&self) -> bool {
        self.queue.get().is_some_and(|queue| queue.is_behind())
    }

    fn ask(&self, _method: &str, _params: &Raw) -> Option<Exchange> {
        None
    }

    fn caller(&self) -> Option<&Caller> {
        self.http_request.caller.as_deref()
    }

    fn extension(&self, of: TypeId) -> Option<&(dyn Any + Send + Sync)> {
        self.http_request.extension(of)
    }
}
