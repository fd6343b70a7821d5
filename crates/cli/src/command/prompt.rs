//! `switchboard prompt`: gets a prompt with its arguments filled in.

use switchboard::CallError;
use switchboard::protocol::{GetPromptParams, GetPromptResult, Role};

use crate::connect::CommandSession;
use crate::error::CommandError;
use crate::output::{encode, indented, print_json, render_blocks};
use crate::sanitize::sanitize;

pub(crate) async fn run(
    connection: &CommandSession,
    name: &str,
    arguments: &[(String, String)],
) -> Result<(), CommandError> {
    if connection.session_info()?.capabilities.prompts.is_none() {
        return Err(CallError::Unsupported { what: "prompts" }.into());
    }
    let mut params = GetPromptParams::new(name);
    params.arguments = (!arguments.is_empty()).then(|| arguments.iter().cloned().collect());
    let answer = connection.session.request_raw("prompts/get", encode(&params)?).await?;
    let out = &connection.out;
    if connection.json {
        return print_json(out, &answer);
    }
    let protocol_error = |error| CallError::Protocol { method: "prompts/get".to_owned(), error };
    let prompt: GetPromptResult = answer.decode().map_err(protocol_error)?;
    let mut text = String::new();
    if let Some(description) = &prompt.description {
        text += &out.dim(&format!("{}\n", indented(&sanitize(description), "", out.prose_width())));
    }
    for message in &prompt.messages {
        let who = match message.role {
            Role::User => "user",
            Role::Assistant => "assistant",
        };
        text += &format!("{}\n", out.bold(&format!("{who}:")));
        for line in render_blocks(std::slice::from_ref(&message.content), out).lines() {
            text += &format!("  {line}\n");
        }
    }
    Ok(out.print(&text)?)
}
