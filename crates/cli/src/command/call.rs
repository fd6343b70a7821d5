//! `switchboard call`: calls one tool with arguments converted to the types of its schema.

use std::io::Read;
use std::sync::Arc;

use switchboard::CallError;
use switchboard::client::{Change, ChangeStream, is_web_address};
use switchboard::protocol::{CallToolResult, ElicitParams, ErrorCode, OrderedMap, Raw, RpcError, UrlParams};

use crate::args::CallArgs;
use crate::command::route;
use crate::configured_servers::call_permission;
use crate::connect::{CommandSession, with_connection};
use crate::elicitation::TerminalHandler;
use crate::error::{CommandError, ExitKind};
use crate::nearest::nearest;
use crate::output::{
    OutputStream, Screen, encode, print_json, render_result, render_structured, result_parts, save_all,
    save_one,
};
use crate::sanitize::one_line;
use crate::tool_arguments::{ArgumentPair, ArgumentSchema, apply_pairs};

/// Maximum number of attempts of a call that requires the user to visit pages.
pub(crate) const MAX_ATTEMPTS: usize = 3;

pub(crate) async fn run(args: CallArgs) -> Result<(), CommandError> {
    // Errors of the command line are reported before a server is started.
    let (object, pairs) = parse_arguments(&args)?;
    if args.target.is_configured() {
        return route::call(&args, object, &pairs).await;
    }
    with_connection(&args.target, async |connection| {
        let arguments = apply_pairs(object, &pairs, &fetch_schema(connection, &args.tool, &pairs).await?)?;
        let arguments = encode(&arguments)?;
        call_permission::check_permission(connection, &args.tool, &arguments, args.yes).await?;
        let answer = call(connection, &args.tool, &arguments).await?;
        print_result(connection.json, &connection.out, &connection.screen, &args, &args.tool, &answer)
    })
    .await
}

/// Parses the arguments of the command line: one JSON object, and pairs that override its members.
fn parse_arguments(args: &CallArgs) -> Result<(OrderedMap<Raw>, Vec<ArgumentPair>), CommandError> {
    let is_whole = |word: &&String| *word == "-" || word.trim_start().starts_with('{');
    let whole: Vec<&String> = args.pairs.iter().filter(is_whole).chain(&args.args).collect();
    if whole.len() > 1 {
        return Err(CommandError::usage("the arguments are given as JSON more than once")
            .hint("leave one of them out"));
    }
    let object = whole.first().map(|source| read_object(source)).transpose()?.unwrap_or_default();
    let pairs = args.pairs.iter().filter(|word| !is_whole(word)).map(|pair| ArgumentPair::parse(pair));
    Ok((object, pairs.collect::<Result<_, _>>()?))
}

/// Calls a tool and shows its progress.
///
/// # Errors
/// Returns an error if the call fails, or the user declines to visit a page.
pub(crate) async fn call(
    connection: &CommandSession,
    tool: &str,
    arguments: &Raw,
) -> Result<Raw, CommandError> {
    for _ in 0..MAX_ATTEMPTS {
        let changes = connection.session.changes()?;
        let screen = Arc::clone(&connection.screen);
        let called = connection
            .session
            .call_tool(tool, arguments)
            .on_progress(move |progress| screen.show_progress(&progress))
            .raw()
            .await;
        connection.screen.clear();
        let error = match called {
            Ok(answer) => return Ok(answer),
            Err(CallError::Remote(error)) => error,
            Err(error) => return Err(error.into()),
        };
        let pages = required_pages(&error);
        if !pages.is_empty() {
            visit_pages(connection.terminal.as_deref(), &connection.server_name(), &pages, changes).await?;
            continue;
        }
        let is_unknown = error.code == ErrorCode::INVALID_PARAMS;
        let failure = CommandError::from(CallError::Remote(error));
        return Err(match is_unknown {
            true => match suggestion(connection, tool).await {
                Some(hint) => failure.hint(hint),
                None => failure,
            },
            false => failure,
        });
    }
    Err(visits_exhausted())
}

/// Creates the error for a server that keeps asking for visits.
pub(crate) fn visits_exhausted() -> CommandError {
    CommandError::other("input_needed", "the server still requires a visit to a page")
        .hint("run the command again")
}

/// Returns the pages the user must visit before the call (`-32042`).
pub(crate) fn required_pages(error: &RpcError) -> Vec<UrlParams> {
    if error.code != ErrorCode::URL_ELICITATION_REQUIRED {
        return Vec::new();
    }
    let data: Option<OrderedMap<Raw>> = error.data.as_ref().and_then(|data| data.decode().ok());
    let elicitations: Vec<Raw> =
        data.and_then(|data| data.get("elicitations")?.decode().ok()).unwrap_or_default();
    let page = |elicitation: &Raw| match elicitation.decode() {
        Ok(ElicitParams::Url(page)) => Some(page),
        _ => None,
    };
    elicitations.iter().filter_map(page).collect()
}

