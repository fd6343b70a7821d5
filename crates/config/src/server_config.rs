//! A server as a person wrote it.
//!
//! Invariants: variables are not filled in here; what is not known is kept and written back; printing an entry for
//! debugging shows it masked. What will be run is a [`ServerPlan`](crate::ServerPlan).

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde::de::Error as _;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use switchboard_http::Secret;

use crate::document::Node;
use crate::start::Restart;

/// A server as written: how it is reached, and how it is treated.
///
/// ```
/// use switchboard::host::config::{ServerConfig, Kind};
///
/// let entry: ServerConfig = serde_json::from_str(r#"{"command": "npx", "args": ["-y", "server@1.2.3"]}"#)?;
/// assert!(matches!(&entry.kind, Kind::Stdio { command, .. } if command == "npx"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct ServerConfig {
    /// How the server is reached.
    pub kind: Kind,
    /// How it is treated.
    pub settings: Settings,
    /// Fields that mean nothing here, in their order: other programs may read them.
    pub unknown: Vec<(String, serde_json::Value)>,
}

/// How a server is reached, as written.
#[derive(Clone, PartialEq)]
pub enum Kind {
    /// A program: `stdio`.
    Stdio {
        /// The program; variables are never filled in here.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Variables it is given.
        env: BTreeMap<String, Secret>,
        /// Names of our own variables that are handed on.
        inherit_env: Vec<String>,
        /// Where it runs.
        cwd: Option<String>,
    },
    /// An address: `http`, or `sse` for the two-endpoint form of 2024.
    Http {
        /// The address.
        url: String,
        /// Sent with every request.
        headers: BTreeMap<String, Secret>,
        /// Which of the two.
        binding: Binding,
        /// Plain `http` may go to another machine.
        allow_http: bool,
    },
    /// A server in this program: `sdk`.
    Sdk {
        /// The name it is registered by.
        name: String,
    },
    /// A connector behind claude.ai: `claudeai-proxy`.
    Proxy {
        /// The address; `{id}` stands for the id.
        url: String,
        /// What the token source is asked with.
        id: String,
    },
}

impl Kind {
    /// The word of the `type` field.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Stdio { .. } => "stdio",
            Self::Http { binding: Binding::Streamable, .. } => "http",
            Self::Http { binding: Binding::Sse, .. } => "sse",
            Self::Sdk { .. } => "sdk",
            Self::Proxy { .. } => "claudeai-proxy",
        }
    }
}

/// Which form of HTTP a server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binding {
    /// The current one; the one of 2024 is tried where the server wants it.
    Streamable,
    /// The one of 2024 only.
    Sse,
}

/// How a server is treated, as written; what is absent has its default.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Settings {
    /// Not started until somebody enables it.
    pub disabled: bool,
    /// The host counts as started only with it.
    pub required: bool,
    /// Started with the first call.
    pub lazy: bool,
    /// What its tools say of their effects is believed. Not taken from a project's file.
    pub trust: bool,
    /// How long one call may take: `timeout`, in milliseconds.
    pub timeout: Option<Duration>,
    /// How long connecting may take: `startupTimeout`, in milliseconds.
    pub startup_timeout: Option<Duration>,
    /// What happens when it is lost: `"never"`, or how many tries in a row.
    pub restart: Option<Restart>,
    /// Globs of the tools that are shown.
    pub allow_tools: Vec<String>,
    /// Globs of the tools that are not.
    pub deny_tools: Vec<String>,
}

impl ServerConfig {
    /// A server that is reached so, with everything else left to its default.
    pub fn new(kind: Kind) -> Self {
        Self { kind, settings: Settings::default(), unknown: Vec::new() }
    }

    /// A program with arguments.
    pub fn stdio(command: impl Into<String>, args: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self::new(Kind::Stdio {
            command: command.into(),
            args: args.into_iter().map(Into::into).collect(),
            env: BTreeMap::new(),
            inherit_env: Vec::new(),
            cwd: None,
        })
    }

    /// A server at an address.
    pub fn http(url: impl Into<String>) -> Self {
        Self::new(Kind::Http {
            url: url.into(),
            headers: BTreeMap::new(),
            binding: Binding::Streamable,
            allow_http: false,
        })
    }

