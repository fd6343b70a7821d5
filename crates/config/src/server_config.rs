//! The configuration of one server as written.
//!
//! Invariants: variables are not substituted; unknown fields are kept and written back; the `Debug` output is masked.
//! The server as it will be run is a [`ServerPlan`](crate::ServerPlan).

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde::de::Error as _;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use switchboard_http::Secret;

use crate::document::Node;
use crate::headers_helper::HeadersHelperConfig;
use crate::oauth::OAuthConfig;
use crate::start::{RestartPolicy, SharePolicy};

/// The configuration of a server as written: its transport and its settings.
///
/// ```
/// use switchboard::host::config::{ServerConfig, TransportConfig};
///
/// let entry: ServerConfig = serde_json::from_str(r#"{"command": "npx", "args": ["-y", "server@1.2.3"]}"#)?;
/// assert!(matches!(&entry.transport, TransportConfig::Stdio { command, .. } if command == "npx"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct ServerConfig {
    /// The transport.
    pub transport: TransportConfig,
    /// The settings of logins: `oauth`. Only servers at a URL have it.
    pub oauth: Option<Box<OAuthConfig>>,
    /// The command that prints headers: `headersHelper`. Only HTTP endpoints have it.
    pub headers_helper: Option<HeadersHelperConfig>,
    /// The settings.
    pub settings: Settings,
    /// Unknown fields, in file order: other programs may read them.
    pub unknown: Vec<(String, serde_json::Value)>,
}

/// The transport of a server as written.
#[derive(Clone, PartialEq)]
pub enum TransportConfig {
    /// A child process: `stdio`.
    Stdio {
        /// The program; variables are never substituted in it.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Its environment variables.
        env: BTreeMap<String, Secret>,
        /// Names of variables that it inherits from this process.
        inherit_env: Vec<String>,
        /// Its working directory.
        cwd: Option<String>,
    },
    /// An HTTP endpoint: `http`, or `sse` for HTTP+SSE of 2024-11-05.
    Http {
        /// The address.
        url: String,
        /// Headers of every request.
        headers: BTreeMap<String, Secret>,
        /// The HTTP binding.
        binding: Binding,
        /// Whether plain `http` to another machine is allowed.
        allow_http: bool,
    },
    /// A server in this process: `sdk`.
    Sdk {
        /// The name under which it is registered.
        name: String,
    },
    /// A claude.ai connector: `claudeai-proxy`.
    Proxy {
        /// The address; `{id}` is replaced by the id.
        url: String,
        /// The id of the connector, for the token source.
        id: String,
    },
}

impl TransportConfig {
    /// Returns the value of the `type` field.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Stdio { .. } => "stdio",
            Self::Http { binding: Binding::Streamable, .. } => "http",
            Self::Http { binding: Binding::Sse, .. } => "sse",
            Self::Sdk { .. } => "sdk",
            Self::Proxy { .. } => "claudeai-proxy",
        }
    }
}

/// The HTTP binding of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binding {
    /// Streamable HTTP, with fallback to HTTP+SSE.
    Streamable,
    /// HTTP+SSE of 2024-11-05 only.
    Sse,
}

/// The settings of a server as written; absent ones have their defaults.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Settings {
    /// Whether it is disabled.
    pub disabled: bool,
    /// Whether the host waits for it at startup.
    pub required: bool,
    /// Whether it is started by the first call.
    pub lazy: bool,
    /// Whether the annotations of its tools are trusted. Ignored in a project's file.
    pub trust: bool,
    /// The timeout of one call: `timeout`, in milliseconds.
    pub timeout: Option<Duration>,
    /// The timeout for connecting: `startupTimeout`, in milliseconds.
    pub startup_timeout: Option<Duration>,
    /// The restart policy: `"never"`, or the number of consecutive failures after which the host gives up.
    pub restart: Option<RestartPolicy>,
    /// Which callers of a gateway share a session with it: `share`.
    pub share: Option<SharePolicy>,
    /// How long a session may be unused before it is closed: `idleTimeout`, in milliseconds.
    pub idle_timeout: Option<Duration>,
    /// Globs of the tools that are shown.
    pub allow_tools: Vec<String>,
    /// Globs of the tools that are hidden.
    pub deny_tools: Vec<String>,
}

impl ServerConfig {
    /// Returns whether the server is used with secrets of the user: environment variables, headers, login settings, or the
    /// token of a connector.
    pub fn has_credentials(&self) -> bool {
        let of_transport = match &self.transport {
            TransportConfig::Stdio { env, inherit_env, .. } => !env.is_empty() || !inherit_env.is_empty(),
            TransportConfig::Http { headers, .. } => !headers.is_empty(),
            TransportConfig::Sdk { .. } => false,
            TransportConfig::Proxy { .. } => true,
        };
        of_transport || self.oauth.is_some() || self.headers_helper.is_some()
    }

