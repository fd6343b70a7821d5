//! `switchboard tools`, `resources` and `prompts` over the servers of the files: what all of them list, each with its
//! server.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};
use switchboard::HostError;
use switchboard::host::{Gathered, Of};

use crate::args::Target;
use crate::command::lists::count;
use crate::command::tools::{describe, encode};
use crate::command::{prompts, resources};
use crate::configured::{Hosted, NONE, Wanted, Which, with_host};
use crate::failure::Failure;
use crate::output::{Signature, Table, listed, show_json};
use crate::sanitize::one_line;

/// What went wrong, by server.
type Errors = BTreeMap<String, String>;

/// Starts the servers that are meant, shows what they list, and ends them.
async fn with_servers(
    target: &Target,
    show: impl AsyncFnOnce(&Hosted, Option<&str>, Errors) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let which = target.server.clone().map_or(Which::All, Which::One);
    with_host(Wanted::once(which, target.options.clone()), async |hosted| {
        if hosted.files.resolved.servers.is_empty() {
            return Err(Failure::usage("no server is named, and none is remembered").hint(NONE));
        }
        let done = hosted.start_usable().await?;
        show(hosted, target.server.as_deref(), done.errors).await
    })
    .await
}

pub(crate) async fn tools(target: &Target) -> Result<(), Failure> {
    with_servers(target, async |hosted, _, errors| {
        let tools = hosted.host.all_tools();
        if hosted.json {
            let all: Vec<Value> = tools
                .iter()
                .map(|tool| json!({ "server": tool.server(), "name": tool.name(), "tool": tool.tool() }))
                .collect();
            return show_json(&hosted.paper, &encode(&json!({ "tools": all, "errors": errors }))?);
        }
        let paper = &hosted.paper;
        let mut text = paper.dim(&format!("{}\n", count(tools.len(), "tool")));
        let mut last = None;
        for tool in &tools {
            if last != Some(tool.server()) {
                text += &format!("\n{}\n", paper.green(&one_line(tool.server())));
                last = Some(tool.server());
            }
            text += &format!("\n{}", describe(tool.tool(), hosted.verbose > 0, paper));
            if hosted.verbose > 0 {
                text += &paper.dim(&format!("      called: {}\n", one_line(tool.name())));
            }
        }
        paper.print(&text)
    })
    .await
}

pub(crate) async fn resources(target: &Target) -> Result<(), Failure> {
    with_servers(target, async |hosted, server, mut errors| {
        let resources = told(hosted, hosted.host.list_resources(server).await?, &mut errors);
        let templates = told(hosted, hosted.host.list_resource_templates(server).await?, &mut errors);
        if hosted.json {
            let whole = json!({
                "resources": each(&resources, "resource"),
                "resourceTemplates": each(&templates, "resourceTemplate"),
                "errors": errors,
            });
            return show_json(&hosted.paper, &encode(&whole)?);
        }
        let paper = &hosted.paper;
        let mut text = paper.dim(&format!("{}\n", count(resources.len(), "resource")));
        if !resources.is_empty() {
            let mut table = Table::new(&["URI", "SERVER", "NAME", "TYPE", "SIZE", "ABOUT"]);
            for of in &resources {
                table.row(behind_first(&of.server, resources::row(&of.item)));
            }
            text += &format!("\n{}", table.lay_out(paper));
        }
        if !templates.is_empty() {
            text += &format!("\n{}\n", paper.dim(&count(templates.len(), "template")));
            let mut table = Table::new(&["URI TEMPLATE", "SERVER", "NAME", "TYPE", "ABOUT"]);
            for of in &templates {
                table.row(behind_first(&of.server, resources::template_row(&of.item)));
            }
            text += &format!("\n{}", table.lay_out(paper));
        }
        paper.print(&text)
    })
    .await
}

pub(crate) async fn prompts(target: &Target) -> Result<(), Failure> {
    with_servers(target, async |hosted, server, mut errors| {
        let prompts = told(hosted, hosted.host.list_prompts(server).await?, &mut errors);
        if hosted.json {
            let whole = json!({ "prompts": each(&prompts, "prompt"), "errors": errors });
            return show_json(&hosted.paper, &encode(&whole)?);
        }
        let paper = &hosted.paper;
        let mut text = paper.dim(&format!("{}\n", count(prompts.len(), "prompt")));
        let mut last: Option<&Arc<str>> = None;
        for of in &prompts {
            if last != Some(&of.server) {
                text += &format!("\n{}\n", paper.green(&one_line(&of.server)));
                last = Some(&of.server);
            }
            let about = prompts::about(&of.item);
            text += &format!("\n{}", listed(&Signature::of_prompt(&of.item), about, true, paper));
        }
        paper.print(&text)
    })
    .await
}

/// What was gathered; of servers that did not answer it is said why. One that has no such list is no failure.
fn told<T>(hosted: &Hosted, gathered: Gathered<T>, errors: &mut Errors) -> Vec<Of<T>> {
    for (server, error) in &gathered.errors {
        let has_none = matches!(
            error,
            HostError::Session { error, .. } if matches!(**error, switchboard::CallError::Unsupported { .. })
        );
        if !has_none {
            hosted.screen.warn(&one_line(&error.to_string()));
            errors.insert(server.to_string(), error.to_string());
        }
    }
    gathered.items
}

fn each<T: serde::Serialize>(items: &[Of<T>], field: &str) -> Vec<Value> {
    items.iter().map(|of| json!({ "server": &*of.server, field: of.item })).collect()
}

/// A row with the server behind its first cell.
fn behind_first<const N: usize>(server: &str, row: [String; N]) -> Vec<String> {
    let mut row = row.to_vec();
    row.insert(1, one_line(server));
    row
}
