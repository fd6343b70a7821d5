//! The prompts of the fixture. One asks the user before it can be filled in.

use switchboard::protocol::{Content, GetPromptResult, Prompt, RpcError};
use switchboard::protocol::{
    ElicitParams, FormField, FormSchema, GetPromptParams, PromptArgument, PromptMessage, ResourceContents,
    Role, TextField,
};
use switchboard::server::{HandlerOutcome, Reply, RequestContext};

use crate::media;

const SIMPLE: &str = "test_simple_prompt";
const WITH_ARGUMENTS: &str = "test_prompt_with_arguments";
const WITH_RESOURCE: &str = "test_prompt_with_embedded_resource";
const WITH_PICTURE: &str = "test_prompt_with_image";
const ASKS: &str = "test_input_required_result_prompt";

/// The prompts, in a fixed order.
pub(crate) fn list() -> Vec<Prompt> {
    let required =
        |name: &str, what: &str| PromptArgument::new(name).with_description(what).with_required(true);
    vec![
        Prompt::new(SIMPLE).with_description("A prompt without arguments."),
        Prompt::new(WITH_ARGUMENTS)
            .with_description("A prompt with two arguments.")
            .with_arguments([required("arg1", "The first."), required("arg2", "The second.")]),
        Prompt::new(WITH_RESOURCE)
            .with_description("A prompt with an embedded resource.")
            .with_arguments([required("resourceUri", "The URI of the resource.")]),
        Prompt::new(WITH_PICTURE).with_description("A prompt with a picture."),
        Prompt::new(ASKS).with_description("A prompt that asks the user for its context."),
    ]
}

/// Fills in a prompt.
pub(crate) fn get(params: &GetPromptParams, cx: RequestContext) -> HandlerOutcome {
    let argument = |name: &str| {
        let given = params.arguments.as_ref().and_then(|arguments| arguments.get(name)).cloned();
        given.ok_or_else(|| RpcError::invalid_params(format!("the argument {name:?} is missing")))
    };
    let filled = match params.name.as_str() {
        SIMPLE => Ok(vec![Content::text("This is a simple prompt for testing.")]),
        WITH_ARGUMENTS => argument("arg1").and_then(|first| {
            let second = argument("arg2")?;
            Ok(vec![Content::text(format!("Prompt with arguments: arg1='{first}', arg2='{second}'"))])
        }),
        WITH_RESOURCE => argument("resourceUri").map(|uri| {
            let text = "Embedded resource content for testing.";
            let embedded = ResourceContents::text(uri, text).with_mime_type("text/plain");
            vec![Content::resource(embedded), "Please process the embedded resource above.".into()]
        }),
        WITH_PICTURE => Ok(vec![media::picture(), "Please analyze the image above.".into()]),
        ASKS => return HandlerOutcome::later(ask(cx)),
        other => Err(RpcError::invalid_params(format!("there is no prompt {other:?}"))),
    };
    match filled {
        Ok(content) => HandlerOutcome::now(from_user(content)),
        Err(error) => HandlerOutcome::error(error),
    }
}

async fn ask(cx: RequestContext) -> Reply {
    let form = FormSchema::new().with_required("context", FormField::Text(TextField::new()));
    let question = ElicitParams::form("What context should the prompt use?", form);
    let answer = cx.elicit("user_context", question).await?;
    let context = answer.content.as_ref().and_then(|content| content.get("context")?.decode().ok());
    let context: String = context.unwrap_or_else(|| "nothing".into());
    Ok(from_user(vec![Content::text(format!("Use this context: {context}"))]).into())
}

fn from_user(content: Vec<Content>) -> GetPromptResult {
    let messages: Vec<_> = content.into_iter().map(|block| PromptMessage::new(Role::User, block)).collect();
    GetPromptResult::new(messages)
}
