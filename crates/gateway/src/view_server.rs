//! The server of one view: its capabilities, its instructions and its handler.

use std::sync::Arc;

use switchboard_protocol::{
    CacheHints, CacheScope, ListCapability, ResourcesCapability, ServerCapabilities, Settings,
};
use switchboard_session::server::{Server, ServerBuilder};

use crate::access_layer::AccessLayer;
use crate::changes::ChangesTask;
use crate::handler::GatewayHandler;
use crate::instructions;
use crate::state::GatewayState;
use crate::view_state::ViewState;

/// A view that is served.
pub(crate) struct ViewServer {
    pub(crate) state: Arc<ViewState>,
    pub(crate) server: Arc<Server>,
}

impl ViewServer {
    /// Starts the server of a view; `configure` may add layers, limits and keys.
    pub(crate) fn start(
        gateway: &Arc<GatewayState>,
        configure: &dyn Fn(ServerBuilder) -> ServerBuilder,
    ) -> Self {
        let state = Arc::new(ViewState::new(Arc::clone(gateway)));
        let composing = Arc::downgrade(&state);
        let builder = Server::builder(gateway.options.info.clone(), capabilities())
            .publisher(state.publisher.clone())
            .state_keys(gateway.options.state_keys.clone())
            .cache_hints(CacheHints::new(0, CacheScope::Private))
            .instructions_from(move || {
                let state = composing.upgrade()?;
                instructions::compose(state.gateway.options.instructions.as_deref(), &state.gateway.host)
            });
        let builder = match gateway.access.has_layer() {
            true => builder.layer(AccessLayer { state: Arc::downgrade(&state) }),
            false => builder,
        };
        let handler = GatewayHandler { _changes: ChangesTask::start(&state), state: Arc::clone(&state) };
        Self { server: configure(builder).build(handler), state }
    }
}

/// What a gateway offers, whatever its servers offer now: they may change.
fn capabilities() -> ServerCapabilities {
    let list = || ListCapability::new().with_list_changed(true);
    ServerCapabilities::new()
        .with_tools(list())
        .with_prompts(list())
        .with_resources(ResourcesCapability::new().with_subscribe(true).with_list_changed(true))
        .with_completions(Settings::new())
        .with_logging(Settings::new())
}
