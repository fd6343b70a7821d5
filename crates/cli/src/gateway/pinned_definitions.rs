//! The pinned definitions of a running gateway: what it sees first is recorded, and what is accepted elsewhere is adopted.

use std::convert::Infallible;
use std::path::PathBuf;
use std::time::Duration;

use switchboard::host::config::FileWatcher;
use switchboard::host::{Host, HostEvent, HostEvents, PinFile, Pins};

use crate::configured_servers::pins;
use crate::error::CommandError;
use crate::gateway::applied_state::state_file;
use crate::gateway::settings::GatewaySettings;
use crate::output::Screen;
use crate::sanitize::one_line;
use crate::shell_quote::shell_quote;

/// How long new definitions are gathered before they are recorded.
const RECORD_DELAY: Duration = Duration::from_millis(500);

/// The file of the pinned definitions of a gateway.
pub(crate) struct PinnedDefinitions {
    file: PinFile,
    path: PathBuf,
    /// The rest of the command that accepts a definition.
    accept_option: String,
}

impl PinnedDefinitions {
    /// Opens the file: that of the project, or that of a configuration file with servers of its own.
    ///
    /// # Errors
    /// Returns an error if it cannot be read: without its pins, a changed tool would count as new.
    pub(crate) fn open(settings: &GatewaySettings) -> Result<Self, CommandError> {
        let (path, accept_option) = match &settings.file {
            Some(config) if settings.config.has_servers() => {
                let option = format!(" --config {}", shell_quote(&one_line(&config.to_string_lossy())));
                (state_file(&settings.locations, config, "-definitions"), option)
            }
            _ => (pins::path(&settings.locations), String::new()),
        };
        let file = PinFile::open(&path).map_err(|error| {
            let message = format!("cannot read the pinned definitions: {}", one_line(&error.to_string()));
            CommandError::other("pins", message)
                .hint(format!("repair or remove {}", one_line(&path.display().to_string())))
        })?;
        Ok(Self { file, path, accept_option })
    }

    /// Returns the pins.
    pub(crate) fn pins(&self) -> Pins {
        self.file.pins().clone()
    }

    /// Accepts the current definition of a tool, or of all tools of a server. Returns whether one was pinned.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub(crate) fn forget(&mut self, server: &str, tool: Option<&str>) -> Result<bool, CommandError> {
        Ok(self.file.forget(server, tool)?)
    }

    /// Records new definitions, adopts accepted ones, and reports changed ones, for as long as it is polled.
    pub(crate) async fn follow(mut self, host: &Host, screen: &Screen) -> Infallible {
        let mut watcher = FileWatcher::new([self.path.clone()]);
        let mut events = host.events();
        loop {
            tokio::select! {
                () = watcher.changed() => self.adopt(host, screen),
                () = self.wait_for_tools(&mut events, host, screen) => self.record(host, screen),
            }
        }
    }

    /// Waits until tools have changed, and a moment longer; reports those that are withheld.
    async fn wait_for_tools(&self, events: &mut HostEvents, host: &Host, screen: &Screen) {
        let mut has_changed = false;
        loop {
            let event = match has_changed {
                true => match tokio::time::timeout(RECORD_DELAY, events.next()).await {
                    Ok(event) => event,
                    Err(_) => return,
                },
                false => events.next().await,
            };
            match event {
                Some(HostEvent::Drift(drift)) => self.report(&drift.server, &drift.tool, host, screen),
                Some(HostEvent::Tools(_) | HostEvent::Missed(_)) => {}
                Some(_) => continue,
                None => std::future::pending().await,
            }
            has_changed = true;
        }
    }

    fn report(&self, server: &str, tool: &str, host: &Host, screen: &Screen) {
        let is_withheld = host
            .tool_list_issues(server)
            .is_ok_and(|issues| issues.withheld.iter().any(|(withheld, _)| withheld == tool));
        let name = format!("{}/{}", one_line(server), one_line(tool));
        let what = if is_withheld { ", and is withheld" } else { "" };
        let option = &self.accept_option;
        screen.warn(&format!(
            "{name} has changed since it was first seen{what}; review it, then accept it: switchboard forget {}{option}",
            shell_quote(&name)
        ));
    }

    fn record(&mut self, host: &Host, screen: &Screen) {
        if let Err(error) = self.file.record(&host.pins()) {
            screen.warn(&format!("tool definitions are not pinned: {}", one_line(&error.to_string())));
        }
    }

    /// Adopts what another process has accepted. A file that cannot be read changes nothing.
    fn adopt(&mut self, host: &Host, screen: &Screen) {
        // Before: the definitions that only this process knows.
        self.record(host, screen);
        match PinFile::open(&self.path) {
            Ok(file) => {
                host.adopt_pins(file.pins());
                self.file = file;
                self.record(host, screen);
            }
            Err(error) => {
                screen.warn(&format!(
                    "the pinned definitions stay as they were: {}",
                    one_line(&error.to_string())
                ));
            }
        }
    }
}