/// Asks the user to visit each page, and waits until they have.
///
/// # Errors
/// Returns an error if the user declines, or there is no terminal.
pub(crate) async fn visit_pages(
    terminal: Option<&TerminalHandler>,
    who: &str,
    pages: &[UrlParams],
    mut changes: ChangeStream,
) -> Result<(), CommandError> {
    if let Some(page) = pages.iter().find(|page| !is_web_address(&page.url)) {
        let message = format!(
            "{} asks you to visit {}, which is neither http nor https",
            one_line(who),
            one_line(&page.url)
        );
        return Err(CommandError::other("input_refused", message));
    }
    let Some(terminal) = terminal else {
        let list: Vec<String> = pages
            .iter()
            .map(|page| format!("{} ({})", one_line(&page.url), one_line(&page.message)))
            .collect();
        let message = format!("the server asks you to visit a page first: {}", list.join("; "));
        return Err(CommandError::other("input_needed", message)
            .hint("visit it if you trust its host, then run the command again"));
    };
    for page in pages {
        let completed = async {
            while let Some(change) = changes.next().await {
                if matches!(&change, Change::ElicitationDone { id } if Some(id) == page.elicitation_id.as_ref())
                {
                    return;
                }
            }
            std::future::pending().await
        };
        if !terminal.prompter.visit(page, who, completed).await {
            return Err(CommandError::other("declined", "Not called."));
        }
    }
    Ok(())
}

/// Prints or saves the result of a tool.
///
/// # Errors
/// Returns an error if the tool reports an error, or the result cannot be written.
pub(crate) fn print_result(
    is_json: bool,
    out: &OutputStream,
    screen: &Screen,
    args: &CallArgs,
    tool: &str,
    answer: &Raw,
) -> Result<(), CommandError> {
    let protocol_error = |error| CallError::Protocol { method: "tools/call".to_owned(), error };
    let result: CallToolResult = answer.decode().map_err(protocol_error)?;
    match (&args.save.output, &result.structured_content) {
        _ if is_json => print_json(out, answer)?,
        (Some(file), _) if !result.is_error => save_one(&result_parts(&result)?, file, screen)?,
        (_, Some(structured)) if args.structured => out.print(&render_structured(structured, out))?,
        (_, None) if args.structured && !result.is_error => {
            return Err(CommandError::other("not_structured", "the result has no structured content")
                .hint("leave out --structured to see its text"));
        }
        _ => match &result_parts(&result)?[..] {
            // A single image or file is redirected as bytes.
            [part] if !part.is_text && !out.is_terminal && args.save.save_dir.is_none() => {
                out.print_bytes(&part.bytes)?;
            }
            _ => out.print(&render_result(&result, out))?,
        },
    }
    if let Some(folder) = args.save.save_dir.as_ref().filter(|_| !is_json) {
        save_all(&result_parts(&result)?, folder, screen, |part| !part.is_text)?;
    }
    if result.is_error {
        let text = one_line(&result.text());
        let text = if is_json && !text.is_empty() { format!(": {text}") } else { String::new() };
        return Err(CommandError::new(
            ExitKind::Tool,
            "tool",
            format!("tool `{}` reported an error{text}", one_line(tool)),
        ));
    }
    Ok(())
}

/// Returns the schema of a tool; empty if it is not listed. The list is fetched only if the schema is needed, or the
/// tool may run as a task.
async fn fetch_schema(
    connection: &CommandSession,
    tool: &str,
    pairs: &[ArgumentPair],
) -> Result<ArgumentSchema, CommandError> {
    let may_be_task = connection.session_info()?.capabilities.tasks.is_some();
    if !may_be_task && !pairs.iter().any(ArgumentPair::needs_schema) {
        return Ok(ArgumentSchema::default());
    }
    let tools = connection.session.list_tools().await?;
    Ok(tools.by_name(tool).map(|tool| ArgumentSchema::read(&tool.input_schema)).unwrap_or_default())
}

/// Returns a suggestion if the server does not list the tool.
async fn suggestion(connection: &CommandSession, tool: &str) -> Option<String> {
    let tools = connection.session.list_tools().await.ok()?;
    if tools.by_name(tool).is_some() {
        return None;
    }
    Some(match nearest(tool, tools.iter().map(|known| known.name.as_str())) {
        Some(name) => format!("did you mean `{}`?", one_line(name)),
        None => "`switchboard tools` lists its tools".to_owned(),
    })
}

/// Reads all arguments as one object: from the text itself, `@FILE`, or `-` for stdin.
fn read_object(source: &str) -> Result<OrderedMap<Raw>, CommandError> {
    let usage = |message: String| {
        CommandError::usage(message).hint("--args takes a JSON object, @FILE, or - for stdin")
    };
    let text = match (source, source.strip_prefix('@')) {
        ("-", _) => {
            let mut text = String::new();
            let read = std::io::stdin().read_to_string(&mut text);
            read.map_err(|error| usage(format!("cannot read stdin: {error}")))?;
            text
        }
        (_, Some(file)) => {
            std::fs::read_to_string(file).map_err(|error| usage(format!("cannot read {file}: {error}")))?
        }
        _ => source.to_owned(),
    };
    let object = Raw::parse(text).and_then(|raw| raw.decode());
    object.map_err(|error| usage(format!("the arguments must be a JSON object: {error}")))
}
