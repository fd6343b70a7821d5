//! `switchboard tools`: signatures with their descriptions below; one line each; or one tool in full.

use switchboard::Raw;
use switchboard::protocol::{OrderedMap, Tool};

use crate::args::ToolsArgs;
use crate::command::lists;
use crate::connect::Connected;
use crate::failure::{Failure, Status};
use crate::nearest::nearest;
use crate::output::{Paper, Signature, count, indented, listed, pretty, show_json, wrap};
use crate::sanitize::{one_line, sanitize};

pub(crate) async fn run(connected: &Connected, args: &ToolsArgs) -> Result<(), Failure> {
    let paper = &connected.paper;
    let query = args.query.as_deref();
    if connected.json {
        let mut whole = match connected.terms()?.capabilities.tools {
            Some(_) => lists::raw(connected, "tools/list", "tools").await?,
            None => OrderedMap::from_iter([("tools", Raw::from(switchboard::json!([])))]),
        };
        if let Some(query) = query {
            let all: Vec<Raw> = whole.get("tools").and_then(|list| list.decode().ok()).unwrap_or_default();
            let tools: Vec<Tool> = all.iter().filter_map(|tool| tool.decode().ok()).collect();
            let found = select(&tools.iter().collect::<Vec<_>>(), query)?;
            let is_found = |raw: &&Raw| {
                raw.decode::<Tool>()
                    .is_ok_and(|tool| found.tools().iter().any(|found| found.name == tool.name))
            };
            whole.insert("tools", encode(&all.iter().filter(is_found).collect::<Vec<_>>())?);
        }
        return show_json(paper, &encode(&whole)?);
    }
    let tools = connected.session.list_tools().await?;
    lists::tell_faults(connected, &tools);
    let all: Vec<&Tool> = tools.iter().collect();
    let found = match query {
        Some(query) => select(&all, query)?,
        None => Found::Several(all),
    };
    let tools = match &found {
        Found::One(tool) => return Ok(paper.print(&in_full(tool, &tool.name, paper))?),
        Found::Several(tools) => tools,
    };
    let mut text = paper.dim(&format!("{}\n", count(tools.len(), "tool")));
    if args.brief {
        text.push('\n');
    }
    for tool in tools {
        text += &match args.brief {
            true => brief(tool, &tool.name, paper),
            false => format!("\n{}", describe(tool, connected.verbose > 0, paper)),
        };
    }
    Ok(paper.print(&text)?)
}

/// The tools a query is about.
pub(crate) enum Found<'a> {
    /// The one of this name.
    One(&'a Tool),
    /// Those with the text in their name, title or description.
    Several(Vec<&'a Tool>),
}

impl<'a> Found<'a> {
    pub(crate) fn tools(&self) -> &[&'a Tool] {
        match self {
            Self::One(tool) => std::slice::from_ref(tool),
            Self::Several(tools) => tools,
        }
    }
}

/// The tool of this name, else every tool that mentions the text.
///
/// # Errors
/// When no tool has that name; the error suggests the nearest one.
pub(crate) fn select<'a>(tools: &[&'a Tool], query: &str) -> Result<Found<'a>, Failure> {
    if let Some(tool) = tools.iter().find(|tool| tool.name == query) {
        return Ok(Found::One(tool));
    }
    let wanted = query.to_lowercase();
    let mentions = |tool: &&&Tool| {
        let texts = [Some(tool.name.as_str()), title(tool), tool.description.as_deref()];
        texts.into_iter().flatten().any(|text| text.to_lowercase().contains(&wanted))
    };
    let found: Vec<&Tool> = tools.iter().filter(mentions).copied().collect();
    if !found.is_empty() {
        return Ok(Found::Several(found));
    }
    let failure =
        Failure::new(Status::Other, "unknown_tool", format!("no tool matches {:?}", one_line(query)));
    Err(match nearest(query, tools.iter().map(|tool| tool.name.as_str())) {
        Some(name) => failure.hint(format!("did you mean `{}`?", one_line(name))),
        None => failure.hint("`switchboard tools` lists all tools"),
    })
}

/// A tool on one line: `read [read-only]  Reads a file.`
pub(crate) fn brief(tool: &Tool, called: &str, paper: &Paper) -> String {
    let about = [title(tool), tool.description.as_deref()].into_iter().flatten().next_back();
    let about = one_line(about.map(first_sentence).unwrap_or_default());
    let tags = tags(tool);
    let name = one_line(called);
    let plain = format!("{name}{tags}");
    let room = paper.width.saturating_sub(plain.chars().count() + 3);
    let about = match paper.is_terminal {
        true => wrap(&about, room.max(10)).first().cloned().map_or(String::new(), |line| {
            match line.len() < about.len() {
                true => format!("{line}…"),
                false => line,
            }
        }),
        false => about,
    };
    format!("{}{}  {about}", paper.bold(&name), paper.dim(&tags)).trim_end().to_owned() + "\n"
}

/// ` [read-only]`: the hints a tool gives about itself, in the words of its annotations.
fn tags(tool: &Tool) -> String {
    let Some(said) = &tool.annotations else { return String::new() };
    let words = [
        (said.read_only_hint, "read-only"),
        (said.destructive_hint.filter(|_| !said.is_read_only()), "destructive"),
        (said.idempotent_hint.filter(|_| !said.is_read_only()), "idempotent"),
        (said.open_world_hint, "open-world"),
    ];
    words.iter().filter(|(hint, _)| *hint == Some(true)).map(|(_, word)| format!(" [{word}]")).collect()
}

fn first_sentence(text: &str) -> &str {
    let text = text.trim();
    let line = text.lines().next().unwrap_or_default();
    line.find(". ").map_or(line, |end| &line[..=end])
}

/// Everything about one tool.
pub(crate) fn in_full(tool: &Tool, called: &str, paper: &Paper) -> String {
    let mut text = listed(&Signature::of_tool(tool), tool.description.as_deref(), true, paper);
    if let Some(title) = title(tool) {
        text = format!("{}\n{text}", paper.dim(&one_line(title)));
    }
    let tags = tags(tool);
    if !tags.is_empty() {
        text += &format!("\nhints:{tags}\n");
    }
    text += &format!("\ninput schema:\n{}", indented(&pretty(&tool.input_schema), "  ", paper.width));
    if let Some(schema) = &tool.output_schema {
        text += &format!("\noutput schema:\n{}", indented(&pretty(schema), "  ", paper.width));
    }
    let required = tool.input().unwrap_or_default();
    let required: String = required
        .properties
        .iter()
        .filter(|property| property.required)
        .map(|property| format!(" {}=…", one_line(&property.name)))
        .collect();
    text + &format!("\ncall it: switchboard call {}{required}\n", sanitize(&one_line(called)))
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

/// The hints of a tool about itself, on a line of their own.
fn hints(tool: &Tool) -> String {
    let tags = tags(tool);
    if tags.is_empty() { String::new() } else { format!("      hints:{tags}\n") }
}

/// Writes what was read; it was JSON before, so it is again.
pub(crate) fn encode(value: &impl serde::Serialize) -> Result<Raw, Failure> {
    Ok(Raw::encode(value).map_err(switchboard::CallError::from)?)
}
