//! Runs a call: sends it through the host, publishes its state, and keeps its result.

use std::sync::Arc;
use std::time::Duration;

use switchboard_host::{CallNumber, HostError};
use switchboard_json::Raw;
use switchboard_protocol::{Level, TaskParams};
use switchboard_session::CallError;
use switchboard_session::client::CallOptions;
use tokio::time::sleep;

use super::call_record::CallRecord;
use super::prepared_call::{PreparedCall, PreparedTool};
use crate::api::ConsoleState;
use crate::contract::{CallOutcome, CallRequest, Progress, TaskStatus};

/// The least time between two events of one call; longer if each event repeats a large request.
const EVENT_INTERVAL: Duration = Duration::from_millis(100);
const LARGE_EVENT_INTERVAL: Duration = Duration::from_secs(2);
const LARGE_REQUEST: usize = 64 << 10;

/// Runs a call until it has ended. Dropping the future cancels it.
pub(super) async fn run_call(
    state: Arc<ConsoleState>,
    record: Arc<CallRecord>,
    number: CallNumber,
    call: PreparedCall,
) {
    // Progress and log messages, of which there may be many, are masked with these.
    state.update_secrets();
    let interval = event_interval(&record.request);
    let outcome = {
        let mut sending = std::pin::pin!(send(&state, &record, number, call));
        loop {
            let changed = async {
                record.changed.notified().await;
                state.live.calls.publish(&record);
                sleep(interval).await;
            };
            tokio::select! {
                biased;
                outcome = &mut sending => break outcome,
                () = changed => {}
            }
        }
    };
    let (outcome, result) = match outcome {
        Ok(result) => (result_outcome(&record.request, &result), Some(state.mask_result(result).await)),
        Err(error) => (error_outcome(&state, &error), None),
    };
    if let Some(task_id) = record.task_id() {
        state.live.tasks.end(record.server(), &task_id, ended_status(&outcome));
    }
    record.finish(outcome, result);
    state.live.questions.close_questions_of(record.number);
    state.live.calls.publish(&record);
    state.live.calls.drop_old();
}

async fn send(
    state: &Arc<ConsoleState>,
    record: &Arc<CallRecord>,
    number: CallNumber,
    call: PreparedCall,
) -> Result<Raw, HostError> {
    // Without the level the server sends no log messages; a server that has none is not asked.
    let server = record.server();
    tokio::select! {
        _ = state.host.ensure_log_level(server, None, Level::Info) => {}
        () = record.run.cancelled() => {}
    }
    let options = options(state, record).number(number);
    match call {
        PreparedCall::Tool(PreparedTool {
            server,
            name,
            arguments,
            meta,
            as_task,
            is_confirmed,
            timeout,
        }) => {
            let mut options = options;
            (options.meta, options.timeout) = (meta, timeout);
            if as_task {
                options = options.as_task(TaskParams::new());
            }
            let call = state.host.call_tool(server, name, arguments).options(options).within(&record.run);
            let call = if is_confirmed { call.confirmed() } else { call };
            call.raw().await
        }
        PreparedCall::Request { server, method, params } => {
            state.host.request(&server, method, params).options(options).within(&record.run).await
        }
    }
}

/// Returns the options that report what happens during the call.
fn options(state: &Arc<ConsoleState>, record: &Arc<CallRecord>) -> CallOptions {
    let (progress, log, shared_log, task) =
        (Arc::clone(record), Arc::clone(record), Arc::clone(record), Arc::clone(record));
    let mask = {
        let traffic = Arc::clone(&state.traffic);
        move |text| traffic.mask_values(text)
    };
    let (mask_progress, mask_log, mask_shared_log) = (mask.clone(), mask.clone(), mask.clone());
    let state = Arc::clone(state);
    CallOptions::new()
        .on_progress(move |report| {
            let message = report.message.map(&mask_progress);
            progress.note_progress(Progress { progress: report.progress, total: report.total, message });
        })
        .on_log(move |message| log.note_log(&message, &mask_log))
        .on_shared_log(move |message| shared_log.note_log(&message, &mask_shared_log))
        .on_task(move |reported| {
            let mut reported = reported.clone();
            reported.status_message = reported.status_message.map(&mask);
            state.live.tasks.update(task.server(), &reported, Some(task.number));
            task.note_task(&reported);
        })
}

fn event_interval(request: &CallRequest) -> Duration {
    match request {
        CallRequest::Tool { arguments_json, .. } if arguments_json.len() > LARGE_REQUEST => {
            LARGE_EVENT_INTERVAL
        }
        _ => EVENT_INTERVAL,
    }
}

fn result_outcome(request: &CallRequest, result: &Raw) -> CallOutcome {
    let bytes = result.len() as u64;
    let is_error = || result.field_texts().any(|(name, value)| name.as_str() == "isError" && value == "true");
    match request {
        CallRequest::Tool { .. } if is_error() => CallOutcome::ToolError { bytes },
        _ => CallOutcome::Ok { bytes },
    }
}

fn error_outcome(state: &ConsoleState, error: &HostError) -> CallOutcome {
    let cause = match error {
        HostError::Cancelled { .. } => return CallOutcome::Cancelled,
        HostError::Call { error, .. } | HostError::Session { error, .. } => Some(&**error),
        _ => None,
    };
    if let Some(CallError::Cancelled) = cause {
        return CallOutcome::Cancelled;
    }
    let code = cause.and_then(CallError::remote).map(|remote| i64::from(remote.code.0));
    CallOutcome::Error { code, message: state.mask(error.to_string()), next_step: Some(error.next_step()) }
}

/// Returns how a task has ended whose call has ended so.
fn ended_status(outcome: &CallOutcome) -> TaskStatus {
    match outcome {
        CallOutcome::Ok { .. } | CallOutcome::ToolError { .. } => TaskStatus::Completed,
        CallOutcome::Error { .. } => TaskStatus::Failed,
        CallOutcome::Cancelled => TaskStatus::Cancelled,
    }
}
