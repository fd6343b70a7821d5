//! Serves the assistant: `assistant serve --stdio`, `assistant serve --http 127.0.0.1:8080`, `assistant design print`.

use std::process::ExitCode;

use assistant::service::InMemory;
use assistant::{AssistantEvents, AssistantServer};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let (events, feed) = AssistantEvents::channel(64);
    AssistantServer::builder(InMemory::new(events))
        .events(feed)
        // Whoever may call may also publish events here. A service that trusts its callers less leaves this out.
        .accept_notifications(true)
        .serve_cli()
        .await
}
