//! Tools that tell something while they work: progress, log messages, changed lists, when to come back.

use std::time::Duration;

use switchboard::protocol::Level;
use switchboard::service::EventPublisher;
use switchboard::service::prelude::*;

/// Tools that tell something while they work.
#[switchboard::service]
pub(crate) trait News {
    /// Reports how far it is.
    #[tool]
    async fn test_tool_with_progress(&self, cx: &Cx) -> Result<String>;

    /// Logs what it does.
    #[tool]
    async fn test_tool_with_logging(&self, cx: &Cx) -> Result<String>;

    /// Logs what it does, if the caller wants to hear it.
    #[tool]
    async fn test_logging_tool(&self, cx: &Cx) -> Result<String>;

    /// Hangs up and lets the caller come back for the answer.
    #[tool]
    async fn test_reconnection(&self, cx: &Cx) -> Result<String>;

    /// Says that the list of tools has changed.
    #[tool]
    async fn test_trigger_tool_change(&self) -> Result<String>;

    /// Says that the list of prompts has changed.
    #[tool]
    async fn test_trigger_prompt_change(&self) -> Result<String>;
}

/// Longer than the interval in which progress is reported at most once.
const PAUSE: Duration = Duration::from_millis(60);

pub(crate) struct Fixture {
    pub(crate) events: EventPublisher,
}

impl News for Fixture {
    async fn test_tool_with_progress(&self, cx: &Cx) -> Result<String> {
        for done in [0.0, 50.0, 100.0] {
            cx.report(done, Some(100.0), Some(&format!("Completed step {done} of 100")));
            tokio::time::sleep(PAUSE).await;
        }
        Ok("Tool with progress executed successfully".into())
    }

    async fn test_tool_with_logging(&self, cx: &Cx) -> Result<String> {
        for line in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
            cx.log(Level::Info, line);
            tokio::time::sleep(PAUSE).await;
        }
        Ok("Tool with logging executed successfully".into())
    }

    async fn test_logging_tool(&self, cx: &Cx) -> Result<String> {
        self.test_tool_with_logging(cx).await
    }

    async fn test_reconnection(&self, cx: &Cx) -> Result<String> {
        cx.hang_up(Duration::from_millis(500));
        tokio::time::sleep(PAUSE).await;
        Ok("Reconnection test completed".into())
    }

    async fn test_trigger_tool_change(&self) -> Result<String> {
        self.events.tools_changed();
        Ok("The list of tools has changed.".into())
    }

    async fn test_trigger_prompt_change(&self) -> Result<String> {
        self.events.prompts_changed();
        Ok("The list of prompts has changed.".into())
    }
}
