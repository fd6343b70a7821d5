//! The transport of a server.
//!
//! Invariant: neither the `Debug` output nor the description of a transport shows a secret.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};
use switchboard_http::Secret;
use switchboard_session::link::Dial;
use switchboard_session::server::InProcess;
use switchboard_transport::http::client::Http;
use switchboard_transport::stdio::Stdio;

use crate::config::{Binding, ConfigError, OAuthConfig, ServerConfig, Settings, TransportConfig};

/// The transport of a server.
///
/// Equal transports connect to the same server in the same way. In-process servers, authorizers and custom dials compare by
/// identity.
#[derive(Clone)]
#[non_exhaustive]
pub enum Transport {
    /// A child process.
    Stdio(Box<Stdio>),
    /// An HTTP endpoint.
    Http(Box<Http>),
    /// A server object in this process.
    InProcess(InProcess),
    /// A server in this process, registered by name; see [`Host::register`](crate::Host::register).
    Registered {
        /// The name.
        name: String,
    },
    /// A claude.ai connector: HTTP with a bearer token from the host's [`TokenSource`](crate::TokenSource) or
    /// [`CredentialProvider`](crate::CredentialProvider).
    Proxy {
        /// The address.
        url: String,
        /// The id of the connector, for the token source.
        id: String,
    },
    /// A transport of the application.
    Custom(Arc<dyn Dial>),
    /// An invalid configuration. Connecting fails with this error.
    Invalid(ConfigError),
}

impl Transport {
    /// Returns the transport of a configuration. The working directory of a process is relative to `base`, and is `base` by
    /// default.
    pub(crate) fn from_config(config: &TransportConfig, base: Option<&Path>) -> Self {
        match config {
            TransportConfig::Stdio { command, args, env, inherit_env, cwd } => {
                let cwd = cwd.as_ref().map(PathBuf::from);
                let cwd = match base {
                    Some(base) => Some(cwd.map_or_else(|| base.to_owned(), |cwd| base.join(cwd))),
                    None => cwd,
                };
                stdio(command, args, env, inherit_env, cwd).into()
            }
            TransportConfig::Http { url, headers, binding, allow_http } => {
                http(url.clone(), headers, *binding, *allow_http).into()
            }
            TransportConfig::Sdk { name } => Self::Registered { name: name.clone() },
            TransportConfig::Proxy { url, id } => Self::Proxy { url: url.clone(), id: id.clone() },
        }
    }

    /// Returns the values that may be secret: of variables and headers.
    pub(crate) fn secret_values(&self) -> Vec<Secret> {
        match self {
            Self::Stdio(stdio) => {
                let value = |value: &std::ffi::OsStr| Secret::new(value.to_string_lossy());
                stdio.variables().iter().map(|(_, variable)| value(variable)).collect()
            }
            Self::Http(http) => {
                http.headers().iter().flat_map(|(_, header)| header_secrets(header.expose())).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns the configuration of this transport as JSON with secrets masked.
    pub(crate) fn masked(&self, settings: &Settings, oauth: Option<&OAuthConfig>) -> Value {
        let config = match self {
            Self::Stdio(stdio) => stdio_config(stdio),
            Self::Http(http) => TransportConfig::Http {
                url: http.url().to_owned(),
                headers: http.headers().iter().cloned().collect(),
                binding: if http.is_sse() { Binding::Sse } else { Binding::Streamable },
                allow_http: http.allows_plain_http(),
            },
            Self::InProcess(server) => TransportConfig::Sdk { name: server.server().info().name.clone() },
            Self::Registered { name } => TransportConfig::Sdk { name: name.clone() },
            Self::Proxy { url, id } => TransportConfig::Proxy { url: url.clone(), id: id.clone() },
            Self::Custom(_) => return json!({"type": "custom"}),
            Self::Invalid(error) => return json!({"type": "invalid", "error": error.to_string()}),
        };
        let config = ServerConfig::new(config).with_settings(settings.clone());
        oauth.cloned().map_or_else(|| config.clone(), |oauth| config.clone().with_oauth(oauth)).masked()
    }
}

fn stdio(
    command: &str,
    args: &[String],
    env: &BTreeMap<String, Secret>,
    inherit_env: &[String],
    cwd: Option<PathBuf>,
) -> Stdio {
    let mut stdio = Stdio::new(command).args(args);
    for (name, value) in env {
        stdio = stdio.env(name, value.expose());
    }
    for name in inherit_env {
        stdio = stdio.inherit_env(name);
    }
    match cwd {
        Some(cwd) => stdio.cwd(cwd),
        None => stdio,
    }
}

fn http(url: String, headers: &BTreeMap<String, Secret>, binding: Binding, allow_http: bool) -> Http {
    let mut http = Http::new(url);
    for (name, value) in headers {
        http = http.header(name, value.clone());
    }
    if binding == Binding::Sse {
        http = http.sse();
    }
    if allow_http { http.allow_plain_http() } else { http }
}

/// Returns what is secret in the value of a header: all of it, and a token without its `Bearer`.
pub(crate) fn header_secrets(value: &str) -> impl Iterator<Item = Secret> {
    std::iter::once(value).chain(value.split_whitespace().skip(1)).map(Secret::new)
}

fn stdio_config(stdio: &Stdio) -> TransportConfig {
    let text = |text: &std::ffi::OsStr| text.to_string_lossy().into_owned();
    let env: BTreeMap<String, Secret> =
        stdio.variables().iter().map(|(name, value)| (text(name), Secret::new(text(value)))).collect();
    TransportConfig::Stdio {
        command: text(stdio.program()),
        args: stdio.arguments().iter().map(|arg| text(arg)).collect(),
        env,
        inherit_env: stdio.inherited_variables().iter().map(|name| text(name)).collect(),
        cwd: stdio.directory().map(|directory| text(directory.as_os_str())),
    }
}

impl PartialEq for Transport {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Stdio(one), Self::Stdio(two)) => one == two,
            (Self::Http(one), Self::Http(two)) => one == two,
            (Self::InProcess(one), Self::InProcess(two)) => one == two,
            (Self::Registered { name: one }, Self::Registered { name: two }) => one == two,
            (Self::Proxy { url, id }, Self::Proxy { url: other_url, id: other_id }) => {
                url == other_url && id == other_id
            }
            // The data pointers alone: one type may have several vtables.
            (Self::Custom(one), Self::Custom(two)) => std::ptr::addr_eq(Arc::as_ptr(one), Arc::as_ptr(two)),
            (Self::Invalid(one), Self::Invalid(two)) => one == two,
            _ => false,
        }
    }
}

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdio(stdio) => stdio.fmt(f),
            Self::Http(http) => http.fmt(f),
            Self::InProcess(server) => {
                f.debug_tuple("InProcess").field(&server.server().info().name).finish()
            }
            Self::Registered { name } => f.debug_struct("Registered").field("name", name).finish(),
            Self::Proxy { url, id } => {
                let url = url.split('?').next().unwrap_or_default();
                f.debug_struct("Proxy").field("url", &url).field("id", id).finish()
            }
            Self::Custom(_) => f.write_str("Custom"),
            Self::Invalid(error) => f.debug_tuple("Invalid").field(error).finish(),
        }
    }
}

impl From<Stdio> for Transport {
    fn from(stdio: Stdio) -> Self {
        Self::Stdio(Box::new(stdio))
    }
}

impl From<Http> for Transport {
    fn from(http: Http) -> Self {
        Self::Http(Box::new(http))
    }
}

impl From<InProcess> for Transport {
    fn from(server: InProcess) -> Self {
        Self::InProcess(server)
    }
}
