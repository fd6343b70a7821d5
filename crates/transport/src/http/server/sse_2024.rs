//! The HTTP+SSE binding of 2024: an event stream for messages of the server, and an endpoint for posts of the client.
//!
//! Each stream becomes a pipe that the session crate serves.

use std::collections::HashMap;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::header::CONTENT_LENGTH;
use http::{Method, StatusCode};
use http_body::Body;
use parking_lot::Mutex;
use switchboard_session::link::{Frame, FrameQueue, Inlet, LinkError, Outlet, Pipe};
use switchboard_session::server::{Caller, Extensions};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use crate::http::server::body::ReplyBody;
use crate::http::server::event_queue::{Delivery, EventQueue};
use crate::http::server::pending_request::{PendingRequest, RequestMetadata};
use crate::http::server::reply::{self, Reply};
use crate::http::server::request_checks;
use crate::http::server::service::Inner;

/// Posted messages of one stream that may wait to be processed.
const MAX_WAITING_MESSAGES: usize = 64;

/// A posted message, and the capacity it occupies until it is processed.
type PostedMessage = (Bytes, OwnedSemaphorePermit);

/// The open streams, by session id.
#[derive(Default)]
pub(crate) struct Streams {
    table: Mutex<HashMap<String, OpenStream>>,
}

/// One open stream: the sender of messages that the client posts, and the queue of events to the client.
struct OpenStream {
    posts: mpsc::Sender<PostedMessage>,
    /// Limits the bytes of posted messages that wait to be processed.
    capacity: Arc<Semaphore>,
    queue: Arc<EventQueue>,
    /// Principal and scopes that opened the stream; a caller with other scopes needs another stream.
    owner: Option<(String, Vec<String>)>,
}

/// Returns principal and sorted scopes of a caller.
fn stream_owner(caller: &Caller) -> (String, Vec<String>) {
    let mut scopes = caller.scopes.clone();
    scopes.sort_unstable();
    (caller.principal(), scopes)
}

impl Streams {
    pub(crate) fn end_all(&self) {
        self.table.lock().drain().for_each(|(_, open)| open.queue.end());
    }
}

impl Inner {
    /// Opens a stream. Its first event names the endpoint for posts.
    #[expect(clippy::result_large_err, reason = "both variants are the reply")]
    pub(crate) fn open_2024(self: &Arc<Self>, pending: &mut PendingRequest) -> Result<Reply, Reply> {
        if pending.head.method != Method::GET {
            return Err(reply::not_allowed("GET"));
        }
        let Some(paths) = &self.options().legacy_sse else {
            return Err(reply::status_response(StatusCode::NOT_FOUND));
        };
        if self.streams.table.lock().len() >= self.options().sessions {
            return Err(reply::reject(StatusCode::SERVICE_UNAVAILABLE, "too many sessions are open"));
        }
        let permit = self.admit_stream(pending).map_err(reply::rejected)?;
        let id = self.options().replica.new_session_id();
        let client = pending.client_id(self.options());
        let queue = EventQueue::new(self.options().stream_bytes, &self.stream_budget, client.as_ref());
        let endpoint = format!("event: endpoint\ndata: {}?sessionId={id}\n\n", paths.message_path);
        queue.push(endpoint.into(), Delivery::Required);
        let (posts, received) = mpsc::channel(MAX_WAITING_MESSAGES);
        let owner = pending.caller.as_deref().map(stream_owner);
        let capacity = Arc::new(Semaphore::new(self.max_waiting_bytes()));
        let open = OpenStream { posts, capacity, queue: Arc::clone(&queue), owner };
        self.streams.table.lock().insert(id.clone(), open);
        let RequestMetadata { head, caller, address, .. } = pending.take_metadata(self.options());
        let mut extensions = Extensions::new().with(head);
        if let Some(address) = address {
            extensions.insert(address);
        }
        if let Some(caller) = caller {
            extensions.insert(Arc::unwrap_or_clone(caller));
        }
        let pipe =
            Pipe::new(EventOutlet(Arc::clone(&queue)), PostInlet { received, queue: Arc::clone(&queue) });
        let (inner, maintained) = (Arc::clone(self), Arc::clone(&queue));
        tokio::spawn(async move {
            let mut tick = tokio::time::interval(inner.options().keep_alive / 4 + Duration::from_millis(1));
            let mut serving = std::pin::pin!(inner.server.serve_with(pipe, extensions));
            loop {
                tokio::select! {
                    _ = &mut serving => break,
                    _ = tick.tick() => maintained.maintain(inner.options().keep_alive, inner.options().write_stall),
                }
            }
            maintained.end();
            inner.streams.table.lock().remove(&id);
        });
        Ok(reply::stream_response(ReplyBody::events(queue).with_permit(Some(permit))))
    }

