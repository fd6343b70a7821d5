//! `switchboard call`: one tool, called with arguments in the types its schema wants.

use std::io::Read;
use std::sync::Arc;

use switchboard::protocol::{ElicitParams, OrderedMap, UrlParams};
use switchboard::session::client::is_web_address;
use switchboard::{CallError, CallToolResult, Change, ChangeStream, ErrorCode, Raw, RpcError};

use crate::args::CallArgs;
use crate::arguments::{Pair, Schema, fill};
use crate::ask::AtTerminal;
use crate::command::routed;
use crate::command::tools::encode;
use crate::configured::typed_call;
use crate::connect::{Connected, with};
use crate::failure::{Failure, Status};
use crate::nearest::nearest;
use crate::output::{Paper, Screen, result, result_parts, save_all, save_one, show_json, structured_text};
use crate::sanitize::one_line;

/// How often a call is made again after the user has visited the pages the server asked for.
pub(crate) const VISITS: usize = 3;

pub(crate) async fn run(args: CallArgs) -> Result<(), Failure> {
    // Errors of the command line are reported before a server is started.
    let (given, pairs) = arguments(&args)?;
    if args.target.is_configured() {
        return routed::call(&args, given, &pairs).await;
    }
    with(&args.target, async |connected| {
        let arguments = fill(given, &pairs, &schema(connected, &args.tool, &pairs).await?)?;
        let arguments = encode(&arguments)?;
        typed_call::permit(connected, &args.tool, &arguments, args.yes).await?;
        let answer = call(connected, &args.tool, &arguments).await?;
        show(connected.json, &connected.paper, &connected.screen, &args, &args.tool, &answer)
    })
    .await
}

/// The arguments of the command line: one JSON object, and pairs that are put on top of it.
fn arguments(args: &CallArgs) -> Result<(OrderedMap<Raw>, Vec<Pair>), Failure> {
    let is_whole = |word: &&String| *word == "-" || word.trim_start().starts_with('{');
    let whole: Vec<&String> = args.pairs.iter().filter(is_whole).chain(&args.args).collect();
    if whole.len() > 1 {
        return Err(
            Failure::usage("the arguments are given as JSON more than once").hint("leave one of them out")
        );
    }
    let given = whole.first().map(|given| base(given)).transpose()?.unwrap_or_default();
    let pairs = args.pairs.iter().filter(|word| !is_whole(word)).map(|pair| Pair::read(pair));
    Ok((given, pairs.collect::<Result<_, _>>()?))
}

/// Calls a tool, with its progress on the screen.
///
/// # Errors
/// When the server or the connection fails, or the user does not want to visit a page the server asks for.
pub(crate) async fn call(connected: &Connected, tool: &str, arguments: &Raw) -> Result<Raw, Failure> {
    for _ in 0..VISITS {
        let changes = connected.session.changes()?;
        let screen = Arc::clone(&connected.screen);
        let called = connected
            .session
            .call_tool(tool, arguments)
            .on_progress(move |told| screen.progress(&told))
            .raw()
            .await;
        connected.screen.clear();
        let error = match called {
            Ok(answer) => return Ok(answer),
            Err(CallError::Remote(error)) => error,
            Err(error) => return Err(error.into()),
        };
        let pages = pages(&error);
        if !pages.is_empty() {
            visit(connected.people.as_deref(), &connected.who(), &pages, changes).await?;
            continue;
        }
        let is_unknown = error.code == ErrorCode::INVALID_PARAMS;
        let failure = Failure::from(CallError::Remote(error));
        return Err(match is_unknown {
            true => match suggestion(connected, tool).await {
                Some(hint) => failure.hint(hint),
                None => failure,
            },
            false => failure,
        });
    }
    Err(still_asks())
}

/// A server that asks for another visit each time.
pub(crate) fn still_asks() -> Failure {
    Failure::new(Status::Other, "input_needed", "the server still asks for a visit to a page")
        .hint("run the command again")
}

/// The pages a server wants visited before it makes a call (`-32042`).
pub(crate) fn pages(error: &RpcError) -> Vec<UrlParams> {
    if error.code != ErrorCode::URL_ELICITATION_REQUIRED {
        return Vec::new();
    }
    let data: Option<OrderedMap<Raw>> = error.data.as_ref().and_then(|data| data.decode().ok());
    let asked: Vec<Raw> = data.and_then(|data| data.get("elicitations")?.decode().ok()).unwrap_or_default();
    let page = |asked: &Raw| match asked.decode() {
        Ok(ElicitParams::Url(page)) => Some(page),
        _ => None,
    };
    asked.iter().filter_map(page).collect()
}

