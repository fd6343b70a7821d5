//! `switchboard call`, `read`, `prompt`, `complete`, `info` and `listen` for a server of the files: which one is meant,
//! and then as for any other.

use std::sync::Arc;

use switchboard::host::{CatalogTool, MergedList};
use switchboard::protocol::OrderedMap;
use switchboard::{HostError, Raw};

use crate::args::{CallArgs, CompleteArgs, PromptArgs, ReadArgs, Target};
use crate::arguments::{Pair, Schema, fill};
use crate::command::tools::encode;
use crate::command::{call, complete, prompt, read};
use crate::configured::{Files, Hosted, NONE, Wanted, Which, quoted, server_and_rest, with_host};
use crate::connect::Connected;
use crate::failure::{Failure, Status};
use crate::sanitize::one_line;

/// Calls a tool, after the gate has permitted it.
///
/// # Errors
/// When no tool is meant, it may not be called, or it failed.
pub(crate) async fn call(args: &CallArgs, given: OrderedMap<Raw>, pairs: &[Pair]) -> Result<(), Failure> {
    let (server, tool) = named(&args.target, &args.tool)?;
    let which = server.clone().map_or(Which::All, Which::One);
    let wanted = Wanted { yes: args.yes, ..Wanted::once(which, args.target.options.clone()) };
    with_host(wanted, async |hosted| {
        let found = find(hosted, server.as_deref(), &tool).await?;
        let schema = Schema::read(&found.tool().input_schema);
        let arguments = encode(&fill(given, pairs, &schema)?)?;
        hosted.confirm_definition(&found).await?;
        let answer = made(hosted, &found, &arguments).await?;
        let name = format!("{}/{}", found.server(), found.tool().name);
        call::show(hosted.json, &hosted.paper, &hosted.screen, args, &name, &answer)
    })
    .await
}

