//! A session of the client, with the defaults it has.

use std::sync::OnceLock;

use bench_kit::{ClientArgs, Era, Fail, Session, Target};
use switchboard::client::{ClientSession, RevisionPolicy};
use switchboard::protocol::{CallToolResult, Content};
use switchboard::{Client, Http, Stdio, json};

/// A session under measurement.
pub struct Calling {
    session: ClientSession,
}

impl From<ClientSession> for Calling {
    fn from(session: ClientSession) -> Self {
        Self { session }
    }
}

/// A client of one era only.
pub fn client(era: Era) -> Client {
    Client::new().with_revisions(match era {
        Era::Legacy => RevisionPolicy::LegacyOnly,
        Era::Modern => RevisionPolicy::ModernOnly,
    })
}

/// The one text of a result.
fn text(result: &CallToolResult) -> Result<&str, Fail> {
    result.content.first().and_then(Content::as_text).ok_or_else(|| "the result has no text".into())
}

impl Session for Calling {
    async fn open(args: &ClientArgs) -> Result<Self, Fail> {
        // One client for all sessions, as it is meant to be.
        static CLIENTS: [OnceLock<Client>; 2] = [const { OnceLock::new() }; 2];
        let client = CLIENTS[args.era as usize].get_or_init(|| client(args.era));
        match &args.target {
            Target::Url(url) => {
                // On a line of its own: in one with the await it would stand in the task all the time.
                let server = Http::new(url);
                Ok(client.connect(server).await?.into())
            }
            Target::Command(words) => {
                Ok(client.connect(Stdio::new(&words[0]).args(&words[1..])).await?.into())
            }
        }
    }

    async fn echo(&self, said: &str) -> Result<usize, Fail> {
        let result = self.session.call_tool("echo", json!({ "text": said })).await?;
        Ok(text(&result)?.len())
    }

    async fn big(&self) -> Result<usize, Fail> {
        let result = self.session.call_tool("big", json!({})).await?;
        Ok(text(&result)?.len())
    }

    async fn list(&self) -> Result<usize, Fail> {
        Ok(self.session.refresh_tools().await?.len())
    }

    async fn usage(&self) -> Result<String, Fail> {
        let result = self.session.call_tool("usage", json!({})).await?;
        Ok(text(&result)?.to_owned())
    }

    async fn close(self) -> Result<(), Fail> {
        self.session.close().await;
        Ok(())
    }
}
