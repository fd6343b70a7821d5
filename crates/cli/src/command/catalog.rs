//! `switchboard tools`, `resources` and `prompts` of configured servers: the lists of all servers.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};
use switchboard::host::{CatalogTool, FromServer, HostError, MergedList};
use switchboard::protocol::Tool;

use crate::args::{ServerTarget, ToolsArgs};
use crate::command::list_pages::is_unsupported;
use crate::command::tools::{ToolMatch, brief, describe, in_full, select};
use crate::command::{prompts, resources};
use crate::configured_servers::{ConfigFiles, HostRequest, HostedServers, split_server, with_host};
use crate::error::CommandError;
use crate::output::{Signature, TextTable, encode, pluralize, print_json, render_item};
use crate::sanitize::one_line;

/// Error messages by server.
type Errors = BTreeMap<String, String>;

/// Starts the selected servers, runs `show` and stops them.
async fn with_servers(
    target: &ServerTarget,
    show: impl AsyncFnOnce(&HostedServers, Option<&str>, Errors) -> Result<(), CommandError>,
) -> Result<(), CommandError> {
    with_host(HostRequest::new(target.server.clone(), target.options.clone()), async |hosted| {
        let done = hosted.start_usable().await?;
        show(hosted, target.server.as_deref(), done.errors).await
    })
    .await
}

pub(crate) async fn tools(args: &ToolsArgs) -> Result<(), CommandError> {
    let (server, query) = split_query(args)?;
    let target = ServerTarget { server, ..args.target.clone() };
    with_servers(&target, async |hosted, _, errors| {
        let mut tools = hosted.host.all_tools();
        let mut is_one = false;
        if let Some(query) = &query {
            // The qualified name of a tool, as models use it, selects it too.
            if let Some(found) = tools.iter().position(|tool| tool.name() == query) {
                tools = vec![tools.swap_remove(found)];
                is_one = true;
            } else {
                let all: Vec<&Tool> = tools.iter().map(|tool| tool.tool()).collect();
                let found = select(&all, query)?;
                is_one = matches!(found, ToolMatch::Exact(_));
                let names: Vec<String> = found.tools().iter().map(|tool| tool.name.clone()).collect();
                tools.retain(|tool| names.contains(&tool.tool().name));
            }
        }
        if hosted.json {
            let all: Vec<Value> = tools
                .iter()
                .map(|tool| json!({ "server": tool.server(), "name": tool.name(), "tool": tool.tool() }))
                .collect();
            return print_json(&hosted.out, &encode(&json!({ "tools": all, "errors": errors }))?);
        }
        let out = &hosted.out;
        if is_one {
            let qualified = |tool: &CatalogTool| format!("{}/{}", tool.server(), tool.tool().name);
            let all: Vec<String> =
                tools.iter().map(|tool| in_full(tool.tool(), &qualified(tool), out)).collect();
            return Ok(out.print(&all.join("\n"))?);
        }
        let mut text = out.dim(&format!("{}\n", pluralize(tools.len(), "tool")));
        if args.brief {
            text.push('\n');
            for tool in &tools {
                let name = format!("{}/{}", tool.server(), tool.tool().name);
                text += &brief(tool.tool(), &name, out);
            }
            return Ok(out.print(&text)?);
        }
        let mut last = None;
        for tool in &tools {
            if last != Some(tool.server()) {
                text += &format!("\n{}\n", out.green(&one_line(tool.server())));
                last = Some(tool.server());
            }
            text += &format!("\n{}", describe(tool.tool(), hosted.verbose > 0, out));
            if hosted.verbose > 0 {
                text += &out.dim(&format!("      called: {}\n", one_line(tool.name())));
            }
        }
        Ok(out.print(&text)?)
    })
    .await
}

