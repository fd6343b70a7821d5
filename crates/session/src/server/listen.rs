//! A listen stream of the modern era: an acknowledgement, then the changes that match its filter, tagged with its id.

use std::future::ready;
use std::sync::Arc;

use switchboard_protocol::jsonrpc::Request;
use switchboard_protocol::surface::TASKS_EXTENSION;
use switchboard_protocol::{
    Acknowledged, CancelledParams, DetailedTask, EmptyResult, ListenFilter, Meta, Raw, ResourceUpdated,
    RpcError, ServerCapabilities,
};

use tokio::task::JoinSet;

use crate::era::serving::RequestEra;
use crate::era::{ObservedSubscription, ObservedTask, ServerChange};
use crate::request::{Cancel, ReplyChannel, SubscriptionGrant};
use crate::server::layer::panic_error;
use crate::server::publish::ChangeListener;
use crate::server::subscribe::{SubscriptionOutcome, subscription_context};
use crate::server::{HandlerOutcome, RequestContext, Server};

/// Serves a listen request until the client or the server ends it.
pub(crate) fn listen(
    server: &Arc<Server>,
    era: &RequestEra,
    request: &Request,
    wanted: ListenFilter,
    (channel, cancel): (&Arc<dyn ReplyChannel>, &Arc<Cancel>),
) -> HandlerOutcome {
    // The methods that may ask a question are others.
    let cx = subscription_context(server, era, request, (channel, cancel), false);
    // Before anything is accepted: an end that comes right after it must not be missed.
    let mut ended = server.publisher.ended();
    let (accepted, subscriptions) = match accept(server, era, wanted, (&cx, &**channel)) {
        Ok(accepted) => accepted,
        Err(error) => return HandlerOutcome::later(ready(Err(error))),
    };
    let meta = Meta::new().with(Meta::SUBSCRIPTION_ID, &request.id).unwrap_or_default();
    let (server, channel, id) = (Arc::clone(server), Arc::clone(channel), request.id.clone());
    let cancelled = Arc::clone(cancel);
    HandlerOutcome::later(async move {
        let grants = grant_all(subscriptions).await?;
        let (subscribed, followed) = (accepted.resource_subscriptions.clone(), accepted.task_ids.clone());
        let acknowledged = Acknowledged::new(accepted.clone()).with_meta(meta.clone());
        let stream = Arc::new(ListenStream {
            filter: accepted,
            grants: grants.clone(),
            meta: meta.clone(),
            channel: Arc::clone(&channel),
            cancelled,
        });
        // No change may be sent before the acknowledgement, and none after it may be missed.
        let _guard = server.publisher.register_after(stream, || {
            if let Ok(params) = Raw::encode(&acknowledged) {
                channel.note("notifications/subscriptions/acknowledged", Some(&params));
            }
        });
        let _subscriptions: Vec<ObservedSubscription> = subscribed
            .iter()
            .zip(grants)
            .map(|(uri, grant)| ObservedSubscription::new(server.observer(), uri, grant))
            .collect();
        let _followed: Vec<ObservedTask> =
            followed.iter().map(|task| ObservedTask::new(server.observer(), task)).collect();
        // Ends when the server ends all subscriptions; a cancellation by the client drops this future.
        let _ = ended.changed().await;
        // The specification names two ways to end a stream; both are sent.
        let cancelled = CancelledParams::new(id).with_meta(meta.clone());
        if let Ok(params) = Raw::encode(&cancelled) {
            channel.note("notifications/cancelled", Some(&params));
        }
        Ok(EmptyResult::new().with_meta(meta).into())
    })
}

/// Resources, and tasks, per stream.
const MAX_LISTENED: usize = 1_000;

/// Waits until all subscriptions are granted, concurrently.
///
/// # Errors
/// The first refusal.
async fn grant_all(outcomes: Vec<SubscriptionOutcome>) -> Result<Vec<SubscriptionGrant>, RpcError> {
    if outcomes.iter().all(|outcome| matches!(outcome, SubscriptionOutcome::Now(_))) {
        let granted = outcomes.into_iter().filter_map(|outcome| match outcome {
            SubscriptionOutcome::Now(granted) => Some(granted),
            SubscriptionOutcome::Later(_) => None,
        });
        return granted.collect();
    }
    let mut grants = vec![SubscriptionGrant::new(); outcomes.len()];
    let mut pending = JoinSet::new();
    for (at, outcome) in outcomes.into_iter().enumerate() {
        pending.spawn(async move { (at, outcome.into_grant().await) });
    }
    while let Some(granted) = pending.join_next().await {
        let (at, granted) = granted.map_err(|_| panic_error("a subscription"))?;
        grants[at] = granted?;
    }
    Ok(grants)
}

