//! The server side of the legacy era: the handshake, and the state of a session.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};

use parking_lot::Mutex;
use switchboard_protocol::{
    ClientCapabilities, FromRaw, Implementation, InitializeParams, InitializeResult, Level, Raw, Revision,
    RpcError,
};

use crate::era::legacy::session_clock::SessionClock;
use crate::era::{ObservedSubscription, ServerProfile, SubscriptionObserver};
use crate::request::{Caller, Cancel, SubscriptionGrant};

/// The state of a session of the legacy era. One per pipe.
#[derive(Default)]
pub struct Session {
    handshake: OnceLock<HandshakeResult>,
    /// The caller that opened it, without scopes and claims; `None` without authentication.
    owner: Option<Caller>,
    /// The minimum level of log messages, as a number; 0 when none is set.
    log_level: AtomicU8,
    subscriptions: Mutex<HashMap<String, Option<ObservedSubscription>>>,
    /// The observer of subscriptions; unset until the session is served. Weak: detached work holds the session, and must not
    /// hold the server.
    observer: OnceLock<Weak<dyn SubscriptionObserver>>,
    over: Cancel,
    number: SessionNumber,
    clock: SessionClock,
}

/// The number of a session, unique in this process.
struct SessionNumber(u64);

impl Default for SessionNumber {
    fn default() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// The result of the handshake.
#[derive(Debug)]
pub(crate) struct HandshakeResult {
    pub(crate) revision: Revision,
    pub(crate) client: Implementation,
    pub(crate) capabilities: ClientCapabilities,
    /// A random key, under which the session's data is stored.
    pub(crate) key: String,
}

/// The state of a session, as serialized to a store.
#[derive(serde::Serialize, serde::Deserialize)]
struct SessionSnapshot {
    revision: Revision,
    client: Implementation,
    capabilities: ClientCapabilities,
    #[serde(default = "random_key")]
    key: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    log_level: Option<Level>,
    #[serde(default)]
    subscriptions: Vec<String>,
    /// The principal of the owner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    owner: Option<String>,
}

/// How many resources one session may subscribe to.
const MAX_SUBSCRIPTIONS: usize = 10_000;

impl Session {
    /// Creates a session that only this caller may use.
    pub fn owned_by(caller: Option<&Caller>) -> Self {
        let owner =
            caller.map(|caller| Caller { issuer: caller.issuer.clone(), ..Caller::new(&caller.subject) });
        Self { owner, ..Self::default() }
    }

    /// Returns the caller that opened it, without scopes and claims.
    pub fn owner(&self) -> Option<&Caller> {
        self.owner.as_ref()
    }

    /// Returns the number of the session, unique in this process.
    pub fn number(&self) -> u64 {
        self.number.0
    }

    /// Returns whether this caller owns the session.
    pub fn is_of(&self, caller: Option<&Caller>) -> bool {
        match (&self.owner, caller) {
            (None, None) => true,
            (Some(owner), Some(caller)) => owner.has_same_principal(caller),
            _ => false,
        }
    }

    pub(crate) fn handshake(&self) -> Option<&HandshakeResult> {
        self.handshake.get()
    }

    /// Returns the revision; the latest one before the handshake.
    pub(crate) fn revision(&self) -> Revision {
        self.handshake().map_or(Revision::LATEST_LEGACY, |handshake| handshake.revision)
    }

    /// Returns a unique key of the session; `None` before the handshake.
    pub(crate) fn key(&self) -> Option<String> {
        self.handshake().map(|handshake| handshake.key.clone())
    }

    /// Ends the session and its subscriptions.
    pub fn end(&self) {
        self.over.set();
        self.clock.stop();
        // Dropped outside the lock: the observer may be slow.
        let subscriptions = std::mem::take(&mut *self.subscriptions.lock());
        drop(subscriptions);
    }

    /// Measures from now on how long the session lasts; it is one over a pipe, or else over HTTP.
    pub(crate) fn start_clock(&self, is_piped: bool) {
        self.clock.start(self.revision(), is_piped);
    }

    /// Waits until the session has ended.
    pub(crate) async fn ended(&self) {
        self.over.wait().await;
    }

    /// Returns whether the handshake is done.
    pub fn is_open(&self) -> bool {
        self.handshake().is_some()
    }

    /// Returns whether event streams begin with an event that carries their id.
    pub fn primes_streams(&self) -> bool {
        self.handshake().is_some_and(|handshake| handshake.revision >= Revision::V2025_11_25)
    }

    /// Serializes the state; `None` before the handshake.
    pub fn snapshot(&self) -> Option<Raw> {
        let handshake = self.handshake()?;
        let snapshot = SessionSnapshot {
            revision: handshake.revision,
            client: handshake.client.clone(),
            capabilities: handshake.capabilities.clone(),
            key: handshake.key.clone(),
            log_level: self.log_level(),
            subscriptions: self.subscriptions.lock().keys().cloned().collect(),
            owner: self.owner.as_ref().map(Caller::principal),
        };
        Raw::encode(&snapshot).ok()
    }

