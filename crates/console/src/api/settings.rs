//! What a console may do.

use crate::contract::{ConsoleMode, UnixMs};

/// What a console is and may do.
#[derive(Clone, Debug)]
pub(crate) struct ConsoleSettings {
    pub(crate) mode: ConsoleMode,
    /// Routes that change something are refused.
    pub(crate) read_only: bool,
    /// Programs may be added to the configuration.
    pub(crate) allow_config_edit: bool,
    pub(crate) started_at_ms: UnixMs,
}
