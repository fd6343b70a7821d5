//! Events: a numbered, bounded log, and readers that follow it.

mod event_key;
mod event_log;
mod event_reader;
mod ring;

pub(crate) use event_log::EventLog;
pub(crate) use event_reader::EventReader;
