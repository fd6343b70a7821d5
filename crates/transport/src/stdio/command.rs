//! `Stdio`: the command line of a server, its environment and its limits.
//!
//! Invariant: a variable reaches the server only if it is on the list below, asked for by name, or variables a value.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use switchboard_session::ConnectionLimits;
use switchboard_session::link::{StartError, Tap};

use crate::stdio::child_slot::ChildSlot;
use crate::stdio::{DEFAULT_LINE_LIMIT, StopTimeouts, resolve};

/// Variables that a server inherits by default: user, locale, display, and network settings.
const INHERITED: [&str; 32] = [
    "HOME",
    "LOGNAME",
    "USER",
    "SHELL",
    "PATH",
    "TERM",
    "TMPDIR",
    "TZ",
    "LANG",
    "LANGUAGE",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "XDG_RUNTIME_DIR",
    "HTTP_PROXY",
    "http_proxy",
    "HTTPS_PROXY",
    "https_proxy",
    "ALL_PROXY",
    "all_proxy",
    "NO_PROXY",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "NODE_USE_SYSTEM_CA",
    "NODE_USE_ENV_PROXY",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "PIP_CERT",
    "DENO_CERT",
    "AWS_CA_BUNDLE",
];
/// The same for families of variables. Those of npm that are named like credentials are left out.
const INHERITED_PREFIXES: [&str; 3] = ["LC_", "npm_config_", "NPM_CONFIG_"];

fn is_inherited(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    let is_credential = || {
        let name = name.to_ascii_lowercase();
        ["auth", "token", "password", "secret", "_key"].iter().any(|part| name.contains(part))
    };
    INHERITED_PREFIXES.iter().any(|prefix| name.starts_with(prefix)) && !is_credential()
}

/// A server that is started as a child process and speaks on its stdin and stdout.
///
/// Two equal values start the same program in the same way; taps compare by identity.
///
/// ```
/// use switchboard::transport::stdio::Stdio;
///
/// let command = Stdio::new("npx")
///     .args(["-y", "@modelcontextprotocol/server-everything"])
///     .env("DEBUG", "1")
///     .inherit_env("GITHUB_TOKEN");
/// assert!(command.environment().iter().any(|(name, _)| name == "DEBUG"));
/// ```
#[derive(Clone, PartialEq)]
pub struct Stdio {
    pub(crate) program: OsString,
    pub(crate) args: Vec<OsString>,
    pub(crate) directory: Option<PathBuf>,
    pub(crate) limits: ChildLimits,
    pub(crate) stop_timeouts: StopTimeouts,
    pub(crate) line_limit: usize,
    pub(crate) supervision: Supervision,
    pub(crate) connection: ConnectionLimits,
    pub(crate) tap: Option<Tap>,
    pub(crate) child_slot: Option<ChildSlot>,
    /// By name, each once.
    variables: Vec<(OsString, OsString)>,
    inherited: Vec<OsString>,
}

/// How the descendants of the server are contained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Supervision {
    /// The supervisor where [`run_supervisor_if_requested`](crate::stdio::run_supervisor_if_requested) made it available, else the process group.
    #[default]
    Best,
    /// The process group only: a descendant that leaves it survives, and so does everything if we are killed.
    GroupOnly,
}

/// Resource limits of the server. `None` inherits the limit of this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ChildLimits {
    /// Open files.
    pub open_files: Option<u64>,
    /// Processes of the whole user, as the system counts them.
    pub processes: Option<u64>,
    /// Bytes of address space.
    pub address_space: Option<u64>,
}

