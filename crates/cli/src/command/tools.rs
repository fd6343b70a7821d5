//! `switchboard tools`: lists tools as signatures with descriptions, as one line each, or one tool in full.

use switchboard::protocol::{OrderedMap, Raw, Tool};

use crate::args::ToolsArgs;
use crate::command::{catalog, list_pages};
use crate::connect::{CommandSession, with_connection};
use crate::error::CommandError;
use crate::nearest::nearest;
use crate::output::{
    OutputStream, Signature, encode, indented, pluralize, pretty, print_json, render_item, wrap,
};
use crate::sanitize::{one_line, sanitize};

/// Lists the tools of one server, or of all configured servers.
pub(crate) async fn run(mut args: ToolsArgs) -> Result<(), CommandError> {
    if args.query.as_ref().is_some_and(|query| query.contains("://")) && args.target.is_configured() {
        args.target.remote.url = args.query.take();
    }
    if args.target.is_configured() {
        return catalog::tools(&args).await;
    }
    with_connection(&args.target, async |connection| list(connection, &args).await).await
}

async fn list(connection: &CommandSession, args: &ToolsArgs) -> Result<(), CommandError> {
    let out = &connection.out;
    let query = args.query.as_deref();
    if connection.json {
        let mut whole = match connection.session_info()?.capabilities.tools {
            Some(_) => list_pages::fetch_all(connection, "tools/list", "tools").await?,
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
        return print_json(out, &encode(&whole)?);
    }
    let tools = connection.session.list_tools().await?;
    list_pages::warn_rejected(connection, &tools);
    let all: Vec<&Tool> = tools.iter().collect();
    let found = match query {
        Some(query) => select(&all, query)?,
        None => ToolMatch::Mentions(all),
    };
    let tools = match &found {
        ToolMatch::Exact(tool) => return Ok(out.print(&in_full(tool, &tool.name, out))?),
        ToolMatch::Mentions(tools) => tools,
    };
    let mut text = out.dim(&format!("{}\n", pluralize(tools.len(), "tool")));
    if args.brief {
        text.push('\n');
    }
    for tool in tools {
        text += &match args.brief {
            true => brief(tool, &tool.name, out),
            false => format!("\n{}", describe(tool, connection.verbose > 0, out)),
        };
    }
    Ok(out.print(&text)?)
}

/// The tools that match a query.
pub(crate) enum ToolMatch<'a> {
    /// The tool of this name.
    Exact(&'a Tool),
    /// The tools with the text in their name, title or description.
    Mentions(Vec<&'a Tool>),
}

impl<'a> ToolMatch<'a> {
    pub(crate) fn tools(&self) -> &[&'a Tool] {
        match self {
            Self::Exact(tool) => std::slice::from_ref(tool),
            Self::Mentions(tools) => tools,
        }
    }
}

/// Returns the tool of this name, else every tool that mentions the text.
///
/// # Errors
/// Returns an error, with a suggestion, if no tool matches.
pub(crate) fn select<'a>(tools: &[&'a Tool], query: &str) -> Result<ToolMatch<'a>, CommandError> {
    if let Some(tool) = tools.iter().find(|tool| tool.name == query) {
        return Ok(ToolMatch::Exact(tool));
    }
    let wanted = query.to_lowercase();
    let mentions = |tool: &&&Tool| {
        let texts = [Some(tool.name.as_str()), title(tool), tool.description.as_deref()];
        texts.into_iter().flatten().any(|text| text.to_lowercase().contains(&wanted))
    };
    let found: Vec<&Tool> = tools.iter().filter(mentions).copied().collect();
    if !found.is_empty() {
        return Ok(ToolMatch::Mentions(found));
    }
    let failure = CommandError::other("unknown_tool", format!("no tool matches {:?}", one_line(query)));
    Err(match nearest(query, tools.iter().map(|tool| tool.name.as_str())) {
        Some(name) => failure.hint(format!("did you mean `{}`?", one_line(name))),
        None => failure.hint("`switchboard tools` lists all tools"),
    })
}

/// Renders a tool on one line: `read [read-only]  Reads a file.`
pub(crate) fn brief(tool: &Tool, qualified_name: &str, out: &OutputStream) -> String {
    let about = [title(tool), tool.description.as_deref()].into_iter().flatten().next_back();
    let about = one_line(about.map(first_sentence).unwrap_or_default());
    let tags = tags(tool);
    let name = one_line(qualified_name);
    let plain = format!("{name}{tags}");
    let available = out.width.saturating_sub(plain.chars().count() + 3);
    let about = match out.is_terminal {
        true => wrap(&about, available.max(10)).first().cloned().map_or(String::new(), |line| {
            match line.len() < about.len() {
                true => format!("{line}…"),
                false => line,
            }
        }),
        false => about,
    };
    format!("{}{}  {about}", out.bold(&name), out.dim(&tags)).trim_end().to_owned() + "\n"
}

/// Returns the hints of a tool's annotations: ` [read-only]`.
fn tags(tool: &Tool) -> String {
    let Some(annotations) = &tool.annotations else { return String::new() };
    let words = [
        (annotations.read_only_hint, "read-only"),
        (annotations.destructive_hint.filter(|_| !annotations.is_read_only()), "destructive"),
        (annotations.idempotent_hint.filter(|_| !annotations.is_read_only()), "idempotent"),
        (annotations.open_world_hint, "open-world"),
    ];
    words.iter().filter(|(hint, _)| *hint == Some(true)).map(|(_, word)| format!(" [{word}]")).collect()
}

fn first_sentence(text: &str) -> &str {
    let text = text.trim();
    let line = text.lines().next().unwrap_or_default();
    line.find(". ").map_or(line, |end| &line[..=end])
}

/// Renders everything about one tool.
pub(crate) fn in_full(tool: &Tool, qualified_name: &str, out: &OutputStream) -> String {
    let mut text = render_item(&Signature::of_tool(tool), tool.description.as_deref(), true, out);
    if let Some(title) = title(tool) {
        text = format!("{}\n{text}", out.dim(&one_line(title)));
    }
    let tags = tags(tool);
    if !tags.is_empty() {
        text += &format!("\nhints:{tags}\n");
    }
    text += &format!("\ninput schema:\n{}", indented(&pretty(&tool.input_schema), "  ", out.width));
    if let Some(schema) = &tool.output_schema {
        text += &format!("\noutput schema:\n{}", indented(&pretty(schema), "  ", out.width));
    }
    let required = tool.input().unwrap_or_default();
    let required: String = required
        .properties
        .iter()
        .filter(|property| property.required)
        .map(|property| format!(" {}=…", one_line(&property.name)))
        .collect();
    text + &format!("\ncall it: switchboard call {}{required}\n", sanitize(&one_line(qualified_name)))
}

/// Renders the signature of a tool with its description below.
pub(crate) fn describe(tool: &Tool, with_details: bool, out: &OutputStream) -> String {
    let about = [title(tool), tool.description.as_deref()].into_iter().flatten().next_back();
    let mut text = render_item(&Signature::of_tool(tool), about, with_details, out);
    if with_details {
        text += &out.dim(&hints(tool));
    }
    text
}

fn title(tool: &Tool) -> Option<&str> {
    Some(tool.display_name()).filter(|title| *title != tool.name)
}

/// Renders the hints of a tool on one line.
fn hints(tool: &Tool) -> String {
    let tags = tags(tool);
    if tags.is_empty() { String::new() } else { format!("      hints:{tags}\n") }
}
