//! The state of the console.

use std::borrow::Cow;
use std::sync::{Arc, Weak};

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
use crate::traffic::{TrafficLog, ValueMask};

/// Larger JSON is masked without holding up other tasks.
const LARGE_JSON: usize = 1 << 20;

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
    ) -> Arc<Self> {
        let events = EventLog::default();
        Arc::new_cyclic(|state: &Weak<Self>| Self {
            host,
            settings,
            live: LiveState::new(&events, &traffic, Arc::clone(questions.questions()), state.clone()),
            events,
            traffic,
            providers,
            tasks: TaskSet::default(),
            logins: LoginAttempts::default(),
            doctor: DoctorRuns::default(),
            denials: DenialLog::default(),
        })
    }
}

impl ConsoleState {
    /// Adds the secrets of all servers to what is masked: a server may have been added, or sent other credentials, since.
    pub(crate) fn update_secrets(&self) {
        let secrets = self.host.secret_values();
        self.traffic.add_secrets(secrets.iter().map(|secret| secret.expose().to_owned()));
    }

    /// Returns the mask of these values for all texts of a response.
    pub(crate) fn value_mask(&self) -> ValueMask {
        self.update_secrets();
        self.traffic.value_mask()
    }

    /// Returns JSON of a server without these values; it stays JSON.
    pub(crate) fn mask_json(&self, json: Raw) -> Raw {
        mask_json(&self.value_mask(), json)
    }

    /// Returns the result of a call without these values, as [`mask_json`](Self::mask_json) does. It may be of any size.
    pub(crate) async fn mask_result(&self, json: Raw) -> Raw {
        let mask = self.value_mask();
        if json.len() <= LARGE_JSON {
            return mask_json(&mask, json);
        }
        // Without a mask nothing is shown.
        tokio::task::spawn_blocking(move || mask_json(&mask, json)).await.unwrap_or_else(|_| Raw::null())
    }

    /// Returns a text of a server without these values, which servers print in their errors.
    pub(crate) fn mask(&self, text: String) -> String {
        self.value_mask().mask(text)
    }
}

fn mask_json(mask: &ValueMask, json: Raw) -> Raw {
    let masked = match mask.mask_str(json.as_str()) {
        Cow::Borrowed(_) => None,
        Cow::Owned(masked) => Some(Raw::parse(masked).unwrap_or_else(|_| Raw::null())),
    };
    masked.unwrap_or(json)
}

impl std::fmt::Debug for ConsoleState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ConsoleState").field("settings", &self.settings).finish_non_exhaustive()
    }
}