    /// A server in this program, registered under a name.
    pub fn sdk(name: impl Into<String>) -> Self {
        Self::new(Kind::Sdk { name: name.into() })
    }

    /// Treated so.
    #[must_use]
    pub fn with_settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// With a variable for its program. Has no effect on other kinds.
    #[must_use]
    pub fn with_env(mut self, name: impl Into<String>, value: impl Into<Secret>) -> Self {
        if let Kind::Stdio { env, .. } = &mut self.kind {
            env.insert(name.into(), value.into());
        }
        self
    }

    /// With a header for its requests. Has no effect on other kinds.
    #[must_use]
    pub fn with_header(mut self, name: impl Into<String>, value: impl Into<Secret>) -> Self {
        if let Kind::Http { headers, .. } = &mut self.kind {
            headers.insert(name.into(), value.into());
        }
        self
    }

    /// The fields in the order they are written, secrets in the open: for files only, which are kept private.
    pub(crate) fn fields(&self) -> Vec<(String, serde_json::Value)> {
        let mut fields = Fields(Vec::new());
        fields.put("type", self.kind.word());
        match &self.kind {
            Kind::Stdio { command, args, env, inherit_env, cwd } => {
                fields.put("command", command.as_str());
                fields.put_list("args", args);
                fields.put_map("env", env);
                fields.put_list("inheritEnv", inherit_env);
                fields.put_some("cwd", cwd.as_deref());
            }
            Kind::Http { url, headers, allow_http, .. } => {
                fields.put("url", url.as_str());
                fields.put_map("headers", headers);
                fields.put_some("allowHttp", allow_http.then_some(true));
            }
            Kind::Sdk { name } => fields.put("name", name.as_str()),
            Kind::Proxy { url, id } => {
                fields.put("url", url.as_str());
                fields.put("id", id.as_str());
            }
        }
        fields.settings(&self.settings);
        fields.0.extend(self.unknown.iter().cloned());
        fields.0
    }
}

struct Fields(Vec<(String, serde_json::Value)>);

impl Fields {
    fn put(&mut self, key: &str, value: impl Into<serde_json::Value>) {
        self.0.push((key.to_owned(), value.into()));
    }

    fn put_some(&mut self, key: &str, value: Option<impl Into<serde_json::Value>>) {
        if let Some(value) = value {
            self.put(key, value);
        }
    }

    fn put_list(&mut self, key: &str, list: &[String]) {
        self.put_some(key, (!list.is_empty()).then(|| list.to_vec()));
    }

    fn put_map(&mut self, key: &str, map: &BTreeMap<String, Secret>) {
        let texts = || map.iter().map(|(key, value)| (key.clone(), value.expose().into()));
        self.put_some(key, (!map.is_empty()).then(|| serde_json::Value::Object(texts().collect())));
    }

    fn settings(&mut self, settings: &Settings) {
        let whole = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        self.put_some("disabled", settings.disabled.then_some(true));
        self.put_some("required", settings.required.then_some(true));
        self.put_some("lazy", settings.lazy.then_some(true));
        self.put_some("trust", settings.trust.then_some(true));
        self.put_some("timeout", settings.timeout.map(whole));
        self.put_some("startupTimeout", settings.startup_timeout.map(whole));
        match settings.restart {
            None => {}
            Some(Restart::Never) => self.put("restart", "never"),
            Some(Restart::WithBackoff { most }) => self.put("restart", most),
        }
        self.put_list("allowTools", &settings.allow_tools);
        self.put_list("denyTools", &settings.deny_tools);
    }
}

impl Serialize for ServerConfig {
    /// Writes the entry with its secrets in the open; [`ServerConfig::masked`] is for showing.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let fields = self.fields();
        let mut map = serializer.serialize_map(Some(fields.len()))?;
        for (key, value) in &fields {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for ServerConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = serde_json::Value::deserialize(deserializer)?;
        let read = Self::read(&Node::from_json(&value), "").map_err(D::Error::custom)?;
        Ok(read.entry)
    }
}

impl fmt::Debug for ServerConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ServerConfig({})", self.masked())
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Kind({})", ServerConfig::new(self.clone()).masked())
    }
}
