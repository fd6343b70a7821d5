//! The frames that are kept: a bounded queue, oldest dropped first.
//!
//! Invariants: numbers ascend without gaps; an open request is in the table iff its frame is kept and has no response.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use crate::contract::{Frame, FrameDirection, FrameKind, TrafficTotals};

/// Limits of the log.
#[derive(Debug, Clone, Copy)]
pub(super) struct TrafficLimits {
    pub(super) frames: usize,
    /// Of all payloads together.
    pub(super) bytes: usize,
    /// Of one payload: of a larger one only the beginning is kept.
    pub(super) payload_bytes: usize,
}

impl Default for TrafficLimits {
    fn default() -> Self {
        Self { frames: 10_000, bytes: 64 << 20, payload_bytes: 16 << 20 }
    }
}

/// A frame with its payload, not masked.
#[derive(Debug, Clone)]
pub(super) struct KeptFrame {
    pub(super) frame: Frame,
    pub(super) payload: Arc<str>,
    /// Whether the payload was on the wire.
    pub(super) is_on_wire: bool,
    /// Of a request.
    key: Option<RequestKey>,
}

/// What a request and its response share.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct RequestKey {
    pub(super) server: String,
    pub(super) session: Option<u64>,
    /// The direction of the request.
    pub(super) direction: FrameDirection,
    /// As JSON text.
    pub(super) id: String,
}

/// A request that has no response yet.
struct OpenRequest {
    frame: u64,
    target: Option<String>,
    method: Option<String>,
    at_ms: u64,
}

/// The frames that are kept.
pub(super) struct KeptFrames {
    frames: VecDeque<KeptFrame>,
    next: u64,
    bytes: usize,
    open: HashMap<RequestKey, OpenRequest>,
    limits: TrafficLimits,
}

impl KeptFrames {
    pub(super) fn new(limits: TrafficLimits) -> Self {
        Self { frames: VecDeque::new(), next: 1, bytes: 0, open: HashMap::new(), limits }
    }

    /// Numbers a frame and keeps it. A response is joined with its request: `key` is that of the request.
    pub(super) fn push(
        &mut self,
        mut frame: Frame,
        payload: &str,
        is_on_wire: bool,
        key: Option<RequestKey>,
    ) -> u64 {
        frame.frame = self.next;
        self.next += 1;
        let key = match (frame.kind, key) {
            (FrameKind::Request, Some(key)) => {
                let request = OpenRequest {
                    frame: frame.frame,
                    target: frame.target.clone(),
                    method: frame.method.clone(),
                    at_ms: frame.at_ms,
                };
                self.open.insert(key.clone(), request);
                Some(key)
            }
            (_, Some(key)) => {
                if let Some(request) = self.open.remove(&key) {
                    frame.request_frame = Some(request.frame);
                    frame.target = request.target;
                    frame.method = frame.method.or(request.method);
                    #[expect(clippy::cast_precision_loss, reason = "milliseconds of a request")]
                    let since = frame.at_ms.saturating_sub(request.at_ms) as f64;
                    frame.ms = frame.ms.or(Some(since));
                }
                None
            }
            (_, None) => None,
        };
        let kept = &payload[..payload.floor_char_boundary(self.limits.payload_bytes)];
        self.bytes += kept.len();
        let number = frame.frame;
        self.frames.push_back(KeptFrame { frame, payload: kept.into(), is_on_wire, key });
        while self.frames.len() > self.limits.frames || self.bytes > self.limits.bytes {
            self.drop_oldest();
        }
        number
    }

    fn drop_oldest(&mut self) {
        let Some(dropped) = self.frames.pop_front() else { return };
        self.bytes -= dropped.payload.len();
        if let Some(key) = dropped.key
            && self.open.get(&key).is_some_and(|open| open.frame == dropped.frame.frame)
        {
            self.open.remove(&key);
        }
    }

    /// Drops all frames. Numbers go on.
    pub(super) fn clear(&mut self) {
        self.frames.clear();
        self.open.clear();
        self.bytes = 0;
    }

    /// Returns a frame that is kept.
    pub(super) fn get(&self, number: u64) -> Option<&KeptFrame> {
        let first = self.frames.front()?.frame.frame;
        self.frames.get(usize::try_from(number.checked_sub(first)?).ok()?)
    }

    /// Returns the frames after this number.
    pub(super) fn after(&self, number: u64) -> impl Iterator<Item = &KeptFrame> {
        let skipped = self.frames.front().map_or(0, |first| {
            usize::try_from((number + 1).saturating_sub(first.frame.frame)).unwrap_or(usize::MAX)
        });
        self.frames.iter().skip(skipped)
    }

    /// Returns the number of the last frame; 0 before the first.
    pub(super) fn last_number(&self) -> u64 {
        self.next - 1
    }

    pub(super) fn totals(&self, is_recording: bool) -> TrafficTotals {
        TrafficTotals {
            frames: self.frames.len() as u64,
            bytes: self.bytes as u64,
            first_frame: self.frames.front().map_or(self.next, |first| first.frame.frame),
            recording: is_recording,
        }
    }

    #[cfg(test)]
    pub(super) fn open_requests(&self) -> usize {
        self.open.len()
    }
}
