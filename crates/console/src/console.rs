//! A console: built from a host, bound to a loopback address, and served.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use switchboard_host::Host;
use switchboard_transport::http::server::{HttpListener, ListenerLimits};

use crate::api::{self, ConsoleHandler, ConsoleSettings, ConsoleState};
use crate::contract::ConsoleMode;
use crate::http::{AccessKeys, ConsoleEndpoint, KeyLimits};
use crate::providers::Providers;
use crate::traffic::TrafficLog;

/// A page in the browser that shows a host and acts on it. Begins with [`Console::builder`].
///
/// ```
/// use switchboard::Host;
/// use switchboard::console::Console;
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let console = Console::builder(Host::new()).bind(([127, 0, 0, 1], 0).into()).await?;
/// // A link that works once, for a minute. Whoever has it acts with the rights of this process.
/// let link = console.url_with_token()?;
/// assert!(link.starts_with("http://127.0.0.1:"));
/// // Until Ctrl-C: console.serve(async { tokio::signal::ctrl_c().await.unwrap_or(()) }).await;
/// console.serve(std::future::ready(())).await;
/// # Ok::<(), Box<dyn std::error::Error>>(()) })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub enum Console {}

impl Console {
    /// Returns the builder of a console for a host.
    pub fn builder(host: Host) -> ConsoleBuilder {
        ConsoleBuilder {
            host,
            mode: ConsoleMode::Host,
            read_only: false,
            allow_config_edit: false,
            providers: Providers::default(),
            traffic: None,
            questions: ConsoleHandler::default(),
            keys: KeyLimits::default(),
        }
    }
}

/// Builds a console.
#[derive(Debug)]
#[must_use]
pub struct ConsoleBuilder {
    host: Host,
    mode: ConsoleMode,
    read_only: bool,
    allow_config_edit: bool,
    providers: Providers,
    traffic: Option<Arc<TrafficLog>>,
    questions: ConsoleHandler,
    keys: KeyLimits,
}

impl ConsoleBuilder {
    /// Shows a gateway: the console is read-only.
    pub fn gateway(mut self) -> Self {
        self.mode = ConsoleMode::Gateway;
        self.read_only = true;
        self
    }

    /// Sets whether every action that changes something is refused. On a gateway it always is.
    pub fn read_only(mut self, read_only: bool) -> Self {
        self.read_only = read_only || self.mode == ConsoleMode::Gateway;
        self
    }

    /// Sets whether programs may be added to the configuration. Otherwise the console shows the command to paste.
    pub fn allow_config_edit(mut self, allow: bool) -> Self {
        self.allow_config_edit = allow;
        self
    }

    /// Sets what the console is given by its embedder, such as logins.
    pub fn providers(mut self, providers: Providers) -> Self {
        self.providers = providers;
        self
    }

    /// Sets the log of the frames of this host. Without it the traffic is empty.
    pub fn traffic(mut self, traffic: Arc<TrafficLog>) -> Self {
        self.traffic = Some(traffic);
        self
    }

    /// Sets the handler that the host was [built with](ConsoleHandler::install). Without it, only questions within calls of
    /// the console are shown, and only those that the host declares.
    pub fn questions(mut self, questions: ConsoleHandler) -> Self {
        self.questions = questions;
        self
    }

    /// Sets how long a link works: 60 seconds.
    pub fn token_lifetime(mut self, lifetime: Duration) -> Self {
        self.keys.token_lifetime = lifetime;
        self
    }

    /// Sets after which time without a request a page has to be opened again: 12 hours.
    pub fn key_idle(mut self, idle: Duration) -> Self {
        self.keys.key_idle = idle;
        self
    }

