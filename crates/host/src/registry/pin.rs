//! Pinned tool definitions: a definition is pinned when it is first listed, and a later change is reported. This detects
//! a server that lists harmless tools until it is trusted ("rug pull").

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use switchboard_protocol::{Raw, Tool};

use crate::permission::{DefinitionHash, canonical_text, definition_text};

/// The length limit of a stored definition text.
const MAX_TEXT: usize = 16 * 1024;
/// The length limit of all stored texts together.
const MAX_TEXTS: usize = 4 * 1024 * 1024;

/// Pinned definitions: server, tool, digest and text. Stored by the application or in a [`PinFile`](crate::PinFile).
///
/// The digest decides whether a definition has changed; the text is for display. Only the digest is stored of a
/// definition longer than 16 KiB, and of those that would make all texts longer than 4 MiB.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Servers", into = "Servers")]
pub struct Pins {
    servers: Servers,
    /// The total length of all texts.
    text_bytes: usize,
}

type Servers = BTreeMap<String, BTreeMap<String, Pin>>;

/// One pinned definition.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "StoredPin", into = "StoredPin")]
struct Pin {
    sha256: String,
    text: Option<Arc<str>>,
}

/// A pin as serialized: only the digest, or digest and text.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum StoredPin {
    Digest(String),
    Text { sha256: String, definition: String },
}

impl From<StoredPin> for Pin {
    fn from(entry: StoredPin) -> Self {
        match entry {
            StoredPin::Digest(sha256) => Self { sha256, text: None },
            // The text decides: earlier versions computed the digest, and ordered the text, in another way.
            StoredPin::Text { definition, .. } => {
                let text = Raw::parse(definition.as_str()).map_or(definition, canonical_text);
                Self { sha256: DefinitionHash::of_text(&text).to_string(), text: Some(text.into()) }
            }
        }
    }
}

impl From<Pin> for StoredPin {
    fn from(pin: Pin) -> Self {
        match pin.text {
            None => Self::Digest(pin.sha256),
            Some(text) => Self::Text { sha256: pin.sha256, definition: text.as_ref().to_owned() },
        }
    }
}

impl fmt::Debug for Pin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({} bytes)", self.sha256, self.text.as_ref().map_or(0, |text| text.len()))
    }
}

/// Applies the limits to deserialized pins.
impl From<Servers> for Pins {
    fn from(servers: Servers) -> Self {
        let mut pins = Self::new();
        for (server, tools) in servers {
            tools.into_iter().for_each(|(tool, pin)| pins.insert(&server, &tool, pin));
        }
        pins
    }
}

impl From<Pins> for Servers {
    fn from(pins: Pins) -> Self {
        pins.servers
    }
}

impl Pins {
    /// Creates an empty set of pins.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the number of pinned definitions.
    pub fn len(&self) -> usize {
        self.servers.values().map(BTreeMap::len).sum()
    }

    /// Returns whether there are no pins.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Compares a definition with its pin; pins a new one.
    pub(crate) fn check(&mut self, server: &str, tool: &str, digest: DefinitionHash) -> PinCheck {
        match self.get(server, tool) {
            Some(pinned) if pinned.sha256 == digest.to_string() => PinCheck::Unchanged,
            Some(_) => PinCheck::Drifted,
            None => {
                self.pin(server, tool, digest);
                PinCheck::New
            }
        }
    }

    /// Returns whether a definition of the tool is pinned.
    pub(crate) fn has(&self, server: &str, tool: &str) -> bool {
        self.get(server, tool).is_some()
    }

    /// Returns whether another definition is pinned.
    pub(crate) fn differs(&self, server: &str, tool: &str, digest: DefinitionHash) -> bool {
        self.get(server, tool).is_some_and(|pinned| pinned.sha256 != digest.to_string())
    }

    /// Pins a definition by its digest; [`Self::store_text`] adds its text.
    pub(crate) fn pin(&mut self, server: &str, tool: &str, digest: DefinitionHash) {
        self.insert(server, tool, Pin { sha256: digest.to_string(), text: None });
    }

    /// Stores the text of a definition, if it is the pinned one and within the limits.
    pub(crate) fn store_text(&mut self, server: &str, tool: &Tool, digest: DefinitionHash) {
        let pinned = self.get(server, &tool.name);
        if pinned.is_some_and(|pinned| pinned.text.is_none() && pinned.sha256 == digest.to_string()) {
            let text = Some(definition_text(tool).into());
            self.insert(server, &tool.name, Pin { sha256: digest.to_string(), text });
        }
    }

    /// Returns the text of the pinned definition, if it was stored.
    pub(crate) fn text(&self, server: &str, tool: &str) -> Option<&str> {
        self.get(server, tool)?.text.as_deref()
    }

