//! `switchboard prompts`: lists the signatures and descriptions of prompts.

use switchboard::protocol::{OrderedMap, Prompt, Raw};

use crate::args::ServerTarget;
use crate::command::{catalog, list_pages};
use crate::connect::{CommandSession, with_connection};
use crate::error::CommandError;
use crate::output::{Signature, encode, pluralize, print_json, render_item};

/// Lists the prompts of one server, or of all configured servers.
pub(crate) async fn run(target: &ServerTarget) -> Result<(), CommandError> {
    match target.is_configured() {
        true => catalog::prompts(target).await,
        false => with_connection(target, list).await,
    }
}

async fn list(connection: &CommandSession) -> Result<(), CommandError> {
    let out = &connection.out;
    if connection.json {
        let whole = match connection.session_info()?.capabilities.prompts {
            Some(_) => list_pages::fetch_all(connection, "prompts/list", "prompts").await?,
            None => OrderedMap::from_iter([("prompts", Raw::from(switchboard::json!([])))]),
        };
        return print_json(out, &encode(&whole)?);
    }
    let prompts = connection.session.list_prompts().await?;
    list_pages::warn_rejected(connection, &prompts);
    let mut text = out.dim(&format!("{}\n", pluralize(prompts.len(), "prompt")));
    for prompt in &*prompts {
        text += &format!("\n{}", render_item(&Signature::of_prompt(prompt), about(prompt), true, out));
    }
    Ok(out.print(&text)?)
}

/// Returns the description or title of a prompt.
pub(crate) fn about(prompt: &Prompt) -> Option<&str> {
    prompt.description.as_deref().or(prompt.title.as_deref())
}
