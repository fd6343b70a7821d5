//! `switchboard complete`: prints completions of an argument, one per line.

use switchboard::CallError;
use switchboard::protocol::{CompleteParams, CompleteResult, Reference};

use crate::args::CompleteArgs;
use crate::connect::CommandSession;
use crate::error::CommandError;
use crate::output::{encode, print_json};
use crate::sanitize::one_line;

/// Completes an argument of the prompt or template `name`, which has no server prefix.
pub(crate) async fn run(
    connection: &CommandSession,
    args: &CompleteArgs,
    name: &str,
) -> Result<(), CommandError> {
    let reference = match (&args.prompt, &args.resource) {
        (Some(_), _) => Reference::prompt(name),
        (None, Some(_)) => Reference::resource(name),
        (None, None) => return Err(CommandError::usage("--prompt or --resource is needed")),
    };
    let mut params = CompleteParams::new(reference, &args.argument, &args.value);
    if !args.context.is_empty() {
        params = params.with_filled(args.context.iter().cloned().collect());
    }
    // The first revisions have no capability for completion, so it is not checked.
    let answer = connection.session.request_raw("completion/complete", encode(&params)?).await?;
    if connection.json {
        return print_json(&connection.out, &answer);
    }
    let protocol_error = |error| CallError::Protocol { method: "completion/complete".to_owned(), error };
    let CompleteResult { completion, .. } = answer.decode().map_err(protocol_error)?;
    let lines: String = completion.values.iter().map(|value| format!("{}\n", one_line(value))).collect();
    connection.out.print(&lines)?;
    let shown = completion.values.len() as u64;
    match (completion.total, completion.has_more) {
        (Some(total), _) if total > shown => connection.screen.say(&format!("… and {} more", total - shown)),
        (None, Some(true)) => connection.screen.say("… and more"),
        _ => {}
    }
    Ok(())
}
