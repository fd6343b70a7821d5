//! `switchboard listen`: prints the change notifications of a server as they arrive, one per line.

use switchboard::client::{Change, SessionInfo, SessionState};
use switchboard::protocol::ListenFilter;
use switchboard::{CallError, json};

use crate::args::ListenArgs;
use crate::connect::{CommandSession, log_line};
use crate::error::{CommandError, ExitKind};
use crate::output::{OutputStream, encode, pretty, print_json};
use crate::sanitize::one_line;

pub(crate) async fn run(connection: &CommandSession, args: &ListenArgs) -> Result<(), CommandError> {
    let wanted = filter(args, connection.session_info()?);
    if wanted.is_empty() {
        return Err(CommandError::other("unsupported", "the server does not notify of changes")
            .hint("`switchboard info` shows its capabilities"));
    }
    let mut state = connection.session.watch_state();
    let mut listening = connection.session.listen(wanted.clone()).await?;
    report_filter(connection, &wanted, listening.accepted());
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
                // The stream also ends when the connection is lost: report the cause.
                if let SessionState::Failed(error) = connection.session.state() {
                    return Err(error.into());
                }
                return Err(CommandError::new(
                    ExitKind::Unreachable,
                    "ended",
                    "the server ended the subscription",
                ));
            }
            Some(Change::Missed(count)) => {
                connection.screen.warn(&format!("{count} notifications arrived too fast and were dropped"))
            }
            Some(Change::Log(message)) if !connection.json && connection.verbose > 0 => drop(message),
            Some(change) => {
                print_change(connection, change)?;
                left -= 1;
            }
        }
    }
    Ok(())
}

/// Returns the filter of the command line, or everything the server offers if it is empty.
fn filter(args: &ListenArgs, terms: &SessionInfo) -> ListenFilter {
    let mut filter = ListenFilter::new();
    filter.resource_subscriptions.clone_from(&args.uris);
    filter.tools_list_changed = args.tools;
    filter.prompts_list_changed = args.prompts;
    filter.resources_list_changed = args.resources;
    if filter.is_empty() {
        let offered = &terms.capabilities;
        let notifies = |list_changed: Option<Option<bool>>| list_changed.flatten() == Some(true);
        filter.tools_list_changed = notifies(offered.tools.as_ref().map(|tools| tools.list_changed));
        filter.prompts_list_changed = notifies(offered.prompts.as_ref().map(|prompts| prompts.list_changed));
        filter.resources_list_changed =
            notifies(offered.resources.as_ref().map(|resources| resources.list_changed));
    }
    filter
}

fn report_filter(connection: &CommandSession, wanted: &ListenFilter, accepted: &ListenFilter) {
    if !connection.json {
        let kinds = [
            (accepted.tools_list_changed, "tools"),
            (accepted.prompts_list_changed, "prompts"),
            (accepted.resources_list_changed, "resources"),
        ];
        let kinds = kinds.iter().filter(|(accepted, _)| *accepted).map(|(_, kind)| (*kind).to_owned());
        let all: Vec<String> =
            kinds.chain(accepted.resource_subscriptions.iter().map(|uri| one_line(uri))).collect();
        connection
            .screen
            .say(&connection.screen.out.dim(&format!("listening for changes of {}", all.join(", "))));
    }
    if wanted != accepted {
        connection.screen.warn("the server accepted only part of the requested subscriptions");
    }
}

fn print_change(connection: &CommandSession, change: Change) -> Result<(), CommandError> {
    if connection.json {
        return match notification(change)? {
            Some(notification) => print_json(&connection.out, &notification),
            None => Ok(()),
        };
    }
    Ok(connection.out.print(&change_line(&change, &connection.out))?)
}

fn change_line(change: &Change, out: &OutputStream) -> String {
    match change {
        Change::Tools => "the list of tools has changed".to_owned(),
        Change::Prompts => "the list of prompts has changed".to_owned(),
        Change::Resources => "the list of resources has changed".to_owned(),
        Change::Resource { uri } => format!("{} was updated", out.bold(&one_line(uri))),
        Change::Log(message) => log_line(message, out),
        Change::Task(task) => format!("a task: {}", pretty(task)),
        Change::ElicitationDone { id } => format!("elicitation {} is complete", one_line(id)),
        Change::Other { method, params } => {
            format!("{} {}", one_line(method), params.as_ref().map(pretty).unwrap_or_default())
        }
        _ => "something has changed".to_owned(),
    }
}

/// Returns a change as the notification of the protocol.
fn notification(change: Change) -> Result<Option<switchboard::protocol::Raw>, CommandError> {
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
    struct NotificationMessage {
        jsonrpc: &'static str,
        method: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        params: Option<switchboard::protocol::Raw>,
    }
    encode(&NotificationMessage { jsonrpc: "2.0", method, params }).map(Some)
}
