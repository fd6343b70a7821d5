//! Opens one session of a server: connects, and for a main session lists what the catalog holds.

use std::sync::Arc;
use std::time::Duration;

use switchboard_protocol::{ListenFilter, ServerCapabilities, Tool};
use switchboard_session::client::{ChangeStream, List, Subscription};
use switchboard_session::{CallError, ClientSession, EraHint, TimeoutKind};

use crate::connection::kept_lists::FetchedLists;
use crate::connection::{DialOptions, SharedState};
use crate::slot::Slot;
use crate::status::ConnectionError;

/// How much stderr output an error includes.
const MAX_STDERR_BYTES: usize = 4 * 1024;

/// A session that has just been opened.
pub(super) struct OpenSession {
    pub(super) session: ClientSession,
    pub(super) changes: ChangeStream,
    /// The lists for the catalog; `None` for a keyed session, whose server has a main one.
    pub(super) catalog: Option<FetchedCatalog>,
}

/// What the main session of a server contributes to the catalog.
pub(super) struct FetchedCatalog {
    /// Unsubscribes on drop. A modern server sends changes only to subscribers.
    pub(super) subscription: Option<Subscription>,
    pub(super) tools: ToolListResult,
    /// The other lists, if the host keeps them.
    pub(super) lists: Option<FetchedLists>,
}

/// The outcome of listing tools.
pub(super) type ToolListResult = Result<Arc<List<Tool>>, CallError>;

/// Opens a session within its startup timeout, and lists its tools.
pub(super) async fn open(
    slot: Arc<Slot>,
    shared: Arc<SharedState>,
    era_hint: Option<EraHint>,
) -> Result<OpenSession, ConnectionError> {
    let spec = &slot.spec;
    let timed_out =
        || CallError::TimedOut { kind: TimeoutKind::Startup, after: spec.startup_timeout, hint: None };
    let connecting = async {
        let authorizer = slot.scope.as_ref().and_then(|scope| scope.authorizer.as_ref());
        let tap = shared.connectors.traffic.tap(&slot.name);
        let options = DialOptions { child: &slot.child, authorizer, tap: tap.as_ref() };
        let dial = shared.connectors.dial(&slot.name, spec, options).await?;
        let mut limits = shared.limits.clone();
        limits.startup = spec.startup_timeout;
        limits.probe = limits.probe.min(spec.startup_timeout / 2);
        if let Some(call) = spec.call_timeout {
            limits.call_total = call;
            limits.call_idle = limits.call_idle.max(call);
        }
        let mut client = shared.client.clone().with_limits(limits).with_answers(Arc::clone(&slot.questions));
        if let Some(era_hint) = era_hint {
            client = client.with_era_hint(era_hint);
        }
        let own_roots = slot.scope.as_ref().and_then(|scope| scope.roots.as_deref());
        if let Some(roots) = own_roots.map(<[_]>::to_vec).or_else(|| shared.roots.read().clone()) {
            client = client.with_roots(roots);
        }
        let session = client.session(dial);
        if let Some(tap) = &tap {
            tap.set_session(session.number());
        }
        session.initialize().await?;
        // Before listing, so that no change is missed.
        let changes = session.changes()?;
        if slot.is_keyed() {
            return Ok(OpenSession { session, changes, catalog: None });
        }
        let subscription = subscribe(&session).await;
        let other_lists =
            async { if shared.keeps_all_lists { Some(FetchedLists::fetch(&session).await) } else { None } };
        let (tools, lists) = tokio::join!(session.list_tools(), other_lists);
        match tools {
            Err(error @ (CallError::Link(_) | CallError::Closed)) => Err(error.into()),
            tools => {
                let catalog = Some(FetchedCatalog { subscription, tools, lists });
                Ok(OpenSession { session, changes, catalog })
            }
        }
    };
    // Slightly longer than the session's own timeout, whose error is more specific.
    let within = spec.startup_timeout.saturating_add(Duration::from_millis(100));
    let opened = tokio::time::timeout(within, connecting).await.unwrap_or_else(|_| Err(timed_out().into()));
    opened.map_err(|failure| match failure {
        ConnectionError::Session(error @ CallError::TimedOut { .. }) => startup_timeout_error(error, &slot),
        other => other,
    })
}

/// Adds the stderr output of the server to a startup timeout.
fn startup_timeout_error(error: CallError, slot: &Slot) -> ConnectionError {
    let stderr = slot.child.get().map(|child| child.stderr_tail()).unwrap_or_default();
    match stderr.is_empty() {
        true => ConnectionError::Session(error),
        false => {
            let from = stderr.ceil_char_boundary(stderr.len().saturating_sub(MAX_STDERR_BYTES));
            ConnectionError::StartupTimedOut { error, stderr: stderr[from..].to_owned() }
        }
    }
}

/// Subscribes to the list changes that the server supports.
async fn subscribe(session: &ClientSession) -> Option<Subscription> {
    let filter = change_filter(&session.info().ok()?.capabilities);
    if filter.is_empty() {
        return None;
    }
    match session.listen(filter).await {
        Ok(subscription) => Some(subscription),
        Err(error) => {
            tracing::debug!(%error, "subscription to list changes failed");
            None
        }
    }
}

fn change_filter(offered: &ServerCapabilities) -> ListenFilter {
    let mut filter = ListenFilter::new();
    filter.tools_list_changed = offered.tools.as_ref().is_some_and(|list| list.list_changed == Some(true));
    filter.prompts_list_changed =
        offered.prompts.as_ref().is_some_and(|list| list.list_changed == Some(true));
    filter.resources_list_changed =
        offered.resources.as_ref().is_some_and(|list| list.list_changed == Some(true));
    filter
}
