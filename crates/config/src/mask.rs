//! Masking of secrets in configurations that are displayed or logged.
//!
//! Invariant: no literal value or default of an environment variable or header is shown; references are, because names
//! are not secret. In arguments and addresses only values with secret-looking names are masked: the rest distinguishes
//! servers.

use std::borrow::Cow;

use serde_json::{Value, json};

use crate::expand::{TextPiece, parse_references};
use crate::headers_helper::HeadersHelperConfig;
use crate::oauth::OAuthConfig;
use crate::server_config::ServerConfig;

pub(crate) const MASK: &str = "••••";
/// Fields of other programs whose values may be secret, whatever their names.
const SECRET_FIELDS: [&str; 7] =
    ["env", "envs", "environment", "headers", "http_headers", "httpHeaders", "auth"];
/// Authentication schemes before a credential; not masked.
const SCHEMES: [&str; 4] = ["Bearer ", "Basic ", "Token ", "token "];

impl ServerConfig {
    /// Returns the entry as JSON for display: variables not substituted, literal values masked.
    pub fn masked(&self) -> Value {
        let fields = self.fields().into_iter().map(|(key, value)| {
            let value = match (key.as_str(), value) {
                ("oauth", value) => self.oauth.as_ref().map_or(mask_unknown(value), |oauth| oauth.masked()),
                ("headersHelper", value) => {
                    self.headers_helper.as_ref().map_or(mask_unknown(value), HeadersHelperConfig::masked)
                }
                ("env" | "headers", Value::Object(members)) => Value::Object(
                    members.into_iter().map(|(name, value)| (name, mask_value(value))).collect(),
                ),
                ("args", Value::Array(args)) => Value::Array(mask_args(&args)),
                ("url", Value::String(url)) => Value::String(mask_url(&url)),
                (key, _) if is_secret_name(key) || SECRET_FIELDS.contains(&key) => {
                    Value::String(MASK.to_owned())
                }
                (_, value) => mask_unknown(value),
            };
            (key, value)
        });
        Value::Object(fields.collect())
    }
}

impl OAuthConfig {
    /// Returns the block for display: a secret is masked unless it is a reference.
    pub(crate) fn masked(&self) -> Value {
        let known = self.known_fields().into_iter().map(|(key, value)| {
            let value = match (key, value) {
                ("clientSecret", Value::String(secret)) => json!(mask_literals(&secret)),
                ("authorizeParameters", Value::Object(parameters)) => {
                    let masked = parameters.into_iter().map(|(name, value)| match value {
                        Value::String(text) if is_secret_name(&name) => (name, json!(mask_literals(&text))),
                        value => (name, value),
                    });
                    Value::Object(masked.collect())
                }
                (_, value) => value,
            };
            (key.to_owned(), value)
        });
        let unknown = match mask_unknown(Value::Object(self.unknown.iter().cloned().collect())) {
            Value::Object(unknown) => unknown,
            _ => serde_json::Map::new(),
        };
        Value::Object(known.chain(unknown).collect())
    }
}

impl HeadersHelperConfig {
    /// Returns the helper for display: values of variables are masked.
    pub(crate) fn masked(&self) -> Value {
        self.render(mask_literals)
    }
}

/// Returns whether a value with this name is probably secret.
pub fn is_secret_name(name: &str) -> bool {
    const PARTS: [&str; 11] = [
        "secret",
        "token",
        "password",
        "passwd",
        "apikey",
        "authorization",
        "cookie",
        "privatekey",
        "credential",
        "accesskey",
        "signature",
    ];
    const WHOLE: [&str; 7] = ["key", "auth", "code", "sig", "pass", "pwd", "bearer"];
    let plain: String =
        name.chars().filter(char::is_ascii_alphanumeric).map(|char| char.to_ascii_lowercase()).collect();
    WHOLE.contains(&plain.as_str()) || PARTS.iter().any(|part| plain.contains(part))
}

fn mask_value(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(mask_literals(&text)),
        _ => Value::String(MASK.to_owned()),
    }
}

/// Masks the literal parts of a text; references stay.
pub(crate) fn mask_literals(text: &str) -> String {
    let Ok(pieces) = parse_references(text) else { return MASK.to_owned() };
    let mut out = String::new();
    for piece in pieces {
        match piece {
            TextPiece::Literal(literal) if SCHEMES.contains(&literal) => out.push_str(literal),
            TextPiece::Literal(_) => out.push_str(MASK),
            TextPiece::Variable { name, default: None } => out.extend(["${", name, "}"]),
            TextPiece::Variable { name, default: Some(_) } => out.extend(["${", name, ":-", MASK, "}"]),
        }
    }
    out
}

