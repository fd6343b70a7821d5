//! An output stream: its width, its colors, and writing to it.

use std::borrow::Cow;
use std::env;
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;

use crate::sanitize::printable;

/// The default width in columns.
const WIDTH: usize = 80;
/// The smallest width in columns that text is laid out for.
const NARROWEST: usize = 20;
/// The largest text in bytes that is written to a terminal.
const MOST: usize = 1 << 20;

/// An output stream.
#[derive(Debug, Clone)]
pub struct Paper {
    /// Width in columns.
    pub width: usize,
    /// Whether it is a terminal.
    pub is_terminal: bool,
    has_colour: bool,
}

impl Paper {
    /// Standard output.
    pub fn stdout() -> Self {
        Self::of(io::stdout())
    }

    /// Standard error.
    pub fn stderr() -> Self {
        Self::of(io::stderr())
    }

    fn of(stream: impl AsFd + IsTerminal) -> Self {
        let is_terminal = stream.is_terminal();
        let told =
            env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok()).filter(|&columns| columns > 0);
        let asked = || {
            let size = rustix::termios::tcgetwinsize(&stream).ok()?;
            Some(usize::from(size.ws_col)).filter(|&columns| is_terminal && columns > 0)
        };
        let width = told.or_else(asked).unwrap_or(WIDTH).max(NARROWEST);
        let forbidden = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self { width, is_terminal, has_colour: is_terminal && !forbidden && !dumb }
    }

    /// A stream of this width without color that is not a terminal.
    pub fn plain(width: usize) -> Self {
        Self { width, is_terminal: false, has_colour: false }
    }

    /// Returns the stream with fewer columns, for text behind an indent.
    pub fn narrower(&self, columns: usize) -> Self {
        Self { width: self.width.saturating_sub(columns), ..self.clone() }
    }

    /// Returns the width of running text: at most 100 columns, because long lines are hard to read.
    pub fn prose(&self) -> usize {
        self.width.min(100)
    }

    /// The text in bold.
    pub fn bold(&self, text: &str) -> String {
        self.paint("1", text)
    }

    /// The text dimmed.
    pub fn dim(&self, text: &str) -> String {
        self.paint("2", text)
    }

    /// The text in bold red.
    pub fn red(&self, text: &str) -> String {
        self.paint("1;31", text)
    }

    /// The text in green.
    pub fn green(&self, text: &str) -> String {
        self.paint("32", text)
    }

    /// The text in yellow.
    pub fn yellow(&self, text: &str) -> String {
        self.paint("33", text)
    }

    /// The text in cyan.
    pub fn cyan(&self, text: &str) -> String {
        self.paint("36", text)
    }

    fn paint(&self, colour: &str, text: &str) -> String {
        if !self.has_colour {
            return text.to_owned();
        }
        // Line by line, so that a line break is never coloured.
        let paint = |line: &str| {
            let body = line.trim_end_matches('\n');
            let end = &line[body.len()..];
            if body.is_empty() { end.to_owned() } else { format!("\x1b[{colour}m{body}\x1b[0m{end}") }
        };
        text.split_inclusive('\n').map(paint).collect()
    }

    /// Text of a result: as it is for a pipe, with control and bidirectional characters made visible for a terminal.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.is_terminal { printable(text) } else { Cow::Borrowed(text) }
    }

    /// Writes bytes to standard output unchanged.
    ///
    /// # Errors
    /// When the stream cannot be written to, for example because its reader is gone.
    pub fn print_bytes(&self, bytes: &[u8]) -> io::Result<()> {
        let mut out = io::stdout().lock();
        out.write_all(bytes)?;
        out.flush()
    }

    /// Writes text to standard output, ending with a newline; a terminal gets at most 1 MiB of it.
    ///
    /// # Errors
    /// When the stream cannot be written to, for example because its reader is gone.
    pub fn print(&self, text: &str) -> io::Result<()> {
        let mut out = io::stdout().lock();
        let shown = if self.is_terminal { head(text, MOST) } else { text };
        out.write_all(shown.as_bytes())?;
        if !shown.is_empty() && !shown.ends_with('\n') {
            out.write_all(b"\n")?;
        }
        if shown.len() < text.len() {
            let more = text.len() - shown.len();
            let note = format!("… {more} more bytes: send the output to a file to have them all");
            writeln!(out, "{}", self.yellow(&note))?;
        }
        out.flush()
    }
}

/// At most this many bytes of a text.
fn head(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}
