//! From a JSON object to an [`ServerConfig`]: each field once, with the place of what does not fit.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use switchboard_http::Secret;

use crate::document::{Member, Node, Position, Value};
use crate::fault::{Fault, Problem};
use crate::server_config::{Binding, Kind, ServerConfig, Settings};
use crate::start::Restart;
use crate::visible::visible;

/// What the programs before us call the streamable form of HTTP.
const HTTP_WORDS: [&str; 4] = ["http", "streamable-http", "streamableHttp", "streamable_http"];
const LONGEST_WAIT: u64 = 24 * 60 * 60 * 1000;

/// Something that was read, but probably does not mean what was meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    pub(crate) file: Option<PathBuf>,
    pub(crate) position: Option<Position>,
    pub(crate) field: String,
    pub(crate) text: String,
}

impl Warning {
    pub(crate) fn new(field: impl Into<String>, text: impl Into<String>) -> Self {
        Self { file: None, position: None, field: field.into(), text: text.into() }
    }

    pub(crate) fn in_file(mut self, file: &Path) -> Self {
        self.file.get_or_insert_with(|| file.to_owned());
        self
    }

    pub(crate) fn under(mut self, path: &str) -> Self {
        self.field = if self.field.is_empty() { path.to_owned() } else { format!("{path}.{}", self.field) };
        self
    }

    /// The path of the field, like `mcpServers.github.tpye`.
    pub fn field(&self) -> &str {
        &self.field
    }

    /// What is odd about it.
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{}:", visible(&file.to_string_lossy()))?;
        }
        if let Some(Position { line, column }) = self.position {
            write!(f, "{line}:{column}:")?;
        }
        if self.file.is_some() || self.position.is_some() {
            write!(f, " ")?;
        }
        write!(f, "{}: {}", visible(&self.field), visible(&self.text))
    }
}

/// An entry, and what was odd about it.
#[derive(Clone, Debug)]
pub(crate) struct Read {
    pub(crate) entry: ServerConfig,
    pub(crate) warnings: Vec<Warning>,
}

impl ServerConfig {
    /// Reads an entry. `text` is what the node was parsed from, for places; empty if it was not.
    pub(crate) fn read(node: &Node, text: &str) -> Result<Read, Fault> {
        let mut fields = Fields::new(node, text)?;
        let kind = kind(&mut fields)?;
        let settings = settings(&mut fields)?;
        let (unknown, warnings) = fields.rest(kind.word());
        Ok(Read { entry: Self { kind, settings, unknown }, warnings })
    }
}

fn kind(fields: &mut Fields<'_>) -> Result<Kind, Fault> {
    let word = fields.take("type", text)?;
    let word = match word.as_deref() {
        Some(word) => word,
        None => match (fields.has("command"), fields.has("url")) {
            (true, true) => {
                let problem = Problem::Contradiction { kind: "stdio", field: "url" };
                return Err(fields.fault("url", problem));
            }
            (true, false) => "stdio",
            (false, true) => "http",
            (false, false) => return Err(fields.fault("", Problem::NoReach)),
        },
    };
    match word {
        "stdio" => stdio(fields),
        "sse" => http(fields, Binding::Sse, "sse"),
        word if HTTP_WORDS.contains(&word) => http(fields, Binding::Streamable, "http"),
        "sdk" => {
            fields.refuse("sdk", &["command", "url"])?;
            Ok(Kind::Sdk { name: fields.need("sdk", "name")? })
        }
        "claudeai-proxy" => {
            fields.refuse("claudeai-proxy", &["command"])?;
            let url = fields.need("claudeai-proxy", "url")?;
            Ok(Kind::Proxy { url, id: fields.need("claudeai-proxy", "id")? })
        }
        other => {
            let word = other.chars().take(40).filter(|char| !char.is_control()).collect();
            Err(fields.fault("type", Problem::UnknownType { word }))
        }
    }
}