    /// Listens on a loopback address. Port 0 is a free port.
    ///
    /// # Errors
    /// When the address is not loopback or cannot be bound.
    pub async fn bind(self, address: SocketAddr) -> Result<BoundConsole, ConsoleBindError> {
        if !address.ip().is_loopback() {
            return Err(ConsoleBindError::NotLoopback(address));
        }
        let failed = |source| ConsoleBindError::Io { address, source };
        let listener = HttpListener::bind(address).await.map_err(failed)?.with_limits(listener_limits());
        let address = listener.address().map_err(failed)?;
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let settings = ConsoleSettings {
            mode: self.mode,
            read_only: self.read_only,
            allow_config_edit: self.allow_config_edit,
            started_at_ms: u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX),
        };
        let traffic = self.traffic.unwrap_or_default();
        let state = ConsoleState::new(self.host, settings, traffic, self.providers, &self.questions);
        Ok(BoundConsole { listener, address, state, keys: Arc::new(AccessKeys::new(self.keys)) })
    }
}

/// A page, its streams and a few other tabs: not thousands of connections.
fn listener_limits() -> ListenerLimits {
    let mut limits = ListenerLimits::default();
    limits.connections = 256;
    limits.drain = Duration::from_secs(2);
    limits
}

/// A console that listens, but does not answer before it is served.
#[derive(Debug)]
pub struct BoundConsole {
    listener: HttpListener,
    address: SocketAddr,
    state: Arc<ConsoleState>,
    keys: Arc<AccessKeys>,
}

impl BoundConsole {
    /// Returns the address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns a link with a new token, which works once and for 60 seconds. It is a secret: it must be in no argument
    /// list, no log, and no file that others can read.
    ///
    /// # Errors
    /// When the system has no random numbers.
    pub fn url_with_token(&self) -> io::Result<String> {
        self.links().create()
    }

    /// Returns a handle that makes more links while the console is served.
    pub fn links(&self) -> ConsoleLinks {
        ConsoleLinks { address: self.address, keys: Arc::clone(&self.keys) }
    }

    /// Serves until `shutdown` is ready, and ends what the console has started, such as calls.
    ///
    /// # Cancellation
    /// Dropping the future closes all connections and ends what the console has started.
    pub async fn serve(self, shutdown: impl Future<Output = ()>) {
        let Self { listener, address, state, keys } = self;
        // Tasks hold the state, which holds the tasks.
        let _tasks = TaskGuard(Arc::clone(&state));
        for background in api::background(&state) {
            state.tasks.spawn(background);
        }
        let endpoint = ConsoleEndpoint::new(Arc::clone(&state), api::routes(), keys, address.port());
        let stop = listener.shutdown_handle();
        let mut serving = std::pin::pin!(listener.serve(endpoint));
        tokio::select! {
            () = &mut serving => {}
            () = shutdown => {
                stop.stop();
                serving.await;
            }
        }
        state.tasks.shut_down().await;
    }
}

/// Aborts the tasks of a console that is no longer served.
struct TaskGuard(Arc<ConsoleState>);

impl Drop for TaskGuard {
    fn drop(&mut self) {
        self.0.tasks.abort_all();
    }
}

/// Makes links to a console.
#[derive(Clone, Debug)]
pub struct ConsoleLinks {
    address: SocketAddr,
    keys: Arc<AccessKeys>,
}

impl ConsoleLinks {
    /// Returns a link with a new token; see [`BoundConsole::url_with_token`].
    ///
    /// # Errors
    /// When the system has no random numbers.
    pub fn create(&self) -> io::Result<String> {
        let token = self.keys.create_token(Instant::now()).map_err(io::Error::other)?;
        Ok(format!("http://{}/#token={token}", self.address))
    }

    /// Waits until a link was used, or was dropped for newer ones. A link that expires unused is not noticed.
    pub async fn used(&self, link: &str) {
        let token = link.split_once("#token=").map_or(link, |(_, token)| token);
        self.keys.wait_until_used(token).await;
    }
}

/// Why a console cannot listen.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConsoleBindError {
    /// The address can be reached from other machines.
    #[error("{0} is not a loopback address\nUse 127.0.0.1 or [::1], and a tunnel from other machines")]
    NotLoopback(SocketAddr),
    /// The address cannot be bound.
    #[error("cannot listen on {address}\nUse port 0 for a free port")]
    Io {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
}
