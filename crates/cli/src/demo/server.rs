//! The demo server itself: who it is, what it offers, which file answers what.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use switchboard::protocol::{ListCapability, ResourcesCapability, Settings};
use switchboard::{
    Handler, HandlerOutcome, Implementation, Publisher, RequestContext, RpcError, Server, ServerCapabilities,
    ServerRequest, serve_stdio,
};
use tokio::sync::Notify;

use crate::args::DemoServerArgs;
use crate::demo::{prompts, resources, tools, web};
use crate::failure::Failure;

/// What the tools of the demo share.
#[derive(Debug, Default)]
pub(crate) struct State {
    /// Whether the hidden tool is listed.
    surprise: AtomicBool,
    /// Set as soon as there is a server to publish through.
    publisher: OnceLock<Publisher>,
    /// Somebody has subscribed to the clock.
    watched: Notify,
}

impl State {
    pub(crate) fn has_surprise(&self) -> bool {
        self.surprise.load(Ordering::Relaxed)
    }

    /// Shows or hides the surprise, and tells everybody who listens; returns whether it is there now.
    pub(crate) fn toggle_surprise(&self) -> bool {
        let is_there = !self.surprise.fetch_xor(true, Ordering::Relaxed);
        if let Some(publisher) = self.publisher.get() {
            publisher.tools_changed();
        }
        is_there
    }
}

struct Demo {
    state: Arc<State>,
}

impl Handler for Demo {
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
        resources::known(uri)?;
        self.state.watched.notify_one();
        Ok(())
    }
}

/// The demo server, to be served in whatever way.
pub(crate) fn build() -> Arc<Server> {
    built().0
}

fn built() -> (Arc<Server>, Arc<State>) {
    let state = Arc::new(State::default());
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
        .build(Demo { state: Arc::clone(&state) });
    _ = state.publisher.set(server.publisher().clone());
    (server, state)
}

/// Serves on stdin and stdout until the client leaves, or over HTTP until a signal says to stop.
///
/// # Errors
/// When stdin and stdout, or the address, cannot be used.
pub(crate) async fn serve(args: &DemoServerArgs) -> Result<(), Failure> {
    let (server, state) = built();
    if let Some(address) = args.http {
        return tokio::select! {
            served = web::serve(&server, address, args) => served,
            never = tick(&state, server.publisher()) => match never {},
        };
    }
    if std::io::stdin().is_terminal() {
        eprintln!(
            "This is a server: it waits for a client on stdin. Try `switchboard tools -- switchboard demo-server`."
        );
    }
    tokio::select! {
        served = serve_stdio(&server) => Ok(served?),
        never = tick(&state, server.publisher()) => match never {},
    }
}

/// Tells of the clock every second, once somebody has wanted to know.
async fn tick(state: &State, publisher: &Publisher) -> std::convert::Infallible {
    state.watched.notified().await;
    let mut second = tokio::time::interval(Duration::from_secs(1));
    second.tick().await;
    loop {
        second.tick().await;
        publisher.resource_updated(resources::CLOCK);
    }
}
