//! Output stream with its width and colors: styles text and writes it.

use std::borrow::Cow;
use std::env;
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;

use crate::sanitize::printable;

/// The default width in columns.
const DEFAULT_WIDTH: usize = 80;
/// The smallest width in columns that text is formatted for.
const MIN_WIDTH: usize = 20;
/// The largest text in bytes that is written to a terminal.
const TERMINAL_LIMIT: usize = 1 << 20;

/// Standard output or standard error, with its width and colors.
#[derive(Debug, Clone)]
pub struct OutputStream {
    /// Width in columns.
    pub width: usize,
    /// Whether it is a terminal.
    pub is_terminal: bool,
    has_color: bool,
}

impl OutputStream {
    /// Returns the stream of standard output.
    pub fn stdout() -> Self {
        Self::new(io::stdout())
    }

    /// Returns the stream of standard error.
    pub fn stderr() -> Self {
        Self::new(io::stderr())
    }

    fn new(stream: impl AsFd + IsTerminal) -> Self {
        let is_terminal = stream.is_terminal();
        let from_variable =
            env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok()).filter(|&columns| columns > 0);
        let from_terminal = || {
            let size = rustix::termios::tcgetwinsize(&stream).ok()?;
            Some(usize::from(size.ws_col)).filter(|&columns| is_terminal && columns > 0)
        };
        let width = from_variable.or_else(from_terminal).unwrap_or(DEFAULT_WIDTH).max(MIN_WIDTH);
        let is_disabled = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let is_dumb = env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self { width, is_terminal, has_color: is_terminal && !is_disabled && !is_dumb }
    }

    /// Creates a stream of this width without color, which is not a terminal.
    pub fn plain(width: usize) -> Self {
        Self { width, is_terminal: false, has_color: false }
    }

    /// Creates a terminal of this width without color.
    pub fn terminal(width: usize) -> Self {
        Self { is_terminal: true, ..Self::plain(width) }
    }

    /// Returns the stream with fewer columns, for indented text.
    pub fn narrower(&self, columns: usize) -> Self {
        Self { width: self.width.saturating_sub(columns), ..self.clone() }
    }

    /// Returns the width for running text: at most 100 columns, because long lines are hard to read.
    pub fn prose_width(&self) -> usize {
        self.width.min(100)
    }

    /// Returns the text in bold.
    pub fn bold(&self, text: &str) -> String {
        self.paint("1", text)
    }

    /// Returns the text dimmed.
    pub fn dim(&self, text: &str) -> String {
        self.paint("2", text)
    }

    /// Returns the text in bold red.
    pub fn red(&self, text: &str) -> String {
        self.paint("1;31", text)
    }

    /// Returns the text in green.
    pub fn green(&self, text: &str) -> String {
        self.paint("32", text)
    }

    /// Returns the text in yellow.
    pub fn yellow(&self, text: &str) -> String {
        self.paint("33", text)
    }

    /// Returns the text in cyan.
    pub fn cyan(&self, text: &str) -> String {
        self.paint("36", text)
    }

    /// Returns whether text is written in color.
    pub fn has_color(&self) -> bool {
        self.has_color
    }

    /// Returns the text in black on white, whatever the colors of the terminal are.
    pub fn black_on_white(&self, text: &str) -> String {
        self.paint("38;5;16;48;5;231", text)
    }

    fn paint(&self, color: &str, text: &str) -> String {
        if !self.has_color {
            return text.to_owned();
        }
        // Line by line, so that a line break is never colored.
        let paint = |line: &str| {
            let body = line.trim_end_matches('\n');
            let end = &line[body.len()..];
            if body.is_empty() { end.to_owned() } else { format!("\x1b[{color}m{body}\x1b[0m{end}") }
        };
        text.split_inclusive('\n').map(paint).collect()
    }

    /// Returns result text unchanged for a pipe, with control and bidirectional characters escaped for a terminal.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.is_terminal { printable(text) } else { Cow::Borrowed(text) }
    }

    /// Writes bytes to standard output unchanged.
    ///
    /// # Errors
    /// Returns an error when the stream cannot be written to, for example because its reader is gone.
    pub fn print_bytes(&self, bytes: &[u8]) -> io::Result<()> {
        let mut out = io::stdout().lock();
        out.write_all(bytes)?;
        out.flush()
    }

    /// Writes text to standard output, ending with a newline; a terminal gets at most 1 MiB of it.
    ///
    /// # Errors
    /// Returns an error when the stream cannot be written to, for example because its reader is gone.
    pub fn print(&self, text: &str) -> io::Result<()> {
        let mut out = io::stdout().lock();
        let shown = if self.is_terminal { head(text, TERMINAL_LIMIT) } else { text };
        out.write_all(shown.as_bytes())?;
        if !shown.is_empty() && !shown.ends_with('\n') {
            out.write_all(b"\n")?;
        }
        if shown.len() < text.len() {
            let more = text.len() - shown.len();
            let note = format!("… {more} more bytes: redirect the output to a file to get all of it");
            writeln!(out, "{}", self.yellow(&note))?;
        }
        out.flush()
    }
}

/// Returns at most this many bytes of a text.
fn head(text: &str, limit: usize) -> &str {
    &text[..text.floor_char_boundary(limit)]
}
