//! A file of servers: `{"mcpServers": {name: entry}}`.
//!
//! Invariants: one bad entry harms no other; a change keeps every byte it does not concern, also fields of other
//! programs; edits are applied to the text that is on disk when they are written, so concurrent edits are all kept.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::disk::{self, Owner};
use crate::document::{Node, Position, Syntax, Value};
use crate::edit;
use crate::fault::{Fault, Problem};
use crate::read::Warning;
use crate::rule::{Rule, Verdict};
use crate::server_config::ServerConfig;
use crate::update::update;

/// The key servers stand under.
const SERVERS: &str = "mcpServers";
/// The key rules about calls stand under.
const PERMISSIONS: &str = "permissions";

/// A server of a file, or what is wrong with it.
#[derive(Clone, Debug, PartialEq)]
pub struct Written {
    /// Its name.
    pub name: String,
    /// How it is written, or why it cannot be read.
    pub entry: Result<ServerConfig, Fault>,
}

/// An edit of a file, kept until it is written.
#[derive(Clone)]
enum Edit {
    Add { name: String, entry: Box<ServerConfig> },
    Set { name: String, entry: Box<ServerConfig> },
    Remove { name: String },
    SetDisabled { name: String, disabled: bool },
}

/// A file of servers, as read and as changed since.
#[derive(Clone)]
pub struct File {
    path: PathBuf,
    owner: Owner,
    text: String,
    /// Applied to `text` already, and not yet written.
    edits: Vec<Edit>,
    root: Node,
    servers: Vec<Written>,
    rules: Vec<Rule>,
    warnings: Vec<Warning>,
}

impl File {
    /// Opens a file of the user's own. One that does not exist is empty, and is created private when written.
    ///
    /// # Errors
    /// When it cannot be read, is not JSON, or could have been written by others. A bad entry is no error: see
    /// [`File::servers`].
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, Fault> {
        Self::open_as(path.into(), Owner::User)
    }

    /// Opens a file that is shared with others, such as a project's: it may be written by anybody, and its mode is
    /// kept.
    ///
    /// # Errors
    /// When it cannot be read or is not JSON.
    pub fn open_shared(path: impl Into<PathBuf>) -> Result<Self, Fault> {
        Self::open_as(path.into(), Owner::Shared)
    }

    fn open_as(path: PathBuf, owner: Owner) -> Result<Self, Fault> {
        let stored = disk::read(&path, owner, disk::LARGEST)?;
        Self::parse(path, owner, stored.as_deref())
    }

    fn parse(path: PathBuf, owner: Owner, stored: Option<&str>) -> Result<Self, Fault> {
        let text = stored.filter(|text| !text.trim().is_empty()).unwrap_or("{}\n").to_owned();
        let file = Self {
            path,
            owner,
            text: String::new(),
            edits: Vec::new(),
            root: Node::from_json(&json!({})),
            servers: Vec::new(),
            rules: Vec::new(),
            warnings: Vec::new(),
        };
        file.with_text(text)
    }

