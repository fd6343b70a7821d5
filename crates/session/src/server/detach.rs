//! Detached work, which continues after its request is answered: its input requests go through an [`InputChannel`].

use std::fmt;
use std::future::poll_fn;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Waker};

use parking_lot::Mutex;
use switchboard_protocol::{InputRequest, Raw};

use crate::link::BoxFuture;
use crate::request::AskError;
use crate::server::RequestContext;

/// The channel for input requests of detached work. Replaces the [`ReplyChannel`](crate::request::ReplyChannel) of the
/// request.
pub trait InputChannel: Send + Sync + 'static {
    /// Sends an input request to the client and returns the response. `key` identifies the request within the work.
    fn ask(&self, key: &str, request: InputRequest) -> BoxFuture<'static, Result<Raw, AskError>>;
}

/// The detachment state of the work of a request.
#[derive(Default)]
pub(crate) struct Detachment {
    stage: AtomicU8,
    /// Set once the work is detached.
    input: OnceLock<Arc<dyn InputChannel>>,
    // Held to check and register, never across an await.
    wakers: Mutex<Wakers>,
}

/// The wakers of the runner and the work, which different threads may poll.
#[derive(Default)]
struct Wakers {
    /// The runner, which waits for a detach request.
    runner: Option<Waker>,
    /// The work, waiting to be detached.
    work: Option<Waker>,
}

/// The work may request to be detached.
const ALLOWED: u8 = 1;
/// The work has requested to be detached.
const REQUESTED: u8 = 2;

impl Detachment {
    pub(crate) fn input_channel(&self) -> Option<&Arc<dyn InputChannel>> {
        self.input.get()
    }
}

impl RequestContext {
    /// Detaches the work from the request: from now on its input requests go through `input`, and notifications after the
    /// response are dropped where the revision forbids them.
    pub fn detach_with(&self, input: Arc<dyn InputChannel>) {
        // The first call counts.
        let _ = self.detachment().input.set(input);
        let work = self.detachment().wakers.lock().work.take();
        work.inspect(Waker::wake_by_ref);
    }

    /// Returns whether the work is detached.
    pub fn is_detached(&self) -> bool {
        self.detachment().input_channel().is_some()
    }

    /// Allows the work to be detached. The runner must then poll [`Self::poll_detach_request`] whenever the work waits.
    pub fn allow_detach(&self) {
        let (before, ordering) = (0, Ordering::AcqRel);
        let _ = self.detachment().stage.compare_exchange(before, ALLOWED, ordering, Ordering::Acquire);
    }

    /// Ready when the work waits to be detached. Wakes the task when that changes: the work may be polled on another thread.
    pub fn poll_detach_request(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut wakers = self.detachment().wakers.lock();
        if self.detachment().stage.load(Ordering::Acquire) == REQUESTED && !self.is_detached() {
            return Poll::Ready(());
        }
        wakers.runner = Some(cx.waker().clone());
        Poll::Pending
    }

    /// Continues after the request is answered, where that is possible; returns whether it is. Code before this call ran as
    /// part of the request, and may have asked for input; code after it runs once.
    pub async fn detach(&self) -> bool {
        if self.is_detached() {
            return true;
        }
        let (ordering, failed) = (Ordering::AcqRel, Ordering::Acquire);
        if self.detachment().stage.compare_exchange(ALLOWED, REQUESTED, ordering, failed).is_err() {
            return false;
        }
        let runner = self.detachment().wakers.lock().runner.take();
        runner.inspect(Waker::wake_by_ref);
        poll_fn(|cx| {
            let mut wakers = self.detachment().wakers.lock();
            if self.is_detached() {
                return Poll::Ready(true);
            }
            wakers.work = Some(cx.waker().clone());
            Poll::Pending
        })
        .await
    }
}

impl fmt::Debug for Detachment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Detachment")
    }
}
