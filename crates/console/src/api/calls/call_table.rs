//! The calls of the console: those that run, and the last ones that have finished.

use std::collections::VecDeque;
use std::sync::Arc;

use http::StatusCode;
use parking_lot::Mutex;

use super::call_record::CallRecord;
use crate::contract::{ApiError, CallSnapshot, ConsoleEvent};
use crate::events::EventLog;

/// Calls that run at once.
const MAX_RUNNING: usize = 32;
/// Finished calls that are kept.
pub(crate) const MAX_FINISHED_CALLS: usize = 200;
/// Bytes of requests, results and log messages of finished calls that are kept. The last call is kept in any case.
const MAX_BYTES: usize = 64 << 20;

/// The calls, oldest first.
#[derive(Debug)]
pub(crate) struct CallTable {
    events: EventLog,
    // Held while an event is published, so that the events of a call are in order.
    calls: Mutex<VecDeque<Arc<CallRecord>>>,
}

impl CallTable {
    pub(crate) fn new(events: EventLog) -> Self {
        Self { events, calls: Mutex::default() }
    }

    /// Returns all calls, oldest first.
    pub(crate) fn snapshots(&self) -> Vec<CallSnapshot> {
        self.calls.lock().iter().map(|call| call.snapshot()).collect()
    }

    /// Returns a call.
    ///
    /// # Errors
    /// `404 unknown_call`.
    pub(super) fn get(&self, number: u64) -> Result<Arc<CallRecord>, ApiError> {
        let found = self.calls.lock().iter().find(|call| call.number == number).cloned();
        found.ok_or_else(|| {
            ApiError::not_found("unknown_call", format!("there is no call {number}"))
                .with_next_step("only the last calls are kept: call again")
        })
    }

    /// Adds a call that starts, and publishes it.
    ///
    /// # Errors
    /// `429 too_many_calls`.
    pub(super) fn insert(&self, call: Arc<CallRecord>) -> Result<(), ApiError> {
        let mut calls = self.calls.lock();
        if calls.iter().filter(|call| !call.is_finished()).count() >= MAX_RUNNING {
            let message = format!("{MAX_RUNNING} calls are running already");
            return Err(ApiError::new(StatusCode::TOO_MANY_REQUESTS, "too_many_calls", message)
                .with_next_step("wait for a call, or cancel one"));
        }
        self.events.publish(ConsoleEvent::Call { call: Box::new(call.snapshot()) });
        calls.push_back(call);
        Ok(())
    }

    /// Publishes the state of a call.
    pub(super) fn publish(&self, call: &CallRecord) {
        let _in_order = self.calls.lock();
        self.events.publish(ConsoleEvent::Call { call: Box::new(call.snapshot()) });
    }

    /// Drops the oldest finished calls beyond the limits.
    pub(super) fn drop_old(&self) {
        let mut calls = self.calls.lock();
        let finished: Vec<(u64, usize)> = calls
            .iter()
            .filter(|call| call.is_finished())
            .map(|call| (call.number, call.kept_bytes()))
            .collect();
        let mut bytes = 0;
        let kept = finished.iter().rev().enumerate().take_while(|(index, (_, size))| {
            bytes += size;
            *index == 0 || (*index < MAX_FINISHED_CALLS && bytes <= MAX_BYTES)
        });
        let dropped = &finished[..finished.len() - kept.count()];
        calls.retain(|call| dropped.iter().all(|(number, _)| *number != call.number));
    }
}

#[cfg(test)]
mod tests {
    use switchboard_json::Raw;

    use super::*;
    use crate::contract::{CallOutcome, CallRequest};

    fn finished(number: u64, bytes: usize) -> Arc<CallRecord> {
        let request = CallRequest::Resource { server: "s".to_owned(), uri: "a:b".to_owned() };
        let call = CallRecord::new(number, request, &Arc::default(), Vec::new());
        let result = Raw::parse(format!("\"{}\"", "x".repeat(bytes - 2))).unwrap();
        call.finish(CallOutcome::Ok { bytes: bytes as u64 }, Some(result));
        call
    }

    fn numbers(table: &CallTable) -> Vec<u64> {
        table.snapshots().iter().map(|call| call.call).collect()
    }

    #[test]
    fn finished_calls_are_bounded_by_count_and_bytes() {
        let table = CallTable::new(EventLog::default());
        for number in 0..MAX_FINISHED_CALLS as u64 + 5 {
            table.insert(finished(number, 10)).unwrap();
            table.drop_old();
        }
        assert_eq!(numbers(&table), (5..MAX_FINISHED_CALLS as u64 + 5).collect::<Vec<_>>());
        table.insert(finished(1000, MAX_BYTES / 2)).unwrap();
        table.insert(finished(1001, MAX_BYTES / 2)).unwrap();
        table.drop_old();
        assert_eq!(numbers(&table), [1000, 1001]);
        table.insert(finished(1002, MAX_BYTES + 1)).unwrap();
        table.drop_old();
        assert_eq!(numbers(&table), [1002], "the last call is kept");
    }

    #[test]
    fn running_calls_are_limited() {
        let table = CallTable::new(EventLog::default());
        let running = |number| {
            let request = CallRequest::Resource { server: "s".to_owned(), uri: "a:b".to_owned() };
            CallRecord::new(number, request, &Arc::default(), Vec::new())
        };
        for number in 0..MAX_RUNNING as u64 {
            table.insert(running(number)).unwrap();
        }
        assert_eq!(table.insert(running(99)).unwrap_err().code, "too_many_calls");
        table.get(0).unwrap().finish(CallOutcome::Cancelled, None);
        table.insert(running(99)).unwrap();
    }
}
