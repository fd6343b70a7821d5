//! Detached work, which goes on after its request is answered: the request gets a promise, and what the work asks goes
//! another way.

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

/// Gets answers for detached work.
pub trait Asks: Send + Sync + 'static {
    /// The answer to a question, as text. `key` names it within the work.
    fn ask(&self, key: &str, request: InputRequest) -> BoxFuture<'static, Result<Raw, AskError>>;
}

/// Whether the work of a request is detached from it, or wants to be.
#[derive(Default)]
pub(crate) struct Detachment {
    stage: AtomicU8,
    /// Whom it asks once it is on its own.
    asks: OnceLock<Arc<dyn Asks>>,
    // Held to look and to register, never across an await.
    wakers: Mutex<Wakers>,
}

/// Who waits for whom: the two may be polled by different threads.
#[derive(Default)]
struct Wakers {
    /// Whoever runs the work, waiting for its wish.
    runner: Option<Waker>,
    /// The work, waiting to be detached.
    work: Option<Waker>,
}

/// The work may outlive its request, if it wishes.
const ALLOWED: u8 = 1;
/// It wishes to.
const REQUESTED: u8 = 2;

impl Detachment {
    pub(crate) fn asks(&self) -> Option<&Arc<dyn Asks>> {
        self.asks.get()
    }
}

impl RequestContext {
    /// Lets the work of this request outlive it: from now on what it asks goes to `asks`, and nothing it says comes after
    /// the answer of the request where the revision has no place for that.
    pub fn detach_with(&self, asks: Arc<dyn Asks>) {
        // The first counts; whoever runs the work does this once.
        let _ = self.detachment().asks.set(asks);
        let work = self.detachment().wakers.lock().work.take();
        work.inspect(Waker::wake_by_ref);
    }

    /// Whether the work has outlived its request, or is about to.
    pub fn is_detached(&self) -> bool {
        self.detachment().asks().is_some()
    }

    /// Whoever runs the work says that it may outlive its request, and looks for the wish with
    /// [`Self::poll_detach_request`] whenever the work waits.
    pub fn allow_detach(&self) {
        let (before, ordering) = (0, Ordering::AcqRel);
        let _ = self.detachment().stage.compare_exchange(before, ALLOWED, ordering, Ordering::Acquire);
    }

    /// Ready when the work waits to be detached. Wakes the task when that changes: the work may be polled elsewhere, e.g. on
    /// a thread of its own.
    pub fn poll_detach_request(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut wakers = self.detachment().wakers.lock();
        if self.detachment().stage.load(Ordering::Acquire) == REQUESTED && !self.is_detached() {
            return Poll::Ready(());
        }
        wakers.runner = Some(cx.waker().clone());
        Poll::Pending
    }

    /// Goes on after the request is answered, where that is possible; says whether it is so. Code before it has run as
    /// part of the request, and may have asked; code after it runs once.
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
