//! A session that goes through a host: what an agent does instead of holding the session itself.

use bench_kit::{ClientArgs, Era, Fail, Session, Target};
use switchboard::client::RevisionPolicy;
use switchboard::protocol::{CallToolResult, Content};
use switchboard::{Host, json};

use crate::plan::{http, stdio};

/// A host with one server.
pub struct Hosted {
    host: Host,
}

/// The name of the server.
const NAME: &str = "bench";

/// The one text of a result.
fn text(result: &CallToolResult) -> Result<&str, Fail> {
    result.content.first().and_then(Content::as_text).ok_or_else(|| "the result has no text".into())
}

impl Session for Hosted {
    async fn open(args: &ClientArgs) -> Result<Self, Fail> {
        let offer = match args.era {
            Era::Legacy => RevisionPolicy::LegacyOnly,
            Era::Modern => RevisionPolicy::ModernOnly,
        };
        let host = Host::builder().with_revisions(offer).build();
        let plan = match &args.target {
            Target::Url(url) => http(url),
            Target::Command(words) => stdio(&words[0], &words[1..]),
        };
        host.connect(NAME, plan).await?;
        Ok(Self { host })
    }

    async fn echo(&self, said: &str) -> Result<usize, Fail> {
        let result = self.host.call_tool(NAME, "echo", json!({ "text": said })).await?;
        Ok(text(&result)?.len())
    }

    async fn big(&self) -> Result<usize, Fail> {
        let result = self.host.call_tool(NAME, "big", json!({})).await?;
        Ok(text(&result)?.len())
    }

    async fn list(&self) -> Result<usize, Fail> {
        let tools = self.host.all_tools();
        Ok(tools.iter().filter(|tool| tool.server() == NAME).count())
    }

    async fn usage(&self) -> Result<String, Fail> {
        let result = self.host.call_tool(NAME, "usage", json!({})).await?;
        Ok(text(&result)?.to_owned())
    }

    async fn close(self) -> Result<(), Fail> {
        self.host.close().await;
        Ok(())
    }
}
