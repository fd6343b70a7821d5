//! Parked calls: upstream calls that wait for the answer to a question while no request of their client is open.
//!
//! Invariants: the number of parked calls is bounded, in all, for each principal and for each server; room is reserved before the question is
//! asked. A call is taken by the principal that parked it, once. When its time is over it is cancelled.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;
use std::time::SystemTime;

use parking_lot::Mutex;
use switchboard_host::SessionKey;
use switchboard_protocol::RpcError;
use tokio::task::AbortHandle;

use crate::error::{question_elsewhere, question_expired, too_many_questions};
use crate::exchange::Exchange;
use crate::options::ParkedLimits;
use crate::status::ParkedCallStatus;

/// The table of parked calls.
pub(crate) struct ParkedCalls {
    limits: ParkedLimits,
    /// The replica whose calls these are.
    replica: Arc<str>,
    // Held for a lookup or a change, never across an await; calls are dropped outside of it.
    calls: Mutex<HashMap<String, ParkedCall>>,
    reserved: Arc<Mutex<Reserved>>,
}

/// How much room is taken.
#[derive(Default)]
struct Reserved {
    total: usize,
    by_principal: HashMap<String, usize>,
    by_server: HashMap<Arc<str>, usize>,
}

struct ParkedCall {
    exchange: Exchange,
    principal: Option<String>,
    permit: ParkedPermit,
    expiry: AbortHandle,
    parked_at: SystemTime,
}

/// Room for one parked call; given back on drop.
pub(crate) struct ParkedPermit {
    principal: Option<String>,
    server: Arc<str>,
    reserved: Arc<Mutex<Reserved>>,
}

impl ParkedCalls {
    pub(crate) fn new(limits: ParkedLimits, replica: Arc<str>) -> Arc<Self> {
        Arc::new(Self { limits, replica, calls: Mutex::default(), reserved: Arc::default() })
    }

    /// Returns the number of parked calls.
    pub(crate) fn len(&self) -> usize {
        self.calls.lock().len()
    }

    /// Returns the parked calls, the oldest first.
    pub(crate) fn status(&self) -> Vec<ParkedCallStatus> {
        let status = |call: &ParkedCall| ParkedCallStatus {
            principal: call.principal.clone(),
            server: Arc::clone(&call.exchange.server),
            name: call.exchange.target.clone(),
            parked_at: call.parked_at,
            expires_at: call.parked_at + self.limits.lifetime,
        };
        let mut all: Vec<ParkedCallStatus> = self.calls.lock().values().map(status).collect();
        all.sort_by_key(|call| call.parked_at);
        all
    }

    /// Reserves room for a call.
    ///
    /// # Errors
    /// When a limit of parked calls is reached.
    pub(crate) fn reserve(
        &self,
        principal: Option<&str>,
        server: &Arc<str>,
    ) -> Result<ParkedPermit, RpcError> {
        let mut reserved = self.reserved.lock();
        let of_principal = principal.and_then(|principal| reserved.by_principal.get(principal));
        let taken = [
            (reserved.total, self.limits.total),
            (of_principal.copied().unwrap_or_default(), self.limits.per_principal),
            (reserved.by_server.get(server).copied().unwrap_or_default(), self.limits.per_server),
        ];
        if let Some((_, limit)) = taken.into_iter().find(|(taken, limit)| taken >= limit) {
            return Err(too_many_questions(limit));
        }
        reserved.total += 1;
        *reserved.by_server.entry(Arc::clone(server)).or_default() += 1;
        if let Some(principal) = principal {
            *reserved.by_principal.entry(principal.to_owned()).or_default() += 1;
        }
        drop(reserved);
        let (principal, server) = (principal.map(str::to_owned), Arc::clone(server));
        Ok(ParkedPermit { principal, server, reserved: Arc::clone(&self.reserved) })
    }

    /// Parks a call until it is taken or its time is over.
    pub(crate) fn park(self: &Arc<Self>, exchange: Exchange, permit: ParkedPermit) {
        // Without a runtime nothing would end it: it is cancelled.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let (id, lifetime, table) = (exchange.id.clone(), self.limits.lifetime, Arc::downgrade(self));
        let expiring = id.clone();
        // Ends with the entry, or when it has removed it.
        let expiry = runtime.spawn(async move {
            tokio::time::sleep(lifetime).await;
            let expired = table.upgrade().and_then(|table| table.calls.lock().remove(&expiring));
            if expired.is_some() {
                tracing::debug!("a question was not answered in time; its call is cancelled");
            }
        });
        let (principal, expiry) = (permit.principal.clone(), expiry.abort_handle());
        let replaced = self
            .calls
            .lock()
            .insert(id, ParkedCall { exchange, principal, permit, expiry, parked_at: SystemTime::now() });
        debug_assert!(replaced.is_none(), "ids are random");
    }

