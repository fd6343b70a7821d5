//! Configuration files: `{"mcpServers": {name: entry}}`.
//!
//! Invariants: an invalid entry does not affect other entries; an edit keeps all other bytes, including fields of other
//! programs; edits are applied to the text that is on disk when they are written, so concurrent edits are all kept.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::disk::{self, Owner};
use crate::document::{Node, Position, Syntax, Value};
use crate::edit;
use crate::error::{ConfigError, ConfigErrorKind};
use crate::rule::{Rule, Verdict};
use crate::server_config::ServerConfig;
use crate::update::update;
use crate::warning::Warning;

/// The key of the servers.
const SERVERS: &str = "mcpServers";
/// The key of the permission rules.
const PERMISSIONS: &str = "permissions";

/// The entry of a server in a file.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerEntry {
    /// The name of the server.
    pub name: String,
    /// The configuration, or why it is invalid.
    pub entry: Result<ServerConfig, ConfigError>,
}

/// A pending edit of a file.
#[derive(Clone)]
enum Edit {
    Add { name: String, entry: Box<ServerConfig> },
    Set { name: String, entry: Box<ServerConfig> },
    Remove { name: String },
    SetDisabled { name: String, disabled: bool },
}

/// A configuration file with pending edits.
///
/// ```
/// use switchboard::host::config::{ConfigFile, ServerConfig};
///
/// # let directory = std::env::temp_dir().join(format!("config-file-example-{}", std::process::id()));
/// # std::fs::create_dir_all(&directory)?;
/// let mut file = ConfigFile::open(directory.join("mcp.json"))?; // a missing file is empty
/// file.add("time", &serde_json::from_str::<ServerConfig>(r#"{ "command": "uvx", "args": ["mcp-server-time"] }"#)?)?;
/// file.write()?; // keeps all other bytes of the file
///
/// assert_eq!(ConfigFile::open(directory.join("mcp.json"))?.servers()[0].name, "time");
/// # std::fs::remove_dir_all(directory)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct ConfigFile {
    path: PathBuf,
    owner: Owner,
    text: String,
    /// Edits that are applied to `text` but not yet written.
    edits: Vec<Edit>,
    root: Node,
    servers: Vec<ServerEntry>,
    rules: Vec<Rule>,
    warnings: Vec<Warning>,
}

impl ConfigFile {
    /// Opens a file of the user. A missing file is empty; it is created with mode 0600 when written.
    ///
    /// # Errors
    /// When it cannot be read, is not JSON, or could have been written by others. An invalid entry is not an error: see
    /// [`ConfigFile::servers`].
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, ConfigError> {
        Self::open_as(path.into(), Owner::User)
    }

    /// Opens a file that is shared with others, such as a project's: anybody may have written it, and its mode is kept.
    ///
    /// # Errors
    /// When it cannot be read or is not JSON.
    pub fn open_shared(path: impl Into<PathBuf>) -> Result<Self, ConfigError> {
        Self::open_as(path.into(), Owner::Shared)
    }

    fn open_as(path: PathBuf, owner: Owner) -> Result<Self, ConfigError> {
        let stored = disk::read(&path, owner, disk::MAX_FILE_BYTES)?;
        Self::parse(path, owner, stored.as_deref())
    }

    fn parse(path: PathBuf, owner: Owner, stored: Option<&str>) -> Result<Self, ConfigError> {
        let text = stored.filter(|text| !text.trim().is_empty()).unwrap_or("{}\n").to_owned();
        Self::from_text(path, owner, text, Vec::new())
    }

    fn from_text(path: PathBuf, owner: Owner, text: String, edits: Vec<Edit>) -> Result<Self, ConfigError> {
        let in_file = |error: ConfigError| error.in_file(&path);
        let root = Node::parse(&text, Syntax::Strict)
            .map_err(|error| in_file(ConfigError::not_json(&text, &error)))?;
        let FileContents { mut servers, rules, warnings } =
            FileContents::read(&root, &text).map_err(in_file)?;
        for server in &mut servers {
            server.entry = server.entry.clone().map_err(in_file);
        }
        let warnings = warnings.into_iter().map(|warning| warning.in_file(&path)).collect();
        Ok(Self { path, owner, text, edits, root, servers, rules, warnings })
    }

