//! Routes `call`, `read`, `prompt`, `complete`, `info` and `listen` to a configured server: finds the server, then runs
//! the command as for any other session.

use std::sync::Arc;

use switchboard::host::{CatalogTool, HostError, MergedList};
use switchboard::protocol::{OrderedMap, Raw};

use crate::args::{CallArgs, CompleteArgs, PromptArgs, ReadArgs, ServerTarget};
use crate::command::{call, complete, prompt, read};
use crate::configured_servers::{ConfigFiles, HostRequest, HostedServers, split_server, with_host};
use crate::connect::{CommandSession, no_server, with_connection};
use crate::error::CommandError;
use crate::output::encode;
use crate::sanitize::one_line;
use crate::shell_quote::shell_quote;
use crate::tool_arguments::{ArgumentPair, ArgumentSchema, apply_pairs};

/// Calls a tool with the permission of the gate.
///
/// # Errors
/// Returns an error if the tool is not found, not permitted, or fails.
pub(crate) async fn call(
    args: &CallArgs,
    object: OrderedMap<Raw>,
    pairs: &[ArgumentPair],
) -> Result<(), CommandError> {
    let (server, tool) = split_target(&args.target, &args.tool)?;
    let wanted = HostRequest::new(server.clone(), args.target.options.clone());
    let wanted = HostRequest { yes: args.yes, ..wanted };
    with_host(wanted, async |hosted| {
        let found = find_tool(hosted, server.as_deref(), &tool).await?;
        let schema = ArgumentSchema::read(&found.tool().input_schema);
        let arguments = encode(&apply_pairs(object, pairs, &schema)?)?;
        hosted.confirm_definition(&found).await?;
        let answer = call_with_visits(hosted, &found, &arguments).await?;
        let name = format!("{}/{}", found.server(), found.tool().name);
        call::print_result(hosted.json, &hosted.out, &hosted.screen, args, &name, &answer)
    })
    .await
}

