//! `switchboard status` and `reconnect`: how the servers are doing, after connecting them.

use switchboard::host::config::ResolvedConfig;
use switchboard::host::{ServerStatus, Status as State, StatusKind};

use crate::args::{Options, ReconnectArgs, StatusArgs};
use crate::command::tools::encode;
use crate::command::watch;
use crate::configured::{Hosted, NONE, Wanted, Which, quoted, with_host};
use crate::failure::Failure;
use crate::output::{Notes, Paper, Table, count, show_json};
use crate::sanitize::one_line;

pub(crate) async fn run(args: &StatusArgs) -> Result<(), Failure> {
    let options = Options { json: args.json, timeout: args.timeout, ..Options::default() };
    if args.watch {
        let wanted = Wanted { stays: true, ..Wanted::once(Which::All, options) };
        return with_host(wanted, watch::run).await;
    }
    with_host(Wanted::once(Which::All, options), async |hosted| {
        hosted.start().await;
        let files = &hosted.files.resolved;
        if hosted.json {
            return show_json(&hosted.paper, &encode(&hosted.statuses(files))?);
        }
        if files.servers.is_empty() {
            hosted.screen.say(&format!("no servers are configured; {NONE}"));
            return Ok(());
        }
        Ok(hosted.paper.print(&table(hosted, files, &hosted.paper))?)
    })
    .await
}

pub(crate) async fn reconnect(args: &ReconnectArgs) -> Result<(), Failure> {
    let options = Options { json: args.json, timeout: args.timeout, ..Options::default() };
    with_host(Wanted::once(Which::One(args.name.clone()), options), async |hosted| {
        let began = tokio::time::Instant::now();
        hosted.start().await;
        let took = began.elapsed().as_millis();
        let status =
            hosted.statuses(&hosted.files.resolved).into_iter().find(|status| status.name == args.name);
        if let Some(status) = status.filter(|_| hosted.json) {
            show_json(&hosted.paper, &encode(&status)?)?;
        }
        hosted.usable(&args.name)?;
        let status = hosted.host.server_status(&args.name)?;
        match hosted.json {
            true => Ok(()),
            false => Ok(hosted.paper.print(&format!("{}, in {took} ms\n", line(&status)))?),
        }
    })
    .await
}

/// All servers, a row each.
pub(crate) fn table(hosted: &Hosted, files: &ResolvedConfig, paper: &Paper) -> String {
    let mut table = Table::new(&["NAME", "STATUS", "SCOPE", "TOOLS", "VERSION"]);
    let mut notes = Notes::default();
    for status in hosted.statuses(files) {
        let tools = status.tools.as_ref().map_or(0, |tools| tools.len());
        let is_connected = status.status == StatusKind::Connected;
        table.row([
            one_line(&status.name),
            format!("{} {}", mark(status.status), status.status),
            status.scope.clone().unwrap_or_default(),
            if is_connected { tools.to_string() } else { String::new() },
            status.server_info.as_ref().map(|info| one_line(&info.version)).unwrap_or_default(),
        ]);
        notes.add(&status.name, status.error.clone(), next_step(hosted, &status));
    }
    table.lay_out(paper) + &notes.lay_out(paper)
}

/// One server on a line: `files connected, 3 tools, files 1.0`.
pub(crate) fn line(status: &ServerStatus) -> String {
    let mut text = format!("{} {}", one_line(&status.name), status.status);
    if status.status == StatusKind::Connected {
        text += &format!(", {}", count(status.tools.as_ref().map_or(0, |tools| tools.len()), "tool"));
    }
    if let Some(info) = &status.server_info {
        text += &format!(", {} {}", one_line(&info.name), one_line(&info.version));
    }
    if let Some(error) = &status.error {
        text += &format!(": {}", one_line(error));
    }
    text
}

/// What to do about a server that is not connected.
fn next_step(hosted: &Hosted, status: &ServerStatus) -> Option<String> {
    let name = quoted(&one_line(&status.name));
    match hosted.host.state(&status.name) {
        // Not in the host: its entry cannot be run.
        Err(_) => Some(format!("correct its entry: switchboard get {name}")),
        Ok(State::Ready(_)) => None,
        Ok(State::AwaitingApproval) => Some(format!("switchboard approve {name}")),
        Ok(State::Disabled) => Some(format!("switchboard enable {name}")),
        Ok(State::NeedsAuth(_)) => Some("add an Authorization header to its entry".to_owned()),
        Ok(State::Failed(failure)) => Some(format!("{}: switchboard doctor {name}", failure.next_step())),
        Ok(other) => Some(other.next_step().to_owned()),
    }
}

fn mark(word: StatusKind) -> &'static str {
    match word {
        StatusKind::Connected => "✔",
        StatusKind::Failed => "✘",
        StatusKind::NeedsAuth => "!",
        StatusKind::Pending => "…",
        StatusKind::Disabled => "⊘",
    }
}
