//! Recordings: the frames of a session, each with its server, its direction and its time.
//!
//! ```text
//! # switchboard call add a=1 b=2
//! recording: 1
//! server: demo
//! revision: 2026-07-28                     the revision that this server spoke
//!
//! ~ @0 ms demo
//! > {"jsonrpc":"2.0","id":1,"method":"server/discover","params":{}}
//! ~ @3 ms
//! < {"jsonrpc":"2.0","id":1,"result":{}}
//! ```
//!
//! Invariant: writing and parsing returns the same frames byte for byte, whatever their text is.

use std::fmt::Write as _;
use std::sync::Arc;

use serde::de::IgnoredAny;
use serde_json::Value;
use switchboard_protocol::Revision;

use crate::document::{BodyLine, Document, IncludedFile, Mark, UnknownVariable, Variables, parse_json};
use crate::error::{MAX_RECORDING_BYTES, RecordingError, SyntaxError};
use crate::pattern::has_pattern;

/// The format in the header line `recording`.
const FORMAT: &str = "1";
/// The length of a line with the longest time.
const TIME_BYTES: usize = 32;
/// The name of the only server of a recording that names none.
const UNNAMED_SERVER: &str = "server";

/// The frames of a session with one or several servers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recording {
    /// What was recorded: one line.
    pub title: Option<String>,
    /// The servers, in the order of their first frames.
    pub servers: Vec<RecordedServer>,
    /// The frames, in the order in which they were sent.
    pub frames: Vec<RecordedFrame>,
}

/// A server of a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordedServer {
    /// The name under which the user knows it.
    pub name: Arc<str>,
    /// The revision that it spoke.
    pub revision: Option<Revision>,
}

/// One frame, as it was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordedFrame {
    /// The server at the other end.
    pub server: Arc<str>,
    /// The direction.
    pub direction: FrameDirection,
    /// Milliseconds since the recording began.
    pub at_ms: u64,
    /// The frame. What is not UTF-8 was replaced.
    pub text: String,
    /// How the text is meant.
    pub form: FrameForm,
    /// Whether it may change places with its neighbors of the same direction.
    pub any_order: bool,
}

/// The direction of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FrameDirection {
    /// From the client to the server.
    ToServer,
    /// From the server to the client.
    ToClient,
}

/// How the text of a frame is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FrameForm {
    /// Exactly this text was sent.
    Literal,
    /// A message with patterns, written by hand.
    Pattern,
}

impl From<switchboard_session::link::Direction> for FrameDirection {
    /// Converts the direction as a client sees it.
    fn from(direction: switchboard_session::link::Direction) -> Self {
        match direction {
            switchboard_session::link::Direction::Out => Self::ToServer,
            switchboard_session::link::Direction::In => Self::ToClient,
        }
    }
}

impl RecordedFrame {
    /// Creates a frame that was sent.
    pub fn new(
        server: impl Into<Arc<str>>,
        direction: FrameDirection,
        at_ms: u64,
        text: impl Into<String>,
    ) -> Self {
        let (server, text) = (server.into(), text.into());
        Self { server, direction, at_ms, text, form: FrameForm::Literal, any_order: false }
    }

    /// Returns the length of the frame in a recording, at most: with its time and the name of its server.
    pub fn written_len(&self) -> usize {
        let mut out = String::new();
        self.write(&mut out);
        out.len() + shown_name(&self.server).len() + TIME_BYTES
    }

    /// Returns the message as JSON, with its patterns; `None` for a frame that is not JSON.
    pub fn value(&self) -> Option<Value> {
        serde_json::from_str(&self.text).ok()
    }
}

impl RecordedServer {
    /// Creates a server.
    pub fn new(name: impl Into<Arc<str>>, revision: Option<Revision>) -> Self {
        Self { name: name.into(), revision }
    }
}

impl Recording {
    /// Creates a recording of these frames. Its servers are those of the frames.
    pub fn new(frames: Vec<RecordedFrame>) -> Self {
        let mut recording = Self { title: None, servers: Vec::new(), frames };
        recording.add_missing_servers();
        recording
    }

    /// Sets the title: the command that was recorded, for example.
    #[must_use]
    pub fn with_title(mut self, title: &str) -> Self {
        self.title =
            Some(title.split_whitespace().collect::<Vec<_>>().join(" ")).filter(|title| !title.is_empty());
        self
    }

    /// Sets the revision that a server spoke.
    pub fn set_revision(&mut self, server: &str, revision: Revision) {
        if let Some(known) = self.servers.iter_mut().find(|known| *known.name == *server) {
            known.revision = Some(revision);
        }
    }