    /// Replaces the text and parses it.
    fn set_text(&mut self, text: String) -> Result<(), ConfigError> {
        *self = Self::from_text(self.path.clone(), self.owner, text, self.edits.clone())?;
        Ok(())
    }

    /// Returns the path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the servers, in file order.
    pub fn servers(&self) -> &[ServerEntry] {
        &self.servers
    }

    /// Returns the permission rules: `{"permissions": {"deny": ["server/tool"], "ask": [], "allow": []}}`.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Returns warnings about servers and rules.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// Adds a server, or replaces the one with that name.
    ///
    /// # Errors
    /// When the edited text is not a valid configuration.
    pub fn set(&mut self, name: &str, entry: &ServerConfig) -> Result<(), ConfigError> {
        self.record(Edit::Set { name: name.to_owned(), entry: Box::new(entry.clone()) })
    }

    /// Adds a server.
    ///
    /// # Errors
    /// When a server of that name exists.
    pub fn add(&mut self, name: &str, entry: &ServerConfig) -> Result<(), ConfigError> {
        self.record(Edit::Add { name: name.to_owned(), entry: Box::new(entry.clone()) })
    }

    /// Removes a server.
    ///
    /// # Errors
    /// When there is no server of that name.
    pub fn remove(&mut self, name: &str) -> Result<(), ConfigError> {
        self.record(Edit::Remove { name: name.to_owned() })
    }

    /// Sets or removes `disabled` in a server's entry; the rest of the entry stays unchanged.
    ///
    /// # Errors
    /// When there is no server of that name, or its entry is not an object.
    pub fn set_disabled(&mut self, name: &str, disabled: bool) -> Result<(), ConfigError> {
        self.record(Edit::SetDisabled { name: name.to_owned(), disabled })
    }

    /// Writes the pending edits: one locked read-modify-write that applies them to the current text on disk. Afterwards
    /// this is the file as stored, including edits of other programs.
    ///
    /// # Errors
    /// When the file cannot be written, or an edit no longer applies because another program changed the same server
    /// (added or removed it meanwhile). Nothing is stored then.
    pub fn write(&mut self) -> Result<(), ConfigError> {
        if self.edits.is_empty() {
            return Ok(());
        }
        *self = update(&self.path, self.owner, disk::MAX_FILE_BYTES, |stored| {
            let mut file = Self::parse(self.path.clone(), self.owner, stored)?;
            for edit in &self.edits {
                file.apply(edit)?;
            }
            Ok((file.text.clone(), file))
        })?;
        Ok(())
    }

    fn record(&mut self, edit: Edit) -> Result<(), ConfigError> {
        self.apply(&edit)?;
        self.edits.push(edit);
        Ok(())
    }

    fn apply(&mut self, edit: &Edit) -> Result<(), ConfigError> {
        let is_known = |name: &str| self.servers.iter().any(|server| server.name == name);
        match edit {
            Edit::Add { name, .. } if is_known(name) => Err(self.error(name, ConfigErrorKind::AlreadyExists)),
            Edit::Add { name, entry } | Edit::Set { name, entry } => {
                self.change(|text, servers| Some(edit::set(text, servers, name, entry)))
            }
            Edit::Remove { name } | Edit::SetDisabled { name, .. } if !is_known(name) => {
                Err(self.error(name, ConfigErrorKind::UnknownServer))
            }
            Edit::Remove { name } => self.change(|text, servers| Some(edit::remove(text, servers, name))),
            Edit::SetDisabled { name, disabled } => self.change(|text, servers| {
                let entry = servers.get(name)?;
                Some(match disabled {
                    true => edit::set(text, entry, "disabled", &true),
                    false => edit::remove(text, entry, "disabled"),
                })
            }),
        }
    }

    fn change(&mut self, change: impl Fn(&str, &Node) -> Option<String>) -> Result<(), ConfigError> {
        if self.root.get(SERVERS).is_none() {
            self.set_text(edit::set(&self.text, &self.root, SERVERS, &json!({})))?;
        }
        let servers = self.root.get(SERVERS);
        match servers.and_then(|servers| change(&self.text, servers)) {
            Some(text) => self.set_text(text),
            None => Ok(()),
        }
    }

