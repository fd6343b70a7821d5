//! `switchboard status --watch`: the table as it changes, or a line for each change where nobody looks.
//!
//! Files are followed too: a server that is added shows up, one that is removed goes.

use std::collections::HashMap;
use std::io::Write;
use std::time::Duration;

use serde_json::json;
use switchboard::host::HostEvent;
use switchboard::host::config::{ConfigWatcher, ResolvedConfig};
use tokio::task::JoinSet;

use crate::command::status::{line, table};
use crate::command::tools::encode;
use crate::configured::Hosted;
use crate::environment::variable;
use crate::failure::Failure;
use crate::sanitize;

/// Changes that come within this are shown together.
const TOGETHER: Duration = Duration::from_millis(40);

/// So many are waited for before anything else is looked at.
const MOST: usize = 64;

/// Shows changes until the user has seen enough.
///
/// # Errors
/// When nobody reads any more.
pub(crate) async fn run(hosted: &Hosted) -> Result<(), Failure> {
    let mut events = hosted.host.events();
    let mut files = ConfigWatcher::new(hosted.files.at.clone(), variable);
    let mut view = View::default();
    // Owned here: what is being started ends with the watching.
    let mut changes = JoinSet::new();
    apply(hosted, files.current(), &mut changes);
    loop {
        view.show(hosted, files.current())?;
        tokio::select! {
            event = events.next() => {
                if event.is_none() {
                    return Ok(());
                }
                for _ in 0..MOST {
                    let Ok(Some(event)) = tokio::time::timeout(TOGETHER, events.next()).await else { break };
                    // A change of state is worth a line of its own, even when the next one follows at once.
                    if let HostEvent::Status { .. } = event {
                        view.show(hosted, files.current())?;
                    }
                }
            }
            resolved = files.changed() => apply(hosted, resolved, &mut changes),
            Some(_) = changes.join_next() => {}
        }
    }
}

fn apply(hosted: &Hosted, files: &ResolvedConfig, changes: &mut JoinSet<()>) {
    let (servers, _) = hosted.set(files);
    let host = hosted.host.clone();
    changes.spawn(async move { drop(host.set_servers(servers).await) });
}

/// What was last shown.
#[derive(Default)]
struct View {
    /// How many lines stand on the terminal.
    lines: usize,
    text: String,
    /// By server, where there is no terminal.
    said: HashMap<String, String>,
}

impl View {
    fn show(&mut self, hosted: &Hosted, files: &ResolvedConfig) -> Result<(), Failure> {
        if hosted.paper.is_terminal && !hosted.json {
            return self.redraw(&table(hosted, files, &hosted.paper));
        }
        let mut now = HashMap::new();
        for status in hosted.statuses(files) {
            let said = match hosted.json {
                true => sanitize::json(encode(&status)?.as_str()).into_owned(),
                false => line(&status),
            };
            now.insert(status.name, said);
        }
        for server in &files.servers {
            let said = now.get(&server.name).filter(|line| self.said.get(&server.name) != Some(*line));
            if let Some(line) = said {
                hosted.paper.print(&format!("{line}\n"))?;
            }
        }
        for gone in self.said.keys().filter(|name| !now.contains_key(*name)) {
            let said = match hosted.json {
                true => {
                    sanitize::json(encode(&json!({ "name": gone, "removed": true }))?.as_str()).into_owned()
                }
                false => format!("{} removed", sanitize::one_line(gone)),
            };
            hosted.paper.print(&format!("{said}\n"))?;
        }
        self.said = now;
        Ok(())
    }

    fn redraw(&mut self, text: &str) -> Result<(), Failure> {
        if self.text == text {
            return Ok(());
        }
        let back = if self.lines > 0 { format!("\x1b[{}A\x1b[J", self.lines) } else { String::new() };
        let mut out = std::io::stdout().lock();
        out.write_all(format!("{back}{text}").as_bytes())?;
        out.flush()?;
        self.lines = text.lines().count();
        text.clone_into(&mut self.text);
        Ok(())
    }
}