    /// Returns the frames of one server.
    pub fn frames_of<'a>(&'a self, server: &'a str) -> impl Iterator<Item = &'a RecordedFrame> {
        self.frames.iter().filter(move |frame| *frame.server == *server)
    }

    /// Parses a recording.
    ///
    /// # Errors
    /// Returns an error if it is too large, is not text, or has a line that cannot be read.
    pub fn parse(bytes: &[u8]) -> Result<Self, RecordingError> {
        Self::parse_file("recording", bytes)
    }

    /// Parses a recording from a file of this name, which errors tell.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub fn parse_file(name: &str, bytes: &[u8]) -> Result<Self, RecordingError> {
        if bytes.len() > MAX_RECORDING_BYTES {
            return Err(RecordingError::TooLarge { bytes: bytes.len() });
        }
        let text = std::str::from_utf8(bytes).map_err(|error| RecordingError::NotText {
            line: bytes[..error.valid_up_to()].split(|byte| *byte == b'\n').count(),
        })?;
        let include = |at: &str, _: &str| Err(SyntaxError::new(at, "a recording includes no other files"));
        let document =
            Document::parse(&IncludedFile { name: name.to_owned(), text: text.to_owned() }, &include)?;
        let mut recording = Self { title: document.title.clone(), ..Self::default() };
        let variables = recording.read_header(&document)?;
        recording.read_body(&document, &variables)?;
        recording.add_missing_servers();
        Ok(recording)
    }

    fn read_header(&mut self, document: &Document) -> Result<Variables, RecordingError> {
        let mut variables = Variables::default();
        for line in &document.header {
            match line.key.as_str() {
                "recording" if line.value == FORMAT => {}
                "recording" => return Err(RecordingError::UnknownFormat { format: line.value.clone() }),
                "server" => {
                    let name = read_name(&line.at, &line.value)?;
                    if self.servers.iter().any(|known| known.name == name) {
                        return Err(
                            SyntaxError::new(&line.at, format!("server {name:?} is named twice")).into()
                        );
                    }
                    self.servers.push(RecordedServer { name, revision: None });
                }
                "revision" => {
                    let revision =
                        line.value.parse().map_err(|error: switchboard_protocol::UnknownRevision| {
                            SyntaxError::new(&line.at, error.to_string())
                        })?;
                    if self.servers.is_empty() {
                        self.servers.push(RecordedServer::new(UNNAMED_SERVER, None));
                    }
                    if let Some(server) = self.servers.last_mut() {
                        server.revision = Some(revision);
                    }
                }
                "role" => {}
                "let" => variables.define(line)?,
                other => {
                    let problem = format!(
                        "no header line of a recording is called {other:?}; they are recording, server, revision, let"
                    );
                    return Err(SyntaxError::new(&line.at, problem).into());
                }
            }
        }
        Ok(variables)
    }

    fn read_body(&mut self, document: &Document, variables: &Variables) -> Result<(), SyntaxError> {
        let first =
            self.servers.first().map_or_else(|| Arc::from(UNNAMED_SERVER), |server| Arc::clone(&server.name));
        let (mut server, mut at_ms) = (first, 0);
        for BodyLine { at, mark, text } in &document.body {
            let (direction, any_order, is_text) = match *mark {
                Mark::Client { any_order } => (FrameDirection::ToServer, any_order, false),
                Mark::ClientText => (FrameDirection::ToServer, false, true),
                Mark::Server { any_order } => (FrameDirection::ToClient, any_order, false),
                Mark::ServerText => (FrameDirection::ToClient, false, true),
                Mark::Time => {
                    let (time, name) = read_time(at, text)?;
                    at_ms = time;
                    if let Some(name) = name {
                        server = name;
                    }
                    continue;
                }
                Mark::Verb | Mark::Outcome => {
                    return Err(SyntaxError::new(at, "a recording has frames only: lines of `>` and `<`"));
                }
            };
            let (text, form) = match is_text {
                true => (read_string(at, text)?, FrameForm::Literal),
                false => read_message(at, text, variables)?,
            };
            self.frames.push(RecordedFrame {
                server: Arc::clone(&server),
                direction,
                at_ms,
                text,
                form,
                any_order,
            });
        }
        Ok(())
    }

    /// Lists the servers of frames that the header does not name.
    fn add_missing_servers(&mut self) {
        for frame in &self.frames {
            if !self.servers.iter().any(|server| server.name == frame.server) {
                self.servers.push(RecordedServer { name: Arc::clone(&frame.server), revision: None });
            }
        }
    }

    /// Returns the text of the recording.
    pub fn write(&self) -> String {
        let size: usize = self.frames.iter().map(|frame| frame.text.len() + 24).sum();
        let mut out = String::with_capacity(size + 256);
        if let Some(title) = &self.title {
            _ = writeln!(out, "# {title}");
        }
        _ = writeln!(out, "recording: {FORMAT}");
        for server in &self.servers {
            _ = writeln!(out, "server: {}", shown_name(&server.name));
            if let Some(revision) = server.revision {
                _ = writeln!(out, "revision: {revision}");
            }
        }
        out.push('\n');
        let mut server = self.servers.first().map(|server| &server.name);
        let mut at_ms = None;
        for frame in &self.frames {
            let is_other = server != Some(&frame.server);
            if is_other || at_ms != Some(frame.at_ms) {
                _ = write!(out, "~ @{} ms", frame.at_ms);
                if is_other {
                    _ = write!(out, " {}", shown_name(&frame.server));
                }
                out.push('\n');
                (server, at_ms) = (Some(&frame.server), Some(frame.at_ms));
            }
            frame.write(&mut out);
        }
        out
    }
}

