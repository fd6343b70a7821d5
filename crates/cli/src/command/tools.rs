//! `switchboard tools`: signatures, with what they do below.

use switchboard::Raw;
use switchboard::protocol::{OrderedMap, Tool};

use crate::command::lists;
use crate::connect::Connected;
use crate::failure::Failure;
use crate::output::{Paper, Signature, listed, show_json};

pub(crate) async fn run(connected: &Connected) -> Result<(), Failure> {
    let paper = &connected.paper;
    if connected.json {
        let whole = match connected.terms()?.capabilities.tools {
            Some(_) => lists::raw(connected, "tools/list", "tools").await?,
            None => OrderedMap::from_iter([("tools", Raw::from(switchboard::json!([])))]),
        };
        return show_json(paper, &encode(&whole)?);
    }
    let tools = connected.session.list_tools().await?;
    lists::tell_faults(connected, &tools);
    let mut text = paper.dim(&format!("{}\n", lists::count(tools.len(), "tool")));
    for tool in &*tools {
        text += &format!("\n{}", describe(tool, connected.verbose > 0, paper));
    }
    paper.print(&text)
}

/// A tool as its signature, with what it does below.
pub(crate) fn describe(tool: &Tool, with_details: bool, paper: &Paper) -> String {
    let about = [title(tool), tool.description.as_deref()].into_iter().flatten().next_back();
    let mut text = listed(&Signature::of_tool(tool), about, with_details, paper);
    if with_details {
        text += &paper.dim(&hints(tool));
    }
    text
}

fn title(tool: &Tool) -> Option<&str> {
    Some(tool.display_name()).filter(|title| *title != tool.name)
}

/// What a tool says of its effects, where it says anything.
fn hints(tool: &Tool) -> String {
    let Some(said) = &tool.annotations else { return String::new() };
    let words = [
        (said.read_only_hint, "changes nothing"),
        (said.destructive_hint.filter(|_| !said.is_read_only()), "may destroy"),
        (said.idempotent_hint, "may be repeated"),
        (said.open_world_hint, "reaches outside"),
    ];
    let said: Vec<&str> =
        words.iter().filter(|(hint, _)| *hint == Some(true)).map(|(_, word)| *word).collect();
    if said.is_empty() { String::new() } else { format!("      says of itself: {}\n", said.join(", ")) }
}

/// Writes what was read; it was JSON before, so it is again.
pub(crate) fn encode(value: &impl serde::Serialize) -> Result<Raw, Failure> {
    Ok(Raw::encode(value).map_err(switchboard::CallError::from)?)
}
