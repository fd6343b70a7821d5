//! Programs whose files can be imported, and detection of the program.

use std::path::{Path, PathBuf};

use crate::document::{Node, Syntax, Value};

/// A program whose configuration files can be imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// `claude_desktop_config.json`.
    ClaudeDesktop,
    /// `.mcp.json` and `~/.claude.json`.
    ClaudeCode,
    /// `.vscode/mcp.json`, the profile's `mcp.json`, and `settings.json`.
    VsCode,
    /// `.cursor/mcp.json`.
    Cursor,
    /// `.codex/config.toml`.
    Codex,
    /// `.gemini/settings.json`.
    Gemini,
    /// Zed's `settings.json`.
    Zed,
    /// `opencode.json`.
    OpenCode,
    /// `.codeium/windsurf/mcp_config.json`.
    Windsurf,
}

impl Dialect {
    /// All programs.
    pub const ALL: [Self; 9] = [
        Self::ClaudeDesktop,
        Self::ClaudeCode,
        Self::VsCode,
        Self::Cursor,
        Self::Codex,
        Self::Gemini,
        Self::Zed,
        Self::OpenCode,
        Self::Windsurf,
    ];

    /// Returns the name of the program.
    pub fn name(self) -> &'static str {
        self.names().0
    }

    /// Returns the name of the program for command lines.
    pub fn id(self) -> &'static str {
        self.names().1
    }

    /// Returns the name of the program, and its name for command lines.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::ClaudeDesktop => ("Claude Desktop", "claude-desktop"),
            Self::ClaudeCode => ("Claude Code", "claude-code"),
            Self::VsCode => ("VS Code", "vscode"),
            Self::Cursor => ("Cursor", "cursor"),
            Self::Codex => ("Codex", "codex"),
            Self::Gemini => ("Gemini CLI", "gemini"),
            Self::Zed => ("Zed", "zed"),
            Self::OpenCode => ("opencode", "opencode"),
            Self::Windsurf => ("Windsurf", "windsurf"),
        }
    }

    /// Returns the paths of the configuration files of the user and of a project.
    pub fn config_paths(self, home: &Path, project: &Path) -> Vec<PathBuf> {
        match self {
            Self::ClaudeDesktop => vec![
                home.join(".config/Claude/claude_desktop_config.json"),
                home.join("Library/Application Support/Claude/claude_desktop_config.json"),
            ],
            Self::ClaudeCode => vec![home.join(".claude.json"), project.join(".mcp.json")],
            Self::VsCode => vec![
                home.join(".config/Code/User/mcp.json"),
                home.join("Library/Application Support/Code/User/mcp.json"),
                project.join(".vscode/mcp.json"),
            ],
            Self::Cursor => vec![home.join(".cursor/mcp.json"), project.join(".cursor/mcp.json")],
            Self::Codex => vec![home.join(".codex/config.toml"), project.join(".codex/config.toml")],
            Self::Gemini => vec![home.join(".gemini/settings.json"), project.join(".gemini/settings.json")],
            Self::Zed => vec![home.join(".config/zed/settings.json"), project.join(".zed/settings.json")],
            Self::Windsurf => vec![home.join(".codeium/windsurf/mcp_config.json")],
            Self::OpenCode => vec![
                home.join(".config/opencode/opencode.json"),
                home.join(".config/opencode/opencode.jsonc"),
                project.join("opencode.json"),
                project.join("opencode.jsonc"),
            ],
        }
    }

    /// Detects the program of a file, by path or else by contents.
    pub fn detect(path: &Path, text: &str) -> Option<Self> {
        Self::of_path(path).or_else(|| match Node::parse(text, Syntax::Relaxed) {
            Ok(root) => Self::of_contents(&root),
            Err(_) => text.contains("[mcp_servers.").then_some(Self::Codex),
        })
    }

    fn of_path(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        let folder =
            path.parent().and_then(Path::file_name).and_then(|folder| folder.to_str()).unwrap_or_default();
        match (folder, name) {
            (_, "claude_desktop_config.json") => Some(Self::ClaudeDesktop),
            (_, ".claude.json" | ".mcp.json") => Some(Self::ClaudeCode),
            (".vscode", _) => Some(Self::VsCode),
            (".cursor", _) => Some(Self::Cursor),
            (".codex", _) | (_, "config.toml") => Some(Self::Codex),
            (".gemini", _) => Some(Self::Gemini),
            ("zed" | ".zed", _) => Some(Self::Zed),
            (_, "opencode.json" | "opencode.jsonc") => Some(Self::OpenCode),
            ("windsurf", _) => Some(Self::Windsurf),
            _ => None,
        }
    }

    fn of_contents(root: &Node) -> Option<Self> {
        if root.get("context_servers").is_some() {
            return Some(Self::Zed);
        }
        if let Some(mcp) = root.get("mcp").filter(|_| root.get("mcpServers").is_none()) {
            let servers = mcp.get("servers").unwrap_or(mcp).members().unwrap_or_default();
            let is_opencode = servers.iter().any(|server| {
                matches!(server.node.get("type").and_then(Node::text), Some("local" | "remote"))
                    || matches!(server.node.get("command").map(|node| &node.value), Some(Value::List(_)))
            });
            return if is_opencode { Some(Self::OpenCode) } else { mcp.get("servers").map(|_| Self::VsCode) };
        }
        if root.get("servers").is_some() {
            return Some(Self::VsCode);
        }
        if root.get("projects").is_some() {
            return Some(Self::ClaudeCode);
        }
        let servers = root.get("mcpServers")?.members()?;
        let any = |found: &dyn Fn(&Node) -> bool| servers.iter().any(|server| found(&server.node));
        if any(&|server| {
            ["httpUrl", "includeTools", "excludeTools"].iter().any(|key| server.get(key).is_some())
        }) {
            Some(Self::Gemini)
        } else if any(&|server| server.get("serverUrl").is_some()) {
            Some(Self::Windsurf)
        } else if any(&has_editor_reference) {
            Some(Self::Cursor)
        } else {
            // Claude Desktop has a subset of the fields of Claude Code.
            Some(Self::ClaudeCode)
        }
    }
}

fn has_editor_reference(node: &Node) -> bool {
    match &node.value {
        Value::Text(text) => text.contains("${env:"),
        Value::List(items) => items.iter().any(has_editor_reference),
        Value::Object(members) => members.iter().any(|member| has_editor_reference(&member.node)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}
