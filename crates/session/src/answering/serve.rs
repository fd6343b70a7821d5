//! Serving a pipe: every request is answered where it was read, and only one that waits becomes a task.
//!
//! Both eras share the pipe: each message says which one it belongs to. The answers of one read leave in one write.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use parking_lot::Mutex;
use switchboard_protocol::jsonrpc::{Envelope, Malformed, Notification, Request, Response, Salvaged, Version};
use switchboard_protocol::{CancelledParams, ErrorCode, Raw, RequestId, ResourceUpdated, RpcError};
use tokio::task::{AbortHandle, JoinHandle};

use crate::answering::answer::{Answered, Answering, Outcome, answer};
use crate::answering::cx::Cancel;
use crate::answering::publish::{Hears, News};
use crate::answering::{Back, Server};
use crate::era::serving::{PipeSession, tells};
use crate::era::{Classified, classify};
use crate::link::{Claim, Exchange, Life, LinkError, Outbox, Pipe};
use crate::peer::{Attend, Counters, Inflight, put_answer, put_note, put_request, read};

impl Server {
    /// Serves one connection until it ends, and says how it did: [`LinkError::Closed`] is the ordinary end.
    ///
    /// # Cancellation
    /// Dropping the future ends the connection and cancels what is under way.
    pub async fn serve(self: &Arc<Self>, pipe: Pipe) -> LinkError {
        let limits = self.limits().peer.clone();
        let Pipe { outlet, inlet, keeper, tap } = pipe;
        let outbox = Arc::new(Outbox::new(outlet, limits.room(), tap.clone()));
        let counters = Arc::new(Counters::default());
        let inflight =
            Arc::new(Inflight::new(Arc::clone(&outbox), Arc::clone(&counters), limits.pending, limits.notes));
        let connection = Arc::new(Connection {
            server: Arc::clone(self),
            session: Arc::default(),
            outbox: Arc::clone(&outbox),
            inflight: Arc::clone(&inflight),
            ids: AtomicI64::new(1),
            running: Mutex::default(),
            idle: tokio::sync::Notify::new(),
        });
        let _heard = self.publisher.register(Arc::clone(&connection) as Arc<dyn Hears>);
        let flusher = tokio::spawn(Arc::clone(&outbox).run(limits.write_stall));
        let _stop_flusher = AbortOnDrop(flusher.abort_handle());
        let _cancel_all = CancelAll(Arc::clone(&connection));
        let mut attend = Attendant { connection: Arc::clone(&connection), most_waiting: limits.queued_bytes as u64 };
        let end = read(inlet, flusher, &inflight, &counters, Duration::ZERO, tap, &mut attend).await;
        connection.drain(self.limits().drain).await;
        inflight.end(&end);
        drop(keeper);
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
    }
}

/// One connection being served.
struct Connection {
    server: Arc<Server>,
    session: Arc<PipeSession>,
    outbox: Arc<Outbox>,
    inflight: Arc<Inflight>,
    ids: AtomicI64,
    /// Requests being answered.
    running: Mutex<HashMap<RequestId, Running>>,
    /// Told whenever a request is done.
    idle: tokio::sync::Notify,
}

enum Running {
    /// Being polled for the first time.
    Here,
    /// A task of its own, with what tells its handler that it is over.
    Task(AbortHandle, Option<Arc<Cancel>>),
}

impl Running {
    fn abort(self) {
        if let Self::Task(task, cancel) = self {
            // First the word, which counts at once; the task is dropped when its thread gets to it.
            cancel.inspect(|cancel| cancel.set());
            task.abort();
        }
    }
}

impl Connection {
    /// Enters a request; an error when its id is taken or there are too many.
    fn enter(&self, id: &RequestId) -> Result<(), RpcError> {
        let mut running = self.running.lock();
        if running.contains_key(id) {
            return Err(RpcError::invalid_request(format!("a request with the id {id} is under way already")));
        }
        if running.len() >= self.server.limits().requests {
            return Err(RpcError::internal("too many requests are under way; wait for some to be answered"));
        }
        running.insert(id.clone(), Running::Here);
        Ok(())
    }

    /// Takes a request out; false when it was cancelled meanwhile.
    fn leave(&self, id: &RequestId) -> bool {
        let was_there = self.running.lock().remove(id).is_some();
        self.idle.notify_waiters();
        was_there
    }

