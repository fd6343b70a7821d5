//! The connections of a listener: how many there are, and which gives way when there are too many.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::Notify;

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
    give_way: Arc<Notify>,
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
    /// Told when the connection has to go.
    pub(crate) give_way: Arc<Notify>,
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
        let (id, active, give_way) = (state.next, Active::new(), Arc::new(Notify::new()));
        let open = Open { address, active: active.clone(), give_way: Arc::clone(&give_way) };
        state.open.insert(id, open);
        *state.per_address.entry(address).or_default() += 1;
        drop(state);
        Some(Seat { crowd: self.clone(), id, active, give_way })
    }
}

impl State {
    /// Sends the longest idle connection away, of this address or of any.
    fn evict(&mut self, address: Option<IpAddr>) -> Option<()> {
        let idle = self.open.iter().filter(|(_, open)| address.is_none_or(|address| address == open.address));
        let idle = idle.filter_map(|(id, open)| open.active.idle_since().map(|since| (since, *id)));
        let (_, longest) = idle.min()?;
        self.remove(longest)?.give_way.notify_one();
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
