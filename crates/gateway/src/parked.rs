//! Parked calls: upstream calls that wait for the answer to a question while no request of their client is open.
//!
//! Invariants: the number of parked calls is bounded, in all, for each caller and for each server; room is reserved before the
//! question is asked. On one server a caller never has more room than is left for the others (a dynamic threshold), so that
//! none can take it all. A call is taken by the principal that parked it, once. When its time is over it is cancelled.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;
use std::time::SystemTime;

use parking_lot::Mutex;
use switchboard_host::SessionKey;
use switchboard_protocol::RpcError;
use switchboard_session::server::{ConnectionId, RequestContext};
use switchboard_transport::http::server::ClientAddress;
use tokio::task::AbortHandle;

use crate::error::{ParkedBound, question_elsewhere, question_expired, too_many_questions};
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
    by_caller: HashMap<ParkedCaller, usize>,
    by_server: HashMap<Arc<str>, usize>,
    /// Of each caller on each server.
    shares: HashMap<(Arc<str>, ParkedCaller), usize>,
}

/// Who parks calls.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ParkedCaller {
    /// An identity.
    Principal(String),
    /// No identity: a connection or an address.
    Anonymous(String),
    /// None of these: all of these callers count as one.
    Unknown,
}

impl ParkedCaller {
    /// Returns the caller of a request.
    pub(crate) fn of(cx: &RequestContext) -> Self {
        if let Some(caller) = cx.caller() {
            return Self::Principal(caller.principal());
        }
        let connection = || cx.extension::<ConnectionId>().map(ToString::to_string);
        let address = || cx.extension::<ClientAddress>().map(|address| format!("address {address}"));
        connection().or_else(address).map_or(Self::Unknown, Self::Anonymous)
    }

    /// Returns the caller that owns a task.
    pub(crate) fn of_owner(owner: Option<&str>) -> Self {
        owner.map_or(Self::Unknown, |owner| Self::Principal(owner.to_owned()))
    }

    fn principal(&self) -> Option<&str> {
        match self {
            Self::Principal(principal) => Some(principal),
            Self::Anonymous(_) | Self::Unknown => None,
        }
    }
}

struct ParkedCall {
    exchange: Exchange,
    permit: ParkedPermit,
    expiry: AbortHandle,
    parked_at: SystemTime,
}

/// Room for one parked call; given back on drop.
pub(crate) struct ParkedPermit {
    caller: ParkedCaller,
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
            principal: call.permit.caller.principal().map(str::to_owned),
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
    pub(crate) fn reserve(&self, caller: ParkedCaller, server: &Arc<str>) -> Result<ParkedPermit, RpcError> {
        let mut reserved = self.reserved.lock();
        let (of_caller, on_server) =
            (count(&reserved.by_caller, &caller), count(&reserved.by_server, server));
        let share = (Arc::clone(server), caller.clone());
        let own = count(&reserved.shares, &share);
        let limits = &self.limits;
        let taken = [
            (reserved.total, limits.total, ParkedBound::All),
            (of_caller, limits.per_principal, ParkedBound::Caller),
            (on_server, limits.per_server, ParkedBound::Server),
            (own, limits.per_server.saturating_sub(on_server), ParkedBound::Share),
        ];
        if let Some((taken, _, bound)) = taken.into_iter().find(|(taken, limit, _)| taken >= limit) {
            return Err(too_many_questions(taken, bound));
        }
        reserved.total += 1;
        *reserved.by_server.entry(Arc::clone(server)).or_default() += 1;
        *reserved.by_caller.entry(caller.clone()).or_default() += 1;
        *reserved.shares.entry(share).or_default() += 1;
        drop(reserved);
        Ok(ParkedPermit { caller, server: Arc::clone(server), reserved: Arc::clone(&self.reserved) })
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
        let (expiry, parked_at) = (expiry.abort_handle(), SystemTime::now());
        let replaced = self.calls.lock().insert(id, ParkedCall { exchange, permit, expiry, parked_at });
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
            call.permit.caller.principal() == principal
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
        release(&mut reserved.by_caller, &self.caller);
        release(&mut reserved.shares, &(Arc::clone(&self.server), self.caller.clone()));
    }
}

fn count<K: Eq + Hash>(counts: &HashMap<K, usize>, key: &K) -> usize {
    counts.get(key).copied().unwrap_or_default()
}

/// Counts one less; an entry without any is removed.
fn release<K: Eq + Hash>(counts: &mut HashMap<K, usize>, key: &K) {
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

    fn principal(name: &str) -> ParkedCaller {
        ParkedCaller::Principal(name.to_owned())
    }

    #[tokio::test(start_paused = true)]
    async fn the_calls_parked_on_one_server_leave_room_for_others() {
        let parked = ParkedCalls::new(ParkedLimits::default().with_per_server(1), "here".into());
        let reserve = |server: Arc<str>| parked.reserve(ParkedCaller::Unknown, &server);
        let one = reserve(server()).unwrap();
        assert!(reserve(server()).is_err());
        assert!(reserve("other".into()).is_ok());
        drop(one);
        assert!(reserve(server()).is_ok());
        let reserved = parked.reserved.lock();
        assert!(reserved.by_server.is_empty() && reserved.shares.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn no_caller_takes_all_the_room_of_a_server() {
        let callers = ["one", "two"].map(|address| ParkedCaller::Anonymous(address.to_owned()));
        for [greedy, other] in [callers, [principal("ada"), principal("bob")]] {
            let parked = ParkedCalls::new(ParkedLimits::default().with_per_server(8), "here".into());
            let reserve = |caller: &ParkedCaller| parked.reserve(caller.clone(), &server());
            let mut taken = Vec::new();
            while let Ok(permit) = reserve(&greedy) {
                taken.push(permit);
            }
            assert_eq!(taken.len(), 4, "half of it");
            let error = reserve(&greedy).err().unwrap();
            assert!(error.message.contains("4 questions of this caller"), "{error}");
            taken.push(reserve(&other).unwrap());
            taken.push(reserve(&other).unwrap());
            assert!(reserve(&greedy).is_err() && reserve(&other).is_err());
            assert!(reserve(&principal("eve")).is_ok(), "there is room for a third one");
            drop(taken);
            assert!(reserve(&greedy).is_ok());
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_parked_call_is_taken_once_and_only_by_its_principal() {
        let parked = ParkedCalls::new(ParkedLimits::default(), "here".into());
        let call = exchange();
        let id = call.id.clone();
        parked.park(call, parked.reserve(principal("ada"), &server()).unwrap());
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
        for caller in [principal("ada"), principal("ada"), ParkedCaller::Unknown] {
            parked.park(exchange(), parked.reserve(caller, &server()).unwrap());
        }
        assert!(parked.reserve(principal("ada"), &server()).is_err(), "her share is taken");
        assert!(parked.reserve(principal("bob"), &server()).is_err(), "all is taken");
        tokio::time::sleep(Duration::from_secs(6)).await;
        assert_eq!(parked.len(), 0);
        assert!(parked.reserve(principal("ada"), &server()).is_ok());
        assert!(parked.reserved.lock().by_caller.is_empty(), "nothing is kept for callers without calls");
    }
}
