//! The layer for requests without a target: lists, discovery and subscriptions are limited, recorded and measured.
//!
//! The checks are polled once before the rest of the stack is called: as a rule they are ready, and a list that was encoded
//! before stays so.

use std::pin::pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Waker};

use switchboard_protocol::{FromRaw, ListenParams, Raw, RpcError, ServerResult};
use switchboard_session::link::BoxFuture;
use switchboard_session::server::{Caller, HandlerOutcome, IncomingRequest, Layer, Next};
use switchboard_transport::http::server::ClientAddress;

use crate::access::{client_name, reply_outcome};
use crate::audit::{AuditOutcome, AuditRecord};
use crate::error::shutting_down;
use crate::limits::Operation;
use crate::metrics::MeteredTarget;
use crate::open_record::OpenRecord;
use crate::policy::{Decision, Subject, Target, TargetKind};
use crate::resource_owner::ResourceOwner;
use crate::view_state::ViewState;

/// Limits, records and measures the requests that the handler does not see, or answers from memory.
pub(crate) struct AccessLayer {
    /// Weak, because the state outlives the server that owns the layer only by accident.
    pub(crate) state: Weak<ViewState>,
}

/// What a request counts as.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RequestClass {
    Discover,
    List,
    Listen,
    Subscribe,
}

impl RequestClass {
    fn of(method: &str) -> Option<Self> {
        match method {
            "initialize" | "server/discover" => Some(Self::Discover),
            "tools/list" | "prompts/list" | "resources/list" | "resources/templates/list" | "tasks/list" => {
                Some(Self::List)
            }
            "subscriptions/listen" => Some(Self::Listen),
            "resources/subscribe" => Some(Self::Subscribe),
            _ => None,
        }
    }
}

/// A request that passed the checks.
struct CheckedRequest {
    request: IncomingRequest,
    record: OpenRecord,
    /// How the request ends if the handler refuses it, as the policy decided.
    refused: Option<AuditOutcome>,
}

impl Layer for AccessLayer {
    fn call(&self, request: IncomingRequest, next: Next) -> HandlerOutcome {
        let (Some(class), Some(state)) = (RequestClass::of(request.method()), self.state.upgrade()) else {
            return next.call(request);
        };
        // A client that starts now would call next.
        if matches!(class, RequestClass::Discover) && state.gateway.access.drain.is_draining() {
            return HandlerOutcome::error(shutting_down());
        }
        let mut check: BoxFuture<'static, _> = Box::pin(check(state, class, request));
        match check.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Ok(checked)) => checked.call(next),
            Poll::Ready(Err(error)) => HandlerOutcome::error(error),
            Poll::Pending => HandlerOutcome::later(async move { check.await?.call(next).into_reply().await }),
        }
    }
}

impl CheckedRequest {
    /// Calls the rest of the stack and records its reply. An immediate reply stays immediate.
    fn call(self, next: Next) -> HandlerOutcome {
        let Self { request, record, refused } = self;
        let is_stream = request.is_long_lived() && refused.is_none();
        let outcome_of = move |reply: Result<&ServerResult, &RpcError>| {
            refused.filter(|_| reply.is_err()).unwrap_or_else(|| reply_outcome(reply))
        };
        let outcome = next.call(request);
        if is_stream {
            // A stream is recorded when it begins.
            end_now(record, AuditOutcome::Ok, None);
            return outcome;
        }
        match outcome {
            HandlerOutcome::Later(_) | HandlerOutcome::Blocking(_) => HandlerOutcome::later(async move {
                let reply = outcome.into_reply().await;
                record.end(outcome_of(reply.as_ref()), reply.as_ref().err()).await;
                reply
            }),
            immediate => immediate.inspect(move |reply| end_now(record, outcome_of(reply), reply.err())),
        }
    }
}

/// Ends a record without waiting: if the queue of the audit log is full, the record is queued all the same.
fn end_now(record: OpenRecord, outcome: AuditOutcome, error: Option<&RpcError>) {
    let _ = pin!(record.end(outcome, error)).poll(&mut Context::from_waker(Waker::noop()));
}

