//! The `headersHelper` of a server as written: a command that prints headers.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_http::Secret;

/// A command that prints HTTP headers as a JSON object of strings: `headersHelper`. It runs in a shell when the server is
/// connected, and again when the server refuses the headers.
///
/// ```
/// use switchboard::host::config::ServerConfig;
///
/// let entry: ServerConfig = serde_json::from_value(serde_json::json!({
///     "url": "https://mcp.example.com/mcp",
///     "headersHelper": { "command": "vault-headers mcp", "inheritEnv": ["VAULT_ADDR"] },
/// }))?;
/// assert_eq!(entry.headers_helper.expect("the entry has one").command, "vault-headers mcp");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct HeadersHelperConfig {
    /// The command; variables are never substituted in it. The shell sees only the environment of the helper.
    pub command: String,
    /// Its environment variables.
    pub env: BTreeMap<String, Secret>,
    /// Names of variables that it inherits from this process, besides the harmless ones that every program gets.
    pub inherit_env: Vec<String>,
    /// How long it may run: `timeout`, in milliseconds.
    pub timeout: Option<Duration>,
}

impl HeadersHelperConfig {
    /// Creates a helper that gets no variables.
    pub fn new(command: impl Into<String>) -> Self {
        Self { command: command.into(), env: BTreeMap::new(), inherit_env: Vec::new(), timeout: None }
    }

    /// Returns the helper as it is written to a file.
    pub(crate) fn to_json(&self) -> Value {
        self.render(str::to_owned)
    }

    /// Returns the helper as JSON, with the values of its variables rendered by a function.
    pub(crate) fn render(&self, value: impl Fn(&str) -> String) -> Value {
        if self.env.is_empty() && self.inherit_env.is_empty() && self.timeout.is_none() {
            return json!(self.command);
        }
        let mut fields = json!({ "command": self.command });
        if !self.env.is_empty() {
            let env = self.env.iter().map(|(name, secret)| (name.clone(), json!(value(secret.expose()))));
            fields["env"] = Value::Object(env.collect());
        }
        if !self.inherit_env.is_empty() {
            fields["inheritEnv"] = json!(self.inherit_env);
        }
        if let Some(timeout) = self.timeout {
            fields["timeout"] = json!(u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX));
        }
        fields
    }
}

impl fmt::Debug for HeadersHelperConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HeadersHelperConfig({})", self.masked())
    }
}
