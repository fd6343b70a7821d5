//! `switchboard call`: one tool, called with arguments in the types it wants.

use std::io::Read;
use std::sync::Arc;

use switchboard::protocol::OrderedMap;
use switchboard::{CallError, CallToolResult, ErrorCode, Raw};

use crate::args::CallArgs;
use crate::arguments::{Pair, Schema, fill};
use crate::command::routed;
use crate::command::tools::encode;
use crate::connect::{Connected, with};
use crate::failure::{Failure, Status};
use crate::output::{Paper, result, show_json};
use crate::sanitize::one_line;

pub(crate) async fn run(args: CallArgs) -> Result<(), Failure> {
    // What is wrong with the command line is said before anything is started.
    let pairs: Vec<Pair> = args.pairs.iter().map(|pair| Pair::read(pair)).collect::<Result<_, _>>()?;
    let given = args.args.as_deref().map(base).transpose()?.unwrap_or_default();
    if args.target.is_configured() {
        return routed::call(&args, given, &pairs).await;
    }
    with(&args.target, async |connected| {
        let arguments = fill(given, &pairs, &schema(connected, &args.tool, &pairs).await?)?;
        let answer = call(connected, &args.tool, &encode(&arguments)?).await?;
        show(connected.json, &connected.paper, &args.tool, &answer)
    })
    .await
}

/// Calls a tool, with its progress on the screen.
///
/// # Errors
/// When the server or the connection fails.
pub(crate) async fn call(connected: &Connected, tool: &str, arguments: &Raw) -> Result<Raw, Failure> {
    let screen = Arc::clone(&connected.screen);
    let called = connected
        .session
        .call_tool(tool, arguments)
        .on_progress(move |told| screen.progress(&told))
        .raw()
        .await;
    connected.screen.clear();
    match called {
        Ok(answer) => Ok(answer),
        Err(CallError::Remote(error)) if error.code == ErrorCode::INVALID_PARAMS => {
            let failure = Failure::from(CallError::Remote(error));
            Err(match suggestion(connected, tool).await {
                Some(hint) => failure.hint(hint),
                None => failure,
            })
        }
        Err(error) => Err(error.into()),
    }
}

/// Shows what a tool answered.
///
/// # Errors
/// When it says that it failed.
pub(crate) fn show(is_json: bool, paper: &Paper, tool: &str, answer: &Raw) -> Result<(), Failure> {
    let wrong = |error| CallError::Protocol { method: "tools/call".to_owned(), error };
    let said: CallToolResult = answer.decode().map_err(wrong)?;
    if is_json {
        show_json(paper, answer)?;
    } else {
        paper.print(&result(&said, paper))?;
    }
    if said.is_error {
        let text = one_line(&said.text());
        let text = if is_json && !text.is_empty() { format!(": {text}") } else { String::new() };
        return Err(Failure::new(Status::Tool, "tool", format!("the tool {tool} says that it failed{text}")));
    }
    Ok(())
}

/// The schema of a tool; of one that is not listed nothing is known. Asked for only where it decides something.
async fn schema(connected: &Connected, tool: &str, pairs: &[Pair]) -> Result<Schema, Failure> {
    if !pairs.iter().any(Pair::needs_schema) {
        return Ok(Schema::default());
    }
    let tools = connected.session.list_tools().await?;
    Ok(tools.by_name(tool).map(|tool| Schema::read(&tool.input_schema)).unwrap_or_default())
}

/// What the user may have meant, when the server does not know the tool.
async fn suggestion(connected: &Connected, tool: &str) -> Option<String> {
    let tools = connected.session.list_tools().await.ok()?;
    if tools.by_name(tool).is_some() {
        return None;
    }
    let near = tools.iter().map(|known| (distance(tool, &known.name), &known.name)).min();
    match near {
        Some((steps, name)) if steps <= 2 => Some(format!("did you mean `{}`?", one_line(name))),
        _ => Some("`switchboard tools` lists what there is".to_owned()),
    }
}

/// How many letters must be changed, added or taken away to get from one name to the other.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().take(128).collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (place, letter) in from.chars().take(128).enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], place + 1);
        for (column, other) in to.iter().enumerate() {
            let changed = diagonal + usize::from(letter != *other);
            diagonal = row[column + 1];
            row[column + 1] = changed.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[to.len()]
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
    object.map_err(|error| wrong(format!("the arguments are no JSON object: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_nearly_the_same_are_near() {
        assert_eq!([distance("echo", "echo"), distance("ehco", "echo"), distance("eco", "echo")], [0, 2, 1]);
        assert!(distance("weather", "add") > 2);
    }
}
