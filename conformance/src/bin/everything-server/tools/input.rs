//! Tools whose answer needs input first. Written as if the client could be asked; how it is asked is not seen here.

use serde::Deserialize;
use switchboard::protocol::{
    BooleanField, ElicitParams, ElicitResult, FormField, FormSchema, Root, TextField,
};
use switchboard::protocol::{Content, RpcError};
use switchboard::server::{AskError, HandlerOutcome, Reply, RequestContext};

use super::asking::question;
use super::{Call, says};

pub(super) fn elicitation(Call { cx, .. }: Call) -> HandlerOutcome {
    HandlerOutcome::later(async move { says(format!("Hello, {}!", name(&cx, "user_name").await?)) })
}

/// An answer of another shape is the client's fault, and says so.
async fn name(cx: &RequestContext, key: &str) -> Result<String, RpcError> {
    #[derive(Deserialize)]
    struct Name {
        name: String,
    }
    let answer = cx.elicit(key, text_form("What is your name?", "name")).await.map_err(blamed)?;
    let name = answer.decode::<Name>().map_err(|error| RpcError::invalid_params(error.to_string()))?;
    Ok(name.map_or_else(|| "nobody".into(), |Name { name }| name))
}

fn blamed(error: AskError) -> RpcError {
    match error {
        AskError::Invalid(why) => RpcError::invalid_params(why),
        other => other.into(),
    }
}

fn text_form(message: &str, field: &str) -> ElicitParams {
    ElicitParams::form(message, FormSchema::new().with_required(field, FormField::Text(TextField::new())))
}

pub(super) fn sampling(Call { cx, .. }: Call) -> HandlerOutcome {
    HandlerOutcome::later(async move {
        let answer = cx.sample("capital_question", question("What is the capital of France?", 100)).await?;
        says(answer.content.iter().filter_map(Content::as_text).collect::<String>())
    })
}

pub(super) fn roots(Call { cx, .. }: Call) -> HandlerOutcome {
    HandlerOutcome::later(async move { says(named(&cx.roots("client_roots").await?)) })
}

fn named(roots: &[Root]) -> String {
    let names: Vec<_> = roots.iter().map(|root| root.uri.as_str()).collect();
    format!("Roots: {}", names.join(", "))
}

/// The state that comes back is sealed: a changed one never gets here.
pub(super) fn confirmed(Call { cx, .. }: Call) -> HandlerOutcome {
    HandlerOutcome::later(async move {
        let form = FormSchema::new().with_required("ok", FormField::Boolean(BooleanField::new()));
        let _: ElicitResult = cx.elicit("confirm", ElicitParams::form("Please confirm", form)).await?;
        says("Confirmed, state-ok")
    })
}

pub(super) fn several(Call { cx, .. }: Call) -> HandlerOutcome {
    HandlerOutcome::later(async move {
        let (name, greeting, roots) = tokio::join!(
            name(&cx, "user_name"),
            cx.sample("greeting", question("Generate a greeting", 50)),
            cx.roots("client_roots"),
        );
        let greeting: String = greeting?.content.iter().filter_map(Content::as_text).collect();
        says(format!("{greeting} {} {}", name?, named(&roots?)))
    })
}

pub(super) fn rounds(Call { cx, .. }: Call) -> HandlerOutcome {
    HandlerOutcome::later(async move {
        let _: ElicitResult = cx.elicit("step1", text_form("Step 1: What is your name?", "name")).await?;
        let second = text_form("Step 2: What is your favorite color?", "color");
        let _: ElicitResult = cx.elicit("step2", second).await?;
        says("Both steps are done.")
    })
}

/// Asks only what the client has declared it can be asked.
pub(super) fn allowed(Call { cx, .. }: Call) -> HandlerOutcome {
    HandlerOutcome::later(async move {
        let declared = cx.capabilities();
        let reply: Reply = if declared.sampling.is_some() {
            let answer = cx.sample("model", question("Say hello.", 50)).await?;
            says(answer.content.iter().filter_map(Content::as_text).collect::<String>())
        } else if declared.elicitation.is_some() {
            says(format!("Hello, {}!", name(&cx, "user_name").await?))
        } else if declared.roots.is_some() {
            says(named(&cx.roots("client_roots").await?))
        } else {
            says("There is nothing to ask this client.")
        };
        reply
    })
}
