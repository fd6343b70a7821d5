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
mod talk;
mod testing;

pub use difference::{Difference, DifferenceKind};
pub use error::{MAX_RECORDING_BYTES, RecordingError, SyntaxError};
pub use masking::{MASK, SecretMask};
pub use pattern::{ANY, PatternBindings, UnboundName};
pub use recording::{FrameDirection, FrameForm, RecordedFrame, RecordedServer, Recording};
pub use replay::{ReplayError, ReplayServer};
pub use talk::{ExpectedOutcome, Talk, TalkLine, TalkMessage, TalkRole, TalkSettings, TalkStep};
pub use testing::{IgnoredPath, IgnoredPathError, ServerTest, TestReport, TestStep, TestStepOutcome};