fn mask_args(args: &[Value]) -> Vec<Value> {
    let mut out = Vec::with_capacity(args.len());
    let mut mask_next = false;
    for arg in args {
        let text = arg.as_str().unwrap_or_default();
        let is_flag = text.starts_with('-');
        out.push(Value::String(match mask_next && !is_flag {
            true => mask_literals(text),
            false => mask_arg(text),
        }));
        mask_next = is_flag && !text.contains('=') && is_secret_name(text);
    }
    out
}

/// Masks `--token=x`, `TOKEN=x`, `Authorization: x`, and addresses.
fn mask_arg(arg: &str) -> String {
    if arg.contains("://") {
        return mask_url(arg);
    }
    match arg.find(['=', ':']) {
        Some(at) if is_secret_name(&arg[..at]) => {
            let value = arg[at + 1..].trim_start();
            let kept = &arg[..arg.len() - value.len()];
            format!("{kept}{}", mask_literals(value))
        }
        _ => arg.to_owned(),
    }
}

/// Masks the user information and the values of secret-looking query parameters of an address.
pub fn mask_url(url: &str) -> String {
    let (before, query) = match url.split_once('?') {
        Some((before, query)) => (before, Some(query)),
        None => (url, None),
    };
    let mut out = mask_user_info(before).into_owned();
    if let Some(query) = query {
        let parameters: Vec<String> = query
            .split('&')
            .map(|parameter| match parameter.split_once('=') {
                Some((name, value)) if is_secret_name(name) => format!("{name}={}", mask_literals(value)),
                _ => parameter.to_owned(),
            })
            .collect();
        out.extend(["?", &parameters.join("&")]);
    }
    out
}

fn mask_user_info(url: &str) -> Cow<'_, str> {
    let Some(start) = url.find("://").map(|at| at + 3) else { return url.into() };
    let end = url[start..].find('/').map_or(url.len(), |slash| start + slash);
    match url[start..end].rfind('@') {
        Some(at) => format!("{}{MASK}{}", &url[..start], &url[start + at..]).into(),
        None => url.into(),
    }
}

/// Masks secret-looking members of an unknown field.
fn mask_unknown(value: Value) -> Value {
    match value {
        Value::Object(members) => Value::Object(
            members
                .into_iter()
                .map(|(key, value)| match is_secret_name(&key) || SECRET_FIELDS.contains(&key.as_str()) {
                    true => (key, Value::String(MASK.to_owned())),
                    false => (key, mask_unknown(value)),
                })
                .collect(),
        ),
        Value::Array(items) => Value::Array(items.into_iter().map(mask_unknown).collect()),
        value => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_masked_and_references_stay() {
        for (text, expected) in [
            ("s3cr3t", "••••"),
            ("${TOKEN}", "${TOKEN}"),
            ("Bearer ${TOKEN}", "Bearer ${TOKEN}"),
            ("Bearer s3cr3t", "••••"),
            ("${TOKEN:-s3cr3t}", "${TOKEN:-••••}"),
            ("s3c${A}r3t", "••••${A}••••"),
            ("${broken", "••••"),
            ("", ""),
        ] {
            assert_eq!(mask_literals(text), expected);
        }
    }

    #[test]
    fn addresses_and_arguments_are_masked_where_their_names_look_secret() {
        assert_eq!(
            mask_url("https://me:pw@h/p?api_key=s3cr3t&profile=dev&token=${T}"),
            "https://••••@h/p?api_key=••••&profile=dev&token=${T}"
        );
        let args = [
            "-y",
            "mcp-remote",
            "--header",
            "Authorization: Bearer s3",
            "--api-key",
            "s3",
            "--token=s3",
            "TOKEN=s3",
            "--port",
            "80",
            "--key",
            "--verbose",
            "https://h/?key=s3",
        ];
        let args: Vec<Value> = args.iter().map(|&arg| arg.into()).collect();
        let expected = [
            "-y",
            "mcp-remote",
            "--header",
            "Authorization: ••••",
            "--api-key",
            "••••",
            "--token=••••",
            "TOKEN=••••",
            "--port",
            "80",
            "--key",
            "--verbose",
            "https://h/?key=••••",
        ];
        assert_eq!(mask_args(&args), expected);
    }
}
