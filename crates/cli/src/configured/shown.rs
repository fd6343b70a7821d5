//! A configured server in the words people read: what it runs, where it is written, whether it is started.
//!
//! Invariant: everything is taken from the masked entry.

use serde_json::Value;
use switchboard::host::config::{
    Approval, ConfiguredServer, OffReason, ServerConfig, ServerPlan, StartPolicy,
};

use crate::sanitize::one_line;

/// What would be run or reached, on one line: `npx -y server@1`, `https://example.com/mcp`.
pub(crate) fn reach(entry: &ServerConfig) -> String {
    let masked = entry.masked();
    let text = |key: &str| masked.get(key).and_then(Value::as_str).map(str::to_owned);
    let args = masked.get("args").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let line = match (text("command"), text("url")) {
        (Some(command), _) => {
            std::iter::once(command.as_str()).chain(args).map(quoted).collect::<Vec<_>>().join(" ")
        }
        (None, Some(url)) => url,
        (None, None) => format!("{} {}", entry.transport.type_name(), text("name").unwrap_or_default()),
    };
    one_line(&line)
}

/// A word as a shell would need it.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |char: char| char.is_alphanumeric() || "-_./:=@%+,~•".contains(char);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// Whether a server would be started, in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Readiness {
    Started,
    Lazy,
    Disabled,
    Unapproved,
    Changed,
    Broken,
}

impl Readiness {
    pub(crate) fn of(server: &ConfiguredServer) -> Self {
        match (&server.plan, &server.approval) {
            (Err(_), _) => Self::Broken,
            (Ok(_), Some(Approval::Changed(_))) => Self::Changed,
            (Ok(ServerPlan { start: StartPolicy::Off(OffReason::Unapproved), .. }), _) => Self::Unapproved,
            (Ok(ServerPlan { start: StartPolicy::Off(OffReason::Disabled), .. }), _) => Self::Disabled,
            (Ok(ServerPlan { start: StartPolicy::WhenUsed, .. }), _) => Self::Lazy,
            (Ok(_), _) => Self::Started,
        }
    }

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Started => "enabled",
            Self::Lazy => "lazy",
            Self::Disabled => "disabled",
            Self::Unapproved => "unapproved",
            Self::Changed => "changed",
            Self::Broken => "broken",
        }
    }

    /// What to do about it; nothing, where nothing is wrong.
    pub(crate) fn next_step(self, name: &str) -> Option<String> {
        let name = quoted(&one_line(name));
        match self {
            Self::Started | Self::Lazy => None,
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
    fn a_line_is_quoted_and_hides_secrets() {
        let entry = ServerConfig::stdio("my prog", ["-y", "it's", "--token", "hunter2"]);
        let line = reach(&entry);
        assert!(line.starts_with(r"'my prog' -y 'it'\''s' --token"), "{line}");
        assert!(!line.contains("hunter2"), "{line}");
        assert_eq!(reach(&ServerConfig::http("https://example.com/mcp")), "https://example.com/mcp");
    }
}
