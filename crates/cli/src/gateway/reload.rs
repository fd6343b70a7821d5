//! Reload: reads the settings again, checks them as a whole, and applies them to the running gateway.
//!
//! Invariants: settings that are not valid change nothing. Policy, limits and payload rules are replaced in one step, before
//! the servers. Calls on servers that stay are not interrupted. Settings that need a restart keep their running values,
//! and are named.

use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use switchboard::gateway::{Gateway, GatewayOptions};
use switchboard::host::config::FileWatcher;
use switchboard::host::{HostEvent, HostEvents};
use tokio::task::JoinSet;

use crate::args::GatewayArgs;
use crate::console::KnownServers;
use crate::error::CommandError;
use crate::gateway::applied_state::{AppliedState, applied_servers};
use crate::gateway::callers::{ReplaceableVerifier, build_verifier, check_credentials};
use crate::gateway::digest_key::DigestKey;
use crate::gateway::gateway_host::{served_specs, set_call_rules};
use crate::gateway::known_tool::known_tools;
use crate::gateway::restart_keys::keep_restart_keys;
use crate::gateway::service_manager::{ServiceState, notify};
use crate::gateway::settings::GatewaySettings;
use crate::gateway::source_files::SourceFiles;
use crate::gateway::unmatched_rules::warn_about_unmatched_rules;
use crate::output::Screen;
use crate::sanitize::one_line;

/// How long tools are gathered before they are recorded.
const RECORD_DELAY: Duration = Duration::from_secs(1);

/// A gateway and the parts of it that are replaced.
pub(crate) struct RunningGateway {
    pub(crate) gateway: Gateway,
    pub(crate) options: GatewayOptions,
    pub(crate) verifier: Option<(Arc<ReplaceableVerifier>, String)>,
    /// The servers, for the console.
    pub(crate) known: Arc<KnownServers>,
}

/// Reloads the settings of a running gateway.
pub(crate) struct Reloader<'a> {
    args: &'a GatewayArgs,
    settings: GatewaySettings,
    running: RunningGateway,
    screen: &'a Screen,
    watcher: FileWatcher,
    /// The files of the last attempt, successful or not.
    tried: SourceFiles,
    /// Servers that are being replaced.
    applying: JoinSet<()>,
    events: HostEvents,
    state: AppliedState,
    /// The key of the digests in `state`.
    digest_key: DigestKey,
    /// Whether tools have changed since they were recorded.
    has_new_tools: bool,
}

impl<'a> Reloader<'a> {
    /// Creates a reloader for settings that have just been applied.
    ///
    /// # Errors
    /// Returns an error if the system has no random numbers.
    pub(crate) fn new(
        args: &'a GatewayArgs,
        settings: GatewaySettings,
        running: RunningGateway,
        screen: &'a Screen,
    ) -> Result<Self, CommandError> {
        let digest_key = match &settings.file {
            // Where no key can be stored, no state can either, and `record` says so.
            Some(_) => DigestKey::load(&settings.locations).or_else(|_| DigestKey::random())?,
            None => DigestKey::random()?,
        };
        let watched = if settings.file.is_some() { settings.sources.paths() } else { Vec::new() };
        Ok(Self {
            args,
            watcher: FileWatcher::new(watched),
            tried: settings.sources.clone(),
            applying: JoinSet::new(),
            events: running.gateway.host().events(),
            state: AppliedState::of(&settings, &digest_key),
            digest_key,
            has_new_tools: false,
            settings,
            running,
            screen,
        })
    }

    pub(crate) fn gateway(&self) -> &Gateway {
        &self.running.gateway
    }

    pub(crate) fn settings(&self) -> &GatewaySettings {
        &self.settings
    }