impl RecordedFrame {
    fn write(&self, out: &mut String) {
        out.push(match self.direction {
            FrameDirection::ToServer => '>',
            FrameDirection::ToClient => '<',
        });
        if self.form == FrameForm::Pattern || is_plain_message(&self.text) {
            if self.any_order {
                out.push('?');
            }
            _ = writeln!(out, " {}", self.text);
        } else {
            _ = writeln!(out, "| {}", Value::from(self.text.as_str()));
        }
    }
}

/// Returns whether a text can be written as it is: one line of JSON in which nothing looks like a pattern.
fn is_plain_message(text: &str) -> bool {
    let fits_a_line = !text.contains(['\n', '\r']) && text.trim() == text && !text.is_empty();
    // A pattern may be written with escapes.
    let may_have_pattern = || ["<any>", "<id:", "\"...\"", "\\u00"].iter().any(|part| text.contains(part));
    fits_a_line
        && match may_have_pattern() {
            true => serde_json::from_str(text).is_ok_and(|value| !has_pattern(&value)),
            false => serde_json::from_str::<IgnoredAny>(text).is_ok(),
        }
}

fn read_message(at: &str, text: &str, variables: &Variables) -> Result<(String, FrameForm), SyntaxError> {
    let is_filled = !variables.is_empty() && text.contains("\"$");
    if !is_filled && is_plain_message(text) {
        return Ok((text.to_owned(), FrameForm::Literal));
    }
    let value = parse_json(at, text)?;
    let filled = if is_filled { variables.fill(at, value, UnknownVariable::Keep)? } else { value };
    let form = if has_pattern(&filled) { FrameForm::Pattern } else { FrameForm::Literal };
    Ok((if is_filled { filled.to_string() } else { text.to_owned() }, form))
}

fn read_string(at: &str, json: &str) -> Result<String, SyntaxError> {
    serde_json::from_str(json)
        .map_err(|error| SyntaxError::new(at, format!("expected a JSON string: {error}")))
}

/// Reads `@120 ms demo`.
fn read_time(at: &str, text: &str) -> Result<(u64, Option<Arc<str>>), SyntaxError> {
    let error =
        || SyntaxError::new(at, "a time is written `~ @120 ms`, with the name of the server if it changes");
    let (time, rest) = text.strip_prefix('@').and_then(|text| text.split_once(" ms")).ok_or_else(error)?;
    let time = time.parse().map_err(|_| error())?;
    match rest.strip_prefix(' ') {
        Some(name) => Ok((time, Some(read_name(at, name)?))),
        None if rest.is_empty() => Ok((time, None)),
        None => Err(error()),
    }
}

fn read_name(at: &str, text: &str) -> Result<Arc<str>, SyntaxError> {
    match text.starts_with('"') {
        true => Ok(read_string(at, text)?.into()),
        false => Ok(text.into()),
    }
}

/// Returns a name as the format writes it: as it is, or as a JSON string if a line could not hold it.
fn shown_name(name: &str) -> String {
    let is_plain = !name.is_empty()
        && name.trim() == name
        && !name.starts_with('"')
        && !name.chars().any(char::is_control);
    if is_plain { name.to_owned() } else { Value::from(name).to_string() }
}
