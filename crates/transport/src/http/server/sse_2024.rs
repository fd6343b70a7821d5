//! The binding of 2024: an event stream for what the server says, an endpoint for what the client posts.
//!
//! Each stream is a pipe like any other, served whole by the session crate.

use std::collections::HashMap;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::header::CONTENT_LENGTH;
use http::{Method, StatusCode};
use http_body::Body;
use parking_lot::Mutex;
use switchboard_session::link::{Frame, Inlet, LinkError, Outlet, Pipe, Queue};
use switchboard_session::server::{Caller, Extensions};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use crate::http::server::body::ReplyBody;
use crate::http::server::door::Inner;
use crate::http::server::guard::{self, Turned};
use crate::http::server::reply::{self, Reply};
use crate::http::server::sessions::random_id;
use crate::http::server::stream::{Feed, Weight};
use crate::http::server::visitor::{Known, Visitor};

/// Messages of one client that may wait to be read.
const WAITING: usize = 64;

/// A message that was posted, and the room it takes until it is read.
type Post = (Bytes, OwnedSemaphorePermit);

/// The open streams, by session id.
#[derive(Default)]
pub(crate) struct Streams {
    table: Mutex<HashMap<String, Open>>,
}

struct Open {
    posts: mpsc::Sender<Post>,
    /// Bytes of messages that may wait to be read.
    room: Arc<Semaphore>,
    feed: Arc<Feed>,
    /// Whoever opened it, with what they might do then: who may do more or less opens another.
    owner: Option<(String, Vec<String>)>,
}

/// A caller as a stream knows them.
fn known(caller: &Caller) -> (String, Vec<String>) {
    let mut scopes = caller.scopes.clone();
    scopes.sort_unstable();
    (caller.principal(), scopes)
}

impl Streams {
    pub(crate) fn end_all(&self) {
        self.table.lock().drain().for_each(|(_, open)| open.feed.end());
    }
}

impl Inner {
    /// Opens a stream: its first event says where to post.
    pub(crate) fn open_2024(self: &Arc<Self>, visitor: &mut Visitor) -> Reply {
        if visitor.parts.method != Method::GET {
            return reply::not_allowed("GET");
        }
        let Some(paths) = &self.options.legacy_sse else { return reply::bare(StatusCode::NOT_FOUND) };
        if self.streams.table.lock().len() >= self.options.sessions {
            return reply::turned(Turned::new(StatusCode::SERVICE_UNAVAILABLE, "too many sessions are open"));
        }
        let permit = match self.admit_stream(visitor) {
            Ok(permit) => permit,
            Err(refused) => return reply::turned(refused),
        };
        let id = random_id();
        let client = visitor.client(&self.options);
        let feed = Feed::new(self.options.stream_bytes, &self.stream_budget, client.as_ref());
        let endpoint = format!("event: endpoint\ndata: {}?sessionId={id}\n\n", paths.message_path);
        feed.push(endpoint.into(), Weight::Must);
        let (posts, taken) = mpsc::channel(WAITING);
        let owner = visitor.caller.as_ref().map(known);
        let room = Arc::new(Semaphore::new(self.post_room()));
        let open = Open { posts, room, feed: Arc::clone(&feed), owner };
        self.streams.table.lock().insert(id.clone(), open);
        let Known { head, caller, address, .. } = visitor.take(&self.options);
        let mut extensions = Extensions::new().with(head);
        if let Some(address) = address {
            extensions.insert(address);
        }
        if let Some(caller) = caller {
            extensions.insert(caller);
        }
        let pipe = Pipe::new(Events(Arc::clone(&feed)), Posts { taken, feed: Arc::clone(&feed) });
        let (inner, watched) = (Arc::clone(self), Arc::clone(&feed));
        tokio::spawn(async move {
            let mut tick = tokio::time::interval(inner.options.keep_alive / 4 + Duration::from_millis(1));
            let mut serving = std::pin::pin!(inner.server.serve_with(pipe, extensions));
            loop {
                tokio::select! {
                    _ = &mut serving => break,
                    _ = tick.tick() => watched.tend(inner.options.keep_alive, inner.options.write_stall),
                }
            }
            watched.end();
            inner.streams.table.lock().remove(&id);
        });
        reply::stream(ReplyBody::events(feed).with_permit(Some(permit)))
    }

