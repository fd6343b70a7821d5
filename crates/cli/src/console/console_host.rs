//! The host of a console: runs the selected servers, follows changed files, records pins.
//!
//! Invariants: a server of a project's file that is not approved does not start; everything that is started ends with the
//! host or with this struct.

use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use switchboard::Host;
use switchboard::client::RevisionPolicy;
use switchboard::host::config::{ConfigWatcher, ConfiguredServer, ResolvedConfig};
use switchboard::host::permission::{FallbackPolicy, Gate, KnownServer, Ledger, Policy};
use switchboard::host::{DriftPolicy, HostBuilder, HostEvent, HostEvents, PinFile, ServerSpec};
use switchboard::login::StoredLogins;
use switchboard_console::{ConsoleHandler, TrafficLog};
use tokio::sync::Notify;
use tokio::task::JoinSet;

use super::known_servers::KnownServers;
use super::redirect_file::runtime_folder;
use super::traffic_fan_out::TrafficFanOut;
use crate::args::{ServerTarget, SessionOptions};
use crate::configured_servers::approver::AllowingApprover;
use crate::configured_servers::{ConfigFiles, HostRequest, pins, transport_secrets};
use crate::connect::{AdHocServer, limits};
use crate::error::CommandError;
use crate::expand::Expander;
use crate::login::{AccountSelector, open_logins};
use crate::output::Screen;
use crate::sanitize::one_line;
use crate::session_recorder::SessionRecorder;

/// How long new definitions are gathered before they are pinned.
const PIN_DELAY: Duration = Duration::from_millis(500);

/// Which servers the console shows.
#[derive(Debug)]
enum Selection {
    /// All of the files.
    All,
    /// One of the files.
    One(String),
    /// That of the command line, which is in no file.
    Given,
}

/// The servers of a console.
pub(super) struct ConsoleServers {
    pub(super) host: Host,
    pub(super) known: Arc<KnownServers>,
    pub(super) traffic: Arc<TrafficLog>,
    /// Puts questions of servers to the page.
    pub(super) questions: ConsoleHandler,
    /// Records the messages for `--record`.
    pub(super) recorder: Option<Arc<SessionRecorder>>,
    pub(super) account: AccountSelector,
    pub(super) uses_logins: bool,
    selection: Selection,
    request: HostRequest,
    files: ConfigFiles,
    gate: Arc<Gate>,
    screen: Arc<Screen>,
    reload: Notify,
    // Held for a spawn, never across an await.
    tasks: Mutex<JoinSet<()>>,
}

impl ConsoleServers {
    /// Builds the host; starts nothing.
    ///
    /// # Errors
    /// Returns an error if the command line or the configuration is not valid.
    pub(super) async fn build(
        target: &ServerTarget,
        screen: &Arc<Screen>,
    ) -> Result<Arc<Self>, CommandError> {
        let files = ConfigFiles::read()?;
        files.warn(screen);
        let (selection, given) = match target.is_configured() {
            false => (Selection::Given, Some(AdHocServer::resolve(target).await?)),
            true => match &target.server {
                Some(name) => (Selection::One(files.server(name)?.name.clone()), None),
                None => (Selection::All, None),
            },
        };
        let options = Expander::default().options(&target.options)?;
        let request =
            HostRequest { keeps_running: true, ..HostRequest::new(target.server.clone(), options.clone()) };
        request.check_options()?;
        let account = AccountSelector::new(options.account.as_deref(), !matches!(selection, Selection::All));
        let logins = open_logins(screen);
        let uses_logins = logins.is_some();
        let logins = logins.map(|logins| logins.with_account(account.clone()));
        let traffic = Arc::new(TrafficLog::new());
        let recorder = SessionRecorder::start(&options)?;
        let questions = ConsoleHandler::new();
        let builder = questions.install(host_builder(&options, &files, logins, screen));
        let observer = TrafficFanOut { log: Arc::clone(&traffic), recorder: recorder.clone() };
        let host = builder.with_traffic_observer(Arc::new(observer)).build();
        let gate = host.permissions().cloned().ok_or_else(|| CommandError::usage("the host has no gate"))?;
        let known = Arc::new(KnownServers::default());
        if let Some(given) = given {
            let mut spec = ServerSpec::new(given.transport);
            if let Some(time) = options.timeout {
                spec = spec.startup_timeout(time);
            }
            if let Some(recorder) = &recorder {
                recorder.add_secrets(transport_secrets(&spec.transport));
            }
            known.add(&given.name, spec);
        }
        Ok(Arc::new(Self {
            host,
            known,
            account,
            uses_logins,
            selection,
            request,
            files,
            traffic,
            questions,
            recorder,
            gate,
            screen: Arc::clone(screen),
            reload: Notify::new(),
            tasks: Mutex::default(),
        }))
    }

    /// Returns whether all servers of the files are shown.
    pub(super) fn shows_all(&self) -> bool {
        matches!(self.selection, Selection::All)
    }

    /// Returns the folder for files of this console: that of the user's session, or else among the user's state files.
    pub(super) fn runtime_folder(&self) -> PathBuf {
        runtime_folder(&self.files.locations)
    }

    /// Reads the files again soon.
    pub(super) fn reload(&self) {
        self.reload.notify_one();
    }

