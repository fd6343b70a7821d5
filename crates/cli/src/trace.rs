//! Prints the messages of a session: one line per message, secrets masked, terminal escapes sanitized.
//!
//! Masks members by name, at any depth, and values of the variables and headers given to the server.

use std::sync::Arc;

use switchboard::transport::Direction;
use switchboard_recording::SecretMask;

use crate::output::Screen;
use crate::sanitize::one_line;

/// Maximum number of bytes printed per message.
const MAX_SHOWN: usize = 64 * 1024;

/// Prints messages to standard error.
#[derive(Debug)]
pub(crate) struct Trace {
    screen: Arc<Screen>,
    /// Name of the server, if there may be several.
    label: Option<String>,
    mask: SecretMask,
}

impl Trace {
    /// Creates a trace that masks these values.
    pub(crate) fn new(screen: Arc<Screen>, values: impl IntoIterator<Item = String>) -> Self {
        Self { screen, label: None, mask: SecretMask::new(values) }
    }

    /// Prints the name of the server before each message.
    #[must_use]
    pub(crate) fn with_label(mut self, server: &str) -> Self {
        self.label = Some(one_line(server));
        self
    }

    pub(crate) fn print(&self, direction: Direction, frame: &[u8]) {
        let out = &self.screen.out;
        let arrow = match direction {
            Direction::Out => out.green("→"),
            Direction::In => out.cyan("←"),
        };
        let text = String::from_utf8_lossy(frame);
        let text = self.mask.mask(&text);
        let shown = &text[..text.floor_char_boundary(MAX_SHOWN)];
        let more = text.len() - shown.len();
        let tail = if more > 0 { format!(" … {more} more bytes") } else { String::new() };
        let label = self.label.as_ref().map(|label| format!("{} ", out.dim(label))).unwrap_or_default();
        self.screen.say(&format!("{label}{arrow} {}{tail}", one_line(shown)));
    }
}
