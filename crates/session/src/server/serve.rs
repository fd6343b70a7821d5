//! Serves a pipe: the reading task answers every request, and only a pending answer becomes a task.
//!
//! Both eras share the pipe: each message names its own. The responses to one read are written together.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use parking_lot::Mutex;
use switchboard_protocol::jsonrpc::{
    Envelope, MalformedMessage, Notification, RecoveredMessage, Request, Response, Version,
};
use switchboard_protocol::{CancelledParams, ErrorCode, FromRaw, Raw, RequestId, RpcError};
use tokio::task::{AbortHandle, JoinHandle};

use crate::era::NOTE_RULES;
use crate::link::{
    Counters, Exchange, ExchangeKind, Flush, FramePart, LimitCheck, LinkError, Outbox, Pipe, Tap,
};
use crate::mux::{FrameHandler, Inflight, answer_text, put_answer, put_note, put_request, read};
use crate::request::{Caller, Cancel, Extensions, ReplyChannel};
use crate::server::answer::{AnswerOutcome, Outcome, ResponseFuture};
use crate::server::layer::too_many_requests;
use crate::server::{ConnectionId, Server, ServerSession};

/// How long an answer waits after the last progress of its request. Enough for a reader that waits for
/// input, also on a busy machine: with 2 ms the SDK lost 15 of 20 there, without a pause all of them.
const PROGRESS_PAUSE: Duration = Duration::from_millis(10);

impl Server {
    /// Serves one connection until it ends, and returns why it ended: [`LinkError::Closed`] is the ordinary end.
    ///
    /// # Cancellation
    /// Dropping the future closes the connection and cancels the requests in flight.
    pub async fn serve(self: &Arc<Self>, pipe: Pipe) -> LinkError {
        self.serve_with(pipe, Extensions::new()).await
    }

    /// As [`Self::serve`], with a known caller of all requests.
    pub async fn serve_as(self: &Arc<Self>, pipe: Pipe, caller: Caller) -> LinkError {
        self.serve_with(pipe, Extensions::new().with(caller)).await
    }

    /// As [`Self::serve`], with extensions for all requests of the connection: handlers get them from
    /// [`RequestContext::extension`](crate::server::RequestContext::extension).
    pub async fn serve_with(self: &Arc<Self>, pipe: Pipe, mut extensions: Extensions) -> LinkError {
        extensions.insert(ConnectionId::new());
        let limits = self.limits().connection.clone();
        let Pipe { outlet, inlet, guard, tap } = pipe;
        let outbox = Arc::new(Outbox::new(outlet, limits.outbox_limits(), Tap::outbound(tap.as_ref())));
        let counters = Arc::new(Counters::default());
        let inflight =
            Arc::new(Inflight::new(Arc::clone(&outbox), Arc::clone(&counters), &limits, NOTE_RULES.cancel));
        let session = Arc::new(ServerSession::owned_by(extensions.get()));
        let channel = Arc::new(PipeReplyChannel {
            outbox: Arc::clone(&outbox),
            inflight: Arc::clone(&inflight),
            ids: AtomicI64::new(1),
            counters: Arc::clone(&counters),
            max_waiting: limits.queued_bytes as u64,
            extensions,
        });
        let connection = Arc::new(Connection {
            server: Arc::clone(self),
            session,
            channel,
            running: Mutex::default(),
            idle: tokio::sync::Notify::new(),
        });
        let _subscription = self.subscribe_session(&connection.session, connection.reply_channel());
        let flusher = tokio::spawn(Arc::clone(&outbox).run(limits.write_stall));
        let _stop_flusher = AbortOnDrop(flusher.abort_handle());
        let _cancel_all = CancelAll(Arc::clone(&connection));
        let mut handler = ServerFrameHandler { connection: Arc::clone(&connection) };
        let end = read(inlet, flusher, &inflight, &counters, Duration::ZERO, tap, &mut handler).await;
        // The client sends no more answers: fail the questions in flight, so that handlers can finish.
        inflight.end(&end);
        connection.drain(self.limits().drain).await;
        outbox.close();
        drop(guard);
        end
    }
}

