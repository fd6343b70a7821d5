//! Tools that send notifications: progress, log messages, changed lists, reconnection times.

use std::time::Duration;

use switchboard::protocol::Level;
use switchboard::server::HandlerOutcome;

use super::{Call, said, says};

/// Longer than the interval in which progress is reported at most once.
const PAUSE: Duration = Duration::from_millis(60);

pub(super) fn progress(Call { cx, .. }: Call) -> HandlerOutcome {
    HandlerOutcome::later(async move {
        for done in [0.0, 50.0, 100.0] {
            cx.progress(done, Some(100.0), Some(&format!("Completed step {done} of 100")));
            tokio::time::sleep(PAUSE).await;
        }
        says("Tool with progress executed successfully")
    })
}

pub(super) fn logging(Call { cx, .. }: Call) -> HandlerOutcome {
    HandlerOutcome::later(async move {
        for line in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
            cx.log(Level::Info, None, line);
            tokio::time::sleep(PAUSE).await;
        }
        says("Tool with logging executed successfully")
    })
}

/// The result is ready long before the client reconnects.
pub(super) fn reconnection(Call { cx, .. }: Call) -> HandlerOutcome {
    HandlerOutcome::later(async move {
        cx.hang_up(Duration::from_millis(500));
        tokio::time::sleep(PAUSE).await;
        says("Reconnection test completed")
    })
}

pub(super) fn tools_changed(Call { publisher, .. }: Call) -> HandlerOutcome {
    publisher.tools_changed();
    HandlerOutcome::now(said("The list of tools has changed."))
}

pub(super) fn prompts_changed(Call { publisher, .. }: Call) -> HandlerOutcome {
    publisher.prompts_changed();
    HandlerOutcome::now(said("The list of prompts has changed."))
}
