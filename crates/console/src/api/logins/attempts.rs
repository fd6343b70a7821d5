//! The attempts to log in: running ones and the last of each server.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::task::AbortHandle;

use crate::api::ConsoleState;
use crate::contract::{ApiError, ConsoleEvent, LoginAttempt, LoginRequest, LoginStep};
use crate::providers::{LoginProvider, StepSink};

/// The largest number of attempts that run at once.
const MAX_RUNNING: usize = 16;
/// Finished attempts that are kept.
const MAX_FINISHED: usize = 64;

/// The attempts to log in.
#[derive(Debug, Default)]
pub(crate) struct LoginAttempts {
    // Held for a lookup or a change, never across an await.
    table: Mutex<AttemptTable>,
}

#[derive(Debug, Default)]
struct AttemptTable {
    last: u64,
    attempts: BTreeMap<u64, RunningAttempt>,
}

#[derive(Debug)]
struct RunningAttempt {
    attempt: LoginAttempt,
    /// Ends the work; `None` until it was started.
    abort: Option<AbortHandle>,
}

impl LoginAttempts {
    /// Returns the attempts, the oldest first.
    pub(crate) fn list(&self) -> Vec<LoginAttempt> {
        self.table.lock().attempts.values().map(|running| running.attempt.clone()).collect()
    }

    /// Adds an attempt and returns its number.
    ///
    /// # Errors
    /// `409 already_running` if one of this server runs, or too many do.
    fn begin(&self, server: &str) -> Result<u64, ApiError> {
        let mut table = self.table.lock();
        let running = || table.attempts.values().filter(|running| !is_last(&running.attempt.step));
        if running().any(|running| running.attempt.server == server) {
            return Err(ApiError::conflict("already_running", format!("a login to `{server}` is running"))
                .with_next_step("finish it, or cancel it first"));
        }
        if running().count() >= MAX_RUNNING {
            return Err(ApiError::conflict("already_running", format!("{MAX_RUNNING} logins are running"))
                .with_next_step("finish one of them, or cancel it"));
        }
        table.last += 1;
        let number = table.last;
        // Only the newest of a server is of interest.
        table.attempts.retain(|_, running| running.attempt.server != server);
        while table.attempts.len() >= MAX_FINISHED {
            let finished = table.attempts.iter().find(|(_, running)| is_last(&running.attempt.step));
            let Some(number) = finished.map(|(number, _)| *number) else { break };
            table.attempts.remove(&number);
        }
        let attempt = LoginAttempt { attempt: number, server: server.to_owned(), step: LoginStep::Starting };
        table.attempts.insert(number, RunningAttempt { attempt, abort: None });
        Ok(number)
    }

    /// Sets the step of an attempt, unless it has ended. Returns the attempt if it has changed.
    fn advance(&self, number: u64, step: LoginStep) -> Option<LoginAttempt> {
        let mut table = self.table.lock();
        let running = table.attempts.get_mut(&number)?;
        if is_last(&running.attempt.step) {
            return None;
        }
        running.attempt.step = step;
        Some(running.attempt.clone())
    }

    fn set_abort(&self, number: u64, abort: AbortHandle) {
        match self.table.lock().attempts.get_mut(&number) {
            Some(running) if !is_last(&running.attempt.step) => running.abort = Some(abort),
            Some(running) if running.attempt.step == LoginStep::Cancelled => abort.abort(),
            _ => {}
        }
    }

    fn abort_handle(&self, number: u64) -> Option<AbortHandle> {
        self.table.lock().attempts.get(&number)?.abort.clone()
    }
}

/// Starts an attempt and returns its number.
///
/// # Errors
/// `409 already_running`.
pub(super) fn start_attempt(
    state: &Arc<ConsoleState>,
    provider: Arc<dyn LoginProvider>,
    request: LoginRequest,
) -> Result<u64, ApiError> {
    let number = state.logins.begin(&request.server)?;
    publish_step(state, number, None);
    let shared = Arc::clone(state);
    let abort = state.tasks.spawn(async move {
        let steps = {
            // Weak: the task belongs to the state.
            let state = Arc::downgrade(&shared);
            StepSink::new(move |step| {
                if let Some(state) = state.upgrade() {
                    publish_step(&state, number, Some(step));
                }
            })
        };
        let failure = match provider.log_in(&request, steps).await {
            // A provider that ends without a last step has failed.
            Ok(()) => LoginStep::Failed {
                error: "the login ended without a result".to_owned(),
                next_step: "try again".to_owned(),
            },
            Err(error) => LoginStep::Failed {
                error: error.message,
                next_step: error.next_step.unwrap_or_else(|| "try again".to_owned()),
            },
        };
        publish_step(&shared, number, Some(failure));
    });
    state.logins.set_abort(number, abort);
    Ok(number)
}

/// Cancels an attempt.
///
/// # Errors
/// `404 unknown_attempt` if it does not run.
pub(super) fn cancel_attempt(state: &Arc<ConsoleState>, number: u64) -> Result<(), ApiError> {
    if !publish_step(state, number, Some(LoginStep::Cancelled)) {
        return Err(ApiError::not_found("unknown_attempt", format!("no login {number} is running")));
    }
    if let Some(abort) = state.logins.abort_handle(number) {
        abort.abort();
    }
    Ok(())
}

/// Sets and publishes a step; without one, publishes the attempt as it is. Returns whether the attempt runs.
fn publish_step(state: &ConsoleState, number: u64, step: Option<LoginStep>) -> bool {
    let attempt = match step {
        Some(step) => state.logins.advance(number, step),
        None => state.logins.list().into_iter().find(|attempt| attempt.attempt == number),
    };
    let Some(attempt) = attempt else { return false };
    state.events.publish(ConsoleEvent::LoginAttempt { attempt: Box::new(attempt) });
    true
}

fn is_last(step: &LoginStep) -> bool {
    matches!(step, LoginStep::Done { .. } | LoginStep::Failed { .. } | LoginStep::Cancelled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_attempt_per_server_and_one_last_step() {
        let attempts = LoginAttempts::default();
        let first = attempts.begin("notes").unwrap();
        assert_eq!(attempts.begin("notes").unwrap_err().code, "already_running");
        let other = attempts.begin("mail").unwrap();
        assert!(attempts.advance(first, LoginStep::Exchanging).is_some());
        assert!(attempts.advance(first, LoginStep::Cancelled).is_some());
        assert!(attempts.advance(first, LoginStep::Done { account: "a".to_owned() }).is_none());
        let second = attempts.begin("notes").unwrap();
        let listed: Vec<u64> = attempts.list().iter().map(|attempt| attempt.attempt).collect();
        assert_eq!(listed, [other, second], "the newest of a server replaces its last one");
    }

    #[test]
    fn the_number_of_running_and_of_finished_attempts_is_limited() {
        let attempts = LoginAttempts::default();
        for number in 0..200 {
            let attempt = attempts.begin(&format!("s{number}")).unwrap();
            attempts.advance(attempt, LoginStep::Cancelled);
        }
        assert_eq!(attempts.list().len(), MAX_FINISHED);
        for number in 0..MAX_RUNNING {
            attempts.begin(&format!("r{number}")).unwrap();
        }
        assert!(attempts.begin("one more").is_err());
    }
}
