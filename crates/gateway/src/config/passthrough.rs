//! Refuses servers whose entries refer to the token of the caller.
//!
//! A gateway that passed the caller's token on would let every server act as the caller at all others (the specification
//! forbids it: authorization, "Token Passthrough").

use serde_json::Value;
use switchboard_config::ServerConfig;

use super::error::GatewayConfigErrorKind;

/// How other programs write a reference to the caller's token or request.
const REFERENCES: [&str; 6] =
    ["${caller", "${user.token", "${request.", "{{caller", "{{request.", "${input.authorization"];
/// Keys by which other programs pass the caller's credentials on.
const KEYS: [&str; 8] = [
    "passthrough",
    "tokenpassthrough",
    "authpassthrough",
    "passauthorization",
    "forwardauthorization",
    "forwardauth",
    "forwardtoken",
    "forwardheaders",
];

/// Checks that no field of a server's entry passes the credentials of the caller on.
///
/// # Errors
/// Names the field, and what to write instead.
pub fn check_token_passthrough(server: &str, entry: &ServerConfig) -> Result<(), GatewayConfigErrorKind> {
    let entry = serde_json::to_value(entry).map_err(|error| GatewayConfigErrorKind::Server {
        name: server.to_owned(),
        reason: format!("its entry cannot be checked: {error}"),
    })?;
    match find_reference(&entry, "") {
        Some(field) => Err(GatewayConfigErrorKind::TokenPassthrough { server: server.to_owned(), field }),
        None => Ok(()),
    }
}

/// Returns the path of the first field that refers to the caller.
fn find_reference(value: &Value, path: &str) -> Option<String> {
    match value {
        Value::String(text) => {
            let text = text.to_ascii_lowercase().replace(' ', "");
            REFERENCES.iter().any(|reference| text.contains(reference)).then(|| format!("`{path}`"))
        }
        Value::Array(items) => items.iter().find_map(|item| find_reference(item, path)),
        Value::Object(members) => members.iter().find_map(|(key, value)| {
            let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            let plain: String = key.chars().filter(char::is_ascii_alphanumeric).collect();
            let is_off = matches!(value, Value::Bool(false) | Value::Null);
            match KEYS.contains(&plain.to_ascii_lowercase().as_str()) && !is_off && !path.starts_with("env.")
            {
                true => Some(format!("`{path}`")),
                false => find_reference(value, &path),
            }
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn references_to_the_caller_are_found_wherever_they_are() {
        for (entry, field) in [
            (
                json!({ "url": "https://a.example", "headers": { "Authorization": "Bearer ${caller.token}" } }),
                "`headers.Authorization`",
            ),
            (
                json!({ "url": "https://a.example", "headers": { "X-Token": "{{ request.headers.authorization }}" } }),
                "`headers.X-Token`",
            ),
            (json!({ "command": "a", "env": { "TOKEN": "${CALLER_TOKEN}" } }), "`env.TOKEN`"),
            (json!({ "command": "a", "args": ["--token", "${caller.token}"] }), "`args`"),
            (json!({ "url": "https://a.example", "token_passthrough": true }), "`token_passthrough`"),
        ] {
            let parsed: ServerConfig = serde_json::from_value(entry.clone()).unwrap();
            let error = check_token_passthrough("a", &parsed).unwrap_err();
            assert_eq!(
                error,
                GatewayConfigErrorKind::TokenPassthrough { server: "a".into(), field: field.into() }
            );
            let text = error.to_string();
            for named in ["credential of its own", "switchboard login a", "not offered yet"] {
                assert!(text.contains(named), "{named}: {text}");
            }
        }
        for entry in [
            json!({ "url": "https://a.example", "headers": { "Authorization": "Bearer ${TOKEN}" } }),
            json!({ "command": "a", "env": { "PASSTHROUGH": "1" } }),
            json!({ "url": "https://a.example", "passthrough": false }),
        ] {
            let parsed: ServerConfig = serde_json::from_value(entry).unwrap();
            assert_eq!(check_token_passthrough("a", &parsed), Ok(()));
        }
    }
}
