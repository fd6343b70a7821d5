//! The layer for requests without a target: lists, discovery and subscriptions are limited and recorded.

use std::sync::Weak;

use switchboard_session::server::{HandlerOutcome, IncomingRequest, Layer, Next};
use switchboard_transport::http::server::ClientAddress;

use crate::access::{client_name, reply_outcome};
use crate::audit::{AuditOutcome, AuditRecord};
use crate::error::shutting_down;
use crate::limits::Operation;
use crate::policy::{Target, TargetKind};
use crate::resource_owner::ResourceOwner;
use crate::view_state::ViewState;

/// Limits and records the requests that the handler does not see, or answers from memory.
pub(crate) struct AccessLayer {
    /// Weak, because the state outlives the server that owns the layer only by accident.
    pub(crate) state: Weak<ViewState>,
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
        // A client that starts now would call next.
        if matches!(class, RequestClass::Discover) && state.gateway.access.drain.is_draining() {
            return HandlerOutcome::later(async { Err(shutting_down()) });
        }
        HandlerOutcome::later(async move {
            let caller = request.caller().cloned();
            let subject = state.subject(caller.as_ref());
            let mut record = AuditRecord::new(request.method())
                .with_subject(&subject)
                .with_client(request.client().as_ref().map(client_name));
            record.address = request.extension::<ClientAddress>().map(ToString::to_string);
            let owner = subscribed_resource(&state, class, &request);
            let target =
                owner.as_ref().map(|owner| Target::new(&owner.server, TargetKind::Subscription, &owner.uri));
            if let Some(target) = &target {
                record = record.with_target(target);
                let access = &state.gateway.access;
                record.set_decision(&access.decide_subscription(&subject, target.server, target.name));
            }
            // What the handler will refuse.
            let refused = Some(record.outcome).filter(|outcome| *outcome != AuditOutcome::Cancelled);
            let mut open = state.gateway.access.begin_record(record).await?;
            let operation = match (class, &target) {
                (RequestClass::Discover, _) => Some(Operation::Discover),
                (RequestClass::List, _) => Some(Operation::List),
                // A denied call costs nothing.
                (RequestClass::Subscribe, target) => {
                    target.as_ref().filter(|_| refused.is_none()).map(Operation::Call)
                }
            };
            let limited = match &operation {
                Some(operation) => state.gateway.access.check_limits(&subject, operation).await,
                None => Ok(()),
            };
            if let Err(limited) = limited {
                let error = limited.to_rpc_error();
                open.update(|_, record| record.reason = Some(limited.limit.clone()));
                open.end(AuditOutcome::RateLimited, Some(&error)).await;
                return Err(error);
            }
            if request.is_long_lived() {
                // A stream is recorded when it begins.
                open.end(AuditOutcome::Ok, None).await;
                return next.call(request).into_reply().await;
            }
            let reply = next.call(request).into_reply().await;
            let outcome = refused.unwrap_or_else(|| reply_outcome(&reply));
            open.end(outcome, reply.as_ref().err()).await;
            reply
        })
    }
}

/// Returns the resource of a subscription, if a server has it.
fn subscribed_resource(
    state: &ViewState,
    class: RequestClass,
    request: &IncomingRequest,
) -> Option<ResourceOwner> {
    match class {
        RequestClass::Subscribe => {
            let uri: String = request.param("uri")?.decode().ok()?;
            state.exposed().find_resource(&uri).ok()
        }
        RequestClass::Discover | RequestClass::List => None,
    }
}
