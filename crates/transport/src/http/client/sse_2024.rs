//! The HTTP+SSE binding of 2024, client side: a stream that names the endpoint for posts and carries all other messages.

use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Method};
use switchboard_http::{Address, Timeouts};
use switchboard_session::link::{BoxFuture, Frame, FrameQueue, Inlet, LinkError, Outlet, Pipe};
use tokio::sync::mpsc;

use crate::http::client::failure::read_rejection;
use crate::http::client::post::{EventStream, HttpSender, StreamEvent};

/// Events that may precede the `endpoint` event.
const MAX_EVENTS_BEFORE_ENDPOINT: usize = 5;
/// How long one post may take.
const POST_TIMEOUT: Duration = Duration::from_secs(30);

/// Opens the stream and waits for its `endpoint` event.
pub(crate) async fn connect(sender: Arc<HttpSender>) -> Result<Pipe, LinkError> {
    let response = sender.send(sender.stream_request(&[])).await?;
    if !response.status.is_success() {
        return Err(read_rejection(response, 400).await);
    }
    let mut events = EventStream::new(response.body, sender.limits.event_bytes);
    let endpoint = tokio::time::timeout(sender.limits.stream_start, read_endpoint(&sender, &mut events))
        .await
        .map_err(|_| no_endpoint())??;
    let (frame_sender, frames) = mpsc::channel(1);
    let reader = tokio::spawn(read(events, frame_sender));
    Ok(Pipe::new(
        PostOutlet { sender, endpoint, sending: None, closed: false },
        EventInlet { frames, reader },
    ))
}

/// Reads the `endpoint` event. The endpoint must have the same origin, because posts carry credentials.
async fn read_endpoint(sender: &HttpSender, events: &mut EventStream) -> Result<Address, LinkError> {
    for _ in 0..=MAX_EVENTS_BEFORE_ENDPOINT {
        match events.next().await? {
            Some(StreamEvent::Other(name, data)) if name == "endpoint" => {
                let reference = String::from_utf8_lossy(&data).trim().to_owned();
                return sender.address.join(&reference).map_err(|error| LinkError::Refused {
                    status: 200,
                    text: format!("the endpoint {reference:?} is not used: {error}"),
                });
            }
            Some(_) => {}
            None => break,
        }
    }
    Err(no_endpoint())
}

fn no_endpoint() -> LinkError {
    LinkError::lost("the server did not say where to post to").unsent()
}

async fn read(mut events: EventStream, frames: mpsc::Sender<Result<Frame, LinkError>>) {
    loop {
        let frame = match events.next().await {
            Ok(Some(StreamEvent::Message(bytes))) => Ok(Frame::Message(bytes)),
            Ok(Some(StreamEvent::Lost(recovered, error))) => Ok(Frame::Lost { recovered, error }),
            Ok(Some(StreamEvent::Other(name, _))) => {
                tracing::debug!(event = name, "skipped an event of an unknown type");
                continue;
            }
            Ok(None) => Err(LinkError::lost("the server ended the stream")),
            Err(error) => Err(error),
        };
        let is_end = frame.is_err();
        if frames.send(frame).await.is_err() || is_end {
            return;
        }
    }
}

/// Receives the messages of the stream.
struct EventInlet {
    frames: mpsc::Receiver<Result<Frame, LinkError>>,
    reader: tokio::task::JoinHandle<()>,
}

impl Inlet for EventInlet {
    fn poll_frames(&mut self, cx: &mut Context<'_>, into: &mut Vec<Frame>) -> Poll<Result<(), LinkError>> {
        self.frames.poll_recv(cx).map(|received| match received {
            Some(Ok(frame)) => {
                into.push(frame);
                Ok(())
            }
            Some(Err(error)) => Err(error),
            None => Err(LinkError::lost("the stream is gone")),
        })
    }
}

impl Drop for EventInlet {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

/// Posts each message, in order.
struct PostOutlet {
    sender: Arc<HttpSender>,
    endpoint: Address,
    sending: Option<BoxFuture<'static, Result<(), LinkError>>>,
    closed: bool,
}

impl Outlet for PostOutlet {
    fn poll_send(&mut self, cx: &mut Context<'_>, queue: &mut FrameQueue) -> Poll<Result<(), LinkError>> {
        loop {
            if let Some(sending) = &mut self.sending {
                let Poll::Ready(sent) = sending.as_mut().poll(cx) else { return Poll::Pending };
                self.sending = None;
                sent?;
            }
            if self.closed {
                return Poll::Ready(Err(LinkError::Closed));
            }
            let Some(frame) = queue.pop_frame() else { return Poll::Ready(Ok(())) };
            self.sending = Some(Box::pin(post(Arc::clone(&self.sender), self.endpoint.clone(), frame)));
        }
    }

    fn poll_close(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        self.closed = true;
        Poll::Ready(Ok(()))
    }
}

async fn post(sender: Arc<HttpSender>, endpoint: Address, frame: Bytes) -> Result<(), LinkError> {
    let mut request = sender.request(Method::POST, &[]).with_body(frame);
    request.address = endpoint;
    request.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    request.timeouts = Timeouts::default().with_headers(Some(POST_TIMEOUT));
    let response = sender.send(request).await?;
    if response.status.is_success() {
        response.body.drain(switchboard_http::ERROR_BODY_LIMIT, Duration::from_secs(1)).await;
        return Ok(());
    }
    Err(read_rejection(response, 400).await)
}
