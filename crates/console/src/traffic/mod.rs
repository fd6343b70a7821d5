//! Traffic: a bounded log of the frames between the host and its servers, or between a gateway and its clients.
//!
//! ```text
//!   host ── TrafficObserver ──▶ TrafficLog { KeptFrames } ──▶ pages, payloads, exports
//!                                    └─ FrameBatches ──▶ event stream
//! ```
//!
//! Invariant: a payload leaves this folder only through [`PayloadMask`].

mod frame_batches;
mod frame_summary;
mod kept_frames;
mod payload_mask;
mod recording_file;
mod traffic_log;

pub(crate) use frame_batches::FrameBatches;
pub(crate) use payload_mask::ValueMask;
pub(crate) use recording_file::open_recording;
pub(crate) use traffic_log::PayloadError;
pub use traffic_log::{ClientTraffic, TrafficLog};
