//! The kept events: a ring that is limited by count and bytes.
//! Invariant: the numbers of kept events are consecutive; the last one is the number of the last published event.

use std::collections::{HashMap, VecDeque};

use bytes::{Bytes, BytesMut};

use super::event_key::EventKey;
use crate::contract::ConsoleEvent;

/// Limits of a ring.
#[derive(Clone, Copy, Debug)]
pub(super) struct RingLimits {
    pub(super) events: usize,
    pub(super) bytes: usize,
    /// The bytes that a reader takes at once, unless one event is larger.
    pub(super) batch: usize,
}

/// The kept events, encoded for the stream.
#[derive(Debug)]
pub(super) struct Ring {
    limits: RingLimits,
    events: VecDeque<KeptEvent>,
    bytes: usize,
    last: u64,
}

#[derive(Debug)]
struct KeptEvent {
    key: Option<EventKey>,
    text: Bytes,
}

impl Ring {
    pub(super) fn new(limits: RingLimits) -> Self {
        Self { limits, events: VecDeque::new(), bytes: 0, last: 0 }
    }

    /// Returns the number of the last published event; 0 before the first.
    pub(super) fn last(&self) -> u64 {
        self.last
    }

    /// Appends an event, drops the oldest ones beyond the limits, and returns its number.
    pub(super) fn push(&mut self, event: &ConsoleEvent) -> u64 {
        self.last += 1;
        let text = encode(self.last, event);
        self.bytes += text.len();
        self.events.push_back(KeptEvent { key: EventKey::of(event), text });
        while self.events.len() > self.limits.events || self.bytes > self.limits.bytes {
            let Some(oldest) = self.events.pop_front() else { break };
            self.bytes -= oldest.text.len();
        }
        self.last
    }

    /// Returns the next events after `position` as text, and the number of the last of them; `None` if there are none.
    /// Leaves out events that a later one of the same batch replaces. A `gap` comes first if events were dropped.
    pub(super) fn read(&self, position: u64) -> Option<(Bytes, u64)> {
        let before_first = self.last - self.events.len() as u64;
        if position < before_first || position > self.last {
            // A number that is too high is of another process.
            let lost = if position > self.last { self.last } else { before_first };
            return Some((encode(lost, &ConsoleEvent::Gap { lost }), lost));
        }
        let start = usize::try_from(position - before_first).unwrap_or(usize::MAX);
        let mut size = 0;
        let count = self
            .events
            .iter()
            .skip(start)
            .take_while(|event| {
                size += event.text.len();
                size == event.text.len() || size <= self.limits.batch
            })
            .count();
        if count == 0 {
            return None;
        }
        let batch = self.events.range(start..start + count);
        let keyed = batch.clone().enumerate().filter_map(|(index, event)| Some((event.key.as_ref()?, index)));
        let latest: HashMap<&EventKey, usize> = keyed.collect();
        let mut text = BytesMut::new();
        for (index, event) in batch.enumerate() {
            if event.key.as_ref().is_none_or(|key| latest.get(key) == Some(&index)) {
                text.extend_from_slice(&event.text);
            }
        }
        Some((text.freeze(), position + count as u64))
    }
}

/// Encodes an event for the stream. JSON has no raw line break, so that it is one line of data.
fn encode(number: u64, event: &ConsoleEvent) -> Bytes {
    // Encoding fails only for maps whose keys are no strings, and events have none.
    let data = serde_json::to_string(event).unwrap_or_default();
    format!("id: {number}\ndata: {data}\n\n").into()
}
