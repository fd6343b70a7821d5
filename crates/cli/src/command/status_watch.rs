//! `switchboard status --watch`: redraws the table on a terminal, or prints a line for each change.
//!
//! Follows the configuration files: added servers appear, removed servers disappear.

use std::collections::HashMap;
use std::io::Write;
use std::time::Duration;

use serde_json::json;
use switchboard::host::HostEvent;
use switchboard::host::config::{ConfigWatcher, ResolvedConfig};
use tokio::task::JoinSet;

use crate::command::status::{render_table, status_line};
use crate::command::status_logins::StatusLogins;
use crate::configured_servers::HostedServers;
use crate::environment::variable;
use crate::error::CommandError;
use crate::output::encode;
use crate::sanitize;

/// Changes within this time are shown together.
const BATCH_WINDOW: Duration = Duration::from_millis(40);

/// Maximum number of events per batch.
const BATCH_LIMIT: usize = 64;

/// Shows changes until the command is interrupted.
///
/// # Errors
/// Returns an error if the output is closed.
pub(crate) async fn run(hosted: &HostedServers) -> Result<(), CommandError> {
    let mut events = hosted.host.events();
    let mut files = ConfigWatcher::new(hosted.files.locations.clone(), variable);
    let mut view = StatusView::default();
    // Owned here, so that servers that are starting stop with the command.
    let mut changes = JoinSet::new();
    apply(hosted, files.current(), &mut changes);
    loop {
        let logins = StatusLogins::read(files.current(), &hosted.account_selector()).await;
        view.show(hosted, files.current(), &logins)?;
        tokio::select! {
            event = events.next() => {
                if event.is_none() {
                    return Ok(());
                }
                for _ in 0..BATCH_LIMIT {
                    let Ok(Some(event)) = tokio::time::timeout(BATCH_WINDOW, events.next()).await else { break };
                    // Each change of status gets its own line, even if the next follows immediately.
                    if let HostEvent::Status { .. } = event {
                        view.show(hosted, files.current(), &logins)?;
                    }
                }
            }
            resolved = files.changed() => apply(hosted, resolved, &mut changes),
            Some(_) = changes.join_next() => {}
        }
    }
}

fn apply(hosted: &HostedServers, files: &ResolvedConfig, changes: &mut JoinSet<()>) {
    let (servers, _) = hosted.specs(files);
    let host = hosted.host.clone();
    changes.spawn(async move { drop(host.set_servers(servers).await) });
}

/// The view that was printed last.
#[derive(Default)]
struct StatusView {
    /// Number of lines on the terminal.
    lines: usize,
    text: String,
    /// Last line by server, without a terminal.
    printed: HashMap<String, String>,
}

impl StatusView {
    fn show(
        &mut self,
        hosted: &HostedServers,
        files: &ResolvedConfig,
        logins: &StatusLogins,
    ) -> Result<(), CommandError> {
        if hosted.out.is_terminal && !hosted.json {
            return self.redraw(&render_table(hosted, files, logins, &hosted.out));
        }
        let mut now = HashMap::new();
        for status in hosted.statuses(files) {
            let text = match hosted.json {
                true => sanitize::json(logins.status_json(&status)?.as_str()).into_owned(),
                false => status_line(&status),
            };
            now.insert(status.name, text);
        }
        for server in &files.servers {
            let text = now.get(&server.name).filter(|line| self.printed.get(&server.name) != Some(*line));
            if let Some(line) = text {
                hosted.out.print(&format!("{line}\n"))?;
            }
        }
        for gone in self.printed.keys().filter(|name| !now.contains_key(*name)) {
            let text = match hosted.json {
                true => {
                    sanitize::json(encode(&json!({ "name": gone, "removed": true }))?.as_str()).into_owned()
                }
                false => format!("{} removed", sanitize::one_line(gone)),
            };
            hosted.out.print(&format!("{text}\n"))?;
        }
        self.printed = now;
        Ok(())
    }

    fn redraw(&mut self, text: &str) -> Result<(), CommandError> {
        if self.text == text {
            return Ok(());
        }
        let cursor_up = if self.lines > 0 { format!("\x1b[{}A\x1b[J", self.lines) } else { String::new() };
        let mut out = std::io::stdout().lock();
        out.write_all(format!("{cursor_up}{text}").as_bytes())?;
        out.flush()?;
        self.lines = text.lines().count();
        text.clone_into(&mut self.text);
        Ok(())
    }
}
