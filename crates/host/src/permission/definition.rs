//! What an answer is about: one server, as it is reached, and one tool, as it is defined.

use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};
use switchboard_protocol::{Raw, Tool};

use crate::config::Reach;
use crate::config::canonical::{digest, hexadecimal};
use crate::config::mask::{masked_url, names_a_secret};

/// A hash of everything a model sees of a tool, its name included. Order of keys and white space do not count; a
/// changed word does. Costs a parse of the schemas: make it once for each listed tool.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DefinitionHash([u8; 32]);

impl DefinitionHash {
    /// The hash of a tool as listed.
    pub fn of(tool: &Tool) -> Self {
        // A schema that is no JSON is its text.
        let value = |raw: &Raw| raw.decode::<Value>().unwrap_or_else(|_| Value::from(raw.as_str()));
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
    /// The identity of a server that is reached so.
    pub fn of(name: &str, reach: &Reach) -> Self {
        let reach = match reach {
            Reach::Stdio { command, args, env, inherit_env, cwd } => {
                let known =
                    |name: &str, value: &str| if names_a_secret(name) { Value::Null } else { value.into() };
                let env: serde_json::Map<String, Value> =
                    env.iter().map(|(name, value)| (name.clone(), known(name, value.expose()))).collect();
                json!({"command": command, "args": args, "env": env, "inherit": inherit_env, "cwd": cwd})
            }
            Reach::Http { url, headers, sse, .. } => {
                let headers: Vec<&String> = headers.keys().collect();
                json!({"url": masked_url(url), "headers": headers, "sse": sse})
            }
            Reach::InProcess { name } => json!({"inProcess": name}),
            Reach::Proxy { url, id } => json!({"proxy": masked_url(url), "id": id}),
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
