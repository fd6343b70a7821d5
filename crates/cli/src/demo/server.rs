//! The demo server: its identity, capabilities and request handler.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use switchboard::protocol::{
    Implementation, ListCapability, ResourcesCapability, RpcError, ServerCapabilities, Settings,
};
use switchboard::server::{Handler, HandlerOutcome, Publisher, RequestContext, ServerRequest};
use switchboard::{Server, serve_stdio};
use tokio::sync::Notify;

use crate::args::DemoServerArgs;
use crate::demo::{http, prompts, resources, tools};
use crate::error::CommandError;

/// DemoState shared by the tools.
#[derive(Debug, Default)]
pub(crate) struct DemoState {
    /// Whether the tool `surprise` is listed.
    surprise: AtomicBool,
    /// Set once the server is built.
    publisher: OnceLock<Publisher>,
    /// Notified when a client subscribes to the clock.
    clock_subscribed: Notify,
}

impl DemoState {
    pub(crate) fn has_surprise(&self) -> bool {
        self.surprise.load(Ordering::Relaxed)
    }

    /// Shows or hides the tool `surprise`, publishes the change, and returns whether it is listed now.
    pub(crate) fn toggle_surprise(&self) -> bool {
        let is_there = !self.surprise.fetch_xor(true, Ordering::Relaxed);
        if let Some(publisher) = self.publisher.get() {
            publisher.tools_changed();
        }
        is_there
    }
}

struct DemoHandler {
    state: Arc<DemoState>,
}

impl Handler for DemoHandler {
    fn handle(&self, request: ServerRequest, cx: RequestContext) -> HandlerOutcome {
        match request {
            ServerRequest::ListTools(_) => HandlerOutcome::now(tools::list(&self.state)),
            ServerRequest::CallTool(params) => tools::call(Arc::clone(&self.state), params, cx),
            ServerRequest::ListResources(page) => HandlerOutcome::Now(resources::list(&page)),
            ServerRequest::ListResourceTemplates(_) => HandlerOutcome::now(resources::templates()),
            ServerRequest::ReadResource(params) => HandlerOutcome::Now(resources::read(&params.uri)),
            ServerRequest::ListPrompts(_) => HandlerOutcome::now(prompts::list()),
            ServerRequest::GetPrompt(params) => HandlerOutcome::Now(prompts::get(params)),
            ServerRequest::Complete(params) => HandlerOutcome::Now(prompts::complete(&params)),
            other => HandlerOutcome::error(RpcError::method_not_found(other.method())),
        }
    }

    fn may_subscribe(&self, uri: &str) -> Result<(), RpcError> {
        resources::check_exists(uri)?;
        self.state.clock_subscribed.notify_one();
        Ok(())
    }
}

/// Builds the demo server, for any transport.
pub(crate) fn build() -> Arc<Server> {
    build_with_state().0
}

fn build_with_state() -> (Arc<Server>, Arc<DemoState>) {
    let state = Arc::new(DemoState::default());
    let list = || ListCapability::new().with_list_changed(true);
    let capabilities = ServerCapabilities::new()
        .with_tools(list())
        .with_prompts(ListCapability::new())
        .with_resources(ResourcesCapability::new().with_subscribe(true))
        .with_completions(Settings::new())
        .with_logging(Settings::new());
    let info = Implementation::new("switchboard-demo", env!("CARGO_PKG_VERSION"))
        .with_title("Switchboard Demo")
        .with_description("A small server to try things on.");
    let server = Server::builder(info, capabilities)
        .instructions(
            "Try `echo` and `add` first. `countdown` is slow on purpose; `order_pizza` asks the user back.",
        )
        .build(DemoHandler { state: Arc::clone(&state) });
    _ = state.publisher.set(server.publisher().clone());
    (server, state)
}

/// Serves on stdin and stdout until the client disconnects, or over HTTP until a signal arrives.
///
/// # Errors
/// Returns an error if stdin and stdout, or the address, cannot be used.
pub(crate) async fn serve(args: &DemoServerArgs) -> Result<(), CommandError> {
    let (server, state) = build_with_state();
    if let Some(address) = args.server.http {
        return tokio::select! {
            served = http::serve(&server, address, args) => served,
            never = publish_clock(&state, server.publisher()) => match never {},
        };
    }
    if std::io::stdin().is_terminal() {
        eprintln!(
            "This is a server: it waits for a client on stdin. Try `switchboard tools -- switchboard demo-server`."
        );
    }
    tokio::select! {
        served = serve_stdio(&server) => Ok(served?),
        never = publish_clock(&state, server.publisher()) => match never {},
    }
}

/// Publishes an update of the clock every second, after the first subscription.
async fn publish_clock(state: &DemoState, publisher: &Publisher) -> std::convert::Infallible {
    state.clock_subscribed.notified().await;
    let mut second = tokio::time::interval(Duration::from_secs(1));
    second.tick().await;
    loop {
        second.tick().await;
        publisher.resource_updated(resources::CLOCK);
    }
}