    /// Creates a session from a snapshot; `None` when the text is not one.
    pub fn restore(snapshot: &Raw) -> Option<Self> {
        let SessionSnapshot { revision, client, capabilities, key, owner, .. } = snapshot.decode().ok()?;
        let owner = match owner {
            Some(principal) => Some(Caller::from_principal(&principal)?),
            None => None,
        };
        let session = Self { owner, ..Self::default() };
        let handshake = HandshakeResult { revision, client, capabilities, key };
        session.handshake.set(handshake).ok()?;
        session.refresh(snapshot);
        Some(session)
    }

    /// Applies the log level and the subscriptions of a snapshot, which another instance may have changed.
    pub fn refresh(&self, snapshot: &Raw) {
        let Ok(SessionSnapshot { log_level, subscriptions, .. }) = snapshot.decode() else { return };
        if let Some(level) = log_level {
            self.set_log_level(level);
        }
        let mut before = std::mem::take(&mut *self.subscriptions.lock());
        let now = subscriptions.into_iter().map(|uri| {
            let known = before.remove(&uri).flatten();
            let subscribed = known.or_else(|| self.start_subscription(&uri, SubscriptionGrant::new()));
            (uri, subscribed)
        });
        let now = now.collect();
        *self.subscriptions.lock() = now;
    }

    /// Sets the observer of subscriptions, and reports the existing ones to it.
    pub(crate) fn attach(&self, observer: &Arc<dyn SubscriptionObserver>) {
        if self.observer.set(Arc::downgrade(observer)).is_err() {
            return;
        }
        let mut known = std::mem::take(&mut *self.subscriptions.lock());
        for (uri, subscribed) in &mut known {
            *subscribed =
                subscribed.take().or_else(|| self.start_subscription(uri, SubscriptionGrant::new()));
        }
        self.subscriptions.lock().extend(known);
    }

    fn start_subscription(&self, uri: &str, grant: SubscriptionGrant) -> Option<ObservedSubscription> {
        let observer = self.observer.get()?.upgrade()?;
        Some(ObservedSubscription::new(&observer, uri, grant))
    }

    /// Returns whether the revision has batches.
    pub fn has_batches(&self) -> bool {
        self.handshake().is_some_and(|handshake| crate::era::has_batches(handshake.revision))
    }

    pub(crate) fn log_level(&self) -> Option<Level> {
        let number = self.log_level.load(Ordering::Relaxed);
        Level::ALL.into_iter().nth(usize::from(number).checked_sub(1)?)
    }

    pub(crate) fn set_log_level(&self, level: Level) {
        let number = Level::ALL.into_iter().position(|known| known == level).unwrap_or_default() + 1;
        self.log_level.store(u8::try_from(number).unwrap_or_default(), Ordering::Relaxed);
    }

    pub(crate) fn subscribe(&self, uri: String, grant: SubscriptionGrant) -> Result<(), RpcError> {
        let subscribed = self.start_subscription(&uri, grant);
        // Dropped outside the lock: the observer may be slow.
        let _before;
        let mut subscriptions = self.subscriptions.lock();
        if subscriptions.len() >= MAX_SUBSCRIPTIONS {
            let limit =
                format!("at most {MAX_SUBSCRIPTIONS} resources can be subscribed to; unsubscribe some first");
            return Err(RpcError::invalid_params(limit));
        }
        _before = subscriptions.insert(uri, subscribed);
        drop(subscriptions);
        Ok(())
    }

    pub(crate) fn unsubscribe(&self, uri: &str) {
        let over = self.subscriptions.lock().remove(uri);
        drop(over);
    }

    /// Returns whether it hears updates of a resource for this scope, or for everyone.
    pub(crate) fn is_subscribed(&self, uri: &str, scope: Option<&str>) -> bool {
        self.subscriptions.lock().get(uri).is_some_and(|subscribed| match subscribed {
            Some(subscribed) => subscribed.covers(scope),
            None => scope.is_none(),
        })
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("handshake", &self.handshake).finish_non_exhaustive()
    }
}

/// 128 random bits.
fn random_key() -> String {
    let mut key = [0; 16];
    getrandom::fill(&mut key).expect("the system gives random bytes");
    key.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Answers `initialize`. A second one is rejected and changes nothing.
pub(crate) fn initialize(
    server: &ServerProfile,
    session: &Session,
    params: Option<&Raw>,
    caller: Option<&Caller>,
) -> Result<InitializeResult, RpcError> {
    if session.is_open() {
        return Err(server.opening.already_initialized_error());
    }
    let params = params.cloned().unwrap_or_else(Raw::empty_object);
    let params =
        InitializeParams::from_raw(&params).map_err(|error| RpcError::invalid_params(error.to_string()))?;
    let revision = server.opening.negotiate(server, &params.protocol_version)?;
    let InitializeParams { client_info, capabilities, .. } = params;
    let handshake = HandshakeResult { revision, client: client_info, capabilities, key: random_key() };
    if session.handshake.set(handshake).is_err() {
        return Err(server.opening.already_initialized_error());
    }
    let offered = server.capabilities_for(caller);
    let mut result = InitializeResult::new(revision.as_str(), offered, server.info.clone());
    result.instructions = server.instructions.get(caller);
    Ok(result)
}