    /// Takes a message for an open stream; its answer comes there.
    pub(crate) async fn post_2024<B>(self: &Arc<Self>, visitor: &Visitor, body: B) -> Reply
    where
        B: Body<Data: Send> + Send,
    {
        let (uri, headers) = (&visitor.parts.uri, visitor.headers());
        if visitor.parts.method != Method::POST {
            return reply::not_allowed("POST");
        }
        let id =
            uri.query().and_then(|query| query.split('&').find_map(|pair| pair.strip_prefix("sessionId=")));
        let caller = visitor.caller.as_ref().map(known);
        let posts = id.and_then(|id| {
            let table = self.streams.table.lock();
            let open = table.get(id).filter(|open| open.owner == caller)?;
            Some((open.posts.clone(), Arc::clone(&open.room)))
        });
        let Some((posts, room)) = posts else {
            return reply::turned(Turned::new(
                StatusCode::NOT_FOUND,
                "there is no such session: open the stream first",
            ));
        };
        if let Err(refused) = guard::check_type(headers) {
            return reply::turned(refused);
        }
        // A client that does not read its stream is not read either: its messages wait where they are, unread.
        let announced = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
        let needed = announced.unwrap_or(self.options.body_bytes).clamp(1, self.post_room());
        let needed = u32::try_from(needed).unwrap_or(u32::MAX);
        let room = tokio::time::timeout(self.options.write_stall, room.acquire_many_owned(needed)).await;
        let Ok(Ok(room)) = room else {
            let reason = "the answers on the stream are not being read: read them first";
            return reply::turned(Turned::new(StatusCode::SERVICE_UNAVAILABLE, reason));
        };
        match guard::read_body(&self.options, headers, body).await {
            Ok(frame) => match posts.send((frame, room)).await {
                Ok(()) => reply::bare(StatusCode::ACCEPTED),
                Err(_) => reply::bare(StatusCode::NOT_FOUND),
            },
            Err(refused) => reply::turned(refused),
        }
    }
}

impl Inner {
    /// Bytes of messages of one stream that may wait to be read: one message at least.
    fn post_room(&self) -> usize {
        self.options.stream_bytes.clamp(1, u32::MAX as usize >> 3)
    }
}

/// What the server says goes out as events.
struct Events(Arc<Feed>);

impl Outlet for Events {
    fn poll_send(&mut self, _cx: &mut Context<'_>, queue: &mut Queue) -> Poll<Result<(), LinkError>> {
        while let Some(frame) = queue.pop_frame() {
            let mut event = Vec::with_capacity(frame.len() + 24);
            event.extend_from_slice(b"event: message\ndata: ");
            event.extend_from_slice(&frame);
            event.extend_from_slice(b"\n\n");
            if !self.0.push(event.into(), Weight::Must) {
                return Poll::Ready(Err(LinkError::lost("the client has left")));
            }
        }
        Poll::Ready(Ok(()))
    }

    fn poll_close(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        self.0.end();
        Poll::Ready(Ok(()))
    }
}

/// What the client posts comes in as frames, until its stream is gone.
struct Posts {
    taken: mpsc::Receiver<Post>,
    feed: Arc<Feed>,
}

impl Inlet for Posts {
    fn poll_frames(&mut self, cx: &mut Context<'_>, into: &mut Vec<Frame>) -> Poll<Result<(), LinkError>> {
        // Every answer waits until it is read, so no more is read from a client than it reads itself.
        if self.feed.poll_room(cx).is_pending() {
            return Poll::Pending;
        }
        match self.taken.poll_recv(cx) {
            Poll::Ready(Some((frame, _room))) => {
                into.push(Frame::Message(frame));
                Poll::Ready(Ok(()))
            }
            Poll::Ready(None) => Poll::Ready(Err(LinkError::Closed)),
            Poll::Pending => self.feed.poll_left(cx).map(|()| Err(LinkError::Closed)),
        }
    }
}

#[cfg(test)]
mod tests;
