//! One output stream as something to lay text out on: how wide it is, whether it has colour, and writing to it.

use std::borrow::Cow;
use std::env;
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;

use crate::sanitize::printable;

/// How wide text is laid out where nothing says otherwise.
const WIDTH: usize = 80;
/// Narrower than this nothing can be laid out.
const NARROWEST: usize = 20;
/// What one result may take of a terminal.
const MOST: usize = 1 << 20;

/// An output stream.
#[derive(Debug, Clone)]
pub struct Paper {
    /// Columns.
    pub width: usize,
    /// Whether a person looks at it.
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

    /// The same with so many columns left out, for what stands behind an indent.
    pub fn narrower(&self, columns: usize) -> Self {
        Self { width: self.width.saturating_sub(columns), ..self.clone() }
    }

    /// How wide running text may be: long lines are hard to read.
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

    /// Writes bytes to standard output as they are, and nothing else.
    ///
    /// # Errors
    /// When nobody reads any more.
    pub fn print_bytes(&self, bytes: &[u8]) -> io::Result<()> {
        let mut out = io::stdout().lock();
        out.write_all(bytes)?;
        out.flush()
    }

    /// Writes to standard output, and to a terminal no more than a person could read.
    ///
    /// # Errors
    /// When nobody reads any more.
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