/// Makes a call, again after the user has visited the pages the server asks for.
async fn made(hosted: &Hosted, found: &CatalogTool, arguments: &Raw) -> Result<Raw, Failure> {
    for _ in 0..call::VISITS {
        let changes = hosted.host.session(found.server()).await?.changes()?;
        let screen = Arc::clone(&hosted.screen);
        let called = hosted.host.call_tool(found.server(), &found.tool().name, arguments.clone());
        let called = called.within(&hosted.run).on_progress(move |told| screen.progress(&told)).raw().await;
        hosted.screen.clear();
        let error = match called {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        let pages = match &error {
            HostError::Call { error, .. } => error.remote().map(call::pages).unwrap_or_default(),
            _ => Vec::new(),
        };
        if pages.is_empty() {
            return Err(hosted.explain(error));
        }
        call::visit(hosted.people.as_deref(), found.server(), &pages, changes).await?;
    }
    Err(call::still_asks())
}

/// A tool that is meant. A name that only one tool can have is found as soon as its server lists it.
async fn find(hosted: &Hosted, server: Option<&str>, tool: &str) -> Result<Arc<CatalogTool>, Failure> {
    let mut events = hosted.host.events();
    let mut starting = std::pin::pin!(hosted.start());
    let known = async {
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
        listed = known, if server.is_none() => return Ok(listed),
        done = &mut starting => done,
    };
    if let Some(server) = server {
        hosted.usable(server)?;
        let tools = hosted.host.all_tools();
        let is_meant = |listed: &&Arc<CatalogTool>| listed.server() == server && listed.tool().name == tool;
        return match tools.iter().find(is_meant) {
            Some(listed) => Ok(Arc::clone(listed)),
            None => Err(missing_in(hosted, server, tool)),
        };
    }
    match hosted.host.find_tool(tool) {
        Some(found) if found.others.is_empty() => Ok(found.tool),
        Some(found) => {
            let others = found.others.iter().map(|other| &**other);
            Err(several("tool", tool, std::iter::once(found.tool.server()).chain(others)))
        }
        None => {
            hosted.warn_of(&done);
            Err(missing(hosted, tool, tool))
        }
    }
}

/// Why a server that is connected has no such tool.
fn missing_in(hosted: &Hosted, server: &str, tool: &str) -> Failure {
    let (said, near) = hosted.why_not(server, tool);
    let failure = Failure::new(Status::Other, "unknown_tool", said);
    let server = quoted(&one_line(server));
    match near {
        Some(near) => failure.hint(format!("did you mean {server}/{}?", one_line(&near))),
        None => failure.hint(format!("`switchboard tools {server}` lists its tools")),
    }
}

/// Why there is no such tool, in the words of the catalogue.
fn missing(hosted: &Hosted, qualified: &str, tool: &str) -> Failure {
    let why = hosted.host.explain_tool(qualified).to_string();
    Failure::new(Status::Other, "unknown_tool", format!("no tool {:?}: {why}", one_line(tool)))
        .hint("`switchboard tools` lists all tools")
}

pub(crate) async fn read(args: &ReadArgs) -> Result<(), Failure> {
    let (server, uri) = named(&args.target, &args.uri)?;
    on_one(
        &args.target,
        server,
        async |hosted| {
            let resources = hosted.host.list_resources(None).await?;
            let listed = providers(&resources, |resource| resource.uri == uri);
            if !listed.is_empty() {
                return one("resource", &uri, listed);
            }
            // A resource need not be listed. Where only one server has any, it is asked.
            let templates = hosted.host.list_resource_templates(None).await?;
            let all =
                providers(&resources, |_| true).into_iter().chain(providers(&templates, |_| true)).collect();
            one("resource", &uri, all)
                .map_err(|failure| failure.hint("no server lists it; choose one with --server NAME"))
        },
        async |connected| read::run(connected, &uri, &args.save).await,
    )
    .await
}

pub(crate) async fn prompt(args: &PromptArgs) -> Result<(), Failure> {
    let (server, name) = named(&args.target, &args.name)?;
    on_one(
        &args.target,
        server,
        async |hosted| {
            let prompts = hosted.host.list_prompts(None).await?;
            one("prompt", &name, providers(&prompts, |prompt| prompt.name == name))
        },
        async |connected| prompt::run(connected, &name, &args.arguments).await,
    )
    .await
}

pub(crate) async fn complete(args: &CompleteArgs) -> Result<(), Failure> {
    let (server, name) = named(&args.target, args.name())?;
    let is_prompt = args.prompt.is_some();
    on_one(
        &args.target,
        server,
        async |hosted| match is_prompt {
            true => {
                let prompts = hosted.host.list_prompts(None).await?;
                one("prompt", &name, providers(&prompts, |prompt| prompt.name == name))
            }
            false => {
                let templates = hosted.host.list_resource_templates(None).await?;
                one(
                    "resource template",
                    &name,
                    providers(&templates, |template| template.uri_template == name),
                )
            }
        },
        async |connected| complete::run(connected, args, &name).await,
    )
    .await
}

/// A command that knows one server, on one of the files.
///
/// # Errors
/// When no server is named, or it cannot be used.
pub(crate) async fn on_named(
    target: &Target,
    use_it: impl AsyncFnOnce(&Connected) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let Some(server) = target.server.clone() else {
        return Err(Failure::usage("no server given").hint(
            "give its command after --, its URL with --url, or a configured server with --server NAME",
        ));
    };
    on_one(target, Some(server), async |_| Err(Failure::usage("no server given")), use_it).await
}

/// Starts the server that is named, or all and then chooses; and uses its session.
async fn on_one(
    target: &Target,
    server: Option<String>,
    choose: impl AsyncFnOnce(&Hosted) -> Result<String, Failure>,
    use_it: impl AsyncFnOnce(&Connected) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let which = server.clone().map_or(Which::All, Which::One);
    with_host(Wanted::once(which, target.options.clone()), async |hosted| {
        if hosted.files.resolved.servers.is_empty() {
            return Err(Failure::usage("no server given, and none is configured").hint(NONE));
        }
        hosted.start_usable().await?;
        let server = match server {
            Some(server) => server,
            None => choose(hosted).await?,
        };
        use_it(&hosted.connected(&server).await?).await
    })
    .await
}

/// The server that is named, and the name without it: `--server NAME`, or `server/name`.
fn named(target: &Target, text: &str) -> Result<(Option<String>, String), Failure> {
    if let Some(server) = &target.server {
        return Ok((Some(server.clone()), text.to_owned()));
    }
    let files = Files::read()?;
    let names = files.resolved.servers.iter().map(|server| server.name.as_str());
    Ok(match server_and_rest(names, text) {
        Some((server, rest)) => (Some(server.to_owned()), rest.to_owned()),
        None => (None, text.to_owned()),
    })
}

/// The servers that list what is meant.
fn providers<T>(gathered: &MergedList<T>, is_meant: impl Fn(&T) -> bool) -> Vec<String> {
    let mut servers: Vec<String> = Vec::new();
    for of in gathered.items.iter().filter(|of| is_meant(&of.item)) {
        if servers.last().is_none_or(|last| **last != *of.server) {
            servers.push(of.server.to_string());
        }
    }
    servers
}

/// The one server there must be.
fn one(what: &str, name: &str, mut servers: Vec<String>) -> Result<String, Failure> {
    servers.sort();
    servers.dedup();
    match &servers[..] {
        [server] => Ok(server.clone()),
        [] => Err(Failure::new(
            Status::Other,
            "not_found",
            format!("no server lists the {what} {:?}", one_line(name)),
        )
        .hint("choose a server with --server NAME")),
        several_of_them => Err(several(what, name, several_of_them.iter().map(String::as_str))),
    }
}

fn several<'a>(what: &str, name: &str, servers: impl Iterator<Item = &'a str>) -> Failure {
    let servers: Vec<String> = servers.map(one_line).collect();
    let first = servers.first().map(|server| quoted(server)).unwrap_or_default();
    let name = one_line(name);
    Failure::usage(format!("several servers have the {what} {name:?}: {}", servers.join(", ")))
        .hint(format!("choose one: {first}/{name}, or --server {first}"))
}
