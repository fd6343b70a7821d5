//! The server of one view: its capabilities, its instructions and its handler.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use switchboard_protocol::{
    CacheHints, CacheScope, ListCapability, ResourcesCapability, ServerCapabilities, Settings,
};
use switchboard_session::server::{Caller, Server, ServerBuilder};
use switchboard_transport::http::server::{HttpServerOptions, HttpService};

use crate::access_layer::AccessLayer;
use crate::capabilities::declare_tasks;
use crate::changes::ChangesTask;
use crate::handler::GatewayHandler;
use crate::instructions;
use crate::policy::TargetKind;
use crate::span_layer::SpanLayer;
use crate::state::GatewayState;
use crate::view::ViewRules;
use crate::view_state::ViewState;

/// How long calls of a view that was removed may take.
const END_TIMEOUT: Duration = Duration::from_secs(60);

/// A view that is served.
pub(crate) struct ViewServer {
    pub(crate) state: Arc<ViewState>,
    pub(crate) server: Arc<Server>,
    /// The HTTP services that have sessions of it.
    services: Mutex<Vec<HttpService>>,
}

/// Adds layers, limits and keys to the server of a view.
pub(crate) type ConfigureServer = dyn Fn(ServerBuilder) -> ServerBuilder + Send + Sync;

impl ViewServer {
    /// Starts the server of a view.
    pub(crate) fn start(
        gateway: &Arc<GatewayState>,
        rules: Arc<ViewRules>,
        configure: &ConfigureServer,
    ) -> Self {
        let offered = capabilities(&rules, |_| true);
        let state = Arc::new(ViewState::new(Arc::clone(gateway), rules));
        let (composing, offering) = (Arc::downgrade(&state), Arc::downgrade(&state));
        let builder = Server::builder(gateway.options.info.clone(), offered)
            .publisher(state.publisher.clone())
            .state_keys(gateway.options.state_keys.clone())
            .cache_hints(CacheHints::new(0, CacheScope::Private))
            .capabilities_for(move |caller| capabilities_for(&*offering.upgrade()?, caller))
            .instructions_for(move |caller| instructions::compose(&*composing.upgrade()?, caller));
        let builder = match gateway.options.spans {
            true => builder.layer(SpanLayer { parent: gateway.options.trace_parent.clone() }),
            false => builder,
        };
        let builder = match gateway.access.has_layer() {
            true => builder.layer(AccessLayer { state: Arc::downgrade(&state) }),
            false => builder,
        };
        let handler = GatewayHandler { _changes: ChangesTask::start(&state), state: Arc::clone(&state) };
        Self { server: configure(builder).build(handler), state, services: Mutex::default() }
    }

    /// Returns an HTTP service for the view, which ends with it.
    pub(crate) fn http_service(&self, options: HttpServerOptions) -> HttpService {
        let service = HttpService::new(&self.server, options);
        self.services.lock().push(service.clone());
        service
    }

    /// Returns whether the view can be changed to these rules without new sessions.
    pub(crate) fn accepts(&self, rules: &ViewRules) -> bool {
        *self.server.capabilities() == capabilities(rules, |_| true)
    }

    /// Ends all sessions and subscriptions, after calls under way, within a limit. Further requests are refused at once.
    pub(crate) fn end(&self) {
        self.state.set_removed();
        self.server.publisher().end_subscriptions();
        let services = std::mem::take(&mut *self.services.lock());
        let state = Arc::clone(&self.state);
        // Ends by itself, in bounded time.
        tokio::spawn(async move {
            let _ = tokio::time::timeout(END_TIMEOUT, state.calls_ended()).await;
            services.iter().for_each(HttpService::shut_down);
        });
    }
}

/// Returns what a view offers to a caller; `None` for all that it offers to anyone.
fn capabilities_for(view: &ViewState, caller: Option<&Caller>) -> Option<ServerCapabilities> {
    let filter = view.gateway.access.list_filter(view.subject(caller))?;
    Some(capabilities(&view.rules(), |kind| filter.may_show_kind(kind)))
}

/// Returns what a view offers, whatever its servers offer now: they may change, and capabilities do not. Tools, prompts and
/// resources are left out only if the view selects none by its definition, or if the policy shows none.
fn capabilities(rules: &ViewRules, may_show: impl Fn(TargetKind) -> bool) -> ServerCapabilities {
    let list = || ListCapability::new().with_list_changed(true);
    let mut offered = ServerCapabilities::new().with_logging(Settings::new());
    if rules.may_have_tools() && may_show(TargetKind::Tool) {
        offered = offered.with_tools(list());
        declare_tasks(&mut offered);
    }
    let has_prompts = rules.may_have_prompts() && may_show(TargetKind::Prompt);
    if has_prompts {
        offered = offered.with_prompts(list());
    }
    let has_resources =
        rules.may_have_resources() && (may_show(TargetKind::Resource) || may_show(TargetKind::Template));
    if has_resources {
        let resources = ResourcesCapability::new().with_subscribe(true).with_list_changed(true);
        offered = offered.with_resources(resources);
    }
    if has_prompts || has_resources {
        offered = offered.with_completions(Settings::new());
    }
    offered
}
