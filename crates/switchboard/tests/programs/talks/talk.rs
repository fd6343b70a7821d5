//! The form of a talk: a header, then what goes over the wire and what is done to our side, line by line.
//!
//! ```text
//! # dropping a call cancels it
//! revision: 2025-06-18 2025-11-25          one test for each
//! role: client                             which side is ours; the runner plays the other
//! pin: $revision                           further settings, see `Settings`
//! let: tools {"tools":{}}                  "$tools" below; {"$":"tools"} merges its members
//!
//! @ open.part                              the lines of another file, here
//! ! call_tool slow {}                      a verb of our side
//! > {"jsonrpc":"2.0","id":"<id:call>",     the client's line; indented lines belong to it
//!    "method":"tools/call","...":true}
//! < {"jsonrpc":"2.0", ...}                 the server's line
//! = {"content":[]}                         what the last verb gave
//! ~ a remark
//! ```
//!
//! `>?` and `<?` mark neighbours that may come in any order.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;
use switchboard::protocol::Revision;

/// Which side is ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Role {
    Client,
    Server,
}

/// One talk in one revision.
#[derive(Debug, Clone)]
pub(crate) struct Talk {
    /// Where it stands, below the folder of talks.
    pub(crate) name: String,
    pub(crate) revision: Revision,
    pub(crate) role: Role,
    pub(crate) settings: Settings,
    pub(crate) steps: Vec<Step>,
}

/// The other lines of a header, by name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Settings(BTreeMap<String, String>);

impl Settings {
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }
}

/// The settings a talk may have: `pin`, `name`, `answers`, `capabilities`, `tasks`, `known` and `probe` for a client,
/// `offer` for a server.
const SETTINGS: [&str; 8] = ["pin", "name", "answers", "capabilities", "tasks", "known", "probe", "offer"];

/// One line of a talk.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    /// `file:line`.
    pub(crate) at: String,
    pub(crate) line: Line,
}

/// What a line says.
#[derive(Debug, Clone)]
pub(crate) enum Line {
    /// The client's line.
    Client(Message),
    /// The server's line.
    Server(Message),
    /// A verb of our side.
    Do(String),
    /// What the last verb gave.
    Gives(Expected),
}

/// A message on the wire.
#[derive(Debug, Clone)]
pub(crate) struct Message {
    pub(crate) json: Value,
    /// May change places with its neighbours of the same kind.
    pub(crate) any_order: bool,
}

/// How a verb ends.
#[derive(Debug, Clone)]
pub(crate) enum Expected {
    Value(Value),
    Error { kind: String, detail: Option<Value> },
}

/// Reads one file: a talk for each revision it names.
pub(crate) fn read(root: &Path, path: &Path) -> Result<Vec<Talk>, String> {
    let name = path.strip_prefix(root).unwrap_or(path).display().to_string();
    let lines = load(root, path)?;
    let header_len = lines.iter().position(|(_, line)| line.starts_with(MARKS)).unwrap_or(lines.len());
    let (header, body) = lines.split_at(header_len);
    let mut settings = Settings::default();
    let (mut revisions, mut role, mut lets) = (Vec::new(), None, BTreeMap::new());
    for (at, line) in header {
        let Some((key, value)) = line.split_once(':').filter(|_| !line.starts_with('#')) else { continue };
        let value = value.trim();
        match key {
            "revision" => {
                let parsed: Result<Vec<Revision>, _> = value.split_whitespace().map(str::parse).collect();
                revisions = parsed.map_err(|error| format!("{at}: {error}"))?;
            }
            "role" if value == "client" => role = Some(Role::Client),
            "role" if value == "server" => role = Some(Role::Server),
            "let" => {
                let (name, json) = value.split_once(' ').ok_or_else(|| format!("{at}: let NAME JSON"))?;
                lets.insert(name.to_owned(), parse(at, json)?);
            }
            known if SETTINGS.contains(&known) => {
                // What the talk says itself stands before what its parts say.
                settings.0.entry(key.to_owned()).or_insert_with(|| value.to_owned());
            }
            other => return Err(format!("{at}: no header line is called {other:?}")),
        }
    }
    let role = role.ok_or_else(|| format!("{name}: the header names no role"))?;
    if revisions.is_empty() {
        return Err(format!("{name}: the header names no revision"));
    }
    revisions
        .into_iter()
        .map(|revision| {
            let mut lets = lets.clone();
            lets.insert("revision".to_owned(), revision.as_str().into());
            let mut settings = settings.clone();
            settings.0.values_mut().for_each(|value| *value = value.replace("$revision", revision.as_str()));
            let steps = body.iter().map(|(at, line)| step(at, line, &lets)).collect::<Result<_, _>>()?;
            Ok(Talk { name: name.clone(), revision, role, settings, steps })
        })
        .collect()
}

