//! Routes of this area.

use std::sync::Arc;

use serde::Serialize;

use crate::api::{ApiRequest, ApiResponse, ApiRoute, ConsoleState};
use crate::contract::{ApiError, ConsoleEvent, DoctorStep};
use crate::providers::StepSink;

/// Returns the routes of this area.
pub(in crate::api) fn routes() -> Vec<ApiRoute> {
    vec![ApiRoute::write("/api/servers/{name}/doctor", examine)]
}

/// The number of a diagnosis that was started.
#[derive(Serialize)]
struct DoctorStarted {
    run: u64,
}

/// Removes a diagnosis when it has ended, however.
struct RunGuard {
    state: Arc<ConsoleState>,
    server: String,
}

impl Drop for RunGuard {
    fn drop(&mut self) {
        self.state.doctor.end(&self.server);
    }
}

async fn examine(state: Arc<ConsoleState>, request: ApiRequest) -> Result<ApiResponse, ApiError> {
    let server = request.parameter("name").to_owned();
    let Some(provider) = state.providers.doctor.clone() else {
        return Err(ApiError::not_found("not_available", "this console examines no servers"));
    };
    let is_configured = state.providers.config.as_ref().is_some_and(|config| config.entry(&server).is_some());
    if !is_configured && state.host.state(&server).is_err() {
        return Err(ApiError::not_found("unknown_server", format!("no server is named `{server}`")));
    }
    let run = state.doctor.begin(&server)?;
    let guard = RunGuard { state: Arc::clone(&state), server };
    state.tasks.spawn(async move {
        let (shared, name) = (Arc::downgrade(&guard.state), guard.server.clone());
        let steps = StepSink::new(move |mut step: DoctorStep| {
            // Weak: the task belongs to the state.
            let Some(state) = shared.upgrade() else { return };
            step.message = state.mask(step.message);
            step.stderr = step.stderr.map(|text| state.mask(text));
            let (server, step) = (name.clone(), Box::new(step));
            state.events.publish(ConsoleEvent::DoctorStep { run, server, step });
        });
        let outcome = provider.examine(&guard.server, steps).await;
        let (events, server) = (guard.state.events.clone(), guard.server.clone());
        // Before the last event: whoever reads it may start another.
        drop(guard);
        events.publish(ConsoleEvent::DoctorDone { run, server, outcome });
    });
    ApiResponse::ok(&DoctorStarted { run })
}