    /// Accepts a message for an open stream, on which its response is sent.
    pub(crate) async fn post_2024<B>(
        self: &Arc<Self>,
        pending: &PendingRequest,
        body: B,
    ) -> Result<Reply, Reply>
    where
        B: Body<Data: Send> + Send,
    {
        let (uri, headers) = (&pending.head.uri, pending.headers());
        if pending.head.method != Method::POST {
            return Err(reply::not_allowed("POST"));
        }
        let id =
            uri.query().and_then(|query| query.split('&').find_map(|pair| pair.strip_prefix("sessionId=")));
        let caller = pending.caller.as_deref().map(stream_owner);
        let posts = id.and_then(|id| {
            let table = self.streams.table.lock();
            let open = table.get(id).filter(|open| open.owner == caller)?;
            Some((open.posts.clone(), Arc::clone(&open.capacity)))
        });
        let Some((posts, capacity)) = posts else {
            let reason = "there is no such session: open the stream first";
            return Err(reply::reject(StatusCode::NOT_FOUND, reason));
        };
        request_checks::check_type(headers).map_err(reply::rejected)?;
        // Backpressure: posts of a client that does not read its stream are not read either.
        let announced = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
        let needed = announced.unwrap_or(self.options().body_bytes).clamp(1, self.max_waiting_bytes());
        let needed = u32::try_from(needed).unwrap_or(u32::MAX);
        let capacity =
            tokio::time::timeout(self.options().write_stall, capacity.acquire_many_owned(needed)).await;
        let Ok(Ok(capacity)) = capacity else {
            let reason = "the answers on the stream are not being read: read them first";
            return Err(reply::reject(StatusCode::SERVICE_UNAVAILABLE, reason));
        };
        let frame =
            request_checks::read_body(self.options(), headers, body).await.map_err(reply::rejected)?;
        let is_open = posts.send((frame, capacity)).await.is_ok();
        Ok(reply::status_response(if is_open { StatusCode::ACCEPTED } else { StatusCode::NOT_FOUND }))
    }

    /// Returns the bytes of posted messages that may wait per stream: at least one message.
    fn max_waiting_bytes(&self) -> usize {
        self.options().stream_bytes.clamp(1, u32::MAX as usize >> 3)
    }
}

/// Sends messages of the server as events.
struct EventOutlet(Arc<EventQueue>);

impl Outlet for EventOutlet {
    fn poll_send(&mut self, _cx: &mut Context<'_>, queue: &mut FrameQueue) -> Poll<Result<(), LinkError>> {
        while let Some(frame) = queue.pop_frame() {
            let mut event = Vec::with_capacity(frame.len() + 24);
            event.extend_from_slice(b"event: message\ndata: ");
            event.extend_from_slice(&frame);
            event.extend_from_slice(b"\n\n");
            if !self.0.push(event.into(), Delivery::Required) {
                return Poll::Ready(Err(LinkError::lost("the client closed its stream")));
            }
        }
        Poll::Ready(Ok(()))
    }

    fn poll_close(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        self.0.end();
        Poll::Ready(Ok(()))
    }
}

/// Receives posted messages as frames until the stream is gone.
struct PostInlet {
    received: mpsc::Receiver<PostedMessage>,
    queue: Arc<EventQueue>,
}

impl Inlet for PostInlet {
    fn poll_frames(&mut self, cx: &mut Context<'_>, into: &mut Vec<Frame>) -> Poll<Result<(), LinkError>> {
        // Backpressure: while the client is behind on its stream, none of its posts is processed.
        if self.queue.poll_not_behind(cx).is_pending() {
            return Poll::Pending;
        }
        match self.received.poll_recv(cx) {
            Poll::Ready(Some((frame, _room))) => {
                into.push(Frame::Message(frame));
                Poll::Ready(Ok(()))
            }
            Poll::Ready(None) => Poll::Ready(Err(LinkError::Closed)),
            Poll::Pending => self.queue.poll_abandoned(cx).map(|()| Err(LinkError::Closed)),
        }
    }
}

#[cfg(test)]
mod tests;
