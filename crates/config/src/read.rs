//! Reads a [`ServerConfig`] from a JSON object; errors have the position of the field.

use std::collections::BTreeMap;
use std::time::Duration;

use switchboard_http::Secret;

use crate::document::{Member, Node, Position, Value};
use crate::error::{ConfigError, ConfigErrorKind};
use crate::server_config::{Binding, ServerConfig, Settings, TransportConfig};
use crate::start::RestartPolicy;
use crate::warning::Warning;

/// Values of `type` that other programs use for streamable HTTP.
const HTTP_TYPE_NAMES: [&str; 4] = ["http", "streamable-http", "streamableHttp", "streamable_http"];
const MAX_TIMEOUT_MS: u64 = 24 * 60 * 60 * 1000;

/// An entry and the warnings about it.
#[derive(Clone, Debug)]
pub(crate) struct ParsedEntry {
    pub(crate) entry: ServerConfig,
    pub(crate) warnings: Vec<Warning>,
}

impl ServerConfig {
    /// Reads an entry. `text` is the text the node was parsed from, for positions; it may be empty.
    pub(crate) fn read(node: &Node, text: &str) -> Result<ParsedEntry, ConfigError> {
        let mut fields = FieldReader::new(node, text)?;
        let transport = transport(&mut fields)?;
        let settings = settings(&mut fields)?;
        let (unknown, warnings) = fields.into_unknown(transport.type_name());
        Ok(ParsedEntry { entry: Self { transport, settings, unknown }, warnings })
    }
}

fn transport(fields: &mut FieldReader<'_>) -> Result<TransportConfig, ConfigError> {
    let word = fields.read("type", text)?;
    let word = match word.as_deref() {
        Some(word) => word,
        None => match (fields.has("command"), fields.has("url")) {
            (true, true) => {
                let problem = ConfigErrorKind::Contradiction { server_type: "stdio", field: "url" };
                return Err(fields.error("url", problem));
            }
            (true, false) => "stdio",
            (false, true) => "http",
            (false, false) => return Err(fields.error("", ConfigErrorKind::MissingTransport)),
        },
    };
    match word {
        "stdio" => stdio(fields),
        "sse" => http(fields, Binding::Sse, "sse"),
        word if HTTP_TYPE_NAMES.contains(&word) => http(fields, Binding::Streamable, "http"),
        "sdk" => {
            fields.reject("sdk", &["command", "url"])?;
            Ok(TransportConfig::Sdk { name: fields.require("sdk", "name")? })
        }
        "claudeai-proxy" => {
            fields.reject("claudeai-proxy", &["command"])?;
            let url = fields.require("claudeai-proxy", "url")?;
            Ok(TransportConfig::Proxy { url, id: fields.require("claudeai-proxy", "id")? })
        }
        other => {
            let word = other.chars().take(40).filter(|char| !char.is_control()).collect();
            Err(fields.error("type", ConfigErrorKind::UnknownType { word }))
        }
    }
}

fn stdio(fields: &mut FieldReader<'_>) -> Result<TransportConfig, ConfigError> {
    fields.reject("stdio", &["url"])?;
    Ok(TransportConfig::Stdio {
        command: fields.require("stdio", "command")?,
        args: fields.read("args", texts)?.unwrap_or_default(),
        env: fields.read("env", secrets)?.unwrap_or_default(),
        inherit_env: fields.read("inheritEnv", texts)?.unwrap_or_default(),
        cwd: fields.read("cwd", text)?,
    })
}

fn http(
    fields: &mut FieldReader<'_>,
    binding: Binding,
    word: &'static str,
) -> Result<TransportConfig, ConfigError> {
    fields.reject(word, &["command"])?;
    Ok(TransportConfig::Http {
        url: fields.require(word, "url")?,
        headers: fields.read("headers", secrets)?.unwrap_or_default(),
        binding,
        allow_http: fields.read("allowHttp", boolean)?.unwrap_or_default(),
    })
}

fn settings(fields: &mut FieldReader<'_>) -> Result<Settings, ConfigError> {
    Ok(Settings {
        disabled: fields.read("disabled", boolean)?.unwrap_or_default(),
        required: fields.read("required", boolean)?.unwrap_or_default(),
        lazy: fields.read("lazy", boolean)?.unwrap_or_default(),
        trust: fields.read("trust", boolean)?.unwrap_or_default(),
        timeout: fields.read("timeout", milliseconds)?,
        startup_timeout: fields.read("startupTimeout", milliseconds)?,
        restart: fields.read("restart", restart)?,
        allow_tools: fields.read("allowTools", texts)?.unwrap_or_default(),
        deny_tools: fields.read("denyTools", texts)?.unwrap_or_default(),
    })
}

/// Reads the members of an entry and remembers which were read.
struct FieldReader<'a> {
    members: &'a [Member],
    read_keys: Vec<&'a str>,
    whole: &'a Node,
    text: &'a str,
}

impl<'a> FieldReader<'a> {
    fn new(node: &'a Node, text: &'a str) -> Result<Self, ConfigError> {
        let members = node.members().ok_or_else(|| ConfigError::not_an_object("", node, text))?;
        for (index, member) in members.iter().enumerate() {
            if members[..index].iter().any(|earlier| earlier.key == member.key) {
                // Programs differ on which of the two wins, so one could be approved and the other run.
                return Err(ConfigError::new(&member.key, ConfigErrorKind::DuplicateKey)
                    .at(Position::in_text(text, member.key_span.start)));
            }
        }
        Ok(Self { members, read_keys: Vec::new(), whole: node, text })
    }

