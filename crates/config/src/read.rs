//! Reads a [`ServerConfig`] from a JSON object; errors have the position of the field.

use crate::document::{Node, Value};
use crate::error::{ConfigError, ConfigErrorKind};
use crate::field_reader::{
    FieldError, FieldReader, boolean, field_error, milliseconds, secrets, text, texts,
};
use crate::read_oauth;
use crate::server_config::{Binding, ServerConfig, Settings, TransportConfig};
use crate::start::{RestartPolicy, SharePolicy};
use crate::warning::Warning;

/// Values of `type` that other programs use for streamable HTTP.
const HTTP_TYPE_NAMES: [&str; 4] = ["http", "streamable-http", "streamableHttp", "streamable_http"];

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
        let (mut oauth, mut headers_helper, mut oauth_warnings) = (None, None, Vec::new());
        if let TransportConfig::Http { .. } | TransportConfig::Proxy { .. } = transport {
            (oauth, oauth_warnings) = read_oauth::oauth(&mut fields)?;
        }
        if let TransportConfig::Http { .. } = transport {
            headers_helper = read_oauth::headers_helper(&mut fields)?;
        }
        let (unknown, mut warnings) = fields.into_unknown(Some(transport.type_name()));
        warnings.extend(oauth_warnings);
        Ok(ParsedEntry { entry: Self { transport, oauth, headers_helper, settings, unknown }, warnings })
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
        share: fields.read("share", share)?,
        idle_timeout: fields.read("idleTimeout", milliseconds)?,
        allow_tools: fields.read("allowTools", texts)?.unwrap_or_default(),
        deny_tools: fields.read("denyTools", texts)?.unwrap_or_default(),
    })
}

fn share(node: &Node) -> Result<SharePolicy, FieldError> {
    let word = node.text();
    let found = SharePolicy::ALL.into_iter().find(|policy| word == Some(policy.as_str()));
    found.ok_or_else(|| {
        let range = "\"per-principal\", \"always\", \"per-session\" or \"per-root\"";
        field_error(node, ConfigErrorKind::Range { range })
    })
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