    /// The file with another text, read anew.
    fn with_text(mut self, text: String) -> Result<Self, Fault> {
        let in_file = |fault: Fault| fault.in_file(&self.path);
        let root = Node::parse(&text, Syntax::Strict)
            .map_err(|malformed| in_file(Fault::malformed(&text, &malformed)))?;
        let contents = Contents::read(&root, &text).map_err(in_file)?;
        self.servers = contents.servers;
        self.rules = contents.rules;
        for server in &mut self.servers {
            server.entry = std::mem::replace(&mut server.entry, Err(Fault::new("", Problem::NoServer)))
                .map_err(|fault| fault.in_file(&self.path));
        }
        self.warnings = contents.warnings.into_iter().map(|warning| warning.in_file(&self.path)).collect();
        self.root = root;
        self.text = text;
        Ok(self)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its servers, in their order.
    pub fn servers(&self) -> &[Written] {
        &self.servers
    }

    /// Its rules about calls: `{"permissions": {"deny": ["server/tool"], "ask": [], "allow": []}}`.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// What is odd about them.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// Adds a server, or replaces the one of that name.
    ///
    /// # Errors
    /// When the text cannot hold it.
    pub fn set(&mut self, name: &str, entry: &ServerConfig) -> Result<(), Fault> {
        self.record(Edit::Set { name: name.to_owned(), entry: Box::new(entry.clone()) })
    }

    /// Adds a server.
    ///
    /// # Errors
    /// When there is one of that name.
    pub fn add(&mut self, name: &str, entry: &ServerConfig) -> Result<(), Fault> {
        self.record(Edit::Add { name: name.to_owned(), entry: Box::new(entry.clone()) })
    }

    /// Takes a server out.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn remove(&mut self, name: &str) -> Result<(), Fault> {
        self.record(Edit::Remove { name: name.to_owned() })
    }

    /// Writes into a server's entry whether it is disabled; the rest of the entry stays as it is.
    ///
    /// # Errors
    /// When there is none of that name, or its entry is no object.
    pub fn set_disabled(&mut self, name: &str, disabled: bool) -> Result<(), Fault> {
        self.record(Edit::SetDisabled { name: name.to_owned(), disabled })
    }

    /// Stores the edits: one locked read-modify-write that applies them to the text that is on disk now. Afterwards this
    /// is the file as stored, with the edits of other programs.
    ///
    /// # Errors
    /// When the file cannot be written, or an edit no longer applies because another program changed the same server
    /// (it was added or removed meanwhile). Then nothing is stored.
    pub fn write(&mut self) -> Result<(), Fault> {
        if self.edits.is_empty() {
            return Ok(());
        }
        *self = update(&self.path, self.owner, disk::LARGEST, |stored| {
            let mut file = Self::parse(self.path.clone(), self.owner, stored)?;
            for edit in &self.edits {
                file.apply(edit)?;
            }
            Ok((file.text.clone(), file))
        })?;
        Ok(())
    }

    fn record(&mut self, edit: Edit) -> Result<(), Fault> {
        self.apply(&edit)?;
        self.edits.push(edit);
        Ok(())
    }