    /// Adds a demo server, and owns the work that serves it. Returns `false` if the name is taken.
    pub(super) fn add_demo(
        &self,
        name: &str,
        spec: ServerSpec,
        serving: Option<impl Future<Output = ()> + Send + 'static>,
    ) -> bool {
        let is_added = self.known.add(name, spec);
        if is_added {
            if let Some(serving) = serving {
                self.spawn(serving);
            }
            self.apply(self.known.files());
        }
        is_added
    }

    /// Starts the servers, and applies changed files, for as long as it is polled.
    pub(super) async fn follow_files(&self) -> Infallible {
        let locations = &self.files.locations;
        let mut watcher = ConfigWatcher::new(locations.clone(), crate::environment::variable);
        self.apply(self.select(watcher.current()));
        loop {
            tokio::select! {
                files = watcher.changed() => self.apply(self.select(files)),
                () = self.reload.notified() => {
                    let files = ResolvedConfig::read(locations, &[], &crate::environment::variable);
                    self.apply(self.select(&files));
                }
            }
        }
    }

    /// Pins the definitions of tools that are seen for the first time, for as long as it is polled.
    pub(super) async fn follow_definitions(&self) -> Infallible {
        let mut events = self.host.events();
        loop {
            wait_for_tools(&mut events).await;
            self.record_pins();
        }
    }

    /// Pins the definitions of tools that were seen for the first time.
    pub(super) fn record_pins(&self) {
        // Opened each time: another command may have accepted a definition.
        let recorded = pins::open(&self.files.locations).and_then(|mut file| file.record(&self.host.pins()));
        if let Err(error) = recorded {
            self.screen.warn(&format!("tool definitions are not pinned: {}", one_line(&error.to_string())));
        }
    }

    /// Returns the selected servers of files.
    fn select(&self, files: &ResolvedConfig) -> ResolvedConfig {
        let mut files = files.clone();
        match &self.selection {
            Selection::All => {}
            Selection::One(name) => files.servers.retain(|server| server.name == *name),
            Selection::Given => files.servers.clear(),
        }
        files
    }

    /// Applies the servers of files, and those that are in none.
    fn apply(&self, files: ResolvedConfig) {
        self.gate.set_policy(call_policy(&files));
        let extra = self.known.extra();
        let identity =
            |server: &ConfiguredServer| Some((server.name.clone(), KnownServer::from_configured(server)?));
        let mut identities: Vec<_> = files.servers.iter().filter_map(identity).collect();
        let mut specs = Vec::new();
        for server in &files.servers {
            match self.request.spec(server, &self.screen, self.recorder.as_deref()) {
                Ok(spec) => specs.push((server.name.clone(), spec)),
                Err(fault) => {
                    let (name, fault) = (one_line(&server.name), one_line(&fault.to_string()));
                    self.screen.warn(&format!("{name}: {fault}"));
                }
            }
        }
        for server in extra {
            identities.push((server.name.clone(), KnownServer::from_spec(&server.name, &server.spec)));
            specs.push((server.name, server.spec));
        }
        self.traffic.add_secrets(specs.iter().flat_map(|(_, spec)| transport_secrets(&spec.transport)));
        self.gate.set_servers(identities);
        self.known.set_files(files);
        let host = self.host.clone();
        // Failures are in the status of the servers.
        self.spawn(async move { _ = host.set_servers(specs).await });
    }

    /// Owns a task until this struct is dropped.
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(task);
    }
}

impl std::fmt::Debug for ConsoleServers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ConsoleServers").field("selection", &self.selection).finish_non_exhaustive()
    }
}

/// Waits until tools have changed, and a moment for more of them.
async fn wait_for_tools(events: &mut HostEvents) {
    loop {
        match events.next().await {
            Some(HostEvent::Tools(_) | HostEvent::Missed(_)) => break,
            Some(_) => {}
            None => std::future::pending().await,
        }
    }
    tokio::time::sleep(PIN_DELAY).await;
}

/// Returns the rules about calls: a call is the user's request, as on the command line, so a rule or a destructive tool asks.
fn call_policy(files: &ResolvedConfig) -> Policy {
    Policy::new(files.rules.clone()).with_fallback(FallbackPolicy::Requested)
}

fn host_builder(
    options: &SessionOptions,
    files: &ConfigFiles,
    logins: Option<StoredLogins>,
    screen: &Screen,
) -> HostBuilder {
    let ledger = Ledger::open(&files.locations.permissions).unwrap_or_else(|fault| {
        screen.warn(&format!("answers cannot be remembered: {}", one_line(&fault.to_string())));
        Ledger::in_memory()
    });
    // The console asks before it makes a call that needs confirmation.
    let gate =
        Gate::new(call_policy(&files.resolved)).with_ledger(ledger).with_approver(Arc::new(AllowingApprover));
    let pinned = match pins::open(&files.locations) {
        Ok(file) => PinFile::pins(&file).clone(),
        Err(error) => {
            let error = one_line(&error.to_string());
            screen.warn(&format!("changed tool definitions cannot be detected: {error}"));
            Default::default()
        }
    };
    let mut builder = Host::builder();
    if let Some(revision) = options.revision {
        builder = builder.with_revisions(RevisionPolicy::Only(revision));
    }
    if let Some(logins) = logins {
        builder = builder.with_credentials(Arc::new(logins));
    }
    builder
        .with_name("switchboard-console", env!("CARGO_PKG_VERSION"))
        .with_limits(limits(options))
        .permissions(gate)
        .with_pins(pinned, DriftPolicy::Report)
        .without_resource_tools()
}
