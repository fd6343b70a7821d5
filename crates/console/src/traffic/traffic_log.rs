//! The log of frames: an observer of the traffic of a host, or of the clients of a gateway.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;
use switchboard_host::{ObservedFrame, TrafficObserver, TrafficSource};
use switchboard_protocol::Revision;
use switchboard_session::link::Direction;
use tokio::sync::watch;

use super::frame_summary::FrameSummary;
use super::kept_frames::{KeptFrames, RequestKey, TrafficLimits};
use super::payload_mask::{PayloadMask, ValueMask};
use super::recording_file;
use crate::contract::{Frame, FrameDirection, FrameKind, FramePayload, TrafficPage, TrafficTotals};

/// A bounded log of frames: at most 10,000, with 64 MB of payloads; the oldest are dropped first.
///
/// Pass it to [`HostBuilder::with_traffic_observer`](switchboard_host::HostBuilder::with_traffic_observer). While it is not
/// recording, a message costs one atomic load.
pub struct TrafficLog {
    is_recording: AtomicBool,
    // A std-sized critical section: a frame is copied before, and pushed inside. Never held across an await.
    frames: Mutex<KeptFrames>,
    mask: PayloadMask,
    /// The number of the last frame.
    last: watch::Sender<u64>,
}

/// Why a payload cannot be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PayloadError {
    /// The frame was dropped or cleared.
    Dropped,
    /// There was no such frame yet.
    Unknown,
}

impl Default for TrafficLog {
    fn default() -> Self {
        Self::with_limits(TrafficLimits::default())
    }
}

impl TrafficLog {
    /// Creates a log that records from the beginning.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a log that records when its frames are requested for the first time: for a gateway, whose console may never be
    /// opened.
    pub fn on_demand() -> Self {
        let log = Self::default();
        log.is_recording.store(false, Ordering::Relaxed);
        log
    }

    pub(super) fn with_limits(limits: TrafficLimits) -> Self {
        Self {
            is_recording: AtomicBool::new(true),
            frames: Mutex::new(KeptFrames::new(limits)),
            mask: PayloadMask::default(),
            last: watch::Sender::new(0),
        }
    }

    /// Adds values that are masked wherever they are: the variables and headers of servers. Members with secret names are
    /// masked without them.
    pub fn add_secrets(&self, values: impl IntoIterator<Item = String>) {
        self.mask.extend(values);
    }

    /// Starts to record.
    pub(crate) fn start_recording(&self) {
        self.is_recording.store(true, Ordering::Relaxed);
    }

    /// Returns the totals.
    pub(crate) fn totals(&self) -> TrafficTotals {
        self.frames.lock().totals(self.is_recording.load(Ordering::Relaxed))
    }

    /// Returns at most `limit` frames after this number, in order.
    pub(crate) fn page(&self, after: u64, limit: usize) -> TrafficPage {
        let kept = self.frames.lock();
        let mut following = kept.after(after).map(|kept| kept.frame.clone());
        let mut frames: Vec<Frame> = following.by_ref().take(limit).collect();
        let has_more = following.next().is_some();
        let totals = kept.totals(self.is_recording.load(Ordering::Relaxed));
        drop(following);
        drop(kept);
        for frame in &mut frames {
            frame.target = frame.target.take().map(|target| self.mask.full(&target));
        }
        TrafficPage { frames, totals, has_more }
    }

    /// Returns the payload of a frame, masked: the whole, or its beginning.
    ///
    /// # Errors
    /// When the frame is not kept.
    pub(crate) fn payload(&self, number: u64, is_full: bool) -> Result<FramePayload, PayloadError> {
        let (payload, bytes) = {
            let kept = self.frames.lock();
            match kept.get(number) {
                Some(kept) => (Arc::clone(&kept.payload), kept.frame.bytes),
                None if number <= kept.last_number() => return Err(PayloadError::Dropped),
                None => return Err(PayloadError::Unknown),
            }
        };
        let (shown, is_cut) = match is_full {
            true => (self.mask.full(&payload), false),
            false => self.mask.preview(&payload),
        };
        let truncated = is_cut || (payload.len() as u64) < bytes;
        Ok(FramePayload { frame: number, payload: shown, truncated, bytes })
    }

    /// Drops all frames, and returns the totals after that.
    pub(crate) fn clear(&self) -> TrafficTotals {
        let mut kept = self.frames.lock();
        kept.clear();
        kept.totals(self.is_recording.load(Ordering::Relaxed))
    }