    pub(crate) fn screen(&self) -> &'a Screen {
        self.screen
    }

    /// Returns whether the settings come from a file; otherwise there is nothing to read again.
    pub(crate) fn has_file(&self) -> bool {
        self.settings.file.is_some()
    }

    /// Waits for a change of a file, and reloads; or for new tools, and records them.
    ///
    /// # Cancellation
    /// Safe to drop while it waits; a change is then found by the next call.
    pub(crate) async fn next_change(&mut self) {
        if !self.has_file() {
            return std::future::pending().await;
        }
        tokio::select! {
            () = self.watcher.changed() => {}
            () = wait_for_tools(&mut self.events, &mut self.has_new_tools) => {
                self.has_new_tools = false;
                return self.record();
            }
        }
        // A file that was touched is no change.
        let sources = self.tried.reread();
        if sources != self.tried {
            self.tried = sources;
            self.reload().await;
        }
    }

    /// Reads the settings and applies them. An error is reported, and the running settings stay.
    pub(crate) async fn reload(&mut self) {
        notify(ServiceState::Reloading);
        match self.apply().await {
            Ok(summary) => {
                self.state = AppliedState::of(&self.settings, &self.digest_key);
                self.screen.say(&format!("configuration applied: {summary}"));
                notify(ServiceState::Ready("serving"));
            }
            Err(error) => {
                let text = error_text(&error);
                self.screen.warn(&format!("the configuration was not applied: {text}"));
                notify(ServiceState::Ready(&format!("the configuration was not applied: {text}")));
                self.state.error = Some(text);
            }
        }
        self.record();
    }

    /// Checks the new settings and applies them.
    ///
    /// # Errors
    /// Returns an error, and changes nothing, if they are not valid.
    async fn apply(&mut self) -> Result<String, CommandError> {
        let mut new = GatewaySettings::load(self.args)?;
        // A file that was saved while it was read is read again.
        self.tried = new.sources.clone();
        let kept = keep_restart_keys(&self.settings.config, &mut new.config);
        if let Some(error) = new.servers.errors.first() {
            return Err(CommandError::usage(one_line(&error.to_string())));
        }
        check_credentials(&new).await?;
        let verifier = match &self.running.verifier {
            Some((_, public_url)) => build_verifier(&new.config.callers, public_url)?,
            None => None,
        };
        // From here on nothing fails.
        let mut summary = Vec::new();
        // A secret that cannot be read has failed above.
        let has_new_secret =
            new.client_secret().is_some_and(|new| self.settings.client_secret() != Some(new));
        if (has_new_secret || new.config.callers != self.settings.config.callers)
            && let (Some((running, _)), Some(verifier)) = (&self.running.verifier, verifier)
        {
            running.replace(verifier);
            summary.push("callers replaced".to_owned());
        }
        if new.policy_text != self.settings.policy_text {
            let options = new.apply_policy(self.running.options.clone(), self.screen);
            self.running.gateway.set_access(&options);
            warn_about_unmatched_rules(self.running.gateway.host(), &options.policy, self.screen);
            self.running.options = options;
            summary.push("policy replaced".to_owned());
        }
        if new.config.views != self.settings.config.views {
            self.running.gateway.set_views(new.views.clone());
            summary.push("views replaced".to_owned());
        }
        self.apply_servers(&new, &mut summary).await;
        if !kept.is_empty() {
            summary.push(format!("{} need(s) a restart", kept.join(", ")));
        }
        self.watcher.set_files(new.sources.paths());
        self.running.known.set_files(new.servers.clone());
        self.settings = new;
        let nothing = || "nothing has changed".to_owned();
        Ok(Some(summary.join("; ")).filter(|text| !text.is_empty()).unwrap_or_else(nothing))
    }

    /// Replaces the servers that have changed. They connect in the background.
    async fn apply_servers(&mut self, new: &GatewaySettings, summary: &mut Vec<String>) {
        if new.servers == self.settings.servers {
            return;
        }
        set_call_rules(self.running.gateway.host(), &new.servers);
        let applied = |servers| applied_servers(servers, &self.digest_key);
        let (before, after) = (applied(&self.settings.servers), applied(&new.servers));
        let mut tell = |what: &str, names: Vec<&String>| {
            if !names.is_empty() {
                let names: Vec<String> = names.into_iter().map(|name| one_line(name)).collect();
                summary.push(format!("{what} {}", names.join(", ")));
            }
        };
        tell("added", after.keys().filter(|name| !before.contains_key(*name)).collect());
        tell("removed", before.keys().filter(|name| !after.contains_key(*name)).collect());
        let is_changed =
            |name: &&String| before.get(*name).is_some_and(|server| after.get(*name) != Some(server));
        tell("changed", after.keys().filter(is_changed).collect());
        let specs = served_specs(new, self.screen);
        let host = self.running.gateway.host().clone();
        while self.applying.try_join_next().is_some() {}
        let mut applying = Box::pin(async move { _ = host.set_servers(specs).await });
        // The first poll changes the set; the rest waits until the servers have started. Failures are reported as events.
        let is_done = std::future::poll_fn(|cx| Poll::Ready(applying.as_mut().poll(cx).is_ready())).await;
        if !is_done {
            self.applying.spawn(applying);
        }
    }

    /// Records what is applied, for `switchboard plan`.
    pub(crate) fn record(&mut self) {
        let Some(file) = &self.settings.file else { return };
        self.state.set_tools(known_tools(self.running.gateway.host()), &self.settings.views);
        if let Err(error) = self.state.write(&self.settings.locations, file) {
            self.screen
                .warn(&format!("`switchboard plan` cannot tell what runs: {}", one_line(&error.to_string())));
        }
    }
}

/// Waits until tools have changed, and a moment for more of them.
async fn wait_for_tools(events: &mut HostEvents, has_new_tools: &mut bool) {
    while !*has_new_tools {
        match events.next().await {
            Some(HostEvent::Tools(_)) => *has_new_tools = true,
            Some(_) => {}
            None => std::future::pending().await,
        }
    }
    tokio::time::sleep(RECORD_DELAY).await;
}

/// Returns the message and the hint of an error on one line.
fn error_text(error: &CommandError) -> String {
    match error {
        CommandError::Reported(report) => match &report.hint {
            Some(hint) => one_line(&format!("{}; {hint}", report.message)),
            None => one_line(&report.message),
        },
        other => one_line(&format!("{other:?}")),
    }
}