fn stdio(fields: &mut Fields<'_>) -> Result<Kind, Fault> {
    fields.refuse("stdio", &["url"])?;
    Ok(Kind::Stdio {
        command: fields.need("stdio", "command")?,
        args: fields.take("args", texts)?.unwrap_or_default(),
        env: fields.take("env", secrets)?.unwrap_or_default(),
        inherit_env: fields.take("inheritEnv", texts)?.unwrap_or_default(),
        cwd: fields.take("cwd", text)?,
    })
}

fn http(fields: &mut Fields<'_>, binding: Binding, word: &'static str) -> Result<Kind, Fault> {
    fields.refuse(word, &["command"])?;
    Ok(Kind::Http {
        url: fields.need(word, "url")?,
        headers: fields.take("headers", secrets)?.unwrap_or_default(),
        binding,
        allow_http: fields.take("allowHttp", truth)?.unwrap_or_default(),
    })
}

fn settings(fields: &mut Fields<'_>) -> Result<Settings, Fault> {
    Ok(Settings {
        disabled: fields.take("disabled", truth)?.unwrap_or_default(),
        required: fields.take("required", truth)?.unwrap_or_default(),
        lazy: fields.take("lazy", truth)?.unwrap_or_default(),
        trust: fields.take("trust", truth)?.unwrap_or_default(),
        timeout: fields.take("timeout", milliseconds)?,
        startup_timeout: fields.take("startupTimeout", milliseconds)?,
        restart: fields.take("restart", restart)?,
        allow_tools: fields.take("allowTools", texts)?.unwrap_or_default(),
        deny_tools: fields.take("denyTools", texts)?.unwrap_or_default(),
    })
}

/// The members of an entry, each read at most once.
struct Fields<'a> {
    members: &'a [Member],
    taken: Vec<&'a str>,
    whole: &'a Node,
    text: &'a str,
}

impl<'a> Fields<'a> {
    fn new(node: &'a Node, text: &'a str) -> Result<Self, Fault> {
        let place = |span: usize| (!text.is_empty()).then(|| Position::of(text, span));
        let members = node.members().ok_or_else(|| {
            let problem = Problem::Mismatch { expected: "an object", found: node.kind() };
            Fault::new("", problem).at(place(node.span.start))
        })?;
        for (index, member) in members.iter().enumerate() {
            if members[..index].iter().any(|earlier| earlier.key == member.key) {
                // Programs differ in which of the two counts, so one could be approved and the other run.
                return Err(Fault::new(&member.key, Problem::Twice).at(place(member.key_span.start)));
            }
        }
        Ok(Self { members, taken: Vec::new(), whole: node, text })
    }

    fn find(&self, key: &str) -> Option<&'a Member> {
        let found = self.members.iter().find(|member| member.key == key);
        found.filter(|member| member.node.value != Value::Null)
    }

    fn has(&self, key: &str) -> bool {
        self.find(key).is_some()
    }

    fn fault(&self, key: &str, problem: Problem) -> Fault {
        let span = self.find(key).map_or(&self.whole.span, |member| &member.key_span);
        Fault::new(key, problem).at(self.place(span.start))
    }

    fn place(&self, byte: usize) -> Option<Position> {
        (!self.text.is_empty()).then(|| Position::of(self.text, byte))
    }

    fn take<T>(
        &mut self,
        key: &'static str,
        read: fn(&Node) -> Result<T, Unfit>,
    ) -> Result<Option<T>, Fault> {
        self.taken.push(key);
        let Some(member) = self.find(key) else { return Ok(None) };
        let read = read(&member.node).map_err(|unfit| {
            Fault::new(format!("{key}{}", unfit.inside), unfit.problem).at(self.place(unfit.at))
        })?;
        Ok(Some(read))
    }

    /// A text that must be there.
    fn need(&mut self, kind: &'static str, key: &'static str) -> Result<String, Fault> {
        let found = self.take(key, text)?;
        found.ok_or_else(|| self.fault("", Problem::Missing { kind, needs: key }))
    }

    /// Fields that would reach another server than the type says.
    fn refuse(&self, kind: &'static str, keys: &[&'static str]) -> Result<(), Fault> {
        match keys.iter().find(|key| self.has(key)) {
            Some(field) => Err(self.fault(field, Problem::Contradiction { kind, field })),
            None => Ok(()),
        }
    }

    /// What was not read, to be kept.
    fn rest(self, kind: &'static str) -> (Vec<(String, serde_json::Value)>, Vec<Warning>) {
        const OF_OTHER_KINDS: [&str; 9] =
            ["args", "env", "inheritEnv", "cwd", "headers", "allowHttp", "name", "id", "url"];
        let rest = self.members.iter().filter(|member| !self.taken.contains(&member.key.as_str()));
        rest.map(|member| {
            let text = match OF_OTHER_KINDS.contains(&member.key.as_str()) {
                true => format!("a server of type `{kind}` does not use this"),
                false => "not known, so kept and not used".to_owned(),
            };
            let position = self.place(member.key_span.start);
            let warning = Warning { position, ..Warning::new(&member.key, text) };
            ((member.key.clone(), member.node.to_json()), warning)
        })
        .unzip()
    }
}