    fn put(&self, id: Option<&RequestId>, outcome: &Outcome) {
        // The client may be gone, and then nobody is left to tell.
        let _ = put_answer(&self.outbox, id, outcome.as_ref());
    }

    fn cancel(&self, id: &RequestId) {
        let running = self.running.lock().remove(id);
        if let Some(running) = running {
            running.abort();
            self.idle.notify_waiters();
        }
    }

    /// Lets what is under way finish, writes out what is there, and ends the rest.
    async fn drain(&self, within: Duration) {
        let finished = async {
            loop {
                let told = self.idle.notified();
                if self.running.lock().is_empty() {
                    return;
                }
                told.await;
            }
        };
        let _ = tokio::time::timeout(within, finished).await;
        let written = async {
            while self.outbox.waiting() > 0 {
                self.outbox.flush_now();
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        let _ = tokio::time::timeout(within, written).await;
    }
}

impl Back for Connection {
    fn note(&self, method: &str, params: Option<&Raw>) {
        let _ = put_note(&self.outbox, method, params.map(Raw::as_str));
    }

    fn ask(&self, method: &str, params: &Raw) -> Option<Exchange> {
        let id = RequestId::Number(self.ids.fetch_add(1, Ordering::Relaxed));
        Some(Exchange::Piped(
            self.inflight.open(id, Life::Call, |outbox, id| put_request(outbox, id, method, params.as_str())),
        ))
    }
}

impl Hears for Connection {
    fn hear(&self, news: &News) {
        if !tells(&self.session, &self.server, news) {
            return;
        }
        let params = match news {
            News::Resource(uri) => Raw::encode(&ResourceUpdated::new(uri.as_str())).ok(),
            _ => None,
        };
        self.note(news.method(), params.as_ref());
    }
}

/// What a server does with what its client starts.
struct Attendant {
    connection: Arc<Connection>,
    /// Reading stops while more than this waits to be written: a client that does not read is not served.
    most_waiting: u64,
}

impl Attend for Attendant {
    fn request(&mut self, request: Request) {
        let connection = &self.connection;
        let id = request.id.clone();
        if request.version == Version::Other {
            connection.put(Some(&id), &Err(RpcError::invalid_request("\"jsonrpc\" must be \"2.0\"")));
            return;
        }
        if let Err(error) = connection.enter(&id) {
            connection.put(Some(&id), &Err(error));
            return;
        }
        let back = Arc::clone(connection) as Arc<dyn Back>;
        match answer(&connection.server, &connection.session, request, back) {
            Answered::Now(outcome) => {
                connection.leave(&id);
                connection.put(Some(&id), &outcome);
            }
            Answered::Later(answering) => self.start(id, answering),
        }
    }

    fn note(&mut self, note: Notification) {
        match &*note.method {
            "notifications/cancelled" => {
                let params = note.params.and_then(|params| params.decode::<CancelledParams>().ok());
                if let Some(id) = params.and_then(|params| params.request_id) {
                    self.connection.cancel(&id);
                }
            }
            "notifications/roots/list_changed" => self.connection.server.handler().roots_changed(),
            other => tracing::trace!(method = other, "a notification needs nothing done"),
        }
    }

    fn batch(&mut self, elements: Vec<Result<Envelope, Malformed>>) -> Vec<Response> {
        let connection = Arc::clone(&self.connection);
        if !connection.session.has_batches() || elements.is_empty() {
            let error = "an array is no message here: batches exist in 2025-03-26 only, and are never empty";
            connection.put(None, &Err(RpcError::invalid_request(error)));
            return Vec::new();
        }
        let mut responses = Vec::new();
        let mut answers = Vec::new();
        for element in elements {
            match element {
                Ok(Envelope::Request(request)) => answers.push(self.element(request)),
                Ok(Envelope::Notification(note)) => self.note(note),
                Ok(Envelope::Response(response)) => responses.push(response),
                Err(malformed) => {
                    let state = State::Answered(Err(unreadable(&malformed)));
                    answers.push(Element { id: malformed.salvaged.id.clone(), state });
                }
            }
        }
        if !answers.is_empty() {
            tokio::spawn(answer_batch(connection, answers));
        }
        responses
    }

    fn unreadable(&mut self, _frame: &[u8], malformed: Malformed) {
        // Only a request is answered: what cannot be told from an answer of the client to us might loop.
        let id = malformed.salvaged.id.clone().filter(|_| malformed.is_json());
        self.connection.put(id.as_ref(), &Err(unreadable(&malformed)));
    }

    fn lost(&mut self, salvaged: Salvaged, error: LinkError) {
        if salvaged.has_method || salvaged.id.is_none() {
            let refused = RpcError::invalid_request(error.to_string());
            self.connection.put(salvaged.id.as_ref(), &Err(refused));
        } else {
            self.connection.inflight.complete(salvaged.id, Err(error));
        }
    }

    async fn passed(&mut self) {
        self.connection.outbox.flush_now();
        while self.connection.outbox.waiting() > self.most_waiting {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

fn unreadable(malformed: &Malformed) -> RpcError {
    let code = if malformed.is_json() { ErrorCode::INVALID_REQUEST } else { ErrorCode::PARSE_ERROR };
    RpcError::new(code, malformed.to_string())
}

impl Attendant {
    /// Polls an answer once where it was read; one that waits becomes a task.
    fn start(&self, id: RequestId, mut answering: Answering) {
        let connection = &self.connection;
        if let Poll::Ready(outcome) = Pin::new(&mut answering).poll(&mut Context::from_waker(Waker::noop())) {
            if connection.leave(&id) {
                connection.put(Some(&id), &outcome);
            }
            return;
        }
        let (owner, key, cancel) = (Arc::clone(connection), id.clone(), answering.cancel());
        // Held until the handle is in the table, so that the task cannot leave before it has entered.
        let mut running = connection.running.lock();
        let task = tokio::spawn(async move {
            let outcome = answering.await;
            if owner.leave(&key) {
                owner.put(Some(&key), &outcome);
            }
        });
        running.insert(id, Running::Task(task.abort_handle(), cancel));
    }

    /// Begins to answer one element of a batch.
    fn element(&self, request: Request) -> Element {
        let connection = &self.connection;
        let id = request.id.clone();
        let refused = |error| Element { id: Some(id.clone()), state: State::Answered(Err(error)) };
        if &*request.method == "initialize" {
            return refused(RpcError::invalid_request("initialize cannot be part of a batch"));
        }
        if let Classified::Modern(_) = classify(request.params.as_ref()) {
            return refused(RpcError::invalid_request("a request of this revision cannot be part of a batch"));
        }
        if let Err(error) = connection.enter(&id) {
            return refused(error);
        }
        let back = Arc::clone(connection) as Arc<dyn Back>;
        let state = match answer(&connection.server, &connection.session, request, back) {
            Answered::Now(outcome) => {
                connection.leave(&id);
                State::Answered(outcome)
            }
            Answered::Later(answering) => {
                // Held until the handle is in the table, as for a request on its own.
                let mut running = connection.running.lock();
                let cancel = answering.cancel();
                let task = tokio::spawn(answering);
                running.insert(id.clone(), Running::Task(task.abort_handle(), cancel));
                State::Running(task)
            }
        };
        Element { id: Some(id), state }
    }
}

/// One element of a batch on its way to an answer.
struct Element {
    id: Option<RequestId>,
    state: State,
}

enum State {
    Answered(Outcome),
    /// In the table of what runs, and so open to cancellation.
    Running(JoinHandle<Outcome>),
}

/// Answers a batch with one array, when all its elements are answered or cancelled.
async fn answer_batch(connection: Arc<Connection>, elements: Vec<Element>) {
    let mut answers = Vec::new();
    for Element { id, state } in elements {
        let outcome = match state {
            State::Answered(outcome) => Some(outcome),
            State::Running(task) => {
                let outcome = task.await.ok();
                outcome.filter(|_| id.as_ref().is_some_and(|id| connection.leave(id)))
            }
        };
        answers.extend(outcome.map(|outcome| match outcome {
            Ok(result) => serde_json::json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string(),
            Err(error) => match id {
                Some(id) => serde_json::json!({ "jsonrpc": "2.0", "id": id, "error": error }),
                None => serde_json::json!({ "jsonrpc": "2.0", "error": error }),
            }
            .to_string(),
        }));
    }
    if !answers.is_empty() {
        let _ = connection.outbox.put(&[b"[", answers.join(",").as_bytes(), b"]"], Claim::Exempt);
    }
}
