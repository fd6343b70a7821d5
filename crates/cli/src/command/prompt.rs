//! `switchboard prompt`: a prompt, filled in.

use switchboard::protocol::{GetPromptParams, Role};
use switchboard::{CallError, GetPromptResult};

use crate::command::tools::encode;
use crate::connect::Connected;
use crate::failure::Failure;
use crate::output::{blocks, indented, show_json};
use crate::sanitize::sanitize;

pub(crate) async fn run(
    connected: &Connected,
    name: &str,
    arguments: &[(String, String)],
) -> Result<(), Failure> {
    if connected.terms()?.capabilities.prompts.is_none() {
        return Err(CallError::Unsupported { what: "prompts" }.into());
    }
    let mut params = GetPromptParams::new(name);
    params.arguments = (!arguments.is_empty()).then(|| arguments.iter().cloned().collect());
    let answer = connected.session.request_raw("prompts/get", encode(&params)?).await?;
    let paper = &connected.paper;
    if connected.json {
        return show_json(paper, &answer);
    }
    let wrong = |error| CallError::Protocol { method: "prompts/get".to_owned(), error };
    let prompt: GetPromptResult = answer.decode().map_err(wrong)?;
    let mut text = String::new();
    if let Some(description) = &prompt.description {
        text += &paper.dim(&format!("{}\n", indented(&sanitize(description), "", paper.prose())));
    }
    for message in &prompt.messages {
        let who = match message.role {
            Role::User => "user",
            Role::Assistant => "assistant",
        };
        text += &format!("{}\n", paper.bold(&format!("{who}:")));
        for line in blocks(std::slice::from_ref(&message.content), paper).lines() {
            text += &format!("  {line}\n");
        }
    }
    Ok(paper.print(&text)?)
}
