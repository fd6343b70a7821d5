//! `switchboard prompts`: signatures, with what they are for below.

use switchboard::protocol::OrderedMap;
use switchboard::{Prompt, Raw};

use crate::command::lists;
use crate::command::tools::encode;
use crate::connect::Connected;
use crate::failure::Failure;
use crate::output::{Signature, count, listed, show_json};

pub(crate) async fn run(connected: &Connected) -> Result<(), Failure> {
    let paper = &connected.paper;
    if connected.json {
        let whole = match connected.terms()?.capabilities.prompts {
            Some(_) => lists::raw(connected, "prompts/list", "prompts").await?,
            None => OrderedMap::from_iter([("prompts", Raw::from(switchboard::json!([])))]),
        };
        return show_json(paper, &encode(&whole)?);
    }
    let prompts = connected.session.list_prompts().await?;
    lists::tell_faults(connected, &prompts);
    let mut text = paper.dim(&format!("{}\n", count(prompts.len(), "prompt")));
    for prompt in &*prompts {
        text += &format!("\n{}", listed(&Signature::of_prompt(prompt), about(prompt), true, paper));
    }
    Ok(paper.print(&text)?)
}

/// What a prompt is for.
pub(crate) fn about(prompt: &Prompt) -> Option<&str> {
    prompt.description.as_deref().or(prompt.title.as_deref())
}
