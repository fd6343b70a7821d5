//! The layer for requests without a target: lists, discovery and subscriptions are limited and recorded.

use std::sync::Weak;

use switchboard_protocol::Raw;
use switchboard_session::server::{Caller, HandlerOutcome, IncomingRequest, Layer, Next};
use switchboard_transport::http::server::ClientAddress;

use crate::access::{client_name, reply_outcome};
use crate::audit::{AuditOutcome, AuditRecord};
use crate::limits::Operation;
use crate::policy::{Subject, Target, TargetKind};
use crate::state::GatewayState;

/// Limits and records the requests that the handler does not see, or answers from memory.
pub(crate) struct AccessLayer {
    /// Weak, because the state outlives the server that owns the layer only by accident.
    pub(crate) state: Weak<GatewayState>,
}

/// What a request counts as.
#[derive(Clone, Copy)]
enum RequestClass {
    Discover,
    List,
    Subscribe,
}

impl RequestClass {
    fn of(method: &str) -> Option<Self> {
        match method {
            "initialize" | "server/discover" => Some(Self::Discover),
            "tools/list"
            | "prompts/list"
            | "resources/list"
            | "resources/templates/list"
            | "subscriptions/listen" => Some(Self::List),
            "resources/subscribe" => Some(Self::Subscribe),
            _ => None,
        }
    }
}

impl Layer for AccessLayer {
    fn call(&self, request: IncomingRequest, next: Next) -> HandlerOutcome {
        let (Some(class), Some(state)) = (RequestClass::of(request.method()), self.state.upgrade()) else {
            return next.call(request);
        };
        HandlerOutcome::later(async move {
            let caller = request.caller().cloned();
            let subject = Subject::from_caller(caller.as_ref());
            let mut record = AuditRecord::new(request.method())
                .with_subject(&subject)
                .with_client(request.client().as_ref().map(client_name));
            record.address = request.extension::<ClientAddress>().map(ToString::to_string);
            let uri = subscribed_uri(class, &request);
            record = describe_subscription(&state, record, caller.as_ref(), uri.as_deref());
            let is_denied = record.outcome == AuditOutcome::Denied;
            let mut open = state.access.begin_record(record).await?;
            let limited = match class {
                RequestClass::Discover => state.access.check_limits(&subject, &Operation::Discover).await,
                RequestClass::List => state.access.check_limits(&subject, &Operation::List).await,
                RequestClass::Subscribe => {
                    let target =
                        Target::new("", TargetKind::Subscription, uri.as_deref().unwrap_or_default());
                    state.access.check_limits(&subject, &Operation::Call(&target)).await
                }
            };
            if let Err(refused) = limited {
                let error = refused.to_rpc_error();
                open.update(|_, record| record.reason = Some(refused.limit.clone()));
                open.end(AuditOutcome::RateLimited, Some(&error)).await;
                return Err(error);
            }
            if request.is_long_lived() {
                // A stream is recorded when it begins.
                open.end(AuditOutcome::Ok, None).await;
                return next.call(request).into_reply().await;
            }
            let reply = next.call(request).into_reply().await;
            let outcome = if is_denied { AuditOutcome::Denied } else { reply_outcome(&reply) };
            open.end(outcome, reply.as_ref().err()).await;
            reply
        })
    }
}

fn subscribed_uri(class: RequestClass, request: &IncomingRequest) -> Option<String> {
    match class {
        RequestClass::Subscribe => request.param("uri").as_ref().and_then(|uri: &Raw| uri.decode().ok()),
        RequestClass::Discover | RequestClass::List => None,
    }
}

/// Adds the owner of the resource and the decision about it.
fn describe_subscription(
    state: &GatewayState,
    record: AuditRecord,
    caller: Option<&Caller>,
    uri: Option<&str>,
) -> AuditRecord {
    let Some(uri) = uri else { return record };
    match state.exposed().owners.find(uri) {
        Ok(owner) => {
            let target = Target::new(&owner.server, TargetKind::Subscription, &owner.uri);
            let mut record = record.with_target(&target);
            record.set_decision(&state.access.decide_subscription(caller, &owner.server, &owner.uri));
            record
        }
        Err(_) => record.with_target(&Target::new("", TargetKind::Subscription, uri)),
    }
}
