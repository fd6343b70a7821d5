//! What an answer is about: one server, as it is reached, and one tool, as it is defined.

use std::ffi::OsString;
use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};
use switchboard_protocol::{Raw, Tool};

use crate::config::canonical::{digest, hexadecimal};
use crate::config::mask::{masked_url, names_a_secret};
use crate::transport::Transport;

/// A hash of everything a model sees of a tool, its name included. Order of keys and white space do not count; a
/// changed word does. Costs a parse of the schemas: make it once for each listed tool.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DefinitionHash([u8; 32]);

impl DefinitionHash {
    /// The hash of a tool as listed.
    pub fn of(tool: &Tool) -> Self {
        // A schema that has a name twice, or is too large to decode, is its text: nothing in it may change unseen.
        let value = |raw: &Raw| match (raw.canonical(), raw.decode::<Value>()) {
            (Ok(_), Ok(value)) => value,
            _ => Value::from(raw.as_str()),
        };
        Self(digest(&json!({
            "name": tool.name,
            "title": tool.title,
            "description": tool.description,
            "inputSchema": value(&tool.input_schema),
            "outputSchema": tool.output_schema.as_ref().map(value),
            "annotations": tool.annotations,
        })))
    }
}

/// A server by its name and what is reached under it. A new password is the same server; another program is not.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerIdentity([u8; 32]);

impl ServerIdentity {
    /// Returns the identity of a server that is reached over this transport. A custom transport is known by its name.
    pub fn of(name: &str, transport: &Transport) -> Self {
        let text = |text: &std::ffi::OsStr| text.to_string_lossy().into_owned();
        let reach = match transport {
            Transport::Stdio(stdio) => {
                let known = |(name, value): &(OsString, OsString)| {
                    let (name, value) = (text(name), text(value));
                    let value = if names_a_secret(&name) { Value::Null } else { value.into() };
                    (name, value)
                };
                let env: serde_json::Map<String, Value> = stdio.variables().iter().map(known).collect();
                let args: Vec<String> = stdio.arguments().iter().map(|arg| text(arg)).collect();
                let inherit: Vec<String> =
                    stdio.inherited_variables().iter().map(|name| text(name)).collect();
                let cwd = stdio.directory().map(|cwd| text(cwd.as_os_str()));
                json!({"command": text(stdio.program()), "args": args, "env": env, "inherit": inherit, "cwd": cwd})
            }
            Transport::Http(http) => {
                let mut headers: Vec<&str> = http.headers().iter().map(|(name, _)| name.as_str()).collect();
                headers.sort_unstable();
                json!({"url": masked_url(http.url()), "headers": headers, "sse": http.is_sse()})
            }
            Transport::InProcess(server) => json!({"inProcess": server.server().info().name}),
            Transport::Registered { name } => json!({"inProcess": name}),
            Transport::Proxy { url, id } => json!({"proxy": masked_url(url), "id": id}),
            Transport::Custom(_) => json!({"custom": name}),
            Transport::Invalid(_) => return Self::by_name(name),
        };
        Self(digest(&json!({"name": name, "reach": reach})))
    }

    /// The identity of a server of which only the name is known.
    pub(crate) fn by_name(name: &str) -> Self {
        Self(digest(&json!({"name": name})))
    }
}

/// Both are shown, and stored, in hexadecimal.
macro_rules! in_hexadecimal {
    ($($hash:ident),+) => {$(
        impl fmt::Display for $hash {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&hexadecimal(&self.0))
            }
        }

        impl fmt::Debug for $hash {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&hexadecimal(&self.0[..6]))
            }
        }

        impl Serialize for $hash {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $hash {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                bytes(&text).map(Self).ok_or_else(|| D::Error::custom("expected 64 hexadecimal digits"))
            }
        }
    )+};
}

in_hexadecimal!(DefinitionHash, ServerIdentity);

fn bytes(text: &str) -> Option<[u8; 32]> {
    let mut out = [0; 32];
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    for (index, byte) in out.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[index * 2..index * 2 + 2], 16).ok()?;
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s10_the_first_of_two_keys_of_a_schema_is_part_of_a_remembered_answer() {
        let hash = |first: u8| {
            let text = format!(r#"{{"type":"object","properties":{{"a":{{"enum":[{first}],"enum":[9]}}}}}}"#);
            DefinitionHash::of(&Tool::new("a", Raw::parse(text).unwrap()))
        };
        assert_eq!(hash(1), hash(1));
        assert_ne!(hash(1), hash(2));
    }
}