    /// Takes a parked call to continue it.
    ///
    /// # Errors
    /// When no call with this id and purpose is parked for this principal, or another replica has it.
    pub(crate) fn take(
        &self,
        (id, purpose): (&str, SessionKey),
        principal: Option<&str>,
    ) -> Result<(Exchange, ParkedPermit), RpcError> {
        if id.split_once('@').is_some_and(|(_, replica)| replica != &*self.replica) {
            return Err(question_elsewhere());
        }
        let mut calls = self.calls.lock();
        let is_meant = |call: &ParkedCall| {
            call.principal.as_deref() == principal
                && call.exchange.purpose.as_ref().is_some_and(|own| own.digest() == purpose)
        };
        if !calls.get(id).is_some_and(is_meant) {
            return Err(question_expired());
        }
        let ParkedCall { exchange, permit, expiry, .. } = calls.remove(id).ok_or_else(question_expired)?;
        drop(calls);
        expiry.abort();
        Ok((exchange, permit))
    }
}

impl Drop for ParkedCalls {
    fn drop(&mut self) {
        self.calls.get_mut().values().for_each(|call| call.expiry.abort());
    }
}

impl Drop for ParkedPermit {
    fn drop(&mut self) {
        let mut reserved = self.reserved.lock();
        reserved.total = reserved.total.saturating_sub(1);
        release(&mut reserved.by_server, &self.server);
        if let Some(principal) = &self.principal {
            release(&mut reserved.by_principal, principal);
        }
    }
}

/// Counts one less; an entry without any is removed.
fn release<K: Eq + Hash + Borrow<Q>, Q: Eq + Hash + ?Sized>(counts: &mut HashMap<K, usize>, key: &Q) {
    if let Some(count) = counts.get_mut(key) {
        *count = count.saturating_sub(1);
        if *count == 0 {
            counts.remove(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use switchboard_protocol::Raw;

    use super::*;
    use crate::exchange::NoticeSink;
    use crate::questions::{QuestionHandler, QuestionScope};
    use crate::upstream_request::{RequestPurpose, UpstreamRequest, UpstreamTarget};

    fn exchange() -> Exchange {
        let (calls, owner) = (Arc::default(), Arc::default());
        let scope = QuestionScope { calls, session: (server(), None), owner, task: None };
        let (_, questions) = QuestionHandler::new(scope);
        let notices = Arc::new(NoticeSink::new(None));
        let (asker, call) = ((server(), switchboard_host::Run::new()), Box::pin(std::future::pending()));
        Exchange::new(asker, call, questions, notices)
            .with_id("here", Some(RequestPurpose::of(&request())))
            .unwrap()
    }

    fn request() -> UpstreamRequest {
        let target = UpstreamTarget::Tool { name: "ask".to_owned(), arguments: Raw::empty_object() };
        UpstreamRequest::new(&server(), target, None)
    }

    fn purpose() -> SessionKey {
        RequestPurpose::of(&request()).digest()
    }

    fn server() -> Arc<str> {
        "server".into()
    }

    #[tokio::test(start_paused = true)]
    async fn the_calls_parked_on_one_server_leave_room_for_others() {
        let parked = ParkedCalls::new(ParkedLimits::default().with_per_server(1), "here".into());
        let one = parked.reserve(None, &server()).unwrap();
        assert!(parked.reserve(None, &server()).is_err());
        assert!(parked.reserve(None, &"other".into()).is_ok());
        drop(one);
        assert!(parked.reserve(None, &server()).is_ok());
        assert!(parked.reserved.lock().by_server.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_parked_call_is_taken_once_and_only_by_its_principal() {
        let parked = ParkedCalls::new(ParkedLimits::default(), "here".into());
        let call = exchange();
        let id = call.id.clone();
        parked.park(call, parked.reserve(Some("ada"), &server()).unwrap());
        let take = |id: &str, principal| parked.take((id, purpose()), principal);
        assert!(take(&id, None).is_err());
        assert!(take(&id, Some("bob")).is_err());
        assert!(take("0", Some("ada")).is_err());
        assert!(parked.take((&id, SessionKey::new(["another call"])), Some("ada")).is_err());
        let elsewhere = take(&id.replace("@here", "@there"), Some("ada")).err().unwrap();
        assert!(elsewhere.message.contains("another replica"), "{}", elsewhere.message);
        assert!(take(&id, Some("ada")).is_ok());
        assert!(take(&id, Some("ada")).is_err());
        assert_eq!(parked.reserved.lock().total, 0);
    }

    #[tokio::test(start_paused = true)]
    async fn the_number_of_parked_calls_is_bounded_and_expiry_makes_room() {
        let limits =
            ParkedLimits::default().with_total(3).with_per_principal(2).with_lifetime(Duration::from_secs(5));
        let parked = ParkedCalls::new(limits, "here".into());
        for principal in [Some("ada"), Some("ada"), None] {
            parked.park(exchange(), parked.reserve(principal, &server()).unwrap());
        }
        assert!(parked.reserve(Some("ada"), &server()).is_err(), "her share is taken");
        assert!(parked.reserve(Some("bob"), &server()).is_err(), "all is taken");
        tokio::time::sleep(Duration::from_secs(6)).await;
        assert_eq!(parked.len(), 0);
        assert!(parked.reserve(Some("ada"), &server()).is_ok());
        assert!(
            parked.reserved.lock().by_principal.is_empty(),
            "nothing is kept for principals without calls"
        );
    }
}
