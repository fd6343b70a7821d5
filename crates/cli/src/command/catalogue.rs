//! `switchboard tools`, `resources` and `prompts` over the servers of the files: what all of them list, each with its
//! server.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};
use switchboard::HostError;
use switchboard::host::{CatalogTool, FromServer, MergedList};
use switchboard::protocol::Tool;

use crate::args::{Target, ToolsArgs};
use crate::command::lists::is_missing;
use crate::command::tools::{Found, brief, describe, encode, in_full, select};
use crate::command::{prompts, resources};
use crate::configured::{Files, Hosted, NONE, Wanted, Which, server_and_rest, with_host};
use crate::failure::Failure;
use crate::output::{Signature, Table, count, listed, show_json};
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
            return Err(Failure::usage("no server given, and none is configured").hint(NONE));
        }
        let done = hosted.start_usable().await?;
        show(hosted, target.server.as_deref(), done.errors).await
    })
    .await
}

pub(crate) async fn tools(args: &ToolsArgs) -> Result<(), Failure> {
    let (server, query) = meant(args)?;
    let target = Target { server, ..args.target.clone() };
    with_servers(&target, async |hosted, _, errors| {
        let mut tools = hosted.host.all_tools();
        let mut is_one = false;
        if let Some(query) = &query {
            // A name a model has for a tool counts as its name.
            if let Some(found) = tools.iter().position(|tool| tool.name() == query) {
                tools = vec![tools.swap_remove(found)];
                is_one = true;
            } else {
                let all: Vec<&Tool> = tools.iter().map(|tool| tool.tool()).collect();
                let found = select(&all, query)?;
                is_one = matches!(found, Found::One(_));
                let is_found: Vec<bool> = all
                    .iter()
                    .map(|tool| found.tools().iter().any(|found| found.name == tool.name))
                    .collect();
                let mut is_found = is_found.into_iter();
                tools.retain(|_| is_found.next().unwrap_or(false));
            }
        }
        if hosted.json {
            let all: Vec<Value> = tools
                .iter()
                .map(|tool| json!({ "server": tool.server(), "name": tool.name(), "tool": tool.tool() }))
                .collect();
            return show_json(&hosted.paper, &encode(&json!({ "tools": all, "errors": errors }))?);
        }
        let paper = &hosted.paper;
        if is_one {
            let called = |tool: &CatalogTool| format!("{}/{}", tool.server(), tool.tool().name);
            let all: Vec<String> =
                tools.iter().map(|tool| in_full(tool.tool(), &called(tool), paper)).collect();
            return Ok(paper.print(&all.join("\n"))?);
        }
        let mut text = paper.dim(&format!("{}\n", count(tools.len(), "tool")));
        if args.brief {
            text.push('\n');
            for tool in &tools {
                let called = format!("{}/{}", tool.server(), tool.tool().name);
                text += &brief(tool.tool(), &called, paper);
            }
            return Ok(paper.print(&text)?);
        }
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
        Ok(paper.print(&text)?)
    })
    .await
}

/// The server and the tool or text that are meant: `server`, `server/tool`, or text to search for.
fn meant(args: &ToolsArgs) -> Result<(Option<String>, Option<String>), Failure> {
    let (Some(query), None) = (&args.query, &args.target.server) else {
        return Ok((args.target.server.clone(), args.query.clone()));
    };
    let files = Files::read()?;
    if files.resolved.server(query).is_some() {
        return Ok((Some(query.clone()), None));
    }
    let names = files.resolved.servers.iter().map(|server| server.name.as_str());
    Ok(match server_and_rest(names, query) {
        Some((server, tool)) => (Some(server.to_owned()), Some(tool.to_owned())),
        None => (None, Some(query.clone())),
    })
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
        Ok(paper.print(&text)?)
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
        Ok(paper.print(&text)?)
    })
    .await
}

/// What was gathered; of servers that did not answer it is said why. One that has no such list is no failure.
fn told<T>(hosted: &Hosted, gathered: MergedList<T>, errors: &mut Errors) -> Vec<FromServer<T>> {
    for (server, error) in &gathered.errors {
        let has_none = matches!(error, HostError::Session { error, .. } if is_missing(error));
        if !has_none {
            hosted.screen.warn(&one_line(&error.to_string()));
            errors.insert(server.to_string(), error.to_string());
        }
    }
    gathered.items
}

fn each<T: serde::Serialize>(items: &[FromServer<T>], field: &str) -> Vec<Value> {
    items.iter().map(|of| json!({ "server": &*of.server, field: of.item })).collect()
}

/// A row with the server behind its first cell.
fn behind_first<const N: usize>(server: &str, row: [String; N]) -> Vec<String> {
    let mut row = row.to_vec();
    row.insert(1, one_line(server));
    row
}
