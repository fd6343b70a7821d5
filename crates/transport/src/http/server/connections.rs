//! Open connections of a listener: admission limits, and eviction of the longest idle one beyond them.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use std::task::{Context, Poll, Waker};

use parking_lot::Mutex;

use crate::http::server::stream_limit::decrement;
use crate::http::server::timed_io::ActivityTracker;

/// All open connections.
#[derive(Debug, Clone, Default)]
pub(crate) struct Connections {
    state: Arc<Mutex<ConnectionTable>>,
}

#[derive(Debug, Default)]
struct ConnectionTable {
    next: u64,
    open: HashMap<u64, OpenConnection>,
    per_address: HashMap<IpAddr, usize>,
}

#[derive(Debug)]
struct OpenConnection {
    address: IpAddr,
    activity: ActivityTracker,
    shutdown: Arc<ShutdownReceiver>,
}

/// How a connection is asked to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ShutdownSignal {
    /// Finish the requests in progress, then close.
    Graceful,
    /// Close now.
    Immediate,
}

/// Receives the shutdown signal of one connection. It is polled with every poll of the connection, so it is a value under
/// a lock and not a future.
#[derive(Debug, Default)]
pub(crate) struct ShutdownReceiver(Mutex<SignalState>);

#[derive(Debug, Default)]
struct SignalState {
    signal: Option<ShutdownSignal>,
    waker: Option<Waker>,
}

impl ShutdownReceiver {
    fn send(&self, signal: ShutdownSignal) {
        let mut signalled = self.0.lock();
        signalled.signal = Some(signal);
        let waker = signalled.waker.take();
        drop(signalled);
        waker.inspect(Waker::wake_by_ref);
    }

    /// Ready with the signal once it was sent.
    pub(crate) fn poll(&self, cx: &Context<'_>) -> Poll<ShutdownSignal> {
        let mut signalled = self.0.lock();
        if let Some(signal) = signalled.signal {
            return Poll::Ready(signal);
        }
        if !signalled.waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
            signalled.waker = Some(cx.waker().clone());
        }
        Poll::Pending
    }
}

/// Limits on open connections.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AdmissionLimits {
    pub(crate) all: usize,
    pub(crate) per_address: usize,
}

/// Permission to keep one connection open. Dropping it frees the slot.
#[derive(Debug)]
pub(crate) struct ConnectionPermit {
    connections: Connections,
    id: u64,
    pub(crate) activity: ActivityTracker,
    /// Receives the shutdown signal.
    pub(crate) shutdown: Arc<ShutdownReceiver>,
}

impl Connections {
    /// Admits a connection. At the limit the longest idle connection is closed for it; `None` if all are busy.
    pub(crate) fn admit(&self, limits: AdmissionLimits, address: IpAddr) -> Option<ConnectionPermit> {
        let mut state = self.state.lock();
        if state.per_address.get(&address).is_some_and(|count| *count >= limits.per_address) {
            state.evict(Some(address))?;
        }
        if state.open.len() >= limits.all {
            state.evict(None)?;
        }
        state.next += 1;
        let (id, activity, shutdown) =
            (state.next, ActivityTracker::new(), Arc::<ShutdownReceiver>::default());
        let open = OpenConnection { address, activity: activity.clone(), shutdown: Arc::clone(&shutdown) };
        state.open.insert(id, open);
        *state.per_address.entry(address).or_default() += 1;
        drop(state);
        Some(ConnectionPermit { connections: self.clone(), id, activity, shutdown })
    }

    /// Asks all connections to finish and close.
    pub(crate) fn shut_down(&self) {
        self.state.lock().open.values().for_each(|open| open.shutdown.send(ShutdownSignal::Graceful));
    }
}

impl ConnectionTable {
    /// Closes the longest idle connection, of this address or of any.
    fn evict(&mut self, address: Option<IpAddr>) -> Option<()> {
        let idle = self.open.iter().filter(|(_, open)| address.is_none_or(|address| address == open.address));
        let idle = idle.filter_map(|(id, open)| open.activity.idle_since().map(|since| (since, *id)));
        let (_, longest) = idle.min()?;
        self.remove(longest)?.shutdown.send(ShutdownSignal::Immediate);
        Some(())
    }

    fn remove(&mut self, id: u64) -> Option<OpenConnection> {
        let open = self.open.remove(&id)?;
        decrement(&mut self.per_address, &open.address);
        Some(open)
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        self.connections.state.lock().remove(self.id);
    }
}
