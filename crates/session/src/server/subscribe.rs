//! Subscriptions to resources: the handler decides, and may take its time, before the client's request is answered.

use std::sync::Arc;

use switchboard_protocol::jsonrpc::Request;
use switchboard_protocol::{EmptyResult, RpcError, SubscribeParams};

use crate::era::Questions;
use crate::era::serving::RequestEra;
use crate::link::BoxFuture;
use crate::request::{Cancel, ReplyChannel, SubscriptionGrant};
use crate::server::request_context::ContextOptions;
use crate::server::{HandlerOutcome, RequestContext, Server};

/// What a handler says to a subscription.
pub enum SubscriptionOutcome {
    /// At once: granted, or the error for the client.
    Now(Result<SubscriptionGrant, RpcError>),
    /// Later. The client's request is answered then.
    Later(BoxFuture<'static, Result<SubscriptionGrant, RpcError>>),
}

impl SubscriptionOutcome {
    /// Creates the outcome of a future.
    pub fn later(future: impl Future<Output = Result<SubscriptionGrant, RpcError>> + Send + 'static) -> Self {
        Self::Later(Box::pin(future))
    }

    pub(crate) async fn into_grant(self) -> Result<SubscriptionGrant, RpcError> {
        match self {
            Self::Now(granted) => granted,
            Self::Later(future) => future.await,
        }
    }
}

impl std::fmt::Debug for SubscriptionOutcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Now(granted) => f.debug_tuple("Now").field(granted).finish(),
            Self::Later(_) => f.write_str("Later"),
        }
    }
}

/// Answers `resources/subscribe`.
pub(crate) fn subscribe(
    server: &Arc<Server>,
    era: &RequestEra,
    request: &Request,
    SubscribeParams { uri, .. }: SubscribeParams,
    (channel, cancel): (&Arc<dyn ReplyChannel>, &Arc<Cancel>),
) -> HandlerOutcome {
    // A legacy client can be asked a question at any time.
    let cx = subscription_context(server, era, request, (channel, cancel), true);
    let outcome = server.open_subscription(&uri, &cx);
    let era = era.clone();
    let finish = move |granted: Result<SubscriptionGrant, RpcError>| {
        // Only revisions with sessions have the method.
        let session = era.session().ok_or_else(|| RpcError::method_not_found("resources/subscribe"))?;
        session.subscribe(uri, granted?)?;
        Ok(EmptyResult::default().into())
    };
    match outcome {
        SubscriptionOutcome::Now(granted) => HandlerOutcome::Now(finish(granted)),
        SubscriptionOutcome::Later(future) => HandlerOutcome::later(async move { finish(future.await) }),
    }
}

/// Returns the context of a request that subscribes.
pub(crate) fn subscription_context(
    server: &Server,
    era: &RequestEra,
    request: &Request,
    (channel, cancel): (&Arc<dyn ReplyChannel>, &Arc<Cancel>),
    may_ask: bool,
) -> RequestContext {
    let options = ContextOptions {
        may_ask,
        ask_within: server.limits().ask,
        logs: false,
        of_extension: false,
        publisher: server.publisher.clone(),
    };
    let reply = (Arc::clone(channel), Arc::clone(cancel));
    RequestContext::new(request.id.clone(), era.clone(), None, reply, options, Questions::default())
}
