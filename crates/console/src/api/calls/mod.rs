//! Calls: starting, cancelling, results, completion.

mod call_record;
mod call_runner;
mod call_table;
mod complete;
mod prepared_call;
mod routes;

pub(super) use call_table::{CallTable, MAX_FINISHED_CALLS};
pub(super) use routes::{PREVIEW_BYTES, routes};