    fn get(&self, server: &str, tool: &str) -> Option<&Pin> {
        self.servers.get(server)?.get(tool)
    }

    /// Inserts a pin and drops a text beyond the limits. All texts are inserted here.
    fn insert(&mut self, server: &str, tool: &str, mut pin: Pin) {
        self.text_bytes -= self.get(server, tool).map_or(0, Pin::text_bytes);
        let length = pin.text_bytes();
        if length > MAX_TEXT || self.text_bytes + length > MAX_TEXTS {
            pin.text = None;
        }
        self.text_bytes += pin.text_bytes();
        self.servers.entry(server.to_owned()).or_default().insert(tool.to_owned(), pin);
    }

    /// Three-way merge: applies the changes from `read` to `seen`, except where `self` changed the definition meanwhile. A
    /// text that another process added is not a change.
    pub(crate) fn merge(&mut self, read: &Self, seen: &Self) {
        let digest = |pin: &Pin| pin.sha256.clone();
        for (server, tools) in &seen.servers {
            for (tool, pin) in tools {
                let (before, stored) = (read.get(server, tool), self.get(server, tool));
                if before != Some(pin) && stored.map(digest) == before.map(digest) {
                    self.insert(server, tool, pin.clone());
                }
            }
        }
    }

    /// Removes the pin of a tool, or of all tools of a server. Returns whether a pin was removed.
    pub(crate) fn forget(&mut self, server: &str, tool: Option<&str>) -> bool {
        let Some(tools) = self.servers.get_mut(server) else { return false };
        let forgotten = match tool {
            Some(tool) => tools.remove(tool).into_iter().collect(),
            None => std::mem::take(tools).into_values().collect::<Vec<_>>(),
        };
        if tools.is_empty() {
            self.servers.remove(server);
        }
        self.text_bytes -= forgotten.iter().map(Pin::text_bytes).sum::<usize>();
        !forgotten.is_empty()
    }
}

impl Pin {
    fn text_bytes(&self) -> usize {
        self.text.as_ref().map_or(0, |text| text.len())
    }
}

/// The result of comparing a definition with its pin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PinCheck {
    /// There was no pin.
    New,
    /// The definition is the pinned one.
    Unchanged,
    /// Another definition is pinned.
    Drifted,
}

