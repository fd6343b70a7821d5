//! Answers that were given, and for what.
//!
//! Invariants: an answer holds for one definition of one tool of one server, so a tool that changes is asked about
//! again. What was answered for good is stored in a file of the user's own; what was answered for the session is not.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::config::disk::{self, Owner};
use crate::config::update::update;
use crate::config::{Fault, Problem};
use crate::permission::approver::{Answer, Memory, Reply};
use crate::permission::definition::{DefinitionHash, ServerIdentity};

/// Answers are short and few; a file beyond this is not ours.
const LARGEST: u64 = 4 * 1024 * 1024;

/// What an answer is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key<'a> {
    /// The server.
    pub server: ServerIdentity,
    /// The tool, by the server's own name for it.
    pub tool: &'a str,
    /// The tool as it was defined.
    pub definition: DefinitionHash,
}

/// An answer that still holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recalled {
    /// Yes or no.
    pub answer: Answer,
    /// For how long.
    pub memory: Memory,
}

/// Answers that were given.
#[derive(Debug, Default)]
pub struct Ledger {
    /// With the tool's name, which the definition has too, but not to be read.
    session: HashMap<(ServerIdentity, DefinitionHash), (String, Answer)>,
    stored: Stored,
    /// Where lasting answers are kept; without one they last as long as the program.
    path: Option<PathBuf>,
}

/// By server, then by tool: the definition that was shown, and what was answered.
type Stored = BTreeMap<ServerIdentity, BTreeMap<String, Record>>;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Record {
    /// The server's name when it was answered, for people who read the file.
    name: String,
    definition: DefinitionHash,
    answer: Answer,
}

#[derive(Serialize, Deserialize)]
struct Document {
    answers: Stored,
}

impl Ledger {
    /// One that remembers nothing beyond the program.
    pub fn in_memory() -> Self {
        Self::default()
    }

    /// One that keeps lasting answers there.
    ///
    /// # Errors
    /// When the file cannot be read, could have been written by others, or is not one of answers.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, Fault> {
        let path = path.into();
        Ok(Self { session: HashMap::new(), stored: load(&path)?, path: Some(path) })
    }

    /// What was answered about exactly this. An answer of the session comes before a lasting one: it is the later.
    pub fn recall(&self, key: Key<'_>) -> Option<Recalled> {
        if let Some(&(_, answer)) = self.session.get(&(key.server, key.definition)) {
            return Some(Recalled { answer, memory: Memory::Session });
        }
        let record = self.stored.get(&key.server)?.get(key.tool)?;
        (record.definition == key.definition)
            .then_some(Recalled { answer: record.answer, memory: Memory::Always })
    }

    /// Whether something was answered about this tool of this server when it was defined otherwise.
    pub fn has_changed(&self, key: Key<'_>) -> bool {
        let stored = self.stored.get(&key.server).and_then(|tools| tools.get(key.tool));
        let session = || {
            let mut others = self.session.iter();
            others.any(|(&(server, definition), (tool, _))| {
                server == key.server && tool == key.tool && definition != key.definition
            })
        };
        stored.is_some_and(|record| record.definition != key.definition) || session()
    }

    /// Remembers an answer for as long as it says. `name` is the server's, for people who read the file.
    ///
    /// # Errors
    /// When a lasting answer cannot be stored; it then holds for the session.
    pub fn remember(&mut self, key: Key<'_>, name: &str, reply: Reply) -> Result<(), Fault> {
        match (reply.memory, self.path.clone()) {
            (Memory::Once, _) => Ok(()),
            (Memory::Session, _) | (Memory::Always, None) => {
                self.hold(key, reply.answer);
                Ok(())
            }
            (Memory::Always, Some(path)) => {
                let record =
                    Record { name: name.to_owned(), definition: key.definition, answer: reply.answer };
                let stored = change(&path, |stored| {
                    stored.entry(key.server).or_default().insert(key.tool.to_owned(), record.clone());
                });
                match stored {
                    Ok(stored) => {
                        self.session.remove(&(key.server, key.definition));
                        self.stored = stored;
                        Ok(())
                    }
                    Err(fault) => {
                        self.hold(key, reply.answer);
                        Err(fault)
                    }
                }
            }
        }
    }

    fn hold(&mut self, key: Key<'_>, answer: Answer) {
        self.session.insert((key.server, key.definition), (key.tool.to_owned(), answer));
    }

    /// Takes back what was answered about a tool, or about all tools of a server. Returns whether anything was.
    ///
    /// # Errors
    /// When that cannot be stored; it then still holds for the session that it does not.
    pub fn forget(&mut self, server: ServerIdentity, tool: Option<&str>) -> Result<bool, Fault> {
        let is_meant = |other: &str| tool.is_none_or(|tool| tool == other);
        let in_session = self.session.iter().any(|(key, (tool, _))| key.0 == server && is_meant(tool));
        let is_stored = |stored: &Stored| {
            stored.get(&server).is_some_and(|tools| tools.keys().any(|tool| is_meant(tool)))
        };
        let is_forgotten = in_session || is_stored(&self.stored);
        self.session.retain(|key, (tool, _)| key.0 != server || !is_meant(tool));
        let drop_from = |stored: &mut Stored| {
            if let Some(tools) = stored.get_mut(&server) {
                tools.retain(|name, _| !is_meant(name));
            }
            stored.retain(|_, tools| !tools.is_empty());
        };
        drop_from(&mut self.stored);
        if let Some(path) = &self.path {
            self.stored = change(path, drop_from)?;
        }
        Ok(is_forgotten)
    }
}

fn change(path: &Path, change: impl Fn(&mut Stored)) -> Result<Stored, Fault> {
    update(path, Owner::User, LARGEST, |text| {
        let mut document = Document { answers: parse(path, text)? };
        change(&mut document.answers);
        let text = serde_json::to_string_pretty(&document)
            .map_err(|error| disk::failed(path, "write it", &error.into()))?;
        Ok((text + "\n", document.answers))
    })
}

fn load(path: &Path) -> Result<Stored, Fault> {
    parse(path, disk::read(path, Owner::User, LARGEST)?.as_deref())
}

fn parse(path: &Path, text: Option<&str>) -> Result<Stored, Fault> {
    let Some(text) = text else { return Ok(Stored::new()) };
    let document: Result<Document, _> = serde_json::from_str(text);
    let document = document.map_err(|error| {
        let what = format!("this is not a file of answers ({error}); move it away to begin anew");
        Fault::new("", Problem::Syntax { what }).in_file(path)
    })?;
    Ok(document.answers)
}
