//! Remembered answers about calls.
//!
//! Invariants: an answer is about one definition of one tool of one server, so a changed tool is asked about again.
//! Permanent answers are stored in a file of the user; answers for the session are not.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::config::disk::{self, Owner};
use crate::config::update::update;
use crate::config::{ConfigError, ConfigErrorKind};
use crate::permission::approver::{AnswerLifetime, ApprovalAnswer, ApprovalReply};
use crate::permission::definition::{DefinitionHash, ServerIdentity};

/// Size limit of the file: answers are short and few.
const MAX_FILE_BYTES: u64 = 4 * 1024 * 1024;

/// Identifies what an answer is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnswerKey<'a> {
    /// The identity of the server.
    pub server: ServerIdentity,
    /// The name of the tool on the server.
    pub tool: &'a str,
    /// The hash of the definition.
    pub definition: DefinitionHash,
}

/// A remembered answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RememberedAnswer {
    /// The answer.
    pub answer: ApprovalAnswer,
    /// How long it is valid.
    pub lifetime: AnswerLifetime,
}

/// The remembered answers of a user.
#[derive(Debug, Default)]
pub struct Ledger {
    /// Answers for the session, with the name of the tool.
    session: HashMap<(ServerIdentity, DefinitionHash), (String, ApprovalAnswer)>,
    stored: StoredAnswers,
    /// The file of permanent answers; without one they are valid for the session.
    path: Option<PathBuf>,
}

/// Permanent answers by server, then by tool.
type StoredAnswers = BTreeMap<ServerIdentity, BTreeMap<String, AnswerRecord>>;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct AnswerRecord {
    /// The name of the server at that time, for people who read the file.
    name: String,
    definition: DefinitionHash,
    answer: ApprovalAnswer,
}

#[derive(Serialize, Deserialize)]
struct AnswersFile {
    answers: StoredAnswers,
}

impl Ledger {
    /// Creates a ledger without a file.
    pub fn in_memory() -> Self {
        Self::default()
    }

    /// Reads a file of answers; permanent answers are stored there. A missing file is empty.
    ///
    /// # Errors
    /// When the file cannot be read, could have been written by others, or is not a file of answers.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, ConfigError> {
        let path = path.into();
        Ok(Self { session: HashMap::new(), stored: load(&path)?, path: Some(path) })
    }

    /// Returns the answer about exactly this. An answer of the session wins over a permanent one: it is newer.
    pub fn recall(&self, key: AnswerKey<'_>) -> Option<RememberedAnswer> {
        if let Some(&(_, answer)) = self.session.get(&(key.server, key.definition)) {
            return Some(RememberedAnswer { answer, lifetime: AnswerLifetime::Session });
        }
        let record = self.stored.get(&key.server)?.get(key.tool)?;
        (record.definition == key.definition)
            .then_some(RememberedAnswer { answer: record.answer, lifetime: AnswerLifetime::Always })
    }

    /// Returns whether there is an answer about another definition of this tool.
    pub fn has_changed(&self, key: AnswerKey<'_>) -> bool {
        let stored = self.stored.get(&key.server).and_then(|tools| tools.get(key.tool));
        let session = || {
            let mut others = self.session.iter();
            others.any(|(&(server, definition), (tool, _))| {
                server == key.server && tool == key.tool && definition != key.definition
            })
        };
        stored.is_some_and(|record| record.definition != key.definition) || session()
    }

    /// Remembers an answer for its lifetime. `name` is the name of the server, for people who read the file.
    ///
    /// # Errors
    /// When a permanent answer cannot be stored; it is then valid for the session.
    pub fn remember(
        &mut self,
        key: AnswerKey<'_>,
        name: &str,
        reply: ApprovalReply,
    ) -> Result<(), ConfigError> {
        match (reply.lifetime, self.path.clone()) {
            (AnswerLifetime::Once, _) => Ok(()),
            (AnswerLifetime::Session, _) | (AnswerLifetime::Always, None) => {
                self.remember_for_session(key, reply.answer);
                Ok(())
            }
            (AnswerLifetime::Always, Some(path)) => {
                let record =
                    AnswerRecord { name: name.to_owned(), definition: key.definition, answer: reply.answer };
                let stored = change(&path, |stored| {
                    stored.entry(key.server).or_default().insert(key.tool.to_owned(), record.clone());
                });
                match stored {
                    Ok(stored) => {
                        self.session.remove(&(key.server, key.definition));
                        self.stored = stored;
                        Ok(())
                    }
                    Err(error) => {
                        self.remember_for_session(key, reply.answer);
                        Err(error)
                    }
                }
            }
        }
    }

    fn remember_for_session(&mut self, key: AnswerKey<'_>, answer: ApprovalAnswer) {
        self.session.insert((key.server, key.definition), (key.tool.to_owned(), answer));
    }

    /// Revokes the answers about a tool, or about all tools of a server. Returns whether there was one.
    ///
    /// # Errors
    /// When the change cannot be stored; the answers are then revoked for the session.
    pub fn forget(&mut self, server: ServerIdentity, tool: Option<&str>) -> Result<bool, ConfigError> {
        let is_meant = |other: &str| tool.is_none_or(|tool| tool == other);
        let in_session = self.session.iter().any(|(key, (tool, _))| key.0 == server && is_meant(tool));
        let is_stored = |stored: &StoredAnswers| {
            stored.get(&server).is_some_and(|tools| tools.keys().any(|tool| is_meant(tool)))
        };
        let is_forgotten = in_session || is_stored(&self.stored);
        self.session.retain(|key, (tool, _)| key.0 != server || !is_meant(tool));
        let drop_from = |stored: &mut StoredAnswers| {
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

fn change(path: &Path, change: impl Fn(&mut StoredAnswers)) -> Result<StoredAnswers, ConfigError> {
    update(path, Owner::User, MAX_FILE_BYTES, |text| {
        let mut document = AnswersFile { answers: parse(path, text)? };
        change(&mut document.answers);
        let text = serde_json::to_string_pretty(&document)
            .map_err(|error| disk::io_error(path, "write it", &error.into()))?;
        Ok((text + "\n", document.answers))
    })
}

fn load(path: &Path) -> Result<StoredAnswers, ConfigError> {
    parse(path, disk::read(path, Owner::User, MAX_FILE_BYTES)?.as_deref())
}

fn parse(path: &Path, text: Option<&str>) -> Result<StoredAnswers, ConfigError> {
    let Some(text) = text else { return Ok(StoredAnswers::new()) };
    let document: Result<AnswersFile, _> = serde_json::from_str(text);
    let document = document.map_err(|error| {
        let what = format!("this is not a file of answers ({error}); move it away to start over");
        ConfigError::new("", ConfigErrorKind::Syntax { what }).in_file(path)
    })?;
    Ok(document.answers)
}