/// Returns the part of a filter that this server accepts, and what the handler says to each resource of it.
fn accept(
    server: &Server,
    era: &RequestEra,
    wanted: ListenFilter,
    (cx, channel): (&RequestContext, &dyn ReplyChannel),
) -> Result<(ListenFilter, Vec<SubscriptionOutcome>), RpcError> {
    let ServerCapabilities { tools, prompts, resources, .. } = server.capabilities();
    let mut accepted = ListenFilter::new();
    let mut subscriptions = Vec::new();
    let changes = |flag: Option<bool>| flag == Some(true);
    accepted.tools_list_changed =
        wanted.tools_list_changed && tools.as_ref().is_some_and(|tools| changes(tools.list_changed));
    accepted.prompts_list_changed =
        wanted.prompts_list_changed && prompts.as_ref().is_some_and(|prompts| changes(prompts.list_changed));
    accepted.resources_list_changed = wanted.resources_list_changed
        && resources.as_ref().is_some_and(|resources| changes(resources.list_changed));
    let requested = wanted.resource_subscriptions.len().max(wanted.task_ids.len());
    if requested > MAX_LISTENED {
        let reason =
            format!("one stream listens for at most {MAX_LISTENED} resources and tasks, not {requested}");
        return Err(RpcError::invalid_params(reason));
    }
    if resources.as_ref().is_some_and(|resources| changes(resources.subscribe)) {
        for uri in &wanted.resource_subscriptions {
            match server.open_subscription(uri, cx) {
                SubscriptionOutcome::Now(Err(refused)) => return Err(refused),
                outcome => subscriptions.push(outcome),
            }
        }
        accepted.resource_subscriptions = wanted.resource_subscriptions;
    }
    if !wanted.task_ids.is_empty() && server.capabilities().has_extension(TASKS_EXTENSION) {
        era.require_extension(TASKS_EXTENSION)?;
        accepted.task_ids = wanted.task_ids;
        accepted.task_ids.retain(|task| server.may_follow(task, channel));
    }
    Ok((accepted, subscriptions))
}

/// Sends the matching changes on a listen stream.
struct ListenStream {
    filter: ListenFilter,
    /// Of the resources of the filter, in order.
    grants: Vec<SubscriptionGrant>,
    meta: Meta,
    channel: Arc<dyn ReplyChannel>,
    cancelled: Arc<Cancel>,
}

impl ChangeListener for ListenStream {
    fn on_change(&self, change: &ServerChange) {
        let wanted = match change {
            ServerChange::Tools => self.filter.tools_list_changed,
            ServerChange::Prompts => self.filter.prompts_list_changed,
            ServerChange::Resources => self.filter.resources_list_changed,
            ServerChange::Resource { uri, scope } => {
                let mut subscribed = self.filter.resource_subscriptions.iter().zip(&self.grants);
                subscribed.any(|(asked, granted)| asked == uri && granted.covers(scope.as_deref()))
            }
            ServerChange::Task(task) => self.filter.task_ids.contains(&task.task.task_id),
            // For a session.
            ServerChange::Notification { .. } => false,
        };
        // After a cancellation nothing may be sent, even before the task of the stream has ended.
        if !wanted || self.cancelled.is_set() {
            return;
        }
        let params = match change {
            ServerChange::Resource { uri, .. } => {
                Raw::encode(&ResourceUpdated::new(uri.as_str()).with_meta(self.meta.clone()))
            }
            ServerChange::Task(task) => Raw::encode(&DetailedTask::clone(task).with_meta(self.meta.clone())),
            ServerChange::Tools
            | ServerChange::Prompts
            | ServerChange::Resources
            | ServerChange::Notification { .. } => Raw::encode(&serde_json::json!({ "_meta": self.meta })),
        };
        if let Ok(params) = params {
            self.channel.note(change.method(), Some(&params));
        }
    }
}
