//! A stdio server written with rmcp 1.8, which ends the process when anything but `initialize` or `ping` comes
//! first. A client that probes with `server/discover` must start it again before it falls back.

use std::time::Duration;

use rmcp::handler::server::{router::tool::ToolRouter, wrapper::Parameters};
use rmcp::model::{Implementation, ServerCapabilities, ServerInfo};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt, tool, tool_handler, tool_router};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Clone)]
struct Server {
    tools: ToolRouter<Self>,
}

#[derive(Deserialize, JsonSchema)]
struct Echo {
    /// What to say back.
    text: String,
}

#[derive(Deserialize, JsonSchema)]
struct Slow {
    /// How long to take.
    seconds: f64,
}

#[tool_router(router = tools)]
impl Server {
    #[tool(description = "Says the text back.")]
    async fn echo(&self, Parameters(Echo { text }): Parameters<Echo>) -> String {
        text
    }

    #[tool(description = "Answers after some seconds, unless cancelled before.")]
    async fn slow(
        &self,
        Parameters(Slow { seconds }): Parameters<Slow>,
        context: RequestContext<RoleServer>,
    ) -> Result<String, ErrorData> {
        let pause = Duration::try_from_secs_f64(seconds)
            .map_err(|error| ErrorData::invalid_params(error.to_string(), None))?;
        tokio::select! {
            () = tokio::time::sleep(pause) => Ok(format!("took {seconds} s")),
            () = context.ct.cancelled() => Err(ErrorData::internal_error("cancelled", None)),
        }
    }
}

#[tool_handler(router = self.tools)]
impl ServerHandler for Server {
    fn get_info(&self) -> ServerInfo {
        ServerInfo::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("rmcp-old-server", "1.8.0"))
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let running = Server { tools: Server::tools() }.serve(rmcp::transport::stdio()).await?;
    running.waiting().await?;
    Ok(())
}
