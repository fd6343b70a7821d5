//! How a server is reached, and with which identity. Never a value of a header or of an environment variable.

use serde_json::Value;
use switchboard_host::{ServerSpec, Transport};

use crate::contract::{Identity, ServerTransport};
use crate::providers::Providers;

/// Describes the transport. Command and address are those of the masked configuration.
pub(super) fn server_transport(spec: &ServerSpec, masked: &Value, pid: Option<u32>) -> ServerTransport {
    let text = |key: &str| masked.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    match &spec.transport {
        Transport::Stdio(stdio) => {
            let arguments = masked.get("args").and_then(Value::as_array).into_iter().flatten();
            let arguments = arguments.filter_map(|argument| argument.as_str().map(str::to_owned));
            ServerTransport::Stdio {
                command: std::iter::once(text("command")).chain(arguments).collect(),
                cwd: stdio.directory().map(|directory| directory.display().to_string()),
                pid: pid.map(u64::from),
            }
        }
        Transport::Http(http) => ServerTransport::Http { url: text("url"), legacy_sse: http.is_sse() },
        Transport::Proxy { .. } => ServerTransport::Http { url: text("url"), legacy_sse: false },
        _ => ServerTransport::InProcess,
    }
}

/// Describes the identity that reaches the server.
pub(super) fn identity(name: &str, spec: &ServerSpec, masked: &Value, providers: &Providers) -> Identity {
    let provided = || providers.logins.as_ref().map(|logins| logins.identity(name));
    match &spec.transport {
        Transport::Stdio(stdio) => {
            let given = stdio.variables().iter().map(|(name, _)| name).chain(stdio.inherited_variables());
            let names: Vec<String> = given.map(|name| name.to_string_lossy().into_owned()).collect();
            match names.is_empty() {
                true => Identity::Process { user: process_user() },
                false => Identity::Environment { names },
            }
        }
        Transport::Http(_) if spec.header_helper.is_some() => {
            let command = masked
                .get("headersHelper")
                .and_then(|helper| helper.as_str().or_else(|| helper.get("command").and_then(Value::as_str)));
            Identity::HeadersHelper { command: command.unwrap_or("a command").to_owned() }
        }
        Transport::Http(http) if !http.headers().is_empty() => {
            Identity::Headers { names: http.headers().iter().map(|(name, _)| name.clone()).collect() }
        }
        Transport::Http(_) | Transport::Proxy { .. } => provided().unwrap_or(Identity::None),
        _ => Identity::None,
    }
}

/// Returns the name of the user that programs run as.
fn process_user() -> String {
    let named = ["USER", "LOGNAME"].into_iter().find_map(|name| std::env::var(name).ok());
    named.filter(|name| !name.is_empty()).unwrap_or_else(|| "the user of this program".to_owned())
}
