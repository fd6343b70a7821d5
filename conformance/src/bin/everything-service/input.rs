//! Tools whose answer needs input first. Written as if the client could be asked; how it is asked is not seen here.

use serde::Deserialize;
use switchboard::protocol::Root;
use switchboard::service::prelude::*;

use crate::asking::sample;

/// Tools whose answer needs input first.
#[switchboard::service]
pub(crate) trait Input {
    /// Asks for a name.
    #[tool]
    async fn test_input_required_result_elicitation(&self, cx: &Cx) -> Result<String>;

    /// Asks a model.
    #[tool]
    async fn test_input_required_result_sampling(&self, cx: &Cx) -> Result<String>;

    /// Asks for the roots.
    #[tool]
    async fn test_input_required_result_list_roots(&self, cx: &Cx) -> Result<String>;

    /// Remembers that it asked.
    #[tool]
    async fn test_input_required_result_request_state(&self, cx: &Cx) -> Result<String>;

    /// Asks three things at once.
    #[tool]
    async fn test_input_required_result_multiple_inputs(&self, cx: &Cx) -> Result<String>;

    /// Asks twice.
    #[tool]
    async fn test_input_required_result_multi_round(&self, cx: &Cx) -> Result<String>;

    /// Notices a changed state.
    #[tool]
    async fn test_input_required_result_tampered_state(&self, cx: &Cx) -> Result<String>;

    /// Asks what it may.
    #[tool]
    async fn test_input_required_result_capabilities(&self, cx: &Cx) -> Result<String>;
}

/// A name.
#[derive(Debug, Deserialize, Form)]
pub(crate) struct Name {
    pub(crate) name: String,
}

/// A colour.
#[derive(Debug, Deserialize, Form)]
struct Color {
    #[expect(dead_code, reason = "only that it was asked matters")]
    color: String,
}

/// A yes or no.
#[derive(Debug, Deserialize, Form)]
struct Confirmation {
    #[expect(dead_code, reason = "only that it was asked matters")]
    ok: bool,
}

pub(crate) struct Fixture;

impl Input for Fixture {
    async fn test_input_required_result_elicitation(&self, cx: &Cx) -> Result<String> {
        Ok(format!("Hello, {}!", name(cx).await?))
    }

    async fn test_input_required_result_sampling(&self, cx: &Cx) -> Result<String> {
        sample(cx, "capital_question", "What is the capital of France?", 100).await
    }

    async fn test_input_required_result_list_roots(&self, cx: &Cx) -> Result<String> {
        Ok(named(&cx.roots("client_roots").await?))
    }

    async fn test_input_required_result_request_state(&self, cx: &Cx) -> Result<String> {
        cx.elicit::<Confirmation>("confirm", "Please confirm").await?;
        Ok("Confirmed, state-ok".into())
    }

    async fn test_input_required_result_multiple_inputs(&self, cx: &Cx) -> Result<String> {
        let (name, greeting, roots) = tokio::join!(
            name(cx),
            sample(cx, "greeting", "Generate a greeting", 50),
            cx.roots("client_roots"),
        );
        Ok(format!("{} {} {}", greeting?, name?, named(&roots?)))
    }

    async fn test_input_required_result_multi_round(&self, cx: &Cx) -> Result<String> {
        cx.elicit::<Name>("step1", "Step 1: What is your name?").await?;
        cx.elicit::<Color>("step2", "Step 2: What is your favorite color?").await?;
        Ok("Both steps are done.".into())
    }

    async fn test_input_required_result_tampered_state(&self, cx: &Cx) -> Result<String> {
        self.test_input_required_result_request_state(cx).await
    }

    async fn test_input_required_result_capabilities(&self, cx: &Cx) -> Result<String> {
        let declared = cx.capabilities();
        if declared.sampling.is_some() {
            sample(cx, "model", "Say hello.", 50).await
        } else if declared.elicitation.is_some() {
            Ok(format!("Hello, {}!", name(cx).await?))
        } else if declared.roots.is_some() {
            Ok(named(&cx.roots("client_roots").await?))
        } else {
            Ok("There is nothing to ask this client.".into())
        }
    }
}

/// What the user is called.
async fn name(cx: &Cx) -> Result<String> {
    Ok(match cx.elicit::<Name>("user_name", "What is your name?").await? {
        ElicitOutcome::Accepted(Name { name }) => name,
        ElicitOutcome::Declined | ElicitOutcome::Dismissed => "nobody".into(),
    })
}

fn named(roots: &[Root]) -> String {
    let names: Vec<_> = roots.iter().map(|root| root.uri.as_str()).collect();
    format!("Roots: {}", names.join(", "))
}
