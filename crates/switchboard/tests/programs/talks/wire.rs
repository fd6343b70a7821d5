//! The far end of a connection, as whoever plays the other side sees it: lines out, lines in.

use std::task::{Context, Poll};

use bytes::Bytes;
use switchboard::transport::link::{Frame, FrameQueue, Inlet, Outlet};
use switchboard::transport::{LinkError, Pipe};
use switchboard_testkit::STEP_TIMEOUT;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// The far end of a connection.
#[derive(Debug)]
pub(crate) struct Wire {
    out: Option<UnboundedSender<String>>,
    lines: UnboundedReceiver<String>,
}

impl Wire {
    pub(crate) fn send(&self, line: String) -> Result<(), String> {
        let out = self.out.as_ref().ok_or("the connection was closed already")?;
        out.send(line).map_err(|_| "the other side no longer reads".to_owned())
    }

    /// The next line, or `None` at the end of the connection.
    pub(crate) async fn line(&mut self) -> Result<Option<String>, String> {
        let next = tokio::time::timeout(STEP_TIMEOUT, self.lines.recv()).await;
        next.map_err(|_| format!("nothing came within {STEP_TIMEOUT:?}"))
    }

    /// Says that nothing more will come.
    pub(crate) fn finish(&mut self) {
        self.out = None;
    }

    /// A wire in memory, and the pipe at its other end.
    pub(crate) fn in_memory() -> (Self, Pipe) {
        let (out, arriving) = unbounded_channel();
        let (leaving, lines) = unbounded_channel();
        (Self { out: Some(out), lines }, Pipe::new(Leaving(Some(leaving)), Arriving(arriving)))
    }

    /// A wire over bytes, a line for each message.
    pub(crate) fn over(
        read: impl AsyncRead + Unpin + Send + 'static,
        mut write: impl AsyncWrite + Unpin + Send + 'static,
    ) -> Self {
        let (out, mut outgoing) = unbounded_channel::<String>();
        let (incoming, lines) = unbounded_channel();
        tokio::spawn(async move {
            while let Some(line) = outgoing.recv().await {
                if write.write_all(format!("{line}\n").as_bytes()).await.is_err() {
                    return;
                }
            }
            let _ = write.shutdown().await;
        });
        tokio::spawn(async move {
            let mut reader = BufReader::new(read).lines();
            while let Ok(Some(line)) = reader.next_line().await {
                if incoming.send(line).is_err() {
                    return;
                }
            }
        });
        Self { out: Some(out), lines }
    }
}

struct Leaving(Option<UnboundedSender<String>>);

struct Arriving(UnboundedReceiver<String>);

impl Outlet for Leaving {
    fn poll_send(&mut self, _cx: &mut Context<'_>, queue: &mut FrameQueue) -> Poll<Result<(), LinkError>> {
        while let Some(frame) = queue.pop_frame() {
            let line = String::from_utf8_lossy(&frame).into_owned();
            let sent = self.0.as_ref().is_some_and(|out| out.send(line).is_ok());
            if !sent {
                return Poll::Ready(Err(LinkError::lost("the other side is gone")));
            }
        }
        Poll::Ready(Ok(()))
    }

    fn poll_close(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), LinkError>> {
        self.0 = None;
        Poll::Ready(Ok(()))
    }
}

impl Inlet for Arriving {
    fn poll_frames(&mut self, cx: &mut Context<'_>, into: &mut Vec<Frame>) -> Poll<Result<(), LinkError>> {
        match self.0.poll_recv(cx) {
            Poll::Ready(Some(line)) => {
                into.push(Frame::Message(Bytes::from(line)));
                Poll::Ready(Ok(()))
            }
            Poll::Ready(None) => Poll::Ready(Err(LinkError::lost("the other side is gone"))),
            Poll::Pending => Poll::Pending,
        }
    }
}