    /// Returns these frames, or all, as the file of a recording, masked. Frames that were not on the wire are left out;
    /// `revisions` are those of the servers now.
    pub(crate) fn export(&self, numbers: Option<&[u64]>, revisions: &[(String, Revision)]) -> String {
        let kept: Vec<_> = {
            let kept = self.frames.lock();
            match numbers {
                Some(numbers) => numbers.iter().filter_map(|number| kept.get(*number).cloned()).collect(),
                None => kept.after(0).cloned().collect(),
            }
        };
        recording_file::write_recording(kept, revisions, &self.mask)
    }

    /// Returns the text, masked.
    pub(crate) fn mask(&self, text: &str) -> String {
        self.mask.full(text)
    }

    /// Returns a text of a server with the [secrets](Self::add_secrets) masked, whatever the names of its members: a result
    /// keeps its member `token` unless its value is one of them.
    pub(crate) fn mask_values(&self, text: String) -> String {
        self.value_mask().mask(text)
    }

    /// Returns the mask of the [secrets](Self::add_secrets) that are known now, for all texts of a response.
    pub(crate) fn value_mask(&self) -> ValueMask {
        self.mask.values()
    }

    /// Returns a receiver of the number of the last frame.
    pub(super) fn watch(&self) -> watch::Receiver<u64> {
        self.last.subscribe()
    }

    fn record(
        &self,
        server: &str,
        session: Option<u64>,
        direction: FrameDirection,
        observed: &ObservedFrame<'_>,
    ) {
        let summary = FrameSummary::of(&observed.body);
        let payload = observed.text();
        let is_request = summary.kind == FrameKind::Request;
        // A cancellation goes the way of its request, a response and a failure the other way.
        let request_direction =
            if is_request || is_cancellation(observed) { direction } else { opposite(direction) };
        let key = summary.id.clone().map(|id| RequestKey {
            server: server.to_owned(),
            session,
            direction: request_direction,
            id,
        });
        let frame = Frame {
            frame: 0,
            at_ms: unix_ms(),
            server: server.to_owned(),
            direction,
            kind: summary.kind,
            method: Some(summary.method).filter(|method| !method.is_empty()),
            target: summary.target,
            id: summary.id,
            bytes: if summary.is_on_wire { payload.len() as u64 } else { 0 },
            call: observed.call.map(switchboard_host::CallNumber::get),
            request_frame: None,
            ms: observed.elapsed.map(|elapsed| elapsed.as_secs_f64() * 1_000.0),
            status: summary.status,
        };
        let mut kept = self.frames.lock();
        let number = kept.push(frame, &payload, summary.is_on_wire, key);
        // Inside of the lock, so that numbers ascend.
        self.last.send_replace(number);
    }
}

impl TrafficObserver for TrafficLog {
    fn is_watching(&self) -> bool {
        self.is_recording.load(Ordering::Relaxed)
    }

    fn observe(&self, source: &TrafficSource<'_>, frame: &ObservedFrame<'_>) {
        let direction = match frame.direction {
            Direction::Out => FrameDirection::Out,
            Direction::In => FrameDirection::In,
        };
        self.record(source.server.unwrap_or_default(), source.session, direction, frame);
    }
}

impl std::fmt::Debug for TrafficLog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TrafficLog").field("totals", &self.totals()).finish_non_exhaustive()
    }
}

/// Observes the clients of a served server, and records their frames in a log: in a lane for each principal, with the
/// directions as a client sees them. Pass it to
/// [`ServerBuilder::traffic_observer`](switchboard_session::server::ServerBuilder::traffic_observer).
#[derive(Debug, Clone)]
pub struct ClientTraffic {
    log: Arc<TrafficLog>,
}

impl ClientTraffic {
    /// Records into this log.
    pub fn new(log: Arc<TrafficLog>) -> Self {
        Self { log }
    }
}

impl TrafficObserver for ClientTraffic {
    fn is_watching(&self) -> bool {
        self.log.is_watching()
    }

    fn observe(&self, source: &TrafficSource<'_>, frame: &ObservedFrame<'_>) {
        let lane = source.principal.map_or_else(|| "clients".to_owned(), |name| format!("client {name}"));
        let direction = match frame.direction {
            Direction::Out => FrameDirection::In,
            Direction::In => FrameDirection::Out,
        };
        self.log.record(&lane, source.session, direction, frame);
    }
}

fn is_cancellation(observed: &ObservedFrame<'_>) -> bool {
    matches!(observed.body, switchboard_host::FrameBody::Cancelled { .. })
}

fn opposite(direction: FrameDirection) -> FrameDirection {
    match direction {
        FrameDirection::Out => FrameDirection::In,
        FrameDirection::In => FrameDirection::Out,
    }
}

fn unix_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
