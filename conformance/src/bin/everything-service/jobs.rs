//! Tools that are run as tasks: some may be, some must be, one becomes one after it has asked.

use std::time::Duration;

use serde::Deserialize;
use switchboard::protocol::RpcError;
use switchboard::service::prelude::*;

use crate::input::Name;

/// Tools that are run as tasks.
#[switchboard::service]
pub(crate) trait Jobs {
    /// Takes its time.
    #[tool(task)]
    async fn slow_compute(&self, seconds: f64, label: Option<String>) -> Result<String>;

    /// Fails after a while.
    #[tool(task = "required")]
    async fn failing_job(&self) -> Result<String>;

    /// Fails with an error of the protocol.
    #[tool(task)]
    async fn protocol_error_job(&self) -> Result<String>;

    /// Asks before it deletes.
    #[tool(task)]
    async fn confirm_delete(&self, cx: &Cx, filename: String) -> Result<String>;

    /// Asks two things at once.
    #[tool(task)]
    async fn multi_input(&self, cx: &Cx) -> Result<String>;

    /// Asks first, and becomes a task then.
    #[tool(task = "later")]
    async fn test_tool_with_task(&self, cx: &Cx) -> Result<String>;
}

/// Whether to go on.
#[derive(Debug, Deserialize, Form)]
struct Confirmation {
    /// Really?
    confirm: bool,
}

/// How old somebody is.
#[derive(Debug, Deserialize, Form)]
struct Age {
    age: Option<i64>,
}

pub(crate) struct Fixture;

impl Jobs for Fixture {
    async fn slow_compute(&self, seconds: f64, label: Option<String>) -> Result<String> {
        tokio::time::sleep(Duration::from_secs_f64(seconds.clamp(0.0, 600.0))).await;
        Ok(format!("Computed {} in {seconds} s", label.unwrap_or_else(|| "nothing".into())))
    }

    async fn failing_job(&self) -> Result<String> {
        tokio::time::sleep(Duration::from_secs(1)).await;
        Err(Error::tool("intended", "This job intentionally fails"))
    }

    async fn protocol_error_job(&self) -> Result<String> {
        tokio::time::sleep(Duration::from_millis(100)).await;
        Err(Error::Rpc(RpcError::internal("This job intentionally fails the protocol")))
    }

    async fn confirm_delete(&self, cx: &Cx, filename: String) -> Result<String> {
        let answer = cx.elicit::<Confirmation>("confirm", format!("Delete {filename}?")).await?;
        Ok(match answer {
            ElicitOutcome::Accepted(Confirmation { confirm: true }) => format!("Deleted {filename}"),
            _ => format!("Kept {filename}"),
        })
    }

    async fn multi_input(&self, cx: &Cx) -> Result<String> {
        let (name, age) =
            tokio::join!(cx.elicit::<Name>("name", "Your name?"), cx.elicit::<Age>("age", "Your age?"));
        let name = name?.into_result().map_or_else(|_| "nobody".into(), |name| name.name);
        let age = age?.into_result().ok().and_then(|age| age.age).unwrap_or_default();
        Ok(format!("{name} is {age}"))
    }

    async fn test_tool_with_task(&self, cx: &Cx) -> Result<String> {
        let Name { name } = cx.elicit("user_name", "What is your name?").await?.into_result()?;
        cx.become_task().await;
        Ok(format!("Hello, {name}, from a task"))
    }
}
