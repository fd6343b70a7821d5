//! The connections of a listener: how many there are, and which gives way when there are too many.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use std::task::{Context, Poll, Waker};

use parking_lot::Mutex;

use crate::http::server::timed_io::Active;

/// All open connections.
#[derive(Debug, Clone, Default)]
pub(crate) struct Crowd {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    next: u64,
    open: HashMap<u64, Open>,
    per_address: HashMap<IpAddr, usize>,
}

#[derive(Debug)]
struct Open {
    address: IpAddr,
    active: Active,
    call: Arc<Call>,
}

/// What a connection may be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Word {
    /// Answer what is under way, and end.
    Finish,
    /// End now.
    GiveWay,
}

/// Calls one connection. Looked at with every poll of it, so it is a word under a lock and not a future to poll.
#[derive(Debug, Default)]
pub(crate) struct Call(Mutex<Called>);

#[derive(Debug, Default)]
struct Called {
    word: Option<Word>,
    waker: Option<Waker>,
}

impl Call {
    fn tell(&self, word: Word) {
        let mut called = self.0.lock();
        called.word = Some(word);
        let waker = called.waker.take();
        drop(called);
        waker.inspect(Waker::wake_by_ref);
    }

    /// What the connection is told, once it is.
    pub(crate) fn poll(&self, cx: &Context<'_>) -> Poll<Word> {
        let mut called = self.0.lock();
        if let Some(word) = called.word {
            return Poll::Ready(word);
        }
        if !called.waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
            called.waker = Some(cx.waker().clone());
        }
        Poll::Pending
    }
}

/// How many connections there may be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room {
    pub(crate) all: usize,
    pub(crate) per_address: usize,
}

/// One connection's place; given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Seat {
    crowd: Crowd,
    id: u64,
    pub(crate) active: Active,
    /// Tells the connection when it has to go.
    pub(crate) call: Arc<Call>,
}

impl Crowd {
    /// A place for a connection. When there is none, the one that was idle longest gives way; `None` when all are busy.
    pub(crate) fn admit(&self, room: Room, address: IpAddr) -> Option<Seat> {
        let mut state = self.state.lock();
        if state.per_address.get(&address).is_some_and(|count| *count >= room.per_address) {
            state.evict(Some(address))?;
        }
        if state.open.len() >= room.all {
            state.evict(None)?;
        }
        state.next += 1;
        let (id, active, call) = (state.next, Active::new(), Arc::<Call>::default());
        let open = Open { address, active: active.clone(), call: Arc::clone(&call) };
        state.open.insert(id, open);
        *state.per_address.entry(address).or_default() += 1;
        drop(state);
        Some(Seat { crowd: self.clone(), id, active, call })
    }

    /// Tells all connections to finish.
    pub(crate) fn finish(&self) {
        self.state.lock().open.values().for_each(|open| open.call.tell(Word::Finish));
    }
}

impl State {
    /// Sends the longest idle connection away, of this address or of any.
    fn evict(&mut self, address: Option<IpAddr>) -> Option<()> {
        let idle = self.open.iter().filter(|(_, open)| address.is_none_or(|address| address == open.address));
        let idle = idle.filter_map(|(id, open)| open.active.idle_since().map(|since| (since, *id)));
        let (_, longest) = idle.min()?;
        self.remove(longest)?.call.tell(Word::GiveWay);
        Some(())
    }

    fn remove(&mut self, id: u64) -> Option<Open> {
        let open = self.open.remove(&id)?;
        if let Some(count) = self.per_address.get_mut(&open.address) {
            *count -= 1;
            if *count == 0 {
                self.per_address.remove(&open.address);
            }
        }
        Some(open)
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.crowd.state.lock().remove(self.id);
    }
}
