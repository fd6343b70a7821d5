//! Recorded MCP sessions: their text format, the masking of secrets, replay as a server, and comparison with a server.
//!
//! [`Recording`] holds the frames of a session, [`Talk`] a conversation that a test plays. Both are read from the same kind
//! of file, whose values may be patterns ([`PatternBindings`]). [`ReplayServer`] answers as a recorded server did, [`ServerTest`]
//! compares a server with a recording. Everything here works on text: files and connections are the caller's.

mod conversation;
mod difference;
mod document;
mod error;
mod masking;
mod pattern;
mod recording;
mod replay;
mod server_test;
mod talk;

pub use difference::{Difference, DifferenceKind};
pub use error::{RecordingError, SyntaxError};
pub use masking::{MASK, SecretMask};
pub use pattern::{ANY, PatternBindings, UnboundName};
pub use recording::{
    FrameDirection, FrameForm, MAX_RECORDING_BYTES, RecordedFrame, RecordedServer, Recording,
};
pub use replay::{ReplayError, ReplayServer};
pub use server_test::{IgnoredPath, IgnoredPathError, ServerTest, TestReport, TestStep, TestStepOutcome};
pub use talk::{ExpectedOutcome, Role, Talk, TalkLine, TalkMessage, TalkSettings, TalkStep};
