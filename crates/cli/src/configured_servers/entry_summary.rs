//! Summary of a configured server: its command or URL, and whether it is started.
//!
//! Invariant: all text comes from the masked entry.

use serde_json::Value;
use switchboard::host::config::{
    Approval, ConfiguredServer, OffReason, ServerConfig, ServerPlan, StartPolicy,
};

use crate::sanitize::one_line;
use crate::shell_quote::shell_quote;

/// Returns the command line or URL of an entry on one line: `npx -y server@1`, `https://example.com/mcp`.
pub(crate) fn command_or_url(entry: &ServerConfig) -> String {
    let masked = entry.masked();
    let text = |key: &str| masked.get(key).and_then(Value::as_str).map(str::to_owned);
    let args = masked.get("args").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let line = match (text("command"), text("url")) {
        (Some(command), _) => {
            std::iter::once(command.as_str()).chain(args).map(shell_quote).collect::<Vec<_>>().join(" ")
        }
        (None, Some(url)) => url,
        (None, None) => format!("{} {}", entry.transport.type_name(), text("name").unwrap_or_default()),
    };
    one_line(&line)
}

/// Whether a configured server is started, or why not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryState {
    Enabled,
    Lazy,
    Disabled,
    Unapproved,
    Changed,
    Broken,
}

impl EntryState {
    pub(crate) fn of(server: &ConfiguredServer) -> Self {
        match (&server.plan, &server.approval) {
            (Err(_), _) => Self::Broken,
            (Ok(_), Some(Approval::Changed(_))) => Self::Changed,
            (Ok(ServerPlan { start: StartPolicy::Off(OffReason::Unapproved), .. }), _) => Self::Unapproved,
            (Ok(ServerPlan { start: StartPolicy::Off(OffReason::Disabled), .. }), _) => Self::Disabled,
            (Ok(ServerPlan { start: StartPolicy::WhenUsed, .. }), _) => Self::Lazy,
            (Ok(_), _) => Self::Enabled,
        }
    }

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Enabled => "enabled",
            Self::Lazy => "lazy",
            Self::Disabled => "disabled",
            Self::Unapproved => "unapproved",
            Self::Changed => "changed",
            Self::Broken => "broken",
        }
    }

    /// Returns the command that makes the server start; `None` if it starts already.
    pub(crate) fn next_step(self, name: &str) -> Option<String> {
        let name = shell_quote(&one_line(name));
        match self {
            Self::Enabled | Self::Lazy => None,
            Self::Disabled => Some(format!("switchboard enable {name}")),
            Self::Unapproved | Self::Changed => Some(format!("switchboard approve {name}")),
            Self::Broken => Some("correct its entry".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_is_quoted_and_masked() {
        let entry = ServerConfig::stdio("my prog", ["-y", "it's", "--token", "hunter2"]);
        let line = command_or_url(&entry);
        assert!(line.starts_with(r"'my prog' -y 'it'\''s' --token"), "{line}");
        assert!(!line.contains("hunter2"), "{line}");
        assert_eq!(command_or_url(&ServerConfig::http("https://example.com/mcp")), "https://example.com/mcp");
    }
}