/// Asks the user to visit each page, and waits until that is done.
///
/// # Errors
/// When the user declines, or there is no terminal to ask at.
pub(crate) async fn visit(
    people: Option<&AtTerminal>,
    who: &str,
    pages: &[UrlParams],
    mut changes: ChangeStream,
) -> Result<(), Failure> {
    if let Some(page) = pages.iter().find(|page| !is_web_address(&page.url)) {
        let said = format!(
            "{} asks you to visit {}, which is neither http nor https",
            one_line(who),
            one_line(&page.url)
        );
        return Err(Failure::new(Status::Other, "input_refused", said));
    }
    let Some(people) = people else {
        let list: Vec<String> = pages
            .iter()
            .map(|page| format!("{} ({})", one_line(&page.url), one_line(&page.message)))
            .collect();
        let said = format!("the server asks you to visit a page first: {}", list.join("; "));
        return Err(Failure::new(Status::Other, "input_needed", said)
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
        if !people.visit(page, who, completed).await {
            return Err(Failure::new(Status::Other, "declined", "Not called."));
        }
    }
    Ok(())
}

/// Shows or saves the result of a tool.
///
/// # Errors
/// When the tool reports an error, or the result cannot be written.
pub(crate) fn show(
    is_json: bool,
    paper: &Paper,
    screen: &Screen,
    args: &CallArgs,
    tool: &str,
    answer: &Raw,
) -> Result<(), Failure> {
    let wrong = |error| CallError::Protocol { method: "tools/call".to_owned(), error };
    let said: CallToolResult = answer.decode().map_err(wrong)?;
    match (&args.save.output, &said.structured_content) {
        _ if is_json => show_json(paper, answer)?,
        (Some(file), _) if !said.is_error => save_one(&result_parts(&said)?, file, screen)?,
        (_, Some(structured)) if args.structured => paper.print(&structured_text(structured, paper))?,
        (_, None) if args.structured && !said.is_error => {
            return Err(Failure::new(
                Status::Other,
                "not_structured",
                "the result has no structured content",
            )
            .hint("leave out --structured to see its text"));
        }
        _ => match &result_parts(&said)?[..] {
            // An image or a file alone is what a redirection wants.
            [part] if !part.is_text && !paper.is_terminal && args.save.save_dir.is_none() => {
                paper.print_bytes(&part.bytes)?;
            }
            _ => paper.print(&result(&said, paper))?,
        },
    }
    if let Some(folder) = args.save.save_dir.as_ref().filter(|_| !is_json) {
        save_all(&result_parts(&said)?, folder, screen, |part| !part.is_text)?;
    }
    if said.is_error {
        let text = one_line(&said.text());
        let text = if is_json && !text.is_empty() { format!(": {text}") } else { String::new() };
        return Err(Failure::new(
            Status::Tool,
            "tool",
            format!("tool `{}` reported an error{text}", one_line(tool)),
        ));
    }
    Ok(())
}

/// The schema of a tool; empty for a tool that is not listed. The list is fetched only where it decides something: the
/// types of arguments, or whether the tool runs as a task.
async fn schema(connected: &Connected, tool: &str, pairs: &[Pair]) -> Result<Schema, Failure> {
    let may_be_task = connected.terms()?.capabilities.tasks.is_some();
    if !may_be_task && !pairs.iter().any(Pair::needs_schema) {
        return Ok(Schema::default());
    }
    let tools = connected.session.list_tools().await?;
    Ok(tools.by_name(tool).map(|tool| Schema::read(&tool.input_schema)).unwrap_or_default())
}

/// The tool the user may have meant, when the server does not know the one that was named.
async fn suggestion(connected: &Connected, tool: &str) -> Option<String> {
    let tools = connected.session.list_tools().await.ok()?;
    if tools.by_name(tool).is_some() {
        return None;
    }
    Some(match nearest(tool, tools.iter().map(|known| known.name.as_str())) {
        Some(name) => format!("did you mean `{}`?", one_line(name)),
        None => "`switchboard tools` lists its tools".to_owned(),
    })
}

/// All arguments as one object: the text itself, `@FILE`, or `-` for stdin.
fn base(given: &str) -> Result<OrderedMap<Raw>, Failure> {
    let wrong = |what: String| Failure::usage(what).hint("--args takes a JSON object, @FILE, or - for stdin");
    let text = match (given, given.strip_prefix('@')) {
        ("-", _) => {
            let mut text = String::new();
            let read = std::io::stdin().read_to_string(&mut text);
            read.map_err(|error| wrong(format!("cannot read stdin: {error}")))?;
            text
        }
        (_, Some(file)) => {
            std::fs::read_to_string(file).map_err(|error| wrong(format!("cannot read {file}: {error}")))?
        }
        _ => given.to_owned(),
    };
    let object = Raw::parse(text).and_then(|raw| raw.decode());
    object.map_err(|error| wrong(format!("the arguments must be a JSON object: {error}")))
}
