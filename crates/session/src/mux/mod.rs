//! Multiplexes exchanges over a pipe: writes requests, matches responses to their callers, cancels dropped requests.
//!
//! ```text
//!   open ──▶ inflight ──▶ outbox ══▶ outlet        (the flusher task)
//!   Pending ◀── inflight ◀── reader ◀══ inlet      (the reading task)
//!                              └──▶ queue ──▶ Inbound
//! ```
//!
//! Invariants: an entry is in the table before the first byte of its request is written, and leaves it on every
//! exit: response, error, drop, end of the pipe. Nothing here reads a payload or knows a method: the meaning of
//! notifications is passed in as `NoteRules`.

mod encode;
mod inflight;
mod limits;
mod mux_link;
mod note_rules;
mod reader;

#[cfg(feature = "server")]
pub(crate) use encode::answer_text;
pub(crate) use encode::{put_answer, put_note, put_request};
pub(crate) use inflight::Inflight;
pub use limits::ConnectionLimits;
pub use mux_link::MuxLink;
pub(crate) use note_rules::{CancelNote, NoteClass, NoteKind, NoteOwner, NoteRules};
pub(crate) use reader::{FrameHandler, read};
