//! Talks: scripted conversations, in which one side is ours and the other side is played.
//!
//! ```text
//! # dropping a call cancels it
//! revision: 2025-06-18 2025-11-25          one talk for each
//! role: client                             which side is ours
//! pin: $revision                           further settings, see `TalkSettings`
//! let: tools {"tools":{}}                  "$tools" below; {"$":"tools"} merges its members
//!
//! ! call_tool slow {}
//! > {"jsonrpc":"2.0","id":"<id:call>","method":"tools/call","...":true}
//! < {"jsonrpc":"2.0","id":"<id:call>","result":{}}
//! = {"content":[]}
//! ```

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;
use switchboard_protocol::Revision;

use crate::document::{BodyLine, Document, IncludedFile, Mark, UnknownVariable, Variables, parse_json};
use crate::error::SyntaxError;

/// Which side of a talk is ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TalkRole {
    /// Our side connects.
    Client,
    /// Our side is connected to.
    Server,
}

/// One talk in one revision.
#[derive(Debug, Clone)]
pub struct Talk {
    /// The path of its file, below the folder of talks.
    pub name: String,
    /// The revision of the protocol.
    pub revision: Revision,
    /// Our side.
    pub role: TalkRole,
    /// The other lines of the header.
    pub settings: TalkSettings,
    /// The body.
    pub steps: Vec<TalkStep>,
}

/// The header lines of a talk other than `revision`, `role` and `let`, by name: `pin`, `name`, `answers`, `capabilities`,
/// `tasks`, `known` and `probe` for a client, `offer` for a server.
#[derive(Debug, Clone, Default)]
pub struct TalkSettings(BTreeMap<String, String>);

const SETTINGS: [&str; 8] = ["pin", "name", "answers", "capabilities", "tasks", "known", "probe", "offer"];

impl TalkSettings {
    /// Returns the value of a setting.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }
}

/// One line of a talk.
#[derive(Debug, Clone)]
pub struct TalkStep {
    /// Its location: `file:line`.
    pub at: String,
    /// What it is.
    pub line: TalkLine,
}

/// A line of a talk, by its mark.
#[derive(Debug, Clone)]
pub enum TalkLine {
    /// A frame of the client.
    Client(TalkMessage),
    /// A frame of the server.
    Server(TalkMessage),
    /// A verb of our side.
    Verb(String),
    /// The outcome of the last verb.
    Outcome(ExpectedOutcome),
}

/// A frame of a talk.
#[derive(Debug, Clone)]
pub struct TalkMessage {
    /// The pattern of the message.
    pub json: Value,
    /// Whether it may change places with its neighbors of the same kind.
    pub any_order: bool,
}

/// The outcome of a verb.
#[derive(Debug, Clone)]
pub enum ExpectedOutcome {
    /// It succeeds with this value.
    Value(Value),
    /// It fails.
    Error {
        /// The kind of the error.
        kind: String,
        /// What the error says.
        detail: Option<Value>,
    },
}

impl Talk {
    /// Reads a file below `root`: a talk for each revision that it names.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or a line of it.
    pub fn read(root: &Path, path: &Path) -> Result<Vec<Self>, SyntaxError> {
        let name = path.strip_prefix(root).unwrap_or(path).display().to_string();
        let read = |at: &str, name: PathBuf| {
            let text = std::fs::read_to_string(root.join(&name))
                .map_err(|error| SyntaxError::new(at, format!("{}: {error}", name.display())))?;
            Ok(IncludedFile { name: name.display().to_string(), text })
        };
        let include = |at: &str, part: &str| {
            // The location is `file:line`.
            let including = Path::new(at.rsplit_once(':').map_or(at, |(file, _)| file));
            read(at, including.parent().unwrap_or(Path::new("")).join(part))
        };
        let document = Document::parse(&read(&name, PathBuf::from(&name))?, &include)?;
        Self::from_document(&name, &document)
    }

    fn from_document(name: &str, document: &Document) -> Result<Vec<Self>, SyntaxError> {
        let mut settings = TalkSettings::default();
        let (mut revisions, mut role, mut variables) = (Vec::new(), None, Variables::default());
        for line in &document.header {
            let error = |problem: String| SyntaxError::new(&line.at, problem);
            match line.key.as_str() {
                "revision" => {
                    let parsed: Result<Vec<Revision>, _> =
                        line.value.split_whitespace().map(str::parse).collect();
                    revisions = parsed.map_err(|problem| error(problem.to_string()))?;
                }
                "role" if line.value == "client" => role = Some(TalkRole::Client),
                "role" if line.value == "server" => role = Some(TalkRole::Server),
                "let" => variables.define(line)?,
                known if SETTINGS.contains(&known) => {
                    // The lines of the file itself take precedence over those of its parts.
                    settings.0.entry(known.to_owned()).or_insert_with(|| line.value.clone());
                }
                other => return Err(error(format!("no header line is called {other:?}"))),
            }
        }
        let role = role.ok_or_else(|| SyntaxError::new(name, "the header names no role"))?;
        if revisions.is_empty() {
            return Err(SyntaxError::new(name, "the header names no revision"));
        }
        revisions
            .into_iter()
            .map(|revision| {
                let mut variables = variables.clone();
                variables.set("revision", revision.as_str().into());
                let mut settings = settings.clone();
                settings
                    .0
                    .values_mut()
                    .for_each(|value| *value = value.replace("$revision", revision.as_str()));
                let steps =
                    document.body.iter().filter_map(|line| TalkStep::read(line, &variables).transpose());
                Ok(Self {
                    name: name.to_owned(),
                    revision,
                    role,
                    settings,
                    steps: steps.collect::<Result<_, _>>()?,
                })
            })
            .collect()
    }
}

impl TalkStep {
    fn read(line: &BodyLine, variables: &Variables) -> Result<Option<Self>, SyntaxError> {
        let BodyLine { at, mark, text } = line;
        let value = |json: &str| variables.fill(at, parse_json(at, json)?, UnknownVariable::Reject);
        let line = match *mark {
            Mark::Client { any_order } => TalkLine::Client(TalkMessage { json: value(text)?, any_order }),
            Mark::Server { any_order } => TalkLine::Server(TalkMessage { json: value(text)?, any_order }),
            Mark::Verb => TalkLine::Verb(variables.fill_text(at, text)?),
            Mark::Outcome => TalkLine::Outcome(match text.strip_prefix("error ") {
                None => ExpectedOutcome::Value(value(text)?),
                Some(error) => {
                    let (kind, detail) = error.split_once(' ').unwrap_or((error, ""));
                    let detail = if detail.is_empty() { None } else { Some(value(detail)?) };
                    ExpectedOutcome::Error { kind: kind.to_owned(), detail }
                }
            }),
            Mark::Time => return Ok(None),
            Mark::ClientText | Mark::ServerText => {
                return Err(SyntaxError::new(at, "frames that are no messages belong to recordings"));
            }
        };
        Ok(Some(Self { at: at.clone(), line }))
    }
}
