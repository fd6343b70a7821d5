//! `switchboard status` and `reconnect`: connect servers and print their status.

use switchboard::host::config::ResolvedConfig;
use switchboard::host::{ServerStatus, Status, StatusKind};

use crate::args::{ReconnectArgs, SessionOptions, StatusArgs};
use crate::command::status_logins::StatusLogins;
use crate::command::status_watch;
use crate::configured_servers::{HostRequest, HostedServers, NO_SERVERS_HINT, with_host};
use crate::error::{CommandError, login_step, with_account};
use crate::output::{OutputStream, RowNotes, TextTable, encode, pluralize, print_json};
use crate::sanitize::one_line;
use crate::shell_quote::shell_quote;

pub(crate) async fn run(args: &StatusArgs) -> Result<(), CommandError> {
    let options = SessionOptions {
        json: args.json,
        timeout: args.timeout,
        account: args.account.clone(),
        ..SessionOptions::default()
    };
    if args.watch {
        let wanted = HostRequest { keeps_running: true, ..HostRequest::new(None, options) };
        return with_host(wanted, status_watch::run).await;
    }
    with_host(HostRequest::new(None, options), async |hosted| {
        hosted.start().await;
        let files = &hosted.files.resolved;
        let logins = StatusLogins::read(files, &hosted.account_selector()).await;
        if hosted.json {
            let statuses = hosted.statuses(files);
            let all =
                statuses.iter().map(|status| logins.status_json(status)).collect::<Result<Vec<_>, _>>()?;
            return print_json(&hosted.out, &encode(&all)?);
        }
        if files.servers.is_empty() {
            hosted.screen.say(&format!("no servers are configured; {NO_SERVERS_HINT}"));
            return Ok(());
        }
        Ok(hosted.out.print(&render_table(hosted, files, &logins, &hosted.out))?)
    })
    .await
}

pub(crate) async fn reconnect(args: &ReconnectArgs) -> Result<(), CommandError> {
    let options = SessionOptions {
        json: args.json,
        timeout: args.timeout,
        account: args.account.clone(),
        ..SessionOptions::default()
    };
    with_host(HostRequest::new(Some(args.name.clone()), options), async |hosted| {
        let began = tokio::time::Instant::now();
        hosted.start().await;
        let took = began.elapsed().as_millis();
        let status =
            hosted.statuses(&hosted.files.resolved).into_iter().find(|status| status.name == args.name);
        if let Some(status) = status.filter(|_| hosted.json) {
            let logins = StatusLogins::read(&hosted.files.resolved, &hosted.account_selector()).await;
            print_json(&hosted.out, &logins.status_json(&status)?)?;
        }
        hosted.check_usable(&args.name)?;
        let status = hosted.host.server_status(&args.name)?;
        match hosted.json {
            true => Ok(()),
            false => Ok(hosted.out.print(&format!("{}, in {took} ms\n", status_line(&status)))?),
        }
    })
    .await
}

/// Renders the status of all servers as a table.
pub(crate) fn render_table(
    hosted: &HostedServers,
    files: &ResolvedConfig,
    logins: &StatusLogins,
    out: &OutputStream,
) -> String {
    let mut table = TextTable::new(&["NAME", "STATUS", "SCOPE", "TOOLS", "VERSION", "LOGIN"]);
    let mut notes = RowNotes::default();
    for status in hosted.statuses(files) {
        let tools = status.tools.as_ref().map_or(0, |tools| tools.len());
        let is_connected = status.status == StatusKind::Connected;
        table.push_row([
            one_line(&status.name),
            format!("{} {}", mark(status.status), status.status),
            status.scope.clone().unwrap_or_default(),
            if is_connected { tools.to_string() } else { String::new() },
            status.server_info.as_ref().map(|info| one_line(&info.version)).unwrap_or_default(),
            logins.text(&status.name).unwrap_or_default(),
        ]);
        notes.add(&status.name, status.error.clone(), next_step(hosted, &status));
    }
    table.render(out) + &notes.render(out)
}

/// Returns the status of one server on one line: `files connected, 3 tools, files 1.0`.
pub(crate) fn status_line(status: &ServerStatus) -> String {
    let mut text = format!("{} {}", one_line(&status.name), status.status);
    if status.status == StatusKind::Connected {
        text += &format!(", {}", pluralize(status.tools.as_ref().map_or(0, |tools| tools.len()), "tool"));
    }
    if let Some(info) = &status.server_info {
        text += &format!(", {} {}", one_line(&info.name), one_line(&info.version));
    }
    if let Some(error) = &status.error {
        text += &format!(": {}", one_line(error));
    }
    text
}

/// Returns the next step for a server that is not connected.
fn next_step(hosted: &HostedServers, status: &ServerStatus) -> Option<String> {
    let name = shell_quote(&one_line(&status.name));
    match hosted.host.state(&status.name) {
        // Not in the host: its entry is not valid.
        Err(_) => Some(format!("correct its entry: switchboard get {name}")),
        Ok(Status::Ready(_)) => None,
        Ok(Status::AwaitingApproval) => Some(format!("switchboard approve {name}")),
        Ok(Status::Disabled) => Some(format!("switchboard enable {name}")),
        Ok(Status::NeedsAuth(challenge)) => {
            let step = login_step(&status.name, &challenge.requirement);
            let step = step.trim_start_matches("log in: ");
            Some(hosted.account().map_or_else(|| step.to_owned(), |account| with_account(step, account)))
        }
        Ok(Status::Failed(failure)) => Some(format!("{}: switchboard doctor {name}", failure.next_step())),
        Ok(other) => Some(other.next_step().to_owned()),
    }
}

fn mark(kind: StatusKind) -> &'static str {
    match kind {
        StatusKind::Connected => "✔",
        StatusKind::Failed => "✘",
        StatusKind::NeedsAuth => "!",
        StatusKind::Pending => "…",
        StatusKind::Disabled => "⊘",
    }
}