/// What happens to a tool whose definition differs from the pinned one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DriftPolicy {
    /// An event reports it; the tool stays available.
    #[default]
    Report,
    /// An event reports it, and the tool is withheld until the new definition is accepted.
    Withhold,
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use switchboard_protocol::Raw;

    use super::*;

    fn with_duplicate_member(first: u8) -> Raw {
        Raw::parse(format!(r#"{{"type":"object","properties":{{"a":{{"enum":[{first}],"enum":[9]}}}}}}"#))
            .unwrap()
    }

    #[test]
    fn s10_the_first_of_two_keys_of_a_schema_is_pinned_too() {
        let tool = |schema: Raw| Tool::new("a", json!({})).with_output_schema(schema);
        let mut pins = Pins::new();
        assert_eq!(pins.check("s", "a", DefinitionHash::of(&tool(with_duplicate_member(1)))), PinCheck::New);
        assert_eq!(
            pins.check("s", "a", DefinitionHash::of(&tool(with_duplicate_member(1)))),
            PinCheck::Unchanged
        );
        assert_eq!(
            pins.check("s", "a", DefinitionHash::of(&tool(with_duplicate_member(2)))),
            PinCheck::Drifted
        );
    }

    #[test]
    fn every_change_of_a_definition_is_detected() {
        let tool = || Tool::new("a", json!({"type": "object"})).with_description("reads");
        let mut pins = Pins::new();
        assert_eq!(pins.check("s", "a", DefinitionHash::of(&tool())), PinCheck::New);
        assert_eq!(pins.check("s", "a", DefinitionHash::of(&tool())), PinCheck::Unchanged);
        let effects = switchboard_protocol::ToolAnnotations::new().with_read_only_hint(true);
        let others = [
            tool().with_description("reads, and sends it home"),
            Tool::new("a", json!({"type": "object", "properties": {"extra": {}}})).with_description("reads"),
            tool().with_annotations(effects),
            tool().with_title("reads"),
        ];
        for other in &others {
            assert_eq!(pins.check("s", "a", DefinitionHash::of(other)), PinCheck::Drifted, "{other:?}");
        }
        let spaced = Raw::parse("{ \"b\" : [ 1 ], \"a\": {} }").unwrap();
        let sorted = Raw::parse(r#"{"a":{},"b":[1]}"#).unwrap();
        let digest = |schema| DefinitionHash::of(&Tool::new("c", schema));
        assert_eq!(digest(spaced), digest(sorted), "white space and order do not matter");
        assert_ne!(
            digest(with_duplicate_member(1)),
            digest(with_duplicate_member(2)),
            "the first of two duplicate members counts too"
        );
        assert_eq!(
            pins.check("t", "a", DefinitionHash::of(&tool())),
            PinCheck::New,
            "tools of another server are pinned separately"
        );
        let texts: std::collections::HashSet<String> =
            others.iter().chain([&tool()]).map(definition_text).collect();
        assert_eq!(texts.len(), others.len() + 1, "definitions with different digests have different texts");
        let written = serde_json::to_string(&pins).unwrap();
        assert_eq!(serde_json::from_str::<Pins>(&written).unwrap(), pins);
    }

    /// A tool whose definition has a text of this length.
    fn tool_of(name: &str, length: usize) -> Tool {
        let tool = Tool::new(name, json!({"type": "object"})).with_description("");
        let missing = length - definition_text(&tool).len();
        tool.with_description("x".repeat(missing))
    }

    fn is_text_stored(pins: &mut Pins, tool: &Tool) -> bool {
        pins.pin("s", &tool.name, DefinitionHash::of(tool));
        pins.store_text("s", tool, DefinitionHash::of(tool));
        pins.text("s", &tool.name).is_some_and(|text| text == definition_text(tool))
    }

    #[test]
    fn s2_texts_are_stored_within_their_limits() {
        let mut pins = Pins::new();
        assert!(is_text_stored(&mut pins, &tool_of("fits", MAX_TEXT)));
        assert!(!is_text_stored(&mut pins, &tool_of("long", MAX_TEXT + 1)));
        for number in 1..MAX_TEXTS / MAX_TEXT {
            assert!(is_text_stored(&mut pins, &tool_of(&format!("tool {number}"), MAX_TEXT)), "{number}");
        }
        assert!(!is_text_stored(&mut pins, &tool_of("one more", 200)));
        assert_eq!((pins.len(), pins.text_bytes), (MAX_TEXTS / MAX_TEXT + 2, MAX_TEXTS));
        assert!(
            pins.differs("s", "one more", DefinitionHash::of(&tool_of("one more", 201))),
            "its digest is kept"
        );
        // Removing a pin, or replacing it by a shorter one, makes room.
        assert!(
            pins.forget("s", Some("tool 1")) && is_text_stored(&mut pins, &tool_of("one more", MAX_TEXT))
        );
        assert!(
            is_text_stored(&mut pins, &tool_of("tool 2", 300))
                && is_text_stored(&mut pins, &tool_of("another", 400))
        );
        let written = serde_json::to_string(&pins).unwrap();
        assert_eq!(serde_json::from_str::<Pins>(&written).unwrap(), pins);
        assert!(pins.forget("s", None) && pins == Pins::new());
        // The limits apply to deserialized pins, too.
        let entry = json!({"sha256": "0", "definition": "x".repeat(MAX_TEXT + 1)});
        let read: Pins = serde_json::from_value(json!({"s": {"a": entry}})).unwrap();
        assert_eq!((read.len(), read.text("s", "a"), read.text_bytes), (1, None, 0));
    }

    #[test]
    fn s2_a_text_that_another_process_stored_is_not_a_change() {
        let (first, second) = (tool_of("t", 200), tool_of("t", 300));
        let mut read = Pins::new();
        read.pin("s", "t", DefinitionHash::of(&first));
        let (mut stored, mut seen) = (read.clone(), read.clone());
        stored.store_text("s", &first, DefinitionHash::of(&first));
        seen.pin("s", "t", DefinitionHash::of(&second));
        seen.store_text("s", &second, DefinitionHash::of(&second));
        stored.merge(&read, &seen);
        assert_eq!(stored, seen, "what was accepted takes its place");
        stored.merge(&read, &read);
        assert_eq!(stored, seen);
    }

    #[test]
    fn a_pin_of_an_earlier_version_is_compared_by_its_text() {
        let old = r#"{"name":"a","description":"reads","inputSchema":{"type":"object"}}"#;
        let stored = json!({"s": {"a": {"sha256": "0".repeat(64), "definition": old}, "b": "0".repeat(64)}});
        let mut pins: Pins = serde_json::from_value(stored).unwrap();
        let tool = |name: &str| Tool::new(name, json!({"type": "object"})).with_description("reads");
        assert_eq!(pins.check("s", "a", DefinitionHash::of(&tool("a"))), PinCheck::Unchanged);
        let with_icon = tool("a").with_icons([switchboard_protocol::Icon::new("https://example.com/i.png")]);
        assert_eq!(
            pins.check("s", "a", DefinitionHash::of(&with_icon)),
            PinCheck::Drifted,
            "not mask_literals before"
        );
        assert_eq!(
            pins.check("s", "b", DefinitionHash::of(&tool("b"))),
            PinCheck::Drifted,
            "only a digest was kept"
        );
    }
}
