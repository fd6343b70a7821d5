//! The binding of 2024: an event stream for what the server says, an endpoint for what the client posts.
//!
//! Each stream is a pipe like any other, served whole by the session crate.

use std::collections::HashMap;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{Method, StatusCode};
use http_body::Body;
use parking_lot::Mutex;
use switchboard_session::answering::{Caller, Extensions};
use switchboard_session::link::{Frame, Inlet, LinkError, Outlet, Pipe, Queue};
use tokio::sync::mpsc;

use crate::http::server::body::ReplyBody;
use crate::http::server::door::Inner;
use crate::http::server::guard::{self, Turned};
use crate::http::server::reply::{self, Reply};
use crate::http::server::stream::{Feed, Weight};
use crate::http::server::visitor::{Known, Visitor};

/// Messages of one client that may wait to be read.
const WAITING: usize = 64;

/// The open streams, by session id.
#[derive(Default)]
pub(crate) struct Streams {
    table: Mutex<HashMap<String, Open>>,
}

struct Open {
    posts: mpsc::Sender<Bytes>,
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
        let id = crate::http::server::session::random_id();
        let feed = Feed::new(self.options.stream_bytes);
        let endpoint = format!("event: endpoint\ndata: {}?sessionId={id}\n\n", paths.message_path);
        feed.push(endpoint.into(), Weight::Must);
        let (posts, taken) = mpsc::channel(WAITING);
        let owner = visitor.caller.as_ref().map(known);
        self.streams.table.lock().insert(id.clone(), Open { posts, feed: Arc::clone(&feed), owner });
        let Known { head, caller, .. } = visitor.take(&None);
        let mut extensions = Extensions::new().with(head);
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
        reply::stream(ReplyBody::events(feed))
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
            table.get(id).filter(|open| open.owner == caller).map(|open| open.posts.clone())
        });
        let Some(posts) = posts else {
            return reply::turned(Turned::new(
                StatusCode::NOT_FOUND,
                "there is no such session: open the stream first",
            ));
        };
        if let Err(refused) = guard::check_type(headers) {
            return reply::turned(refused);
        }
        match guard::read_body(&self.options, headers, body).await {
            Ok(frame) => match posts.send(frame).await {
                Ok(()) => reply::bare(StatusCode::ACCEPTED),
                Err(_) => reply::bare(StatusCode::NOT_FOUND),
            },
            Err(refused) => reply::turned(refused),
        }
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
    taken: mpsc::Receiver<Bytes>,
    feed: Arc<Feed>,
}

impl Inlet for Posts {
    fn poll_frames(&mut self, cx: &mut Context<'_>, into: &mut Vec<Frame>) -> Poll<Result<(), LinkError>> {
        match self.taken.poll_recv(cx) {
            Poll::Ready(Some(frame)) => {
                into.push(Frame::Message(frame));
                Poll::Ready(Ok(()))
            }
            Poll::Ready(None) => Poll::Ready(Err(LinkError::Closed)),
            Poll::Pending => self.feed.poll_left(cx).map(|()| Err(LinkError::Closed)),
        }
    }
}
