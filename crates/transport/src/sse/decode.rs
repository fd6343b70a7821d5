//! Decoder for server-sent events, the event stream format of the HTML standard.
//!
//! Invariants: chunk boundaries do not matter; an event beyond the limit is dropped, and its JSON-RPC id is recovered if
//! possible; no recursion; no more than the limit is buffered. The decoder does not parse JSON except for that id; data
//! stays bytes.
//!
//! Not a library, because those decode to a `String`: `eventsource-stream` and `sse-stream` buffer an event without a limit, and
//! invalid UTF-8 ends the whole stream. Here an oversized or damaged event fails one call, and `last_id` stays valid for
//! resuming.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf, BufMut, Bytes, BytesMut};
use switchboard_protocol::jsonrpc::{MessageRecovery, RecoveredMessage};

/// The default limit on the data of one event.
pub const DEFAULT_EVENT_LIMIT: usize = 16 * 1024 * 1024;

/// Multiples of the limit after which an oversized event is reported before it ends.
const ENDLESS: usize = 8;
/// Bytes of a line that suffice to tell its field: `data:` after a byte order mark, and some spare.
const PREFIX: usize = 16;
/// The longest event id. No server accepts a longer header.
const MAX_ID: usize = 8 * 1024;
/// Data is not copied out of chunks up to this size.
const SHARED_CHUNK: usize = 64 * 1024;
/// Bounds of the reconnection delay that a server may set.
const RETRY: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(30));

const BOM: &[u8] = b"\xef\xbb\xbf";

/// Decodes an event stream: [`push`](Self::push) bytes, then call [`next_item`](Self::next_item) until it returns `None`.
///
/// ```
/// use bytes::Bytes;
/// use switchboard::transport::sse::{Decoder, SseItem};
///
/// let mut decoder = Decoder::new();
/// decoder.push(Bytes::from_static(b": hello\nid: 7\ndata: {\"id\""));
/// assert!(decoder.next_item().is_none());
/// decoder.push(Bytes::from_static(b":1}\n\n"));
/// let Some(SseItem::Event(event)) = decoder.next_item() else { panic!() };
/// assert_eq!((&*event.name, &event.data[..]), ("message", &br#"{"id":1}"#[..]));
/// assert_eq!(decoder.last_id(), Some("7"));
/// ```
pub struct Decoder {
    limit: usize,
    /// Bytes not decoded yet, and the size of their chunk.
    input: Bytes,
    chunk: usize,
    /// The beginning of an incomplete line.
    line: BytesMut,
    mode: LineMode,
    /// Whether the first line is still to come, which may begin with a byte order mark.
    first: bool,
    /// Whether the last line ended with a carriage return, so that a newline now belongs to it.
    after_return: bool,
    name: Cow<'static, str>,
    data: EventData,
    /// The id of the current event, and of the last complete one.
    written_id: Option<Arc<str>>,
    last_id: Option<Arc<str>>,
    retry: Option<Duration>,
    oversized: Option<OversizedEvent>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum LineMode {
    /// The line is buffered until it ends.
    Line,
    /// The rest of the line is discarded; data of an oversized event is searched for a JSON-RPC id.
    Rest { salvage: bool },
}

enum EventData {
    None,
    One(Bytes),
    Many(BytesMut),
}

#[derive(Default)]
struct OversizedEvent {
    recovery: MessageRecovery,
    bytes: usize,
    reported: bool,
}

/// An item of the stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SseItem {
    /// An event.
    Event(SseEvent),
    /// An event that was too large.
    Lost(LostEvent),
}

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SseEvent {
    /// Its name, `message` if it has none.
    pub name: Cow<'static, str>,
    /// Its data, lines joined by newlines; may be empty. Not checked to be UTF-8.
    pub data: Bytes,
    /// The id in force: its own, or the one an earlier event set.
    pub id: Option<Arc<str>>,
}

/// An event that was discarded because of its size.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LostEvent {
    /// The recovered parts of its message.
    pub recovered: RecoveredMessage,
    /// The limit it exceeded.
    pub limit: usize,
}

impl Default for Decoder {
    fn default() -> Self {
        Self {
            limit: DEFAULT_EVENT_LIMIT,
            input: Bytes::new(),
            chunk: 0,
            line: BytesMut::new(),
            mode: LineMode::Line,
            first: true,
            after_return: false,
            name: Cow::Borrowed(""),
            data: EventData::None,
            written_id: None,
            last_id: None,
            retry: None,
            oversized: None,
        }
    }
}

