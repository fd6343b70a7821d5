//! Hashes that identify a tool definition and a server: an answer is about one pair of them.

use std::ffi::OsString;
use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use switchboard_protocol::{Raw, Tool};

use crate::config::canonical::{canonical_digest, to_hex};
use crate::config::mask::{is_secret_name, mask_url};
use crate::transport::Transport;

/// The SHA-256 hash of the definition text: two definitions have the same hash if and only if they differ at most in
/// `_meta`, white space, the order of members and string escapes. Computing it encodes the whole tool, so callers keep
/// it with each listed tool.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DefinitionHash([u8; 32]);

impl DefinitionHash {
    /// Returns the hash of a tool as listed.
    pub fn of(tool: &Tool) -> Self {
        Self::of_text(&definition_text(tool))
    }

    pub(crate) fn of_text(text: &str) -> Self {
        Self(Sha256::digest(text).into())
    }
}

/// Returns a definition as canonical JSON: every member of the tool's encoding except `_meta`, which servers may fill
/// with values that change from list to list. The encoder decides which members there are, so a field added to [`Tool`]
/// is covered without a change here.
pub(crate) fn definition_text(tool: &Tool) -> String {
    let mut definition = tool.clone();
    definition.meta = None;
    let encoded =
        Raw::encode(&definition).expect("a tool has only string keys, so encoding it does not fail");
    canonical_text(encoded)
}

/// Returns the canonical text of a definition. If an object in it has two members with the same name, or it is too
/// large, it is returned as written: readers differ on which of two members counts, so a change of either is a change.
pub(crate) fn canonical_text(definition: Raw) -> String {
    definition.canonical().unwrap_or_else(|_| definition.as_str().to_owned())
}

/// The identity of a server: its name and transport without secrets. A new password is the same server; another program
/// is not.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerIdentity([u8; 32]);

impl ServerIdentity {
    /// Returns the identity of a server with this transport. A custom transport is identified by the name alone.
    pub fn new(name: &str, transport: &Transport) -> Self {
        let text = |text: &std::ffi::OsStr| text.to_string_lossy().into_owned();
        let reach = match transport {
            Transport::Stdio(stdio) => {
                let known = |(name, value): &(OsString, OsString)| {
                    let (name, value) = (text(name), text(value));
                    let value = if is_secret_name(&name) { Value::Null } else { value.into() };
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
                json!({"url": mask_url(http.url()), "headers": headers, "sse": http.is_sse()})
            }
            Transport::InProcess(server) => json!({"inProcess": server.server().info().name}),
            Transport::Registered { name } => json!({"inProcess": name}),
            Transport::Proxy { url, id } => json!({"proxy": mask_url(url), "id": id}),
            Transport::Custom(_) => json!({"custom": name}),
            Transport::Invalid(_) => return Self::by_name(name),
        };
        Self(canonical_digest(&json!({"name": name, "reach": reach})))
    }

    /// Returns the identity of a server of which only the name is known.
    pub(crate) fn by_name(name: &str) -> Self {
        Self(canonical_digest(&json!({"name": name})))
    }
}

/// Implements display and serialization in hexadecimal.
macro_rules! impl_hex {
    ($($hash:ident),+) => {$(
        impl fmt::Display for $hash {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&to_hex(&self.0))
            }
        }

        impl fmt::Debug for $hash {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&to_hex(&self.0[..6]))
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
                parse_hex(&text).map(Self).ok_or_else(|| D::Error::custom("expected 64 hexadecimal digits"))
            }
        }
    )+};
}

impl_hex!(DefinitionHash, ServerIdentity);

fn parse_hex(text: &str) -> Option<[u8; 32]> {
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
    fn s10_the_first_of_two_keys_of_a_schema_is_hashed() {
        let hash = |first: u8| {
            let text = format!(r#"{{"type":"object","properties":{{"a":{{"enum":[{first}],"enum":[9]}}}}}}"#);
            DefinitionHash::of(&Tool::new("a", Raw::parse(text).unwrap()))
        };
        assert_eq!(hash(1), hash(1));
        assert_ne!(hash(1), hash(2));
    }

    /// Returns every value that differs from this one in a leaf, or by one member more or less.
    fn mutations(value: &Value) -> Vec<Value> {
        let with = |key: &str, member: Value| {
            let mut mutation = value.clone();
            mutation[key] = member;
            mutation
        };
        match value {
            Value::Null => vec![json!(1)],
            Value::Bool(flag) => vec![json!(!flag)],
            Value::Number(number) => vec![json!(number.as_u64().unwrap() + 1)],
            Value::String(text) if text == "optional" => vec![json!("required")],
            Value::String(text) => vec![json!(format!("{text} "))],
            Value::Array(items) => {
                let longer = json!([items.as_slice(), items].concat());
                let changed = |at: usize| {
                    let item = move |mutation| {
                        let mut items = items.clone();
                        items[at] = mutation;
                        Value::Array(items)
                    };
                    mutations(&items[at]).into_iter().map(item)
                };
                [longer, json!([])].into_iter().chain((0..items.len()).flat_map(changed)).collect()
            }
            Value::Object(members) => {
                let changed = members.iter().flat_map(|(key, member)| {
                    let changed = mutations(member).into_iter().map(|member| with(key, member));
                    let mut shorter = members.clone();
                    shorter.remove(key);
                    changed.chain([Value::Object(shorter)]).collect::<Vec<_>>()
                });
                changed.chain([with("extra", json!(1))]).collect()
            }
        }
    }

    #[test]
    fn every_member_of_a_tool_except_meta_changes_its_hash() {
        let full = json!({
            "name": "t", "title": "T", "description": "d",
            "inputSchema": {"type": "object", "required": ["a"], "properties": {"a": {"minimum": 1}}},
            "outputSchema": {"type": "object"},
            "annotations": {"title": "A", "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true,
                "openWorldHint": false},
            "execution": {"taskSupport": "optional"},
            "icons": [{"src": "https://example.com/i.png", "mimeType": "image/png", "sizes": ["48x48"], "theme": "dark"}],
            "_meta": {"example.com/a": {"b": 1}},
        });
        let read = |value: &Value| serde_json::from_value::<Tool>(value.clone());
        let without_meta = |tool: &Tool| {
            let mut tool = tool.clone();
            tool.meta = None;
            tool
        };
        let tool = read(&full).unwrap();
        assert_eq!(
            serde_json::to_value(&tool).unwrap(),
            full,
            "the tool has a value for every member it can have"
        );
        let encoded = Raw::encode(&tool).unwrap().canonical_without(&["_meta"]).unwrap();
        assert_eq!(definition_text(&tool), encoded, "whatever is encoded is hashed");
        let mut changed_members = std::collections::BTreeSet::new();
        for mutation in mutations(&full) {
            // A mutation may be invalid, or in a member that a tool does not keep.
            let Ok(other) = read(&mutation) else { continue };
            let is_same = without_meta(&other) == without_meta(&tool);
            assert_eq!(DefinitionHash::of(&other) == DefinitionHash::of(&tool), is_same, "{mutation}");
            if !is_same {
                let is_changed = |key: &&String| full.get(key) != mutation.get(key);
                changed_members.extend(full.as_object().unwrap().keys().filter(is_changed).cloned());
            }
        }
        let expected = full.as_object().unwrap().keys().filter(|key| *key != "_meta").cloned();
        assert_eq!(changed_members, expected.collect());
    }
}
