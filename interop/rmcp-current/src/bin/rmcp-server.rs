//! A stdio server written with the current rmcp, speaking both eras: three tools, one resource, one prompt.
//!
//! The resource `interop://slow` counts what became of the calls to `slow`, so that a test can see that a
//! cancellation arrived and not merely that it was sent.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};
use std::time::Duration;

use rmcp::handler::server::router::{prompt::PromptRouter, tool::ToolRouter};
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{
    Implementation, ListResourcesResult, PaginatedRequestParams, ProgressNotificationParam, PromptMessage,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Resource, ResourceContents, Role,
    ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt, prompt, prompt_handler, prompt_router, tool,
    tool_handler, tool_router,
};
use schemars::JsonSchema;
use serde::Deserialize;

const SLOW_URI: &str = "interop://slow";

#[derive(Clone)]
struct Server {
    tools: ToolRouter<Self>,
    prompts: PromptRouter<Self>,
    slow: Arc<SlowCalls>,
}

/// What became of the calls to `slow`.
#[derive(Default)]
struct SlowCalls {
    started: AtomicU32,
    finished: AtomicU32,
    cancelled: AtomicU32,
}

#[derive(Deserialize, JsonSchema)]
struct Echo {
    /// What to say back.
    text: String,
}

#[derive(Deserialize, JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}

#[derive(Deserialize, JsonSchema)]
struct Slow {
    /// How long to take.
    seconds: f64,
}

#[derive(Deserialize, JsonSchema)]
struct Steps {
    /// How often to report progress.
    count: u32,
}

#[derive(Deserialize, JsonSchema)]
struct Greet {
    /// Whom to greet.
    name: String,
}

impl Server {
    fn new() -> Self {
        Self { tools: Self::tools(), prompts: Self::prompt_router(), slow: Arc::default() }
    }
}

#[tool_router(router = tools)]
impl Server {
    #[tool(description = "Says the text back.")]
    async fn echo(&self, Parameters(Echo { text }): Parameters<Echo>) -> String {
        text
    }

    #[tool(description = "Adds two integers.")]
    async fn add(&self, Parameters(Add { a, b }): Parameters<Add>) -> String {
        a.saturating_add(b).to_string()
    }

    #[tool(description = "Answers after some seconds, unless cancelled before.")]
    async fn slow(
        &self,
        Parameters(Slow { seconds }): Parameters<Slow>,
        context: RequestContext<RoleServer>,
    ) -> Result<String, ErrorData> {
        let pause = Duration::try_from_secs_f64(seconds)
            .map_err(|error| ErrorData::invalid_params(error.to_string(), None))?;
        self.slow.started.fetch_add(1, Ordering::Relaxed);
        tokio::select! {
            () = tokio::time::sleep(pause) => {
                self.slow.finished.fetch_add(1, Ordering::Relaxed);
                Ok(format!("took {seconds} s"))
            }
            () = context.ct.cancelled() => {
                self.slow.cancelled.fetch_add(1, Ordering::Relaxed);
                Err(ErrorData::internal_error("cancelled", None))
            }
        }
    }

    #[tool(description = "Reports progress so many times, and answers at once.")]
    async fn steps(
        &self,
        Parameters(Steps { count }): Parameters<Steps>,
        context: RequestContext<RoleServer>,
    ) -> String {
        if let Some(token) = context.meta.get_progress_token() {
            for step in 1..=count {
                let progress = ProgressNotificationParam::new(token.clone(), f64::from(step));
                let _ = context.peer.notify_progress(progress.with_total(f64::from(count))).await;
            }
        }
        "done".to_owned()
    }
}

#[prompt_router]
impl Server {
    #[prompt(name = "greet", description = "Asks for a greeting.")]
    async fn greet(&self, Parameters(Greet { name }): Parameters<Greet>) -> Vec<PromptMessage> {
        vec![PromptMessage::new_text(Role::User, format!("Please greet {name}."))]
    }
}

#[tool_handler(router = self.tools)]
#[prompt_handler(router = self.prompts)]
impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities =
            ServerCapabilities::builder().enable_tools().enable_resources().enable_prompts().build();
        ServerConfig::new(capabilities).with_server_info(Implementation::new("rmcp-server", "3.8.0"))
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let slow = Resource::new(SLOW_URI, "slow").with_mime_type("application/json");
        Ok(ListResourcesResult::with_all_items(vec![slow]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if request.uri != SLOW_URI {
            return Err(ErrorData::resource_not_found("no such resource", None));
        }
        let text = serde_json::json!({
            "started": self.slow.started.load(Ordering::Relaxed),
            "finished": self.slow.finished.load(Ordering::Relaxed),
            "cancelled": self.slow.cancelled.load(Ordering::Relaxed),
        });
        let contents = ResourceContents::text(text.to_string(), SLOW_URI).with_mime_type("application/json");
        Ok(ReadResourceResult::new(vec![contents]).into())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let running = Server::new().serve(rmcp::transport::stdio()).await?;
    running.waiting().await?;
    Ok(())
}
