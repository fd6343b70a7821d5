//! A session of the client.

use bench_kit::{ClientArgs, Era, Fail, Session, Target};
use rmcp::model::{CallToolRequestParams, CallToolResult, ProtocolVersion};
use rmcp::service::RunningService;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{IntoTransport, StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{ClientLifecycleMode, ClientServiceExt, RoleClient};
use serde_json::{Map, Value, json};
use tokio::process::Command;

/// A session under measurement.
pub struct Calling(RunningService<RoleClient, ()>);

impl Calling {
    /// Opens a session over a transport, in one era only.
    pub async fn over<E, A>(transport: impl IntoTransport<RoleClient, E, A>, era: Era) -> Result<Self, Fail>
    where
        E: std::error::Error + Send + Sync + 'static,
    {
        let lifecycle = match era {
            Era::Legacy => ClientLifecycleMode::Initialize,
            Era::Modern => {
                ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }
            }
        };
        Ok(Self(().serve_with_lifecycle(transport, lifecycle).await?))
    }

    async fn call(&self, tool: &'static str, arguments: Value) -> Result<CallToolResult, Fail> {
        let arguments = match arguments {
            Value::Object(arguments) => arguments,
            _ => Map::new(),
        };
        Ok(self.0.call_tool(CallToolRequestParams::new(tool).with_arguments(arguments)).await?)
    }
}

/// The one text of a result.
fn text(result: &CallToolResult) -> Result<&str, Fail> {
    let first = result.content.first().and_then(|content| content.as_text());
    first.map(|content| content.text.as_str()).ok_or_else(|| "the result has no text".into())
}

impl Session for Calling {
    async fn open(args: &ClientArgs) -> Result<Self, Fail> {
        match &args.target {
            Target::Url(url) if args.form == "pool" => {
                let config = StreamableHttpClientTransportConfig::with_uri(url.as_str());
                let transport = StreamableHttpClientTransport::with_client(reqwest::Client::new(), config);
                Self::over(transport, args.era).await
            }
            Target::Url(url) => {
                Self::over(StreamableHttpClientTransport::from_uri(url.as_str()), args.era).await
            }
            Target::Command(words) => {
                let mut command = Command::new(&words[0]);
                command.args(&words[1..]);
                Self::over(TokioChildProcess::new(command)?, args.era).await
            }
        }
    }

    async fn echo(&self, said: &str) -> Result<usize, Fail> {
        let result = self.call("echo", json!({ "text": said })).await?;
        Ok(text(&result)?.len())
    }

    async fn big(&self) -> Result<usize, Fail> {
        let result = self.call("big", json!({})).await?;
        Ok(text(&result)?.len())
    }

    async fn list(&self) -> Result<usize, Fail> {
        Ok(self.0.list_all_tools().await?.len())
    }

    async fn usage(&self) -> Result<String, Fail> {
        let result = self.call("usage", json!({})).await?;
        Ok(text(&result)?.to_owned())
    }

    async fn close(self) -> Result<(), Fail> {
        self.0.cancel().await?;
        Ok(())
    }
}