/// Stops a task when it is dropped.
struct AbortOnDrop(AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Cancels everything under way on a connection when it is dropped.
struct CancelAll(Arc<Connection>);

impl Drop for CancelAll {
    fn drop(&mut self) {
        self.0.running.lock().drain().for_each(|(_, running)| running.abort());
        self.0.session.end();
    }
}

/// One connection being served.
struct Connection {
    server: Arc<Server>,
    session: Arc<ServerSession>,
    channel: Arc<PipeReplyChannel>,
    /// Requests being answered.
    running: Mutex<HashMap<RequestId, RunningRequest, foldhash::fast::RandomState>>,
    /// Notified whenever a request is done.
    idle: tokio::sync::Notify,
}

/// The reply channel of a pipe. Does not hold the server: detached work must not keep it alive.
struct PipeReplyChannel {
    outbox: Arc<Outbox>,
    inflight: Arc<Inflight>,
    ids: AtomicI64,
    counters: Arc<Counters>,
    /// While more bytes than this wait to be written, nothing is read and notifications are dropped: a client that does not
    /// read is not served.
    max_waiting: u64,
    extensions: Extensions,
}

enum RunningRequest {
    /// An element of a batch that is being started.
    InBatch,
    /// A task of its own, with its cancellation flag.
    Task(AbortHandle, Arc<Cancel>),
}

impl RunningRequest {
    fn abort(self) {
        if let Self::Task(task, cancel) = self {
            // The flag first, which takes effect at once; the runtime drops the task later.
            cancel.set();
            task.abort();
        }
    }
}

impl Connection {
    fn reply_channel(&self) -> Arc<dyn ReplyChannel> {
        Arc::clone(&self.channel) as Arc<dyn ReplyChannel>
    }

    /// Checks that the id of a request is not in use and that there are not too many requests.
    fn check(&self, id: &RequestId) -> Result<(), RpcError> {
        let running = self.running.lock();
        if running.contains_key(id) {
            return Err(RpcError::invalid_request(format!(
                "a request with the id {id} is under way already"
            )));
        }
        if running.len() >= self.server.limits().requests {
            return Err(too_many_requests());
        }
        Ok(())
    }

    /// Registers a request that is not answered at once.
    fn register(&self, id: &RequestId) {
        self.running.lock().insert(id.clone(), RunningRequest::InBatch);
    }

    /// Removes a request; returns false when it was cancelled meanwhile.
    fn unregister(&self, id: &RequestId) -> bool {
        let was_running = self.running.lock().remove(id).is_some();
        self.idle.notify_waiters();
        was_running
    }

    /// Enqueues a response from the reading task, which flushes all responses of one read together.
    fn respond(&self, id: Option<&RequestId>, outcome: &Outcome) {
        // The client may be gone.
        let _ = put_answer(&self.channel.outbox, id, outcome.as_ref(), Flush::Promised);
    }

    /// Lets the client read the progress of a request separately, before the response is enqueued.
    ///
    /// Clients of the TypeScript SDK handle an answer before the progress that came in the same read, and then drop that
    /// progress (typescript-sdk issue 2580).
    async fn separate_from_progress(&self, request: &Cancel) {
        let pause = PROGRESS_PAUSE.saturating_sub(request.since_progress().unwrap_or(PROGRESS_PAUSE));
        if !pause.is_zero() {
            self.channel.outbox.flush_now();
            tokio::time::sleep(pause).await;
        }
    }

    /// Enqueues a response from a task of its own.
    fn respond_from_task(&self, id: &RequestId, outcome: &Outcome) {
        let _ = put_answer(&self.channel.outbox, Some(id), outcome.as_ref(), Flush::Soon);
    }

    fn cancel(&self, id: &RequestId) {
        let running = self.running.lock().remove(id);
        if let Some(running) = running {
            running.abort();
            self.idle.notify_waiters();
        }
    }

    /// Waits for the requests in flight and for their responses to be written, at most `within` each.
    async fn drain(&self, within: Duration) {
        let finished = async {
            loop {
                let notified = self.idle.notified();
                if self.running.lock().is_empty() {
                    return;
                }
                notified.await;
            }
        };
        let _ = tokio::time::timeout(within, finished).await;
        self.channel.outbox.flush_now();
        let _ = tokio::time::timeout(within, self.channel.outbox.wait_until_at_most(0)).await;
    }
}

impl ReplyChannel for PipeReplyChannel {
    fn note(&self, method: &str, params: Option<&Raw>) {
        if self.outbox.waiting() > self.max_waiting {
            self.counters.dropped_notes();
            return;
        }
        let _ = put_note(&self.outbox, method, params.map(Raw::as_str));
    }

    fn is_behind(&self) -> bool {
        self.outbox.waiting() > self.max_waiting / 2 && !self.outbox.is_closed()
    }

    fn ask(&self, method: &str, params: &Raw) -> Option<Exchange> {
        let id = RequestId::Number(self.ids.fetch_add(1, Ordering::Relaxed));
        Some(Exchange::Piped(self.inflight.open(id, ExchangeKind::Call, |outbox, id, flush| {
            put_request(outbox, id, method, params.as_str(), flush)
        })))
    }

    fn caller(&self) -> Option<&Caller> {
        self.extensions.get()
    }

    fn extension(&self, of: TypeId) -> Option<&(dyn Any + Send + Sync)> {
        self.extensions.find(of)
    }
}

/// Handles the frames of a client.
struct ServerFrameHandler {
    connection: Arc<Connection>,
}

impl FrameHandler for ServerFrameHandler {
    fn request(&mut self, request: Request) {
        let connection = &self.connection;
        let id = request.id.clone();
        if request.version == Version::Other {
            connection.respond(Some(&id), &Err(RpcError::invalid_request("\"jsonrpc\" must be \"2.0\"")));
            return;
        }
        if let Err(error) = connection.check(&id) {
            connection.respond(Some(&id), &Err(error));
            return;
        }
        let channel = connection.reply_channel();
        let class = connection.server.classify(&request);
        match connection.server.answer(&connection.session, request, class, channel) {
            AnswerOutcome::Refused(error) => connection.respond(Some(&id), &Err(error)),
            AnswerOutcome::Now(outcome) => connection.respond(Some(&id), &outcome),
            AnswerOutcome::Later(response) => self.respond_or_spawn(id, response),
        }
    }

    fn note(&mut self, note: Notification) {
        self.connection.server.observe_notification(Some(&self.connection.session), &note);
        match &*note.method {
            "notifications/cancelled" => {
                let params = note.params.and_then(|params| CancelledParams::from_raw(&params).ok());
                if let Some(id) = params.and_then(|params| params.request_id) {
                    self.connection.cancel(&id);
                }
            }
            _ => self.connection.server.handle_notification(Some(&self.connection.session), &note),
        }
    }

    fn batch(&mut self, elements: Vec<Result<Envelope, MalformedMessage>>) -> Vec<Response> {
        let connection = Arc::clone(&self.connection);
        if !connection.session.has_batches() || elements.is_empty() {
            let error = "an array is no message here: few revisions have batches, and none is empty";
            connection.respond(None, &Err(RpcError::invalid_request(error)));
            return Vec::new();
        }
        let mut responses = Vec::new();
        let mut answers = Vec::new();
        for element in elements {
            match element {
                Ok(Envelope::Request(request)) => answers.push(self.start_element(request)),
                Ok(Envelope::Notification(note)) => self.note(note),
                Ok(Envelope::Response(response)) => responses.push(response),
                Err(malformed) if is_response(&malformed.recovered) => self.fail_question(malformed),
                Err(malformed) => {
                    answers.push(BatchElement::Refused(
                        malformed.recovered.id.clone(),
                        malformed_error(&malformed),
                    ));
                }
            }
        }
        if !answers.is_empty() {
            // Ends by itself: everything it waits for is answered, cancelled or ended with the connection.
            tokio::spawn(answer_batch(connection, answers));
        }
        responses
    }

    fn unreadable(&mut self, frame: &[u8], malformed: MalformedMessage) {
        self.connection.server.observe_invalid(Some(&self.connection.session), frame);
        if is_response(&malformed.recovered) {
            self.fail_question(malformed);
        } else {
            self.connection.respond(malformed.recovered.id.as_ref(), &Err(malformed_error(&malformed)));
        }
    }

    fn lost(&mut self, recovered: RecoveredMessage, error: LinkError) {
        match recovered.id {
            Some(id) if is_response(&recovered) => {
                self.connection.channel.inflight.complete(Some(id), Err(error))
            }
            Some(id) => {
                self.connection.respond(Some(&id), &Err(RpcError::invalid_request(error.to_string())))
            }
            // A notification, a stray response or junk: there is no caller to notify.
            None => tracing::warn!(%error, "dropped a message without a readable id"),
        }
    }

    async fn flush(&mut self) {
        self.connection.channel.outbox.flush_now();
        let PipeReplyChannel { outbox, max_waiting, .. } = &*self.connection.channel;
        if outbox.waiting() > *max_waiting {
            outbox.wait_until_at_most(*max_waiting).await;
        }
    }
}

/// Returns whether a damaged message was a response of the client. Its id is then ours and must not be sent in an error
/// response: the client would take it for one of its own.
fn is_response(recovered: &RecoveredMessage) -> bool {
    recovered.has_outcome && !recovered.has_method
}

fn malformed_error(malformed: &MalformedMessage) -> RpcError {
    let code = if malformed.is_json() { ErrorCode::INVALID_REQUEST } else { ErrorCode::PARSE_ERROR };
    RpcError::new(code, malformed.to_string())
}

impl ServerFrameHandler {
    /// Polls the response once in the reading task and sends it if it is ready; otherwise spawns a task that sends it.
    fn respond_or_spawn(&self, id: RequestId, mut response: ResponseFuture) {
        let connection = &self.connection;
        let cancel = response.cancel();
        let mut outcome = None;
        if let Poll::Ready(ready) = Pin::new(&mut response).poll(&mut Context::from_waker(Waker::noop())) {
            if !cancel.has_progressed() {
                connection.respond(Some(&id), &ready);
                return;
            }
            outcome = Some(ready);
        }
        let (owner, key, request) = (Arc::clone(connection), id.clone(), Arc::clone(&cancel));
        // Held until the handle is in the table, so that the task cannot be removed before it was inserted.
        let mut running = connection.running.lock();
        let task = tokio::spawn(async move {
            let outcome = match outcome {
                Some(outcome) => outcome,
                None => response.await,
            };
            if request.has_progressed() {
                owner.separate_from_progress(&request).await;
            }
            if owner.unregister(&key) {
                owner.respond_from_task(&key, &outcome);
            }
        });
        running.insert(id, RunningRequest::Task(task.abort_handle(), cancel));
    }

    /// Fails the question whose response cannot be parsed.
    fn fail_question(&self, malformed: MalformedMessage) {
        match malformed.recovered.id.clone() {
            Some(id) => {
                self.connection.channel.inflight.complete(Some(id), Err(LinkError::Malformed(malformed)))
            }
            None => _ = self.connection.channel.counters.late_or_unknown(),
        }
    }

    /// Starts to answer one element of a batch.
    fn start_element(&self, request: Request) -> BatchElement {
        let connection = &self.connection;
        let id = request.id.clone();
        let reject = |error| BatchElement::Refused(Some(id.clone()), error);
        if request.version == Version::Other {
            return reject(RpcError::invalid_request("\"jsonrpc\" must be \"2.0\""));
        }
        if &*request.method == "initialize" {
            return reject(RpcError::invalid_request("initialize cannot be part of a batch"));
        }
        let class = connection.server.classify(&request);
        if class.self_contained_version().is_some() {
            return reject(RpcError::invalid_request("a request of this revision cannot be part of a batch"));
        }
        if let Err(error) = connection.check(&id) {
            return reject(error);
        }
        connection.register(&id);
        let channel = connection.reply_channel();
        match connection.server.answer(&connection.session, request, class, channel) {
            AnswerOutcome::Refused(error) => BatchElement::Answered(id, Err(error)),
            AnswerOutcome::Now(outcome) => BatchElement::Answered(id, outcome),
            AnswerOutcome::Later(response) => {
                // Held until the handle is in the table, as for a request on its own.
                let mut running = connection.running.lock();
                let cancel = response.cancel();
                let task = tokio::spawn(response);
                running.insert(id.clone(), RunningRequest::Task(task.abort_handle(), cancel));
                drop(running);
                BatchElement::Running(id, task)
            }
        }
    }
}

/// One element of a batch being answered.
enum BatchElement {
    /// Rejected, never registered.
    Refused(Option<RequestId>, RpcError),
    /// Registered, and answered.
    Answered(RequestId, Outcome),
    /// Registered, and being answered.
    Running(RequestId, JoinHandle<Outcome>),
}

/// Answers a batch with one array, when all its elements are answered. Cancelled elements are left out.
async fn answer_batch(connection: Arc<Connection>, elements: Vec<BatchElement>) {
    let mut answers = Vec::new();
    let mut registered = Vec::new();
    for element in elements {
        let (id, outcome) = match element {
            BatchElement::Refused(id, error) => (id, Err(error)),
            BatchElement::Answered(id, outcome) => {
                registered.push(id.clone());
                (Some(id), outcome)
            }
            BatchElement::Running(id, task) => {
                let Ok(outcome) = task.await else { continue };
                registered.push(id.clone());
                (Some(id), outcome)
            }
        };
        answers.push(answer_text(id.as_ref(), outcome.as_ref()));
    }
    if !answers.is_empty() {
        let _ = {
            let answers = answers.join(&b',');
            let parts = [FramePart::Text(b"["), FramePart::Text(&answers), FramePart::Text(b"]")];
            connection.channel.outbox.put(&parts, LimitCheck::Exempt, Flush::Soon)
        };
    }
    // Only now: after the last request is done, its response must be enqueued.
    for id in &registered {
        connection.unregister(id);
    }
}