impl Decoder {
    /// Returns a decoder for a new stream.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the limit on the data of one event.
    #[must_use]
    pub fn with_limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// Sets the id from which a stream is resumed.
    #[must_use]
    pub fn with_last_id(mut self, id: Option<Arc<str>>) -> Self {
        self.written_id.clone_from(&id);
        self.last_id = id;
        self
    }

    /// Adds bytes.
    pub fn push(&mut self, chunk: Bytes) {
        self.input =
            if self.input.is_empty() { chunk } else { [&self.input[..], &chunk[..]].concat().into() };
        self.chunk = self.input.len();
    }

    /// Returns the id to resume from: that of the last complete event, even without data.
    pub fn last_id(&self) -> Option<&str> {
        self.last_id.as_deref()
    }

    /// Returns the reconnection delay that the server last set, between 250 ms and 30 s.
    pub fn retry(&self) -> Option<Duration> {
        self.retry
    }

    /// Returns the next item, or `None` when more bytes are needed. An incomplete last event is dropped.
    ///
    /// One call processes no more than the bytes that were pushed.
    pub fn next_item(&mut self) -> Option<SseItem> {
        while !self.input.is_empty() {
            if std::mem::take(&mut self.after_return) && self.input[0] == b'\n' {
                self.input.advance(1);
                continue;
            }
            let item = match memchr::memchr2(b'\n', b'\r', &self.input) {
                Some(end) => {
                    self.after_return = self.input[end] == b'\r';
                    let line = self.input.split_to(end);
                    self.input.advance(1);
                    self.end_line(line)
                }
                None => {
                    let begun = std::mem::take(&mut self.input);
                    self.add_to_line(&begun);
                    None
                }
            };
            if let Some(item) = item.or_else(|| self.endless()) {
                return Some(item);
            }
        }
        None
    }

    fn end_line(&mut self, end: Bytes) -> Option<SseItem> {
        if self.mode == LineMode::Line && self.line.is_empty() && end.len() <= self.room() {
            return self.read_line(end);
        }
        self.add_to_line(&end);
        match std::mem::replace(&mut self.mode, LineMode::Line) {
            LineMode::Line => {
                let line = self.line.split().freeze();
                self.read_line(line)
            }
            LineMode::Rest { salvage } => {
                self.first = false;
                self.consume(b"\n", salvage);
                None
            }
        }
    }

    /// Returns how long a line may be: the remaining data limit, and at least the longest id.
    fn room(&self) -> usize {
        let used = if self.oversized.is_some() { self.limit } else { self.data.len() };
        self.limit.saturating_sub(used).max(MAX_ID).saturating_add(PREFIX)
    }

    /// Buffers part of a line, or begins to discard it if it grows too long.
    fn add_to_line(&mut self, part: &[u8]) {
        if let LineMode::Rest { salvage } = self.mode {
            return self.consume(part, salvage);
        }
        let fits = self.line.len() + part.len() <= self.room();
        let kept = if fits { part.len() } else { PREFIX.saturating_sub(self.line.len()).min(part.len()) };
        self.line.extend_from_slice(&part[..kept]);
        if self.first && self.line.len() >= BOM.len() {
            self.first = false;
            if self.line.starts_with(BOM) {
                self.line.advance(BOM.len());
            }
        }
        if self.line.first() == Some(&b':') {
            let line = self.line.split();
            self.mode = LineMode::Rest { salvage: false };
            self.consume(&line, false);
            self.consume(&part[kept..], false);
        } else if !fits {
            let line = self.line.split();
            let name = if line.starts_with(b"data:") { b"data:".len() } else { 0 };
            let salvage = name > 0;
            self.mode = LineMode::Rest { salvage };
            self.overflow();
            self.consume(&line[..name], false);
            self.consume(&line[name..], salvage);
            self.consume(&part[kept..], salvage);
        }
    }

    /// Reads a whole line.
    fn read_line(&mut self, mut line: Bytes) -> Option<SseItem> {
        if std::mem::take(&mut self.first) && line.starts_with(BOM) {
            line.advance(BOM.len());
        }
        if line.is_empty() {
            return self.end_event();
        }
        let colon = memchr::memchr(b':', &line).unwrap_or(line.len());
        let mut value = line.split_off(colon);
        if value.starts_with(b": ") {
            value.advance(2);
        } else if !value.is_empty() {
            value.advance(1);
        }
        self.consume(&line, false);
        match &line[..] {
            b"data" => self.add_data(value),
            b"event" => self.name = event_name(&value),
            b"id" if value.len() <= MAX_ID && !value.contains(&0) => {
                let id = String::from_utf8_lossy(&value);
                self.written_id = Some(id).filter(|id| !id.is_empty()).map(Arc::from);
            }
            b"retry" => self.retry = milliseconds(&value).or(self.retry),
            // A comment, which is a line with an empty field name, or an unknown field.
            _ => self.consume(&value, false),
        }
        None
    }