/// Calls a tool, again after the user has visited the pages the server requires.
async fn call_with_visits(
    hosted: &HostedServers,
    found: &CatalogTool,
    arguments: &Raw,
) -> Result<Raw, CommandError> {
    for _ in 0..call::MAX_ATTEMPTS {
        let changes = hosted.host.session(found.server()).await?.changes()?;
        let screen = Arc::clone(&hosted.screen);
        let called = hosted.host.call_tool(found.server(), &found.tool().name, arguments.clone());
        let called = called
            .within(&hosted.run)
            .on_progress(move |progress| screen.show_progress(&progress))
            .raw()
            .await;
        hosted.screen.clear();
        let error = match called {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        let pages = match &error {
            HostError::Call { error, .. } => error.remote().map(call::required_pages).unwrap_or_default(),
            _ => Vec::new(),
        };
        if pages.is_empty() {
            return Err(hosted.explain(error));
        }
        call::visit_pages(hosted.terminal.as_deref(), found.server(), &pages, changes).await?;
    }
    Err(call::visits_exhausted())
}

/// Finds a tool. A qualified name is found as soon as its server lists it.
async fn find_tool(
    hosted: &HostedServers,
    server: Option<&str>,
    tool: &str,
) -> Result<Arc<CatalogTool>, CommandError> {
    let mut events = hosted.host.events();
    let mut starting = std::pin::pin!(hosted.start());
    let listed = async {
        loop {
            if let Some(listed) = hosted.host.catalog().get(tool) {
                return Arc::clone(listed);
            }
            if events.next().await.is_none() {
                std::future::pending::<()>().await;
            }
        }
    };
    let done = tokio::select! {
        biased;
        tool = listed, if server.is_none() => return Ok(tool),
        done = &mut starting => done,
    };
    if let Some(server) = server {
        hosted.check_usable(server)?;
        let tools = hosted.host.all_tools();
        let is_match = |listed: &&Arc<CatalogTool>| listed.server() == server && listed.tool().name == tool;
        return match tools.iter().find(is_match) {
            Some(listed) => Ok(Arc::clone(listed)),
            None => Err(unknown_tool_of(hosted, server, tool)),
        };
    }
    match hosted.host.find_tool(tool) {
        Some(found) if found.others.is_empty() => Ok(found.tool),
        Some(found) => {
            let others = found.others.iter().map(|other| &**other);
            Err(ambiguous("tool", tool, std::iter::once(found.tool.server()).chain(others)))
        }
        None => {
            hosted.warn_failed(&done);
            Err(unknown_tool(hosted, tool, tool))
        }
    }
}

/// Explains why a connected server does not have a tool.
fn unknown_tool_of(hosted: &HostedServers, server: &str, tool: &str) -> CommandError {
    let (message, near) = hosted.explain_missing(server, tool);
    let failure = CommandError::other("unknown_tool", message);
    let server = shell_quote(&one_line(server));
    match near {
        Some(near) => failure.hint(format!("did you mean {server}/{}?", one_line(&near))),
        None => failure.hint(format!("`switchboard tools {server}` lists its tools")),
    }
}

/// Explains why no server has a tool.
fn unknown_tool(hosted: &HostedServers, qualified: &str, tool: &str) -> CommandError {
    let why = hosted.host.explain_tool(qualified).to_string();
    CommandError::other("unknown_tool", format!("no tool {:?}: {why}", one_line(tool)))
        .hint("`switchboard tools` lists all tools")
}

/// Reads a resource.
pub(crate) async fn read(args: &ReadArgs) -> Result<(), CommandError> {
    let (server, uri) = split_target(&args.target, &args.uri)?;
    with_one_server(
        &args.target,
        server,
        async |hosted| {
            let resources = hosted.host.list_resources(None).await?;
            let listed = providers(&resources, |resource| resource.uri == uri);
            if !listed.is_empty() {
                return single_server("resource", &uri, listed);
            }
            // A resource need not be listed: if only one server has resources, use that one.
            let templates = hosted.host.list_resource_templates(None).await?;
            let all =
                providers(&resources, |_| true).into_iter().chain(providers(&templates, |_| true)).collect();
            single_server("resource", &uri, all)
                .map_err(|failure| failure.hint("no server lists it; name one with --server NAME"))
        },
        async |connection| read::run(connection, &uri, &args.save).await,
    )
    .await
}

/// Gets a prompt.
pub(crate) async fn prompt(args: &PromptArgs) -> Result<(), CommandError> {
    let (server, name) = split_target(&args.target, &args.name)?;
    with_one_server(
        &args.target,
        server,
        async |hosted| {
            let prompts = hosted.host.list_prompts(None).await?;
            single_server("prompt", &name, providers(&prompts, |prompt| prompt.name == name))
        },
        async |connection| prompt::run(connection, &name, &args.arguments).await,
    )
    .await
}

/// Completes an argument of a prompt or of a resource template.
pub(crate) async fn complete(args: &CompleteArgs) -> Result<(), CommandError> {
    let (server, name) = split_target(&args.target, args.name())?;
    let is_prompt = args.prompt.is_some();
    with_one_server(
        &args.target,
        server,
        async |hosted| match is_prompt {
            true => {
                let prompts = hosted.host.list_prompts(None).await?;
                single_server("prompt", &name, providers(&prompts, |prompt| prompt.name == name))
            }
            false => {
                let templates = hosted.host.list_resource_templates(None).await?;
                single_server(
                    "resource template",
                    &name,
                    providers(&templates, |template| template.uri_template == name),
                )
            }
        },
        async |connection| complete::run(connection, args, &name).await,
    )
    .await
}

/// Runs a command with the session of one server: given on the command line, or named by `--server`.
///
/// # Errors
/// Returns an error if no server is given, it cannot be used, or the command fails.
pub(crate) async fn with_session(
    target: &ServerTarget,
    use_it: impl AsyncFnOnce(&CommandSession) -> Result<(), CommandError>,
) -> Result<(), CommandError> {
    if target.is_configured() && target.server.is_none() {
        return Err(no_server());
    }
    with_one_server(target, target.server.clone(), async |_| Err(no_server()), use_it).await
}

/// Runs `use_it` with the session of the server given on the command line, of the configured server that is named, or
/// of the configured server that `choose` returns.
async fn with_one_server(
    target: &ServerTarget,
    server: Option<String>,
    choose: impl AsyncFnOnce(&HostedServers) -> Result<String, CommandError>,
    use_it: impl AsyncFnOnce(&CommandSession) -> Result<(), CommandError>,
) -> Result<(), CommandError> {
    if !target.is_configured() {
        return with_connection(target, use_it).await;
    }
    with_host(HostRequest::new(server.clone(), target.options.clone()), async |hosted| {
        hosted.start_usable().await?;
        let server = match server {
            Some(server) => server,
            None => choose(hosted).await?,
        };
        use_it(&hosted.connection(&server).await?).await
    })
    .await
}

/// Returns the server, from `--server NAME` or `server/name`, and the name without it.
fn split_target(target: &ServerTarget, text: &str) -> Result<(Option<String>, String), CommandError> {
    if target.server.is_some() || !target.is_configured() {
        return Ok((target.server.clone(), text.to_owned()));
    }
    let files = ConfigFiles::read()?;
    let names = files.resolved.servers.iter().map(|server| server.name.as_str());
    Ok(match split_server(names, text) {
        Some((server, rest)) => (Some(server.to_owned()), rest.to_owned()),
        None => (None, text.to_owned()),
    })
}

/// Returns the servers that list a matching item.
fn providers<T>(gathered: &MergedList<T>, is_match: impl Fn(&T) -> bool) -> Vec<String> {
    let mut servers: Vec<String> = Vec::new();
    for entry in gathered.items.iter().filter(|entry| is_match(&entry.item)) {
        if servers.last().is_none_or(|last| **last != *entry.server) {
            servers.push(entry.server.to_string());
        }
    }
    servers
}

/// Returns the only server, or an error if there is not exactly one.
fn single_server(what: &str, name: &str, mut servers: Vec<String>) -> Result<String, CommandError> {
    servers.sort();
    servers.dedup();
    match &servers[..] {
        [server] => Ok(server.clone()),
        [] => {
            Err(CommandError::other("not_found", format!("no server lists the {what} {:?}", one_line(name)))
                .hint("name a server with --server NAME"))
        }
        servers => Err(ambiguous(what, name, servers.iter().map(String::as_str))),
    }
}

fn ambiguous<'a>(what: &str, name: &str, servers: impl Iterator<Item = &'a str>) -> CommandError {
    let servers: Vec<String> = servers.map(one_line).collect();
    let first = servers.first().map(|server| shell_quote(server)).unwrap_or_default();
    let name = one_line(name);
    CommandError::usage(format!("several servers have the {what} {name:?}: {}", servers.join(", ")))
        .hint(format!("choose one: {first}/{name}, or --server {first}"))
}
