//! What will be run: a server's entry with every variable filled in. Two equal plans are the same server.
//!
//! Invariant: printing a plan for debugging shows neither arguments nor the query of an address: variables were filled
//! in there too.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use switchboard_http::Secret;

use crate::config::prepare::{RESTARTS, STARTUP};

/// Everything a slot needs to know of one server. Comparing two tells whether a connection can be kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// How the server is reached.
    pub reach: Reach,
    /// Whether it is started, and when.
    pub start: Start,
    /// What happens when it is lost.
    pub restart: Restart,
    /// Whether the host counts as started only with it.
    pub required: bool,
    /// How long connecting may take in all.
    pub startup: Duration,
    /// How long one call may take in all; without one, the session's own limit.
    pub call: Option<Duration>,
    /// Globs of the tools that are shown; without any, all are.
    pub allow: Vec<String>,
    /// Globs of the tools that are not; they win.
    pub deny: Vec<String>,
}

impl Plan {
    /// A server that is reached like this, with the usual settings: started at once, brought back when it is lost.
    pub fn new(reach: Reach) -> Self {
        Self {
            reach,
            start: Start::AtOnce,
            restart: Restart::WithBackoff { most: RESTARTS },
            required: false,
            startup: STARTUP,
            call: None,
            allow: Vec::new(),
            deny: Vec::new(),
        }
    }

    /// A program that is started here.
    ///
    /// ```
    /// use switchboard_host::config::Plan;
    ///
    /// let plan = Plan::stdio("npx", ["-y", "@modelcontextprotocol/server-memory"]);
    /// assert!(!plan.required);
    /// ```
    pub fn stdio<A: Into<String>>(command: impl Into<String>, args: impl IntoIterator<Item = A>) -> Self {
        Self::new(Reach::Stdio {
            command: command.into(),
            args: args.into_iter().map(Into::into).collect(),
            env: BTreeMap::new(),
            inherit_env: Vec::new(),
            cwd: None,
        })
    }

    /// A server at an address.
    pub fn http(url: impl Into<String>) -> Self {
        Self::new(Reach::Http { url: url.into(), headers: BTreeMap::new(), sse: false, allow_plain: false })
    }

    /// A server in this program, by the name it is registered under.
    pub fn in_process(name: impl Into<String>) -> Self {
        Self::new(Reach::InProcess { name: name.into() })
    }
}

/// How a server is reached.
#[derive(Clone, PartialEq)]
pub enum Reach {
    /// A program that is started here.
    Stdio {
        /// The program, as written: never expanded.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Variables it is given beside the few every program gets.
        env: BTreeMap<String, Secret>,
        /// Names of our own variables that are handed on.
        inherit_env: Vec<String>,
        /// Where it runs; here, without one.
        cwd: Option<PathBuf>,
    },
    /// A server at an address; `sse` is the two-endpoint form of 2024.
    Http {
        /// Its address.
        url: String,
        /// Sent with every request.
        headers: BTreeMap<String, Secret>,
        /// Only the form of 2024 is spoken.
        sse: bool,
        /// Plain `http` is allowed to a machine that is not this one.
        allow_plain: bool,
    },
    /// A server in this program, registered under a name.
    InProcess {
        /// The name it was registered by.
        name: String,
    },
    /// A connector behind claude.ai: HTTP with a bearer from a token source that is given the id.
    Proxy {
        /// Its address, `{id}` filled in.
        url: String,
        /// What the token source is asked with.
        id: String,
    },
}

/// Whether a server is started, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// With the host.
    AtOnce,
    /// With the first call, while a remembered list shows its tools.
    WhenUsed,
    /// Not.
    Off(Off),
}

/// Why a server is not started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Off {
    /// Its entry says so.
    Disabled,
    /// Nobody approved its exact configuration yet.
    Unapproved,
}

/// What happens when a server is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restart {
    /// Nothing: it stays failed until somebody reconnects it.
    Never,
    /// It is started again with growing pauses, until this many failed in a row.
    WithBackoff {
        /// How many.
        most: u32,
    },
}

impl fmt::Debug for Reach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdio { command, args, env, inherit_env, cwd } => f
                .debug_struct("Stdio")
                .field("command", command)
                .field("args", &format_args!("[{} of them]", args.len()))
                .field("env", env)
                .field("inherit_env", inherit_env)
                .field("cwd", cwd)
                .finish(),
            Self::Http { url, headers, sse, allow_plain } => f
                .debug_struct("Http")
                .field("url", &without_query(url))
                .field("headers", headers)
                .field("sse", sse)
                .field("allow_plain", allow_plain)
                .finish(),
            Self::InProcess { name } => f.debug_struct("InProcess").field("name", name).finish(),
            Self::Proxy { url, id } => {
                f.debug_struct("Proxy").field("url", &without_query(url)).field("id", id).finish()
            }
        }
    }
}

fn without_query(url: &str) -> &str {
    url.split('?').next().unwrap_or(url)
}
