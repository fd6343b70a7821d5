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

    /// Returns the next events after `position` as text, and the number of the last of them; `None` without newer events.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn catalog(revision: u64) -> ConsoleEvent {
        ConsoleEvent::Catalog { revision }
    }

    fn stderr(server: &str) -> ConsoleEvent {
        ConsoleEvent::Stderr { server: server.to_owned(), lines: Vec::new() }
    }

    fn ring(events: usize, bytes: usize, batch: usize) -> Ring {
        Ring::new(RingLimits { events, bytes, batch })
    }

    fn publish_lines(ring: &mut Ring, count: usize) {
        for _ in 0..count {
            ring.push(&stderr("a"));
        }
    }

    /// Returns the numbers of a text, and whether it begins with a gap.
    fn numbers(text: &Bytes) -> (Vec<u64>, bool) {
        let text = std::str::from_utf8(text).unwrap();
        let ids = text.lines().filter_map(|line| line.strip_prefix("id: "));
        (ids.map(|id| id.parse().unwrap()).collect(), text.contains("\"gap\""))
    }

    #[test]
    fn numbers_start_at_one_and_reading_resumes() {
        let mut ring = ring(10, 10_000, 10_000);
        assert_eq!((ring.last(), ring.read(0)), (0, None));
        assert_eq!((ring.push(&stderr("a")), ring.push(&stderr("b"))), (1, 2));
        let (text, position) = ring.read(0).unwrap();
        assert_eq!((numbers(&text), position), ((vec![1, 2], false), 2));
        assert_eq!(ring.read(1).unwrap().1, 2);
        assert_eq!(ring.read(2), None);
    }

    #[test]
    fn a_reader_that_falls_behind_gets_a_gap_and_then_the_rest() {
        let mut ring = ring(3, 10_000, 10_000);
        publish_lines(&mut ring, 10);
        let (text, position) = ring.read(4).unwrap();
        assert_eq!(text, "id: 7\ndata: {\"type\":\"gap\",\"lost\":7}\n\n");
        assert_eq!(position, 7);
        assert_eq!(numbers(&ring.read(position).unwrap().0), (vec![8, 9, 10], false));
        assert_eq!(numbers(&ring.read(7).unwrap().0).0, [8, 9, 10], "the first kept event is no gap");
    }

    #[test]
    fn bytes_are_limited_too() {
        let mut ring = ring(1000, 200, 10_000);
        publish_lines(&mut ring, 100);
        assert!(ring.bytes <= 200 && ring.events.len() < 5);
        ring.push(&stderr(&"x".repeat(1000)));
        assert_eq!((ring.bytes, ring.events.len()), (0, 0), "an event beyond the limit is dropped");
        assert_eq!(numbers(&ring.read(100).unwrap().0), (vec![101], true));
    }

    #[test]
    fn a_batch_is_limited_but_makes_progress() {
        let mut ring = ring(100, 10_000, 100);
        publish_lines(&mut ring, 10);
        let mut position = 0;
        let mut read = Vec::new();
        while let Some((text, next)) = ring.read(position) {
            assert!(text.len() <= 100);
            read.extend(numbers(&text).0);
            position = next;
        }
        assert_eq!(read, (1..=10).collect::<Vec<_>>());
        ring.push(&stderr(&"x".repeat(500)));
        assert_eq!(numbers(&ring.read(10).unwrap().0).0, [11], "an event that is larger than a batch");
    }

    #[test]
    fn only_the_last_of_several_states_is_sent() {
        let mut ring = ring(100, 10_000, 10_000);
        for event in [
            catalog(1),
            stderr("a"),
            catalog(2),
            ConsoleEvent::ServerRemoved { name: "a".into() },
            stderr("a"),
            catalog(3),
        ] {
            ring.push(&event);
        }
        let (text, position) = ring.read(0).unwrap();
        assert_eq!((numbers(&text).0, position), (vec![2, 4, 5, 6], 6));
        assert_eq!(numbers(&ring.read(2).unwrap().0).0, [4, 5, 6]);
    }

    #[test]
    fn a_number_that_was_not_given_is_a_gap() {
        let mut ring = ring(10, 10_000, 10_000);
        ring.push(&stderr("a"));
        let (text, position) = ring.read(9).unwrap();
        assert_eq!((numbers(&text), position), ((vec![1], true), 1));
    }

    #[test]
    fn text_of_servers_cannot_end_an_event() {
        let mut ring = ring(10, 10_000, 10_000);
        ring.push(&stderr("a\n\nid: 9\r\ndata: {}\u{2028}"));
        let (text, _) = ring.read(0).unwrap();
        assert_eq!(numbers(&text).0, [1]);
        assert_eq!(text.iter().filter(|byte| matches!(byte, b'\n' | b'\r')).count(), 3);
    }
}
