//! The server's side of the legacy era: the handshake, and what a session remembers.

use std::collections::HashSet;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};

use parking_lot::Mutex;
use switchboard_protocol::{
    ClientCapabilities, Implementation, InitializeParams, InitializeResult, Level, Raw, Revision, RpcError,
};

use crate::answering::Server;
use crate::era::serving::unsupported_version;

/// What a session of the legacy era remembers. One for each pipe.
#[derive(Debug, Default)]
pub struct Session {
    agreed: OnceLock<Agreed>,
    /// The least level of log messages wanted, as a number; 0 is none set.
    log_level: AtomicU8,
    subscriptions: Mutex<HashSet<String>>,
}

/// What the handshake settled.
#[derive(Debug)]
pub(crate) struct Agreed {
    pub(crate) revision: Revision,
    pub(crate) client: Implementation,
    pub(crate) capabilities: ClientCapabilities,
}

/// What a session remembers, as it is written to a store.
#[derive(serde::Serialize, serde::Deserialize)]
struct Memory {
    revision: Revision,
    client: Implementation,
    capabilities: ClientCapabilities,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    log_level: Option<Level>,
    #[serde(default)]
    subscriptions: Vec<String>,
}

/// How many resources one session may subscribe to.
const MOST_SUBSCRIPTIONS: usize = 10_000;

impl Session {
    pub(crate) fn agreed(&self) -> Option<&Agreed> {
        self.agreed.get()
    }

    /// Whether the handshake is done.
    pub fn is_open(&self) -> bool {
        self.agreed().is_some()
    }

    /// Whether streams begin with an event that says where they are.
    pub fn primes_streams(&self) -> bool {
        self.agreed().is_some_and(|agreed| agreed.revision >= Revision::V2025_11_25)
    }

    /// What is remembered, as text; `None` before the handshake.
    pub fn snapshot(&self) -> Option<Raw> {
        let agreed = self.agreed()?;
        let memory = Memory {
            revision: agreed.revision,
            client: agreed.client.clone(),
            capabilities: agreed.capabilities.clone(),
            log_level: self.log_level(),
            subscriptions: self.subscriptions.lock().iter().cloned().collect(),
        };
        Raw::encode(&memory).ok()
    }

    /// A session that remembers this; `None` when the text is none of ours.
    pub fn restore(memory: &Raw) -> Option<Self> {
        let Memory { revision, client, capabilities, .. } = memory.decode().ok()?;
        let session = Self::default();
        let agreed = Agreed { revision, client, capabilities };
        session.agreed.set(agreed).ok()?;
        session.refresh(memory);
        Some(session)
    }

    /// Takes over what may have changed elsewhere.
    pub fn refresh(&self, memory: &Raw) {
        let Ok(Memory { log_level, subscriptions, .. }) = memory.decode() else { return };
        if let Some(level) = log_level {
            self.set_log_level(level);
        }
        *self.subscriptions.lock() = subscriptions.into_iter().collect();
    }

    /// Whether an array of messages is a message here.
    pub fn has_batches(&self) -> bool {
        self.agreed().is_some_and(|agreed| crate::era::has_batches(agreed.revision))
    }

    pub(crate) fn log_level(&self) -> Option<Level> {
        let number = self.log_level.load(Ordering::Relaxed);
        Level::ALL.into_iter().nth(usize::from(number).checked_sub(1)?)
    }

    pub(crate) fn set_log_level(&self, level: Level) {
        let number = Level::ALL.into_iter().position(|known| known == level).unwrap_or_default() + 1;
        self.log_level.store(u8::try_from(number).unwrap_or_default(), Ordering::Relaxed);
    }

    pub(crate) fn subscribe(&self, uri: String) -> Result<(), RpcError> {
        let mut subscriptions = self.subscriptions.lock();
        if subscriptions.len() >= MOST_SUBSCRIPTIONS {
            let limit = format!(
                "at most {MOST_SUBSCRIPTIONS} resources can be subscribed to; unsubscribe some first"
            );
            return Err(RpcError::invalid_params(limit));
        }
        subscriptions.insert(uri);
        Ok(())
    }

    pub(crate) fn unsubscribe(&self, uri: &str) {
        self.subscriptions.lock().remove(uri);
    }

    pub(crate) fn is_subscribed(&self, uri: &str) -> bool {
        self.subscriptions.lock().contains(uri)
    }
}

/// Answers `initialize`. The first one counts: a second is refused and changes nothing.
pub(crate) fn initialize(
    server: &Server,
    session: &Session,
    params: Option<&Raw>,
) -> Result<InitializeResult, RpcError> {
    let offer = server.offer().legacy();
    let params: InitializeParams = params
        .cloned()
        .unwrap_or_else(Raw::empty_object)
        .decode()
        .map_err(|error| RpcError::invalid_params(error.to_string()))?;
    // What was asked for if we speak it, else the newest we do: the client decides whether to stay.
    let wanted = offer.iter().copied().find(|revision| revision.as_str() == params.protocol_version);
    let Some(revision) = wanted.or(offer.first().copied()) else {
        return Err(unsupported_version(server, &params.protocol_version));
    };
    let agreed = Agreed { revision, client: params.client_info, capabilities: params.capabilities };
    if session.agreed.set(agreed).is_err() {
        return Err(RpcError::invalid_request("the session is initialized already; open another connection"));
    }
    let mut result =
        InitializeResult::new(revision.as_str(), server.capabilities().clone(), server.info().clone());
    result.instructions = server.instructions().map(str::to_owned);
    Ok(result)
}