/// A value that does not fit its field.
struct Unfit {
    /// The way from the field to it.
    inside: String,
    at: usize,
    problem: Problem,
}

fn unfit(node: &Node, problem: Problem) -> Unfit {
    Unfit { inside: String::new(), at: node.span.start, problem }
}

fn mismatch(node: &Node, expected: &'static str) -> Unfit {
    unfit(node, Problem::Mismatch { expected, found: node.kind() })
}

fn text(node: &Node) -> Result<String, Unfit> {
    node.text().map(str::to_owned).ok_or_else(|| mismatch(node, "a text in double quotes"))
}

fn truth(node: &Node) -> Result<bool, Unfit> {
    match node.value {
        Value::Bool(truth) => Ok(truth),
        _ => Err(mismatch(node, "true or false")),
    }
}

fn texts(node: &Node) -> Result<Vec<String>, Unfit> {
    let Value::List(items) = &node.value else { return Err(mismatch(node, "a list of texts")) };
    let read = |(index, item)| text(item).map_err(|unfit| Unfit { inside: format!("[{index}]"), ..unfit });
    items.iter().enumerate().map(read).collect()
}

fn secrets(node: &Node) -> Result<BTreeMap<String, Secret>, Unfit> {
    let members = node.members().ok_or_else(|| mismatch(node, "an object of texts"))?;
    let mut map = BTreeMap::new();
    for member in members {
        let inside = format!(".{}", member.key);
        let value = match text(&member.node) {
            Ok(value) => Secret::new(value),
            Err(unfit) => return Err(Unfit { inside, ..unfit }),
        };
        if map.insert(member.key.clone(), value).is_some() {
            return Err(Unfit { inside, at: member.key_span.start, problem: Problem::Twice });
        }
    }
    Ok(map)
}

fn milliseconds(node: &Node) -> Result<Duration, Unfit> {
    let Value::Number(number) = &node.value else { return Err(mismatch(node, "a number of milliseconds")) };
    match number.as_u64() {
        Some(time @ 1..=LONGEST_WAIT) => Ok(Duration::from_millis(time)),
        _ => Err(unfit(node, Problem::Range { range: "a whole number of milliseconds, from 1 to one day" })),
    }
}

fn restart(node: &Node) -> Result<Restart, Unfit> {
    const RANGE: Problem = Problem::Range { range: "\"never\", or a number of tries from 1 to 1000" };
    match &node.value {
        Value::Text(word) if word == "never" => Ok(Restart::Never),
        Value::Number(number) => match number.as_u64() {
            Some(most @ 1..=1000) => Ok(Restart::WithBackoff { most: most as u32 }),
            _ => Err(unfit(node, RANGE)),
        },
        _ => Err(unfit(node, RANGE)),
    }
}
