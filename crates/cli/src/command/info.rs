//! `switchboard info`: prints the identity, revision and capabilities of a server.

use switchboard::client::SessionInfo;
use switchboard::protocol::{OrderedMap, ServerCapabilities, Settings};

use crate::connect::CommandSession;
use crate::error::CommandError;
use crate::output::{OutputStream, encode, indented, print_json};
use crate::sanitize::{one_line, sanitize};

pub(crate) async fn run(connection: &CommandSession) -> Result<(), CommandError> {
    let terms = connection.session_info()?;
    if connection.json {
        let handshake = match connection.handshake_result() {
            Some(result) => result,
            None => {
                let mut result = OrderedMap::new();
                result.insert("protocolVersion", encode(&terms.revision.as_str())?);
                result.insert("capabilities", encode(&terms.capabilities)?);
                if let Some(server) = &terms.server {
                    result.insert("serverInfo", encode(server)?);
                }
                if let Some(instructions) = &terms.instructions {
                    result.insert("instructions", encode(instructions)?);
                }
                encode(&result)?
            }
        };
        return print_json(&connection.out, &handshake);
    }
    Ok(connection.out.print(&render_info(terms, &connection.out))?)
}

fn render_info(terms: &SessionInfo, out: &OutputStream) -> String {
    let mut text = String::new();
    match &terms.server {
        Some(server) => {
            let name = one_line(server.title.as_deref().unwrap_or(&server.name));
            text += &format!("{} {}\n", out.bold(&name), one_line(&server.version));
            if let Some(description) = &server.description {
                text += &indented(&sanitize(description), "  ", out.prose_width());
            }
            text.push('\n');
            if server.title.is_some() {
                text += &render_line(out, "name", &one_line(&server.name));
            }
            if let Some(website) = &server.website_url {
                text += &render_line(out, "website", &one_line(website));
            }
        }
        None => text += &format!("{}\n\n", out.bold("a server without a name")),
    }
    text += &render_line(out, "protocol", terms.revision.as_str());
    text += &render_line(out, "offers", &capabilities_text(&terms.capabilities));
    if let Some(instructions) = terms.instructions.as_deref().filter(|text| !text.trim().is_empty()) {
        text += &format!("\n{}\n", out.dim("instructions for the model"));
        text += &indented(&sanitize(instructions.trim()), "  ", out.prose_width());
    }
    text
}

fn render_line(out: &OutputStream, label: &str, value: &str) -> String {
    const INDENT: &str = "            ";
    let body = indented(value, INDENT, out.width);
    let rest = body.get(INDENT.len()..).unwrap_or("—\n");
    format!("  {}{rest}", out.dim(&format!("{label:<10}")))
}

/// Returns the capabilities as text: `tools (notifies of changes), resources, …`.
fn capabilities_text(offered: &ServerCapabilities) -> String {
    let names = |settings: &Option<Settings>| {
        settings.iter().flat_map(Settings::keys).map(one_line).collect::<Vec<_>>()
    };
    let list =
        |list_changed: Option<bool>| if list_changed == Some(true) { " (notifies of changes)" } else { "" };
    let mut all: Vec<String> = Vec::new();
    if let Some(tools) = &offered.tools {
        all.push(format!("tools{}", list(tools.list_changed)));
    }
    if let Some(resources) = &offered.resources {
        let detail = match (resources.subscribe == Some(true), resources.list_changed == Some(true)) {
            (true, true) => " (notifies of changes and updates)",
            (true, false) => " (notifies of updates)",
            (false, list_changed) => list(Some(list_changed)),
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