/// Splits the query: `server`, `server/tool`, or text to search for.
fn split_query(args: &ToolsArgs) -> Result<(Option<String>, Option<String>), CommandError> {
    let (Some(query), None) = (&args.query, &args.target.server) else {
        return Ok((args.target.server.clone(), args.query.clone()));
    };
    let files = ConfigFiles::read()?;
    if files.resolved.server(query).is_some() {
        return Ok((Some(query.clone()), None));
    }
    let names = files.resolved.servers.iter().map(|server| server.name.as_str());
    Ok(match split_server(names, query) {
        Some((server, tool)) => (Some(server.to_owned()), Some(tool.to_owned())),
        None => (None, Some(query.clone())),
    })
}

pub(crate) async fn resources(target: &ServerTarget) -> Result<(), CommandError> {
    with_servers(target, async |hosted, server, mut errors| {
        let resources = warn_and_unwrap(hosted, hosted.host.list_resources(server).await?, &mut errors);
        let templates =
            warn_and_unwrap(hosted, hosted.host.list_resource_templates(server).await?, &mut errors);
        if hosted.json {
            let whole = json!({
                "resources": items_json(&resources, "resource"),
                "resourceTemplates": items_json(&templates, "resourceTemplate"),
                "errors": errors,
            });
            return print_json(&hosted.out, &encode(&whole)?);
        }
        let out = &hosted.out;
        let mut text = out.dim(&format!("{}\n", pluralize(resources.len(), "resource")));
        if !resources.is_empty() {
            let mut table = TextTable::new(&["URI", "SERVER", "NAME", "TYPE", "SIZE", "ABOUT"]);
            for entry in &resources {
                table.push_row(insert_server(&entry.server, resources::resource_row(&entry.item)));
            }
            text += &format!("\n{}", table.render(out));
        }
        if !templates.is_empty() {
            text += &format!("\n{}\n", out.dim(&pluralize(templates.len(), "template")));
            let mut table = TextTable::new(&["URI TEMPLATE", "SERVER", "NAME", "TYPE", "ABOUT"]);
            for entry in &templates {
                table.push_row(insert_server(&entry.server, resources::template_row(&entry.item)));
            }
            text += &format!("\n{}", table.render(out));
        }
        Ok(out.print(&text)?)
    })
    .await
}

pub(crate) async fn prompts(target: &ServerTarget) -> Result<(), CommandError> {
    with_servers(target, async |hosted, server, mut errors| {
        let prompts = warn_and_unwrap(hosted, hosted.host.list_prompts(server).await?, &mut errors);
        if hosted.json {
            let whole = json!({ "prompts": items_json(&prompts, "prompt"), "errors": errors });
            return print_json(&hosted.out, &encode(&whole)?);
        }
        let out = &hosted.out;
        let mut text = out.dim(&format!("{}\n", pluralize(prompts.len(), "prompt")));
        let mut last: Option<&Arc<str>> = None;
        for entry in &prompts {
            if last != Some(&entry.server) {
                text += &format!("\n{}\n", out.green(&one_line(&entry.server)));
                last = Some(&entry.server);
            }
            let about = prompts::about(&entry.item);
            text += &format!("\n{}", render_item(&Signature::of_prompt(&entry.item), about, true, out));
        }
        Ok(out.print(&text)?)
    })
    .await
}

/// Returns the gathered items, and warns about servers that failed. A server without such a list is no failure.
fn warn_and_unwrap<T>(
    hosted: &HostedServers,
    gathered: MergedList<T>,
    errors: &mut Errors,
) -> Vec<FromServer<T>> {
    for (server, error) in &gathered.errors {
        let is_unsupported_list = matches!(error, HostError::Session { error, .. } if is_unsupported(error));
        if !is_unsupported_list {
            hosted.screen.warn(&one_line(&error.to_string()));
            errors.insert(server.to_string(), error.to_string());
        }
    }
    gathered.items
}

fn items_json<T: serde::Serialize>(items: &[FromServer<T>], field: &str) -> Vec<Value> {
    items.iter().map(|entry| json!({ "server": &*entry.server, field: entry.item })).collect()
}

/// Inserts the server after the first cell of a row.
fn insert_server<const N: usize>(server: &str, row: [String; N]) -> Vec<String> {
    let mut row = row.to_vec();
    row.insert(1, one_line(server));
    row
}
