//! What a tool said of itself when it was first seen. A definition that changes later is told: a server that shows
//! something harmless until it is trusted is the oldest trick there is.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use switchboard_protocol::{Raw, Tool};

/// The digest of a definition: description, schemas and effects.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Digest([u8; 32]);

impl Digest {
    pub(crate) fn of(tool: &Tool) -> Self {
        let mut hash = Sha256::new();
        // Each part with its length, so that nothing can move from one to the next unseen.
        let mut part = |text: Option<&str>| {
            hash.update(text.map_or(u64::MAX, |text| text.len() as u64).to_le_bytes());
            hash.update(text.unwrap_or_default());
        };
        part(Some(&tool.name));
        part(tool.title.as_deref());
        part(tool.description.as_deref());
        part(Some(&canonical(&tool.input_schema)));
        part(tool.output_schema.as_ref().map(canonical).as_deref());
        let effects = tool.annotations.as_ref();
        part(effects.and_then(|effects| effects.title.as_deref()));
        let hint =
            |hint: fn(&switchboard_protocol::ToolAnnotations) -> Option<bool>| match effects.and_then(hint) {
                None => "-",
                Some(true) => "t",
                Some(false) => "f",
            };
        part(Some(hint(|effects| effects.read_only_hint)));
        part(Some(hint(|effects| effects.destructive_hint)));
        part(Some(hint(|effects| effects.idempotent_hint)));
        part(Some(hint(|effects| effects.open_world_hint)));
        Self(hash.finalize().into())
    }

    fn hex(self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// A schema without what means nothing: white space, and the order of members. One that has a name twice is taken as it
/// is written: readers differ on which of the two counts, so a change of either is a change.
pub(crate) fn canonical(schema: &Raw) -> String {
    schema.canonical().unwrap_or_else(|_| schema.as_str().to_owned())
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.hex())
    }
}

/// Definitions as they were first seen: server, tool, digest. Kept by the application, or in a [`PinFile`](crate::PinFile).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Pins(BTreeMap<String, BTreeMap<String, String>>);

impl Pins {
    /// Nothing is pinned.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many definitions are pinned.
    pub fn len(&self) -> usize {
        self.0.values().map(BTreeMap::len).sum()
    }

    /// Whether nothing is pinned.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Compares with what is pinned; pins what is not.
    pub(crate) fn check(&mut self, server: &str, tool: &str, digest: Digest) -> Pinned {
        let found = self.0.get(server).and_then(|tools| tools.get(tool));
        match found {
            Some(pinned) if *pinned == digest.hex() => Pinned::Same,
            Some(_) => Pinned::Drifted,
            None => {
                self.pin(server, tool, digest);
                Pinned::New
            }
        }
    }

    /// Whether another definition is pinned.
    pub(crate) fn differs(&self, server: &str, tool: &str, digest: Digest) -> bool {
        let found = self.0.get(server).and_then(|tools| tools.get(tool));
        found.is_some_and(|pinned| *pinned != digest.hex())
    }

    pub(crate) fn pin(&mut self, server: &str, tool: &str, digest: Digest) {
        self.0.entry(server.to_owned()).or_default().insert(tool.to_owned(), digest.hex());
    }

    /// Adds what `seen` has and `read` had not, where nothing else is pinned, and replaces what `read` had otherwise.
    pub(crate) fn merge(&mut self, read: &Self, seen: &Self) {
        for (server, tools) in &seen.0 {
            for (tool, digest) in tools {
                let before = read.0.get(server).and_then(|tools| tools.get(tool));
                let stored = self.0.get(server).and_then(|tools| tools.get(tool));
                if before != Some(digest) && stored == before {
                    self.0.entry(server.clone()).or_default().insert(tool.clone(), digest.clone());
                }
            }
        }
    }

    /// Removes the pin of a tool, or of all tools of a server. Returns whether there was one.
    pub(crate) fn forget(&mut self, server: &str, tool: Option<&str>) -> bool {
        match (tool, self.0.get_mut(server)) {
            (_, None) => false,
            (None, Some(_)) => self.0.remove(server).is_some(),
            (Some(tool), Some(tools)) => {
                let is_forgotten = tools.remove(tool).is_some();
                if tools.is_empty() {
                    self.0.remove(server);
                }
                is_forgotten
            }
        }
    }
}

/// What a definition is, compared with its pin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pinned {
    /// Seen for the first time.
    New,
    /// As it was.
    Same,
    /// Another.
    Drifted,
}

/// What happens to a tool whose definition is not the pinned one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnDrift {
    /// It is told, and the tool stays.
    #[default]
    Report,
    /// It is told, and the tool is withheld until the new definition is accepted.
    Withhold,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn twice(first: u8) -> Raw {
        Raw::parse(format!(r#"{{"type":"object","properties":{{"a":{{"enum":[{first}],"enum":[9]}}}}}}"#))
            .unwrap()
    }

    #[test]
    fn s10_the_first_of_two_keys_of_a_schema_is_pinned_too() {
        let tool = |schema: Raw| Tool::new("a", json!({})).with_output_schema(schema);
        let mut pins = Pins::new();
        assert_eq!(pins.check("s", "a", Digest::of(&tool(twice(1)))), Pinned::New);
        assert_eq!(pins.check("s", "a", Digest::of(&tool(twice(1)))), Pinned::Same);
        assert_eq!(pins.check("s", "a", Digest::of(&tool(twice(2)))), Pinned::Drifted);
    }

    #[test]
    fn any_change_of_what_a_model_reads_is_seen() {
        let tool = || Tool::new("a", json!({"type": "object"})).with_description("reads");
        let mut pins = Pins::new();
        assert_eq!(pins.check("s", "a", Digest::of(&tool())), Pinned::New);
        assert_eq!(pins.check("s", "a", Digest::of(&tool())), Pinned::Same);
        let effects = switchboard_protocol::ToolAnnotations::new().with_read_only_hint(true);
        let others = [
            tool().with_description("reads, and sends it home"),
            Tool::new("a", json!({"type": "object", "properties": {"extra": {}}})).with_description("reads"),
            tool().with_annotations(effects),
            tool().with_title("reads"),
        ];
        for other in others {
            assert_eq!(pins.check("s", "a", Digest::of(&other)), Pinned::Drifted, "{other:?}");
        }
        let spaced = Raw::parse("{ \"b\" : [ 1 ], \"a\": {} }").unwrap();
        let sorted = Raw::parse(r#"{"a":{},"b":[1]}"#).unwrap();
        let digest = |schema| Digest::of(&Tool::new("c", schema));
        assert_eq!(digest(spaced), digest(sorted), "blanks and order mean nothing");
        assert_ne!(digest(twice(1)), digest(twice(2)), "the first of two names counts too");
        assert_eq!(pins.check("t", "a", Digest::of(&tool())), Pinned::New, "another server's is its own");
        let written = serde_json::to_string(&pins).unwrap();
        assert_eq!(serde_json::from_str::<Pins>(&written).unwrap(), pins);
    }
}