    fn add_data(&mut self, value: Bytes) {
        if self.oversized.is_some() || self.data.len() + value.len() > self.limit {
            self.overflow();
            self.consume(&value, true);
            return self.consume(b"\n", true);
        }
        self.data = match std::mem::replace(&mut self.data, EventData::None) {
            // A small event must not keep a large chunk alive.
            EventData::None if self.chunk > SHARED_CHUNK && value.len() < self.chunk / 8 => {
                EventData::One(Bytes::copy_from_slice(&value))
            }
            EventData::None => EventData::One(value),
            EventData::One(first) => EventData::Many(joined(BytesMut::from(first), &value)),
            EventData::Many(lines) => EventData::Many(joined(lines, &value)),
        };
    }

    fn end_event(&mut self) -> Option<SseItem> {
        self.last_id.clone_from(&self.written_id);
        let name = std::mem::replace(&mut self.name, Cow::Borrowed(""));
        let data = match std::mem::replace(&mut self.data, EventData::None) {
            _ if self.oversized.is_some() => {
                let oversized = self.oversized.take().filter(|oversized| !oversized.reported)?;
                let recovered = oversized.recovery.finish();
                return Some(SseItem::Lost(LostEvent { recovered, limit: self.limit }));
            }
            EventData::None => return None,
            EventData::One(data) => data,
            EventData::Many(lines) => lines.freeze(),
        };
        let name = if name.is_empty() { Cow::Borrowed("message") } else { name };
        Some(SseItem::Event(SseEvent { name, data, id: self.last_id.clone() }))
    }

    /// Begins to discard the current event.
    fn overflow(&mut self) {
        if self.oversized.is_none() {
            let kept = std::mem::replace(&mut self.data, EventData::None);
            self.oversized = Some(OversizedEvent::default());
            self.consume(kept.as_slice(), true);
        }
    }

    /// Counts bytes of an oversized event, and searches them for an id as long as it does not count as endless.
    fn consume(&mut self, bytes: &[u8], salvage: bool) {
        let most = self.limit.saturating_mul(ENDLESS);
        let Some(oversized) = &mut self.oversized else { return };
        if salvage {
            let searched = most.saturating_sub(oversized.bytes).min(bytes.len());
            oversized.recovery.feed(&bytes[..searched]);
        }
        oversized.bytes = oversized.bytes.saturating_add(bytes.len());
    }

    /// Reports an oversized event that does not end, once; the rest of it is passed over.
    fn endless(&mut self) -> Option<SseItem> {
        let most = self.limit.saturating_mul(ENDLESS);
        let oversized = self.oversized.as_mut().filter(|one| !one.reported && one.bytes > most)?;
        oversized.reported = true;
        let recovered = std::mem::take(&mut oversized.recovery).finish();
        Some(SseItem::Lost(LostEvent { recovered, limit: self.limit }))
    }
}

impl fmt::Debug for Decoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoder")
            .field("limit", &self.limit)
            .field("last_id", &self.last_id)
            .finish_non_exhaustive()
    }
}

impl EventData {
    fn as_slice(&self) -> &[u8] {
        match self {
            Self::None => &[],
            Self::One(data) => data,
            Self::Many(lines) => lines,
        }
    }

    fn len(&self) -> usize {
        self.as_slice().len()
    }
}

fn joined(mut lines: BytesMut, line: &[u8]) -> BytesMut {
    lines.put_u8(b'\n');
    lines.extend_from_slice(line);
    lines
}

fn event_name(value: &[u8]) -> Cow<'static, str> {
    match value {
        b"message" => Cow::Borrowed("message"),
        other => Cow::Owned(String::from_utf8_lossy(other).into_owned()),
    }
}

fn milliseconds(value: &[u8]) -> Option<Duration> {
    let digits = std::str::from_utf8(value).ok().filter(|text| !text.is_empty())?;
    let all = digits.bytes().all(|byte| byte.is_ascii_digit());
    // Only a number too large for the type can fail here.
    let number = all.then(|| digits.parse().unwrap_or(u64::MAX))?;
    Some(Duration::from_millis(number).clamp(RETRY.0, RETRY.1))
}

#[cfg(test)]
mod tests;
