//! `switchboard complete`: values that would complete an argument, one a line.

use switchboard::CallError;
use switchboard::protocol::{CompleteParams, CompleteResult, Reference};

use crate::args::CompleteArgs;
use crate::command::tools::encode;
use crate::connect::Connected;
use crate::failure::Failure;
use crate::output::show_json;
use crate::sanitize::one_line;

/// Completes an argument of the prompt or template of this name, which is that of the arguments without a server.
pub(crate) async fn run(connected: &Connected, args: &CompleteArgs, name: &str) -> Result<(), Failure> {
    let reference = match (&args.prompt, &args.resource) {
        (Some(_), _) => Reference::prompt(name),
        (None, Some(_)) => Reference::resource(name),
        (None, None) => return Err(Failure::usage("--prompt or --resource is needed")),
    };
    let mut params = CompleteParams::new(reference, &args.argument, &args.value);
    if !args.context.is_empty() {
        params = params.with_filled(args.context.iter().cloned().collect());
    }
    // The first revisions had no capability for this, so the server is simply asked.
    let answer = connected.session.request_raw("completion/complete", encode(&params)?).await?;
    if connected.json {
        return show_json(&connected.paper, &answer);
    }
    let wrong = |error| CallError::Protocol { method: "completion/complete".to_owned(), error };
    let CompleteResult { completion, .. } = answer.decode().map_err(wrong)?;
    let lines: String = completion.values.iter().map(|value| format!("{}\n", one_line(value))).collect();
    connected.paper.print(&lines)?;
    let shown = completion.values.len() as u64;
    match (completion.total, completion.has_more) {
        (Some(total), _) if total > shown => connected.screen.say(&format!("… and {} more", total - shown)),
        (None, Some(true)) => connected.screen.say("… and more"),
        _ => {}
    }
    Ok(())
}
