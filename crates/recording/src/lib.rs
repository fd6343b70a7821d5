//! Recorded MCP sessions: the text format of talks, value patterns, and the masking of secrets.
//!
//! [`Recording`] holds the frames of a session, [`Talk`] a conversation that a test plays. Both are read from the same kind
//! of file, whose values may be patterns ([`PatternBindings`]). Everything here works on text: files are the caller's.

mod difference;
mod document;
mod error;
mod masking;
mod pattern;
mod recording;
mod talk;

pub use difference::{Difference, DifferenceKind};
pub use error::{RecordingError, SyntaxError};
pub use masking::{MASK, SecretMask};
pub use pattern::{ANY, PatternBindings, UnboundName};
pub use recording::{
    FrameDirection, FrameForm, MAX_RECORDING_BYTES, RecordedFrame, RecordedServer, Recording,
};
pub use talk::{ExpectedOutcome, Role, Talk, TalkLine, TalkMessage, TalkSettings, TalkStep};