    fn error(&self, name: &str, problem: ConfigErrorKind) -> ConfigError {
        ConfigError::new(format!("{SERVERS}.{name}"), problem).in_file(&self.path)
    }
}

impl std::fmt::Debug for ConfigFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("File")
            .field("path", &self.path)
            .field("servers", &self.servers)
            .finish_non_exhaustive()
    }
}

/// The parsed contents of a configuration file.
pub(crate) struct FileContents {
    pub(crate) servers: Vec<ServerEntry>,
    pub(crate) rules: Vec<Rule>,
    pub(crate) warnings: Vec<Warning>,
}

impl FileContents {
    fn read(root: &Node, text: &str) -> Result<Self, ConfigError> {
        let members = root.members().ok_or_else(|| ConfigError::not_an_object("", root, text))?;
        let mut warnings = Vec::new();
        let mut found = members.iter().filter(|member| member.key == SERVERS);
        let servers = match (found.next(), found.next()) {
            (Some(_), Some(duplicate)) => {
                let position = Position::in_text(text, duplicate.key_span.start);
                return Err(ConfigError::new(SERVERS, ConfigErrorKind::DuplicateKey).at(position));
            }
            (Some(member), None) => Self::entries(&member.node, text, &mut warnings)?,
            (None, _) => {
                let foreign = members.iter().find(|member| FOREIGN.contains(&member.key.as_str()));
                if let Some(member) = foreign {
                    let position = Position::in_text(text, member.key_span.start);
                    let text =
                        "servers belong under `mcpServers`; import the file if it is another program's";
                    warnings.push(Warning::new(&member.key, text).at(position));
                }
                Vec::new()
            }
        };
        let rules = Self::rules(root, text, &mut warnings);
        Ok(Self { servers, rules, warnings })
    }

    /// Reads the permission rules; an invalid rule is a warning.
    fn rules(root: &Node, text: &str, warnings: &mut Vec<Warning>) -> Vec<Rule> {
        let mut rules = Vec::new();
        for member in root.get(PERMISSIONS).and_then(Node::members).unwrap_or_default() {
            let field = format!("{PERMISSIONS}.{}", member.key);
            let position = Position::in_text(text, member.node.span.start);
            let mut warn = |text: String| warnings.push(Warning::new(&field, text).at(position));
            let verdict = match member.key.as_str() {
                "allow" => Verdict::Allow,
                "ask" => Verdict::Ask,
                "deny" => Verdict::Deny,
                _ => {
                    warn("expected `allow`, `ask` or `deny`".to_owned());
                    continue;
                }
            };
            let Value::List(patterns) = &member.node.value else {
                warn(format!("expected a list of patterns, found {}", member.node.type_name()));
                continue;
            };
            for pattern in patterns {
                match pattern.text().map(|pattern| Rule::new(verdict, pattern)) {
                    Some(Ok(rule)) => rules.push(rule),
                    Some(Err(error)) => warn(error.to_string()),
                    None => warn(format!(
                        "expected a pattern such as \"server/tool\", found {}",
                        pattern.type_name()
                    )),
                }
            }
        }
        rules
    }

    fn entries(
        node: &Node,
        text: &str,
        warnings: &mut Vec<Warning>,
    ) -> Result<Vec<ServerEntry>, ConfigError> {
        let members = node.members().ok_or_else(|| ConfigError::not_an_object(SERVERS, node, text))?;
        let mut servers: Vec<ServerEntry> = Vec::new();
        for member in members {
            let path = format!("{SERVERS}.{}", member.key);
            let entry = match ServerConfig::read(&member.node, text) {
                Ok(read) => {
                    warnings.extend(read.warnings.into_iter().map(|warning| warning.under(&path)));
                    Ok(read.entry)
                }
                Err(error) => Err(error.under(&path)),
            };
            match servers.iter_mut().find(|server| server.name == member.key) {
                Some(first) => {
                    let position = Position::in_text(text, member.key_span.start);
                    first.entry = Err(ConfigError::new(path, ConfigErrorKind::DuplicateKey).at(position));
                }
                None => servers.push(ServerEntry { name: member.key.clone(), entry }),
            }
        }
        Ok(servers)
    }
}

/// Keys under which other programs keep their servers.
const FOREIGN: [&str; 5] = ["servers", "mcp", "context_servers", "mcp_servers", "extensions"];