    /// Creates a configuration with default settings.
    pub fn new(transport: TransportConfig) -> Self {
        let settings = Settings::default();
        Self { transport, oauth: None, headers_helper: None, settings, unknown: Vec::new() }
    }

    /// Creates the configuration of a child process.
    pub fn stdio(command: impl Into<String>, args: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self::new(TransportConfig::Stdio {
            command: command.into(),
            args: args.into_iter().map(Into::into).collect(),
            env: BTreeMap::new(),
            inherit_env: Vec::new(),
            cwd: None,
        })
    }

    /// Creates the configuration of an HTTP endpoint.
    pub fn http(url: impl Into<String>) -> Self {
        Self::new(TransportConfig::Http {
            url: url.into(),
            headers: BTreeMap::new(),
            binding: Binding::Streamable,
            allow_http: false,
        })
    }

    /// Creates the configuration of a server registered in this process.
    pub fn sdk(name: impl Into<String>) -> Self {
        Self::new(TransportConfig::Sdk { name: name.into() })
    }

    /// Sets the settings.
    #[must_use]
    pub fn with_settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// Sets the settings of logins. Has no effect on servers that are not at a URL.
    #[must_use]
    pub fn with_oauth(mut self, oauth: OAuthConfig) -> Self {
        self.oauth = Some(Box::new(oauth));
        self
    }

    /// Sets the command that prints headers. Has no effect on transports other than HTTP.
    #[must_use]
    pub fn with_headers_helper(mut self, helper: HeadersHelperConfig) -> Self {
        self.headers_helper = Some(helper);
        self
    }

    /// Adds an environment variable. Has no effect on transports other than stdio.
    #[must_use]
    pub fn with_env(mut self, name: impl Into<String>, value: impl Into<Secret>) -> Self {
        if let TransportConfig::Stdio { env, .. } = &mut self.transport {
            env.insert(name.into(), value.into());
        }
        self
    }

    /// Adds a header. Has no effect on transports other than HTTP.
    #[must_use]
    pub fn with_header(mut self, name: impl Into<String>, value: impl Into<Secret>) -> Self {
        if let TransportConfig::Http { headers, .. } = &mut self.transport {
            headers.insert(name.into(), value.into());
        }
        self
    }

    /// Returns the fields in their order, with secrets in plain text: only for files, which are private.
    pub(crate) fn fields(&self) -> Vec<(String, serde_json::Value)> {
        let mut fields = FieldWriter(Vec::new());
        fields.put("type", self.transport.type_name());
        match &self.transport {
            TransportConfig::Stdio { command, args, env, inherit_env, cwd } => {
                fields.put("command", command.as_str());
                fields.put_list("args", args);
                fields.put_map("env", env);
                fields.put_list("inheritEnv", inherit_env);
                fields.put_some("cwd", cwd.as_deref());
            }
            TransportConfig::Http { url, headers, allow_http, .. } => {
                fields.put("url", url.as_str());
                fields.put_map("headers", headers);
                fields.put_some("allowHttp", allow_http.then_some(true));
            }
            TransportConfig::Sdk { name } => fields.put("name", name.as_str()),
            TransportConfig::Proxy { url, id } => {
                fields.put("url", url.as_str());
                fields.put("id", id.as_str());
            }
        }
        fields.put_some("headersHelper", self.headers_helper.as_ref().map(HeadersHelperConfig::to_json));
        fields.put_some("oauth", self.oauth.as_deref().map(OAuthConfig::to_json));
        fields.settings(&self.settings);
        fields.0.extend(self.unknown.iter().cloned());
        fields.0
    }
}

struct FieldWriter(Vec<(String, serde_json::Value)>);

impl FieldWriter {
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
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        self.put_some("disabled", settings.disabled.then_some(true));
        self.put_some("required", settings.required.then_some(true));
        self.put_some("lazy", settings.lazy.then_some(true));
        self.put_some("trust", settings.trust.then_some(true));
        self.put_some("timeout", settings.timeout.map(millis));
        self.put_some("startupTimeout", settings.startup_timeout.map(millis));
        match settings.restart {
            None => {}
            Some(RestartPolicy::Never) => self.put("restart", "never"),
            Some(RestartPolicy::WithBackoff { max_failures }) => self.put("restart", max_failures),
        }
        self.put_some("share", settings.share.map(SharePolicy::as_str));
        self.put_some("idleTimeout", settings.idle_timeout.map(millis));
        self.put_list("allowTools", &settings.allow_tools);
        self.put_list("denyTools", &settings.deny_tools);
    }
}

impl Serialize for ServerConfig {
    /// Writes the entry with secrets in plain text; [`ServerConfig::masked`] is for display.
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

impl fmt::Debug for TransportConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TransportConfig({})", ServerConfig::new(self.clone()).masked())
    }
}