impl Stdio {
    /// Starts this program: a path if it holds a slash, else looked up in the server's own `PATH`.
    pub fn new(program: impl Into<OsString>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            directory: None,
            limits: ChildLimits::default(),
            stop_timeouts: StopTimeouts::default(),
            line_limit: DEFAULT_LINE_LIMIT,
            supervision: Supervision::default(),
            connection: ConnectionLimits::default(),
            tap: None,
            child_slot: None,
            variables: Vec::new(),
            inherited: Vec::new(),
        }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Gives the server a variable.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        set(&mut self.variables, name.into(), value.into());
        self
    }

    /// Lets the server see one more variable of ours, by its exact name.
    #[must_use]
    pub fn inherit_env(mut self, name: impl Into<OsString>) -> Self {
        self.inherited.push(name.into());
        self
    }

    /// Sets the working directory.
    #[must_use]
    pub fn cwd(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// Sets the resource limits.
    #[must_use]
    pub fn limits(mut self, limits: ChildLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the timeouts of the steps in which the server is stopped.
    #[must_use]
    pub fn stop_timeouts(mut self, stop_timeouts: StopTimeouts) -> Self {
        self.stop_timeouts = stop_timeouts;
        self
    }

    /// Sets the limit on the length of a message.
    #[must_use]
    pub fn line_limit(mut self, bytes: usize) -> Self {
        self.line_limit = bytes;
        self
    }

    /// Sets how the descendants of the server are contained.
    #[must_use]
    pub fn supervision(mut self, supervision: Supervision) -> Self {
        self.supervision = supervision;
        self
    }

    /// Sets the limits of the connection: queues, pending requests, stalls.
    #[must_use]
    pub fn connection_limits(mut self, limits: ConnectionLimits) -> Self {
        self.connection = limits;
        self
    }

    /// Returns whether it has a tap.
    pub fn has_tap(&self) -> bool {
        self.tap.is_some()
    }

    /// Shows every message to this tap.
    #[must_use]
    pub fn tap(mut self, tap: Tap) -> Self {
        self.tap = Some(tap);
        self
    }

    /// Puts the handle of every process it starts into this slot.
    #[must_use]
    pub fn child_slot(mut self, slot: ChildSlot) -> Self {
        self.child_slot = Some(slot);
        self
    }

    /// Returns the program as given.
    pub fn program(&self) -> &OsStr {
        &self.program
    }

    /// Returns the arguments.
    pub fn arguments(&self) -> &[OsString] {
        &self.args
    }

    /// Returns the variables that have an explicit value, sorted by name.
    pub fn variables(&self) -> &[(OsString, OsString)] {
        &self.variables
    }

    /// Returns the names of the variables that are inherited besides the default ones.
    pub fn inherited_variables(&self) -> &[OsString] {
        &self.inherited
    }

    /// Returns the working directory, if one is set.
    pub fn directory(&self) -> Option<&Path> {
        self.directory.as_deref()
    }

    /// Returns exactly the variables that the server will get.
    pub fn environment(&self) -> Vec<(OsString, OsString)> {
        let mut all = Vec::new();
        let families =
            std::env::vars_os().map(|(name, _)| name).filter(|name| is_inherited(name)).collect::<Vec<_>>();
        let names = INHERITED.iter().map(OsStr::new);
        let names = names.chain(families.iter().chain(&self.inherited).map(OsString::as_os_str));
        for name in names {
            // Exported shell functions: some shells run what they hold.
            if let Some(value) = std::env::var_os(name).filter(|value| !value.as_bytes().starts_with(b"()")) {
                set(&mut all, name.to_owned(), value);
            }
        }
        for (name, value) in &self.variables {
            set(&mut all, name.clone(), value.clone());
        }
        all
    }

    /// Returns the file that would be executed, searched now like at the start of the server.
    ///
    /// # Errors
    /// When the file is not found, with the directories searched, or cannot be executed.
    pub fn file(&self) -> Result<PathBuf, StartError> {
        let environment = self.environment();
        let path = environment.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value.as_os_str());
        resolve::resolve(self, path)
    }
}

/// Sets a variable in a list sorted by name.
fn set(variables: &mut Vec<(OsString, OsString)>, name: OsString, value: OsString) {
    match variables.binary_search_by(|(known, _)| known.cmp(&name)) {
        Ok(at) => variables[at].1 = value,
        Err(at) => variables.insert(at, (name, value)),
    }
}

impl std::fmt::Debug for Stdio {
    /// Arguments and values may be secrets: only names are shown.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stdio")
            .field("program", &self.program)
            .field("args", &self.args.len())
            .field("env", &self.variables.iter().map(|(name, _)| name).collect::<Vec<_>>())
            .field("directory", &self.directory)
            .finish_non_exhaustive()
    }
}
