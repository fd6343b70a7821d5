//! Calls: starting, cancelling, results, completion.

mod call_record;
mod call_runner;
mod call_table;
mod complete;
mod prepared_call;
mod routes;

pub(super) use call_table::CallTable;
pub(super) use routes::routes;
