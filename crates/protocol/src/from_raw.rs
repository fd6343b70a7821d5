//! Reading whole messages: compiled here once, instead of again in every crate that reads them.

use crate::raw::{DecodeError, Raw};

/// Texts up to this many bytes are read as slices.
const SMALL: usize = 16 * 1024;

/// A part of the protocol that is read from text.
///
/// The same as [`Raw::decode`]. That is generic, and its code is made anew in every crate that calls it; this is not.
pub trait FromRaw: Sized {
    /// Reads it.
    ///
    /// # Errors
    /// Names the place that does not fit.
    fn from_raw(raw: &Raw) -> Result<Self, DecodeError>;
}

macro_rules! from_raw {
    ($($type:ident),+ $(,)?) => {$(
        impl FromRaw for crate::$type {
            fn from_raw(raw: &Raw) -> Result<Self, DecodeError> {
                raw.decode()
            }
        }
    )+};
}

from_raw! {
    Acknowledged, CacheHints, CancelledParams, ClientCapabilities, CompleteResult, CreateMessageParams,
    CreateTaskResult, DetailedTask, DiscoverResult, ElicitParams, GetPromptResult, Implementation, InitializeResult,
    InputRequired, LegacyCreateTaskResult, LegacyTaskState, LogMessage, ProgressParams, Prompt, ReadResourceResult,
    Resource, ResourceTemplate,
}

impl FromRaw for crate::CallToolResult {
    fn from_raw(raw: &Raw) -> Result<Self, DecodeError> {
        // Looking for slices is one more pass, which large results are better off without.
        if raw.len() > SMALL { raw.decode() } else { Self::read(raw) }
    }
}

impl FromRaw for crate::Tool {
    fn from_raw(raw: &Raw) -> Result<Self, DecodeError> {
        Self::read(raw)
    }
}
