//! The state of the console.

use std::sync::Arc;

use switchboard_host::Host;
use switchboard_json::Raw;

use crate::api::ConsoleSettings;
use crate::api::doctor::DoctorRuns;
use crate::api::live_state::LiveState;
use crate::api::logins::LoginAttempts;
use crate::api::policy::DenialLog;
use crate::api::questions::ConsoleHandler;
use crate::api::task_set::TaskSet;
use crate::events::EventLog;
use crate::providers::Providers;
use crate::traffic::TrafficLog;

/// The state that all handlers share.
pub(crate) struct ConsoleState {
    pub(crate) host: Host,
    pub(crate) settings: ConsoleSettings,
    pub(crate) events: EventLog,
    pub(crate) traffic: Arc<TrafficLog>,
    pub(crate) providers: Providers,
    /// Owns work that goes on after the response.
    pub(crate) tasks: TaskSet,
    pub(crate) live: LiveState,
    pub(crate) logins: LoginAttempts,
    pub(crate) doctor: DoctorRuns,
    pub(crate) denials: DenialLog,
}

impl ConsoleState {
    /// Creates the state. `questions` is the handler that the host was built with.
    pub(crate) fn new(
        host: Host,
        settings: ConsoleSettings,
        traffic: Arc<TrafficLog>,
        providers: Providers,
        questions: &ConsoleHandler,
    ) -> Self {
        let events = EventLog::default();
        Self {
            host,
            settings,
            live: LiveState::new(&events, &traffic, Arc::clone(questions.questions())),
            events,
            traffic,
            providers,
            tasks: TaskSet::default(),
            logins: LoginAttempts::default(),
            doctor: DoctorRuns::default(),
            denials: DenialLog::default(),
        }
    }
}

impl ConsoleState {
    /// Adds the variables and headers of all servers to what is masked: a server may have been added since.
    pub(crate) fn update_secrets(&self) {
        let secrets = self.host.secret_values();
        self.traffic.add_secrets(secrets.iter().map(|secret| secret.expose().to_owned()));
    }

    /// Returns JSON of a server without these values; it stays JSON.
    pub(crate) fn mask_json(&self, json: Raw) -> Raw {
        let masked = self.mask(json.as_str().to_owned());
        if masked == json.as_str() { json } else { Raw::parse(masked).unwrap_or_else(|_| Raw::null()) }
    }

    /// Returns a text of a server without the values of variables and headers, which servers print in their errors.
    pub(crate) fn mask(&self, text: String) -> String {
        self.update_secrets();
        self.traffic.mask_values(text)
    }
}

impl std::fmt::Debug for ConsoleState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ConsoleState").field("settings", &self.settings).finish_non_exhaustive()
    }
}
