//! `switchboard listen`: what a server tells of changes, a line each, as it comes.

use switchboard::{CallError, Change, ListenFilter, SessionInfo, SessionState, json};

use crate::args::ListenArgs;
use crate::command::tools::encode;
use crate::connect::{Connected, log_line};
use crate::failure::{Failure, Status};
use crate::output::{Paper, pretty, show_json};
use crate::sanitize::one_line;

pub(crate) async fn run(connected: &Connected, args: &ListenArgs) -> Result<(), Failure> {
    let wanted = filter(args, connected.terms()?);
    if wanted.is_empty() {
        return Err(Failure::new(Status::Other, "unsupported", "the server does not notify of changes")
            .hint("`switchboard info` shows its capabilities"));
    }
    let mut state = connected.session.watch_state();
    let mut listening = connected.session.listen(wanted.clone()).await?;
    say_what(connected, &wanted, listening.accepted());
    let mut left = args.count.unwrap_or(u64::MAX);
    while left > 0 {
        let change = tokio::select! {
            biased;
            change = listening.next() => change,
            failed = state.wait_for(|state| matches!(state, SessionState::Failed(_))) => {
                return Err(match failed.as_deref() {
                    Ok(SessionState::Failed(error)) => error.clone().into(),
                    _ => CallError::Closed.into(),
                });
            }
        };
        match change {
            Some(Change::Ended) | None => {
                // The stream ends with the connection, too: say which it was.
                if let SessionState::Failed(error) = connected.session.state() {
                    return Err(error.into());
                }
                return Err(Failure::new(Status::Unreachable, "ended", "the server ended the subscription"));
            }
            Some(Change::Missed(count)) => {
                connected.screen.warn(&format!("{count} notifications came too fast and were dropped"))
            }
            Some(Change::Log(message)) if !connected.json && connected.verbose > 0 => drop(message),
            Some(change) => {
                show(connected, change)?;
                left -= 1;
            }
        }
    }
    Ok(())
}

/// What was asked for; everything the server offers, when nothing was.
fn filter(args: &ListenArgs, terms: &SessionInfo) -> ListenFilter {
    let mut filter = ListenFilter::new();
    filter.resource_subscriptions.clone_from(&args.uris);
    filter.tools_list_changed = args.tools;
    filter.prompts_list_changed = args.prompts;
    filter.resources_list_changed = args.resources;
    if filter.is_empty() {
        let offered = &terms.capabilities;
        let tells = |told: Option<Option<bool>>| told.flatten() == Some(true);
        filter.tools_list_changed = tells(offered.tools.as_ref().map(|tools| tools.list_changed));
        filter.prompts_list_changed = tells(offered.prompts.as_ref().map(|prompts| prompts.list_changed));
        filter.resources_list_changed =
            tells(offered.resources.as_ref().map(|resources| resources.list_changed));
    }
    filter
}

fn say_what(connected: &Connected, wanted: &ListenFilter, accepted: &ListenFilter) {
    if !connected.json {
        let kinds = [
            (accepted.tools_list_changed, "tools"),
            (accepted.prompts_list_changed, "prompts"),
            (accepted.resources_list_changed, "resources"),
        ];
        let kinds = kinds.iter().filter(|(accepted, _)| *accepted).map(|(_, kind)| (*kind).to_owned());
        let all: Vec<String> =
            kinds.chain(accepted.resource_subscriptions.iter().map(|uri| one_line(uri))).collect();
        connected
            .screen
            .say(&connected.screen.paper.dim(&format!("listening for changes of {}", all.join(", "))));
    }
    if wanted != accepted {
        connected.screen.warn("the server does not notify of everything that was asked for");
    }
}

fn show(connected: &Connected, change: Change) -> Result<(), Failure> {
    if connected.json {
        return match notification(change)? {
            Some(notification) => show_json(&connected.paper, &notification),
            None => Ok(()),
        };
    }
    Ok(connected.paper.print(&line(&change, &connected.paper))?)
}

fn line(change: &Change, paper: &Paper) -> String {
    match change {
        Change::Tools => "the list of tools has changed".to_owned(),
        Change::Prompts => "the list of prompts has changed".to_owned(),
        Change::Resources => "the list of resources has changed".to_owned(),
        Change::Resource { uri } => format!("{} was updated", paper.bold(&one_line(uri))),
        Change::Log(message) => log_line(message, paper),
        Change::Task(task) => format!("a task: {}", pretty(task)),
        Change::ElicitationDone { id } => format!("the step {} is done", one_line(id)),
        Change::Other { method, params } => {
            format!("{} {}", one_line(method), params.as_ref().map(pretty).unwrap_or_default())
        }
        _ => "something has changed".to_owned(),
    }
}

/// The change as the notification it came as.
fn notification(change: Change) -> Result<Option<switchboard::Raw>, Failure> {
    let (method, params) = match change {
        Change::Tools => ("notifications/tools/list_changed".to_owned(), None),
        Change::Prompts => ("notifications/prompts/list_changed".to_owned(), None),
        Change::Resources => ("notifications/resources/list_changed".to_owned(), None),
        Change::Resource { uri } => {
            ("notifications/resources/updated".to_owned(), Some(encode(&json!({ "uri": uri }))?))
        }
        Change::Log(message) => ("notifications/message".to_owned(), Some(encode(&message)?)),
        Change::Task(task) => ("notifications/tasks/status".to_owned(), Some(task)),
        Change::ElicitationDone { id } => {
            ("notifications/elicitation/complete".to_owned(), Some(encode(&json!({ "elicitationId": id }))?))
        }
        Change::Other { method, params } => (method, params),
        _ => return Ok(None),
    };
    #[derive(serde::Serialize)]
    struct Notification {
        jsonrpc: &'static str,
        method: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        params: Option<switchboard::Raw>,
    }
    encode(&Notification { jsonrpc: "2.0", method, params }).map(Some)
}