/// What the lines of a body begin with.
const MARKS: [char; 4] = ['>', '<', '!', '='];

/// The lines of a file, with those of its parts in place, joined where they go on, remarks left out.
fn load(root: &Path, path: &Path) -> Result<Vec<(String, String)>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let name = path.strip_prefix(root).unwrap_or(path).display().to_string();
    let mut lines: Vec<(String, String)> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let at = format!("{name}:{}", number + 1);
        if line.trim().is_empty() || line.starts_with('~') {
            continue;
        }
        if line.starts_with(char::is_whitespace) {
            let (_, last) = lines.last_mut().ok_or_else(|| format!("{at}: nothing to go on with"))?;
            last.push_str(line.trim());
        } else if let Some(part) = line.strip_prefix("@ ") {
            let part: PathBuf = path.parent().unwrap_or(root).join(part.trim());
            lines.extend(load(root, &part)?);
        } else {
            lines.push((at, line.trim_end().to_owned()));
        }
    }
    // A part may bring header lines too: those belong in front.
    let (mut header, body): (Vec<_>, Vec<_>) =
        lines.into_iter().partition(|(_, line)| !line.starts_with(MARKS));
    header.extend(body);
    Ok(header)
}

fn step(at: &str, line: &str, lets: &BTreeMap<String, Value>) -> Result<Step, String> {
    let (mark, rest) = line.split_once(' ').unwrap_or((line, ""));
    let message = |any_order| -> Result<Message, String> {
        Ok(Message { json: fill(at, parse(at, rest)?, lets)?, any_order })
    };
    let line = match mark {
        ">" => Line::Client(message(false)?),
        ">?" => Line::Client(message(true)?),
        "<" => Line::Server(message(false)?),
        "<?" => Line::Server(message(true)?),
        "!" => Line::Do(fill_text(rest, lets)),
        "=" => Line::Gives(match rest.strip_prefix("error ") {
            None => Expected::Value(fill(at, parse(at, rest)?, lets)?),
            Some(error) => {
                let (kind, detail) = error.split_once(' ').unwrap_or((error, ""));
                let detail = if detail.is_empty() { None } else { Some(fill(at, parse(at, detail)?, lets)?) };
                Expected::Error { kind: kind.to_owned(), detail }
            }
        }),
        other => return Err(format!("{at}: no line begins with {other:?}")),
    };
    Ok(Step { at: at.to_owned(), line })
}

fn parse(at: &str, json: &str) -> Result<Value, String> {
    serde_json::from_str(json).map_err(|error| format!("{at}: {error}: {json}"))
}

fn fill_text(text: &str, lets: &BTreeMap<String, Value>) -> String {
    lets.iter().fold(text.to_owned(), |text, (name, value)| {
        text.replace(&format!("\"${name}\""), &value.to_string())
    })
}

/// Puts the values of `let` lines in place.
fn fill(at: &str, json: Value, lets: &BTreeMap<String, Value>) -> Result<Value, String> {
    let find = |name: &str| lets.get(name).cloned().ok_or_else(|| format!("{at}: no let is called {name:?}"));
    Ok(match json {
        Value::String(text) => match text.strip_prefix('$') {
            Some(name) => fill(at, find(name)?, lets)?,
            None => Value::String(text),
        },
        Value::Array(items) => {
            items.into_iter().map(|item| fill(at, item, lets)).collect::<Result<Vec<_>, _>>()?.into()
        }
        Value::Object(members) => {
            let mut filled = serde_json::Map::new();
            for (key, value) in members {
                match (key.as_str(), &value) {
                    ("$", Value::String(name)) => match fill(at, find(name)?, lets)? {
                        Value::Object(merged) => filled.extend(merged),
                        _ => return Err(format!("{at}: {name:?} is no object to merge")),
                    },
                    _ => _ = filled.insert(key, fill(at, value, lets)?),
                }
            }
            filled.into()
        }
        other => other,
    })
}
