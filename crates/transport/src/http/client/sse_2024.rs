//! The binding of 2024, from the client's side: a stream that says where to post, and everything else on it.

use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderValue, Method};
use switchboard_http::{Address, Timeouts};
use switchboard_session::link::{BoxFuture, Frame, Inlet, LinkError, Outlet, Pipe, Queue};
use tokio::sync::mpsc;

use crate::http::client::failure::refusal;
use crate::http::client::post::{Brought, EVENTS, Events, Wire};

/// Events that may come before that.
const BEFORE: usize = 5;
/// How long one message may take to be taken.
const TAKEN: Duration = Duration::from_secs(30);

/// Opens the stream and waits until it says where to post.
pub(crate) async fn connect(wire: Arc<Wire>) -> Result<Pipe, LinkError> {
    let mut request = wire.request(Method::GET, &[]);
    request.headers.insert(ACCEPT, EVENTS);
    request.timeouts = Timeouts::default().with_headers(Some(wire.limits.stream_start)).with_idle(None);
    let response = wire.send(request).await?;
    if !response.status.is_success() {
        return Err(match refusal(response).await {
            Ok(error) => LinkError::Refused { status: 400, text: error.message },
            Err(error) => error,
        });
    }
    let mut events = Events::new(response.body, wire.limits.event_bytes);
    let endpoint = tokio::time::timeout(wire.limits.stream_start, endpoint(&wire, &mut events))
        .await
        .map_err(|_| nowhere())??;
    let (frames, arriving) = mpsc::channel(1);
    let reader = tokio::spawn(read(events, frames));
    Ok(Pipe::new(Posts { wire, endpoint, sending: None, closed: false }, Arriving { arriving, reader }))
}

/// The first event that names the endpoint. It must be at the same origin: what is posted there carries credentials.
async fn endpoint(wire: &Wire, events: &mut Events) -> Result<Address, LinkError> {
    for _ in 0..=BEFORE {
        match events.next().await? {
            Some(Brought::Named(name, data)) if name == "endpoint" => {
                let reference = String::from_utf8_lossy(&data).trim().to_owned();
                return wire.address.join(&reference).map_err(|error| LinkError::Refused {
                    status: 200,
                    text: format!("the endpoint {reference:?} is not used: {error}"),
                });
            }
            Some(_) => {}
            None => break,
        }
    }
    Err(nowhere())
}

fn nowhere() -> LinkError {
    LinkError::lost("the server did not say where to post to").unsent()
}

async fn read(mut events: Events, frames: mpsc::Sender<Result<Frame, LinkError>>) {
    loop {
        let frame = match events.next().await {
            Ok(Some(Brought::Message(bytes))) => Ok(Frame::Message(bytes)),
            Ok(Some(Brought::Lost(salvaged, error))) => Ok(Frame::Lost { salvaged, error }),
            Ok(Some(Brought::Named(name, _))) => {
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

/// What arrives on the stream.
struct Arriving {
    arriving: mpsc::Receiver<Result<Frame, LinkError>>,
    reader: tokio::task::JoinHandle<()>,
}

impl Inlet for Arriving {
    fn poll_frames(&mut self, cx: &mut Context<'_>, into: &mut Vec<Frame>) -> Poll<Result<(), LinkError>> {
        self.arriving.poll_recv(cx).map(|arrived| match arrived {
            Some(Ok(frame)) => {
                into.push(frame);
                Ok(())
            }
            Some(Err(error)) => Err(error),
            None => Err(LinkError::lost("the stream is gone")),
        })
    }
}

impl Drop for Arriving {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

/// What leaves: each message is posted, in order.
struct Posts {
    wire: Arc<Wire>,
    endpoint: Address,
    sending: Option<BoxFuture<'static, Result<(), LinkError>>>,
    closed: bool,
}

impl Outlet for Posts {
    fn poll_send(&mut self, cx: &mut Context<'_>, queue: &mut Queue) -> Poll<Result<(), LinkError>> {
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
            self.sending = Some(Box::pin(post(Arc::clone(&self.wire), self.endpoint.clone(), frame)));
        }
    }

    fn poll_close(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        self.closed = true;
        Poll::Ready(Ok(()))
    }
}

async fn post(wire: Arc<Wire>, endpoint: Address, frame: Bytes) -> Result<(), LinkError> {
    let mut request = wire.request(Method::POST, &[]).with_body(frame);
    request.address = endpoint;
    request.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    request.timeouts = Timeouts::default().with_headers(Some(TAKEN));
    let response = wire.send(request).await?;
    if response.status.is_success() {
        response.body.drain(switchboard_http::ERROR_BODY_LIMIT, Duration::from_secs(1)).await;
        return Ok(());
    }
    match refusal(response).await {
        Ok(error) => Err(LinkError::Refused { status: 400, text: error.message }),
        Err(error) => Err(error),
    }
}