    fn find(&self, key: &str) -> Option<&'a Member> {
        let found = self.members.iter().find(|member| member.key == key);
        found.filter(|member| member.node.value != Value::Null)
    }

    fn has(&self, key: &str) -> bool {
        self.find(key).is_some()
    }

    fn error(&self, key: &str, problem: ConfigErrorKind) -> ConfigError {
        let span = self.find(key).map_or(&self.whole.span, |member| &member.key_span);
        ConfigError::new(key, problem).at(Position::in_text(self.text, span.start))
    }

    /// Reads an optional field and records its key as known. `null` counts as missing.
    fn read<T>(
        &mut self,
        key: &'static str,
        read: fn(&Node) -> Result<T, FieldError>,
    ) -> Result<Option<T>, ConfigError> {
        self.read_keys.push(key);
        let Some(member) = self.find(key) else { return Ok(None) };
        let read = read(&member.node).map_err(|error| {
            ConfigError::new(format!("{key}{}", error.inside), error.problem)
                .at(Position::in_text(self.text, error.at))
        })?;
        Ok(Some(read))
    }

    /// Reads a required string.
    fn require(&mut self, server_type: &'static str, key: &'static str) -> Result<String, ConfigError> {
        let found = self.read(key, text)?;
        found.ok_or_else(|| self.error("", ConfigErrorKind::MissingField { server_type, needs: key }))
    }

    /// Rejects fields that contradict the server type.
    fn reject(&self, server_type: &'static str, keys: &[&'static str]) -> Result<(), ConfigError> {
        match keys.iter().find(|key| self.has(key)) {
            Some(field) => Err(self.error(field, ConfigErrorKind::Contradiction { server_type, field })),
            None => Ok(()),
        }
    }

    /// Returns the members that were not read, with a warning for each.
    fn into_unknown(self, server_type: &'static str) -> (Vec<(String, serde_json::Value)>, Vec<Warning>) {
        const OF_OTHER_KINDS: [&str; 9] =
            ["args", "env", "inheritEnv", "cwd", "headers", "allowHttp", "name", "id", "url"];
        let rest = self.members.iter().filter(|member| !self.read_keys.contains(&member.key.as_str()));
        rest.map(|member| {
            let text = match OF_OTHER_KINDS.contains(&member.key.as_str()) {
                true => format!("a server of type `{server_type}` does not use this"),
                false => "unknown field: kept, but not used".to_owned(),
            };
            let warning =
                Warning::new(&member.key, text).at(Position::in_text(self.text, member.key_span.start));
            ((member.key.clone(), member.node.to_json()), warning)
        })
        .unzip()
    }
}

/// An error inside the value of a field.
struct FieldError {
    /// The path from the field to the invalid value.
    inside: String,
    at: usize,
    problem: ConfigErrorKind,
}

fn field_error(node: &Node, problem: ConfigErrorKind) -> FieldError {
    FieldError { inside: String::new(), at: node.span.start, problem }
}

fn mismatch(node: &Node, expected: &'static str) -> FieldError {
    field_error(node, ConfigErrorKind::Mismatch { expected, found: node.type_name() })
}

fn text(node: &Node) -> Result<String, FieldError> {
    node.text().map(str::to_owned).ok_or_else(|| mismatch(node, "a string in double quotes"))
}

fn boolean(node: &Node) -> Result<bool, FieldError> {
    match node.value {
        Value::Bool(boolean) => Ok(boolean),
        _ => Err(mismatch(node, "true or false")),
    }
}

fn texts(node: &Node) -> Result<Vec<String>, FieldError> {
    let Value::List(items) = &node.value else { return Err(mismatch(node, "a list of strings")) };
    let read =
        |(index, item)| text(item).map_err(|error| FieldError { inside: format!("[{index}]"), ..error });
    items.iter().enumerate().map(read).collect()
}

fn secrets(node: &Node) -> Result<BTreeMap<String, Secret>, FieldError> {
    let members = node.members().ok_or_else(|| mismatch(node, "an object of strings"))?;
    let mut map = BTreeMap::new();
    for member in members {
        let inside = format!(".{}", member.key);
        let value = match text(&member.node) {
            Ok(value) => Secret::new(value),
            Err(error) => return Err(FieldError { inside, ..error }),
        };
        if map.insert(member.key.clone(), value).is_some() {
            return Err(FieldError {
                inside,
                at: member.key_span.start,
                problem: ConfigErrorKind::DuplicateKey,
            });
        }
    }
    Ok(map)
}

fn milliseconds(node: &Node) -> Result<Duration, FieldError> {
    let Value::Number(number) = &node.value else { return Err(mismatch(node, "a number of milliseconds")) };
    match number.as_u64() {
        Some(time @ 1..=MAX_TIMEOUT_MS) => Ok(Duration::from_millis(time)),
        _ => Err(field_error(
            node,
            ConfigErrorKind::Range { range: "a whole number of milliseconds, from 1 to one day" },
        )),
    }
}

fn restart(node: &Node) -> Result<RestartPolicy, FieldError> {
    const RANGE: ConfigErrorKind =
        ConfigErrorKind::Range { range: "\"never\", or a number of tries from 1 to 1000" };
    match &node.value {
        Value::Text(word) if word == "never" => Ok(RestartPolicy::Never),
        Value::Number(number) => match number.as_u64() {
            Some(most @ 1..=1000) => Ok(RestartPolicy::WithBackoff { max_failures: most as u32 }),
            _ => Err(field_error(node, RANGE)),
        },
        _ => Err(field_error(node, RANGE)),
    }
}