/// Begins the record of a request and charges its limits.
///
/// # Errors
/// When it cannot be recorded, or exceeds a limit.
async fn check(
    state: Arc<ViewState>,
    class: RequestClass,
    request: IncomingRequest,
) -> Result<CheckedRequest, RpcError> {
    let caller = request.caller().cloned();
    let subject = state.subject(caller.as_ref());
    let (access, rules) = (&state.gateway.access, state.gateway.access.rules());
    let uris = requested_uris(class, &request);
    let owners: Vec<Option<ResourceOwner>> = {
        let exposed = state.exposed();
        uris.iter().map(|uri| exposed.find_resource(uri).ok()).collect()
    };
    let targets: Vec<Option<Target<'_>>> = owners.iter().map(|owner| owner.as_ref().map(target_of)).collect();
    let decisions: Vec<Option<Decision>> = targets
        .iter()
        .map(|target| {
            Some(rules.decide_subscription(&subject, target.as_ref()?.server, target.as_ref()?.name))
        })
        .collect();
    // The first one is the reason that the handler refuses the request.
    let refused = targets.iter().zip(&decisions).find_map(|decided| match decided {
        (Some(target), Some(decision)) => access.count_decision(&subject, target, decision),
        _ => Some(AuditOutcome::Unknown),
    });
    let only_target = match (class, targets.as_slice()) {
        (RequestClass::Subscribe, [target]) => target.as_ref(),
        _ => None,
    };
    let metered = match (class, only_target) {
        (_, Some(target)) => MeteredTarget::Known(target),
        (RequestClass::Subscribe, None) => MeteredTarget::Unknown,
        _ => MeteredTarget::None,
    };
    let record = || {
        let record = new_record(&request, caller.as_ref(), &subject);
        let mut record = match (class, only_target, uris.as_slice()) {
            (_, Some(target), _) => record.with_target(target),
            (RequestClass::Subscribe, None, [uri]) => record.with_identifier(uri),
            (_, _, uris) => record.with_uris(uris.iter().map(String::as_str)),
        };
        let deciding = decisions.iter().flatten();
        if let Some(decision) = deciding.clone().find(|decision| !decision.is_allowed()).or(deciding.last()) {
            record.set_decision(decision);
        }
        record
    };
    let record = access.begin(&rules, (request.method(), metered), record).await?;
    let operation = match class {
        RequestClass::Discover => Some(Operation::Discover),
        RequestClass::List | RequestClass::Listen => Some(Operation::List),
        RequestClass::Subscribe => None,
    };
    // A refused subscription costs nothing.
    let subscribed = targets.iter().flatten().filter(|_| refused.is_none()).map(Operation::Call);
    let operations: Vec<Operation<'_>> = operation.into_iter().chain(subscribed).collect();
    if let Err(limited) = access.check_limits(&rules, &subject, &operations).await {
        return Err(record.end_limited(&limited).await);
    }
    Ok(CheckedRequest { request, record, refused })
}

/// Returns the resources that a request subscribes to.
fn requested_uris(class: RequestClass, request: &IncomingRequest) -> Vec<String> {
    match class {
        RequestClass::Subscribe => {
            request.param("uri").and_then(|uri| uri.decode().ok()).into_iter().collect()
        }
        RequestClass::Listen => {
            let params = request.params().cloned().unwrap_or_else(Raw::empty_object);
            ListenParams::from_raw(&params)
                .map(|params| params.notifications.resource_subscriptions)
                .unwrap_or_default()
        }
        RequestClass::Discover | RequestClass::List => Vec::new(),
    }
}

fn target_of(owner: &ResourceOwner) -> Target<'_> {
    Target::new(&owner.server, TargetKind::Subscription, &owner.uri)
}

fn new_record(request: &IncomingRequest, caller: Option<&Caller>, subject: &Subject<'_>) -> AuditRecord {
    let mut record = AuditRecord::new(request.method())
        .with_subject(subject)
        .with_auth_method(caller.and_then(|caller| caller.auth_method))
        .with_client(request.client().as_ref().map(client_name))
        .with_session(request.session_key())
        .with_trace_parent(request.meta_text("traceparent").as_deref());
    record.address = request.extension::<ClientAddress>().map(ToString::to_string);
    record
}
