//! `switchboard info`: who a server is, what it speaks, what it offers.

use switchboard::SessionInfo;
use switchboard::protocol::{OrderedMap, ServerCapabilities, Settings};

use crate::command::tools::encode;
use crate::connect::Connected;
use crate::failure::Failure;
use crate::output::{Paper, indented, show_json};
use crate::sanitize::{one_line, sanitize};

pub(crate) async fn run(connected: &Connected) -> Result<(), Failure> {
    let terms = connected.terms()?;
    if connected.json {
        let opening = match connected.opening() {
            Some(opening) => opening,
            None => {
                let mut opening = OrderedMap::new();
                opening.insert("protocolVersion", encode(&terms.revision.as_str())?);
                opening.insert("capabilities", encode(&terms.capabilities)?);
                if let Some(server) = &terms.server {
                    opening.insert("serverInfo", encode(server)?);
                }
                if let Some(instructions) = &terms.instructions {
                    opening.insert("instructions", encode(instructions)?);
                }
                encode(&opening)?
            }
        };
        return show_json(&connected.paper, &opening);
    }
    Ok(connected.paper.print(&describe(terms, &connected.paper))?)
}

fn describe(terms: &SessionInfo, paper: &Paper) -> String {
    let mut text = String::new();
    match &terms.server {
        Some(server) => {
            let called = one_line(server.title.as_deref().unwrap_or(&server.name));
            text += &format!("{} {}\n", paper.bold(&called), one_line(&server.version));
            if let Some(description) = &server.description {
                text += &indented(&sanitize(description), "  ", paper.prose());
            }
            text.push('\n');
            if server.title.is_some() {
                text += &line(paper, "name", &one_line(&server.name));
            }
            if let Some(website) = &server.website_url {
                text += &line(paper, "website", &one_line(website));
            }
        }
        None => text += &format!("{}\n\n", paper.bold("a server without a name")),
    }
    text += &line(paper, "protocol", terms.revision.as_str());
    text += &line(paper, "offers", &offers(&terms.capabilities));
    if let Some(instructions) = terms.instructions.as_deref().filter(|text| !text.trim().is_empty()) {
        text += &format!("\n{}\n", paper.dim("instructions for the model"));
        text += &indented(&sanitize(instructions.trim()), "  ", paper.prose());
    }
    text
}

fn line(paper: &Paper, label: &str, value: &str) -> String {
    const INDENT: &str = "            ";
    let body = indented(value, INDENT, paper.width);
    let rest = body.get(INDENT.len()..).unwrap_or("—\n");
    format!("  {}{rest}", paper.dim(&format!("{label:<10}")))
}

/// `tools (told of changes), resources, …`.
fn offers(offered: &ServerCapabilities) -> String {
    let names = |settings: &Option<Settings>| {
        settings.iter().flat_map(Settings::keys).map(one_line).collect::<Vec<_>>()
    };
    let list = |told: Option<bool>| if told == Some(true) { " (tells of changes)" } else { "" };
    let mut all: Vec<String> = Vec::new();
    if let Some(tools) = &offered.tools {
        all.push(format!("tools{}", list(tools.list_changed)));
    }
    if let Some(resources) = &offered.resources {
        let detail = match (resources.subscribe == Some(true), resources.list_changed == Some(true)) {
            (true, true) => " (tells of changes and updates)",
            (true, false) => " (tells of updates)",
            (false, told) => list(Some(told)),
        };
        all.push(format!("resources{detail}"));
    }
    if let Some(prompts) = &offered.prompts {
        all.push(format!("prompts{}", list(prompts.list_changed)));
    }
    for (is_offered, name) in [
        (offered.completions.is_some(), "completions"),
        (offered.logging.is_some(), "log messages"),
        (offered.tasks.is_some(), "tasks"),
    ] {
        all.extend(is_offered.then(|| name.to_owned()));
    }
    all.extend(names(&offered.extensions).into_iter().map(|name| format!("extension {name}")));
    all.extend(names(&offered.experimental).into_iter().map(|name| format!("experiment {name}")));
    if all.is_empty() { "nothing".to_owned() } else { all.join(", ") }
}
