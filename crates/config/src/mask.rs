//! An entry for other eyes: as written, with what may be secret covered.
//!
//! Invariant: no literal value of a variable or header is shown, nor a default of one; references are, since a name is
//! no secret. In arguments and addresses only what is named like a secret is covered: the rest tells servers apart.

use std::borrow::Cow;

use serde_json::Value;

use crate::expand::{Piece, pieces};
use crate::server_config::ServerConfig;

pub(crate) const COVER: &str = "••••";
/// Where other programs keep values that may be secret, whatever they are called.
const HOLDERS: [&str; 7] = ["env", "envs", "environment", "headers", "http_headers", "httpHeaders", "auth"];
/// Words before a credential that say what kind it is.
const SCHEMES: [&str; 4] = ["Bearer ", "Basic ", "Token ", "token "];

impl ServerConfig {
    /// The entry as JSON for people and logs: variables not filled in, literal values covered.
    pub fn masked(&self) -> Value {
        let fields = self.fields().into_iter().map(|(key, value)| {
            let value = match (key.as_str(), value) {
                ("env" | "headers", Value::Object(members)) => Value::Object(
                    members.into_iter().map(|(name, value)| (name, covered_text(value))).collect(),
                ),
                ("args", Value::Array(args)) => Value::Array(masked_args(&args)),
                ("url", Value::String(url)) => Value::String(masked_url(&url)),
                (key, _) if names_a_secret(key) || HOLDERS.contains(&key) => Value::String(COVER.to_owned()),
                (_, value) => masked_unknown(value),
            };
            (key, value)
        });
        Value::Object(fields.collect())
    }
}

/// Whether what goes by this name is probably secret.
pub fn names_a_secret(name: &str) -> bool {
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

fn covered_text(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(covered(&text)),
        _ => Value::String(COVER.to_owned()),
    }
}

/// References stay, literals do not.
pub(crate) fn covered(text: &str) -> String {
    let Ok(pieces) = pieces(text) else { return COVER.to_owned() };
    let mut out = String::new();
    for piece in pieces {
        match piece {
            Piece::Literal(literal) if SCHEMES.contains(&literal) => out.push_str(literal),
            Piece::Literal(_) => out.push_str(COVER),
            Piece::Variable { name, default: None } => out.extend(["${", name, "}"]),
            Piece::Variable { name, default: Some(_) } => out.extend(["${", name, ":-", COVER, "}"]),
        }
    }
    out
}

fn masked_args(args: &[Value]) -> Vec<Value> {
    let mut out = Vec::with_capacity(args.len());
    let mut cover_next = false;
    for arg in args {
        let text = arg.as_str().unwrap_or_default();
        let is_flag = text.starts_with('-');
        out.push(Value::String(match cover_next && !is_flag {
            true => covered(text),
            false => masked_arg(text),
        }));
        cover_next = is_flag && !text.contains('=') && names_a_secret(text);
    }
    out
}

/// `--token=x`, `TOKEN=x`, `Authorization: x`, and addresses.
fn masked_arg(arg: &str) -> String {
    if arg.contains("://") {
        return masked_url(arg);
    }
    match arg.find(['=', ':']) {
        Some(at) if names_a_secret(&arg[..at]) => {
            let value = arg[at + 1..].trim_start();
            let kept = &arg[..arg.len() - value.len()];
            format!("{kept}{}", covered(value))
        }
        _ => arg.to_owned(),
    }
}

/// Covers a password and the values of secret-looking parameters.
pub fn masked_url(url: &str) -> String {
    let (before, query) = match url.split_once('?') {
        Some((before, query)) => (before, Some(query)),
        None => (url, None),
    };
    let mut out = without_user(before).into_owned();
    if let Some(query) = query {
        let parameters: Vec<String> = query
            .split('&')
            .map(|parameter| match parameter.split_once('=') {
                Some((name, value)) if names_a_secret(name) => format!("{name}={}", covered(value)),
                _ => parameter.to_owned(),
            })
            .collect();
        out.extend(["?", &parameters.join("&")]);
    }
    out
}

fn without_user(url: &str) -> Cow<'_, str> {
    let Some(start) = url.find("://").map(|at| at + 3) else { return url.into() };
    let end = url[start..].find('/').map_or(url.len(), |slash| start + slash);
    match url[start..end].rfind('@') {
        Some(at) => format!("{}{COVER}{}", &url[..start], &url[start + at..]).into(),
        None => url.into(),
    }
}

/// Fields of other programs may hold secrets under their own names.
fn masked_unknown(value: Value) -> Value {
    match value {
        Value::Object(members) => Value::Object(
            members
                .into_iter()
                .map(|(key, value)| match names_a_secret(&key) || HOLDERS.contains(&key.as_str()) {
                    true => (key, Value::String(COVER.to_owned())),
                    false => (key, masked_unknown(value)),
                })
                .collect(),
        ),
        Value::Array(items) => Value::Array(items.into_iter().map(masked_unknown).collect()),
        value => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_stay_and_literals_do_not() {
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
            assert_eq!(covered(text), expected);
        }
    }

    #[test]
    fn addresses_and_arguments_are_covered_where_they_are_named_like_secrets() {
        assert_eq!(
            masked_url("https://me:pw@h/p?api_key=s3cr3t&profile=dev&token=${T}"),
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
        assert_eq!(masked_args(&args), expected);
    }
}