    fn apply(&mut self, edit: &Edit) -> Result<(), Fault> {
        let is_known = |name: &str| self.servers.iter().any(|server| server.name == name);
        match edit {
            Edit::Add { name, .. } if is_known(name) => Err(self.fault(name, Problem::Exists)),
            Edit::Add { name, entry } | Edit::Set { name, entry } => {
                self.change(|text, servers| Some(edit::set(text, servers, name, entry)))
            }
            Edit::Remove { name } | Edit::SetDisabled { name, .. } if !is_known(name) => {
                Err(self.fault(name, Problem::NoServer))
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

    fn change(&mut self, change: impl Fn(&str, &Node) -> Option<String>) -> Result<(), Fault> {
        if self.root.get(SERVERS).is_none() {
            *self = self.clone().with_text(edit::set(&self.text, &self.root, SERVERS, &json!({})))?;
        }
        let servers = self.root.get(SERVERS);
        if let Some(text) = servers.and_then(|servers| change(&self.text, servers)) {
            *self = self.clone().with_text(text)?;
        }
        Ok(())
    }

    fn fault(&self, name: &str, problem: Problem) -> Fault {
        Fault::new(format!("{SERVERS}.{name}"), problem).in_file(&self.path)
    }
}

impl std::fmt::Debug for File {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("File")
            .field("path", &self.path)
            .field("servers", &self.servers)
            .finish_non_exhaustive()
    }
}

/// The servers under a key of a document.
pub(crate) struct Contents {
    pub(crate) servers: Vec<Written>,
    pub(crate) rules: Vec<Rule>,
    pub(crate) warnings: Vec<Warning>,
}

impl Contents {
    fn read(root: &Node, text: &str) -> Result<Self, Fault> {
        let Some(members) = root.members() else {
            let problem = Problem::Mismatch { expected: "an object", found: root.kind() };
            return Err(Fault::new("", problem).at(Some(Position::of(text, root.span.start))));
        };
        let mut warnings = Vec::new();
        let mut found = members.iter().filter(|member| member.key == SERVERS);
        let servers = match (found.next(), found.next()) {
            (Some(_), Some(twice)) => {
                let position = Position::of(text, twice.key_span.start);
                return Err(Fault::new(SERVERS, Problem::Twice).at(Some(position)));
            }
            (Some(member), None) => Self::entries(&member.node, text, &mut warnings)?,
            (None, _) => {
                let foreign = members.iter().find(|member| FOREIGN.contains(&member.key.as_str()));
                if let Some(member) = foreign {
                    let position = Some(Position::of(text, member.key_span.start));
                    let text =
                        "servers stand under `mcpServers` here; import the file if it is another program's";
                    warnings.push(Warning { position, ..Warning::new(&member.key, text) });
                }
                Vec::new()
            }
        };
        let rules = Self::rules(root, text, &mut warnings);
        Ok(Self { servers, rules, warnings })
    }

    /// The rules about calls; of one that cannot be read a warning is given.
    fn rules(root: &Node, text: &str, warnings: &mut Vec<Warning>) -> Vec<Rule> {
        let mut rules = Vec::new();
        for member in root.get(PERMISSIONS).and_then(Node::members).unwrap_or_default() {
            let field = format!("{PERMISSIONS}.{}", member.key);
            let position = Some(Position::of(text, member.node.span.start));
            let mut warn = |said: String| warnings.push(Warning { position, ..Warning::new(&field, said) });
            let verdict = match member.key.as_str() {
                "allow" => Verdict::Allow,
                "ask" => Verdict::Ask,
                "deny" => Verdict::Deny,
                _ => {
                    warn("permissions are under `allow`, `ask` and `deny`".to_owned());
                    continue;
                }
            };
            let Value::List(patterns) = &member.node.value else {
                warn(format!("expected a list of patterns, found {}", member.node.kind()));
                continue;
            };
            for pattern in patterns {
                match pattern.text().map(|pattern| Rule::new(verdict, pattern)) {
                    Some(Ok(rule)) => rules.push(rule),
                    Some(Err(error)) => warn(error.to_string()),
                    None => {
                        warn(format!("expected a pattern such as \"server/tool\", found {}", pattern.kind()))
                    }
                }
            }
        }
        rules
    }

    fn entries(node: &Node, text: &str, warnings: &mut Vec<Warning>) -> Result<Vec<Written>, Fault> {
        let members = node.members().ok_or_else(|| {
            let problem = Problem::Mismatch { expected: "an object", found: node.kind() };
            Fault::new(SERVERS, problem).at(Some(Position::of(text, node.span.start)))
        })?;
        let mut servers: Vec<Written> = Vec::new();
        for member in members {
            let path = format!("{SERVERS}.{}", member.key);
            let entry = match ServerConfig::read(&member.node, text) {
                Ok(read) => {
                    warnings.extend(read.warnings.into_iter().map(|warning| warning.under(&path)));
                    Ok(read.entry)
                }
                Err(fault) => Err(fault.under(&path)),
            };
            match servers.iter_mut().find(|server| server.name == member.key) {
                Some(first) => {
                    let position = Position::of(text, member.key_span.start);
                    first.entry = Err(Fault::new(path, Problem::Twice).at(Some(position)));
                }
                None => servers.push(Written { name: member.key.clone(), entry }),
            }
        }
        Ok(servers)
    }
}

/// Where other programs keep their servers.
const FOREIGN: [&str; 5] = ["servers", "mcp", "context_servers", "mcp_servers", "extensions"];
