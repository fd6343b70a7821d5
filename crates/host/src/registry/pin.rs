//! What a tool said of itself when it was first seen. A definition that changes later is told: a server that shows
//! something harmless until it is trusted is the oldest trick there is.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use switchboard_protocol::{Raw, Tool};

use crate::permission::{DefinitionHash, canonical_text, definition_text};

/// The longest definition whose text is kept.
const MAX_TEXT: usize = 16 * 1024;
/// The texts of all definitions together.
const MAX_TEXTS: usize = 4 * 1024 * 1024;

/// Definitions as they were first seen: server, tool, digest and text. Kept by the application, or in a
/// [`PinFile`](crate::PinFile).
///
/// The digest decides whether a definition has changed; the text shows how. Of a definition longer than 16 KiB, and of
/// those that would make all texts longer than 4 MiB, only the digest is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Servers", into = "Servers")]
pub struct Pins {
    servers: Servers,
    /// The length of all texts.
    text_bytes: usize,
}

type Servers = BTreeMap<String, BTreeMap<String, Pin>>;

/// One pinned definition.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "PinEntry", into = "PinEntry")]
struct Pin {
    sha256: String,
    text: Option<Arc<str>>,
}

/// A pin as it is written: the digest alone, as files had it before texts were kept, or with the text.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum PinEntry {
    Digest(String),
    Text { sha256: String, definition: String },
}

impl From<PinEntry> for Pin {
    fn from(entry: PinEntry) -> Self {
        match entry {
            PinEntry::Digest(sha256) => Self { sha256, text: None },
            // The text decides: earlier versions computed the digest, and ordered the text, in another way.
            PinEntry::Text { definition, .. } => {
                let text = Raw::parse(definition.as_str()).map_or(definition, canonical_text);
                Self { sha256: DefinitionHash::of_text(&text).to_string(), text: Some(text.into()) }
            }
        }
    }
}

impl From<Pin> for PinEntry {
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

/// The bounds hold for what somebody else wrote, too.
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
    /// Nothing is pinned.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many definitions are pinned.
    pub fn len(&self) -> usize {
        self.servers.values().map(BTreeMap::len).sum()
    }

    /// Whether nothing is pinned.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Compares with what is pinned; pins what is not.
    pub(crate) fn check(&mut self, server: &str, tool: &str, digest: DefinitionHash) -> Pinned {
        match self.get(server, tool) {
            Some(pinned) if pinned.sha256 == digest.to_string() => Pinned::Same,
            Some(_) => Pinned::Drifted,
            None => {
                self.pin(server, tool, digest);
                Pinned::New
            }
        }
    }

    /// Whether another definition is pinned.
    pub(crate) fn differs(&self, server: &str, tool: &str, digest: DefinitionHash) -> bool {
        self.get(server, tool).is_some_and(|pinned| pinned.sha256 != digest.to_string())
    }

    /// Pins a definition by its digest; [`Self::keep_text`] adds its text.
    pub(crate) fn pin(&mut self, server: &str, tool: &str, digest: DefinitionHash) {
        self.insert(server, tool, Pin { sha256: digest.to_string(), text: None });
    }

    /// Keeps the text of a definition, if it is the pinned one and within the bounds.
    pub(crate) fn keep_text(&mut self, server: &str, tool: &Tool, digest: DefinitionHash) {
        let pinned = self.get(server, &tool.name);
        if pinned.is_some_and(|pinned| pinned.text.is_none() && pinned.sha256 == digest.to_string()) {
            let text = Some(definition_text(tool).into());
            self.insert(server, &tool.name, Pin { sha256: digest.to_string(), text });
        }
    }

    /// The text of the pinned definition, if it was kept.
    pub(crate) fn text(&self, server: &str, tool: &str) -> Option<&str> {
        self.get(server, tool)?.text.as_deref()
    }

    fn get(&self, server: &str, tool: &str) -> Option<&Pin> {
        self.servers.get(server)?.get(tool)
    }

    /// The one place where texts come in: one beyond the bounds is dropped.
    fn insert(&mut self, server: &str, tool: &str, mut pin: Pin) {
        self.text_bytes -= self.get(server, tool).map_or(0, Pin::text_bytes);
        let length = pin.text_bytes();
        if length > MAX_TEXT || self.text_bytes + length > MAX_TEXTS {
            pin.text = None;
        }
        self.text_bytes += pin.text_bytes();
        self.servers.entry(server.to_owned()).or_default().insert(tool.to_owned(), pin);
    }

    /// Adds what `seen` has and `read` had not, where nothing else is pinned, and replaces what `read` had otherwise. A text
    /// that another process kept meanwhile is not another definition.
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

    /// Removes the pin of a tool, or of all tools of a server. Returns whether there was one.
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
    use switchboard_protocol::Raw;

    use super::*;

    fn twice(first: u8) -> Raw {
        Raw::parse(format!(r#"{{"type":"object","properties":{{"a":{{"enum":[{first}],"enum":[9]}}}}}}"#))
            .unwrap()
    }

    #[test]
    fn s10_the_first_of_two_keys_of_a_schema_is_pinned_too() {
        let tool = |schema: Raw| Tool::new("a", json!({})).with_output_schema(schema);
        let mut pins = Pins::new();
        assert_eq!(pins.check("s", "a", DefinitionHash::of(&tool(twice(1)))), Pinned::New);
        assert_eq!(pins.check("s", "a", DefinitionHash::of(&tool(twice(1)))), Pinned::Same);
        assert_eq!(pins.check("s", "a", DefinitionHash::of(&tool(twice(2)))), Pinned::Drifted);
    }

    #[test]
    fn any_change_of_what_a_model_reads_is_seen() {
        let tool = || Tool::new("a", json!({"type": "object"})).with_description("reads");
        let mut pins = Pins::new();
        assert_eq!(pins.check("s", "a", DefinitionHash::of(&tool())), Pinned::New);
        assert_eq!(pins.check("s", "a", DefinitionHash::of(&tool())), Pinned::Same);
        let effects = switchboard_protocol::ToolAnnotations::new().with_read_only_hint(true);
        let others = [
            tool().with_description("reads, and sends it home"),
            Tool::new("a", json!({"type": "object", "properties": {"extra": {}}})).with_description("reads"),
            tool().with_annotations(effects),
            tool().with_title("reads"),
        ];
        for other in &others {
            assert_eq!(pins.check("s", "a", DefinitionHash::of(other)), Pinned::Drifted, "{other:?}");
        }
        let spaced = Raw::parse("{ \"b\" : [ 1 ], \"a\": {} }").unwrap();
        let sorted = Raw::parse(r#"{"a":{},"b":[1]}"#).unwrap();
        let digest = |schema| DefinitionHash::of(&Tool::new("c", schema));
        assert_eq!(digest(spaced), digest(sorted), "blanks and order mean nothing");
        assert_ne!(digest(twice(1)), digest(twice(2)), "the first of two names counts too");
        assert_eq!(pins.check("t", "a", DefinitionHash::of(&tool())), Pinned::New, "another server's is its own");
        let texts: std::collections::HashSet<String> =
            others.iter().chain([&tool()]).map(definition_text).collect();
        assert_eq!(texts.len(), others.len() + 1, "what has another digest has another text");
        let written = serde_json::to_string(&pins).unwrap();
        assert_eq!(serde_json::from_str::<Pins>(&written).unwrap(), pins);
    }

    /// A tool whose definition has a text of this length.
    fn tool_of(name: &str, length: usize) -> Tool {
        let tool = Tool::new(name, json!({"type": "object"})).with_description("");
        let missing = length - definition_text(&tool).len();
        tool.with_description("x".repeat(missing))
    }

    fn kept(pins: &mut Pins, tool: &Tool) -> bool {
        pins.pin("s", &tool.name, DefinitionHash::of(tool));
        pins.keep_text("s", tool, DefinitionHash::of(tool));
        pins.text("s", &tool.name).is_some_and(|text| text == definition_text(tool))
    }

    #[test]
    fn s2_texts_are_kept_within_their_bounds() {
        let mut pins = Pins::new();
        assert!(kept(&mut pins, &tool_of("fits", MAX_TEXT)));
        assert!(!kept(&mut pins, &tool_of("long", MAX_TEXT + 1)));
        for number in 1..MAX_TEXTS / MAX_TEXT {
            assert!(kept(&mut pins, &tool_of(&format!("tool {number}"), MAX_TEXT)), "{number}");
        }
        assert!(!kept(&mut pins, &tool_of("one more", 200)));
        assert_eq!((pins.len(), pins.text_bytes), (MAX_TEXTS / MAX_TEXT + 2, MAX_TEXTS));
        assert!(pins.differs("s", "one more", DefinitionHash::of(&tool_of("one more", 201))), "its digest is kept");
        // What is forgotten, or replaced by something shorter, makes room.
        assert!(pins.forget("s", Some("tool 1")) && kept(&mut pins, &tool_of("one more", MAX_TEXT)));
        assert!(kept(&mut pins, &tool_of("tool 2", 300)) && kept(&mut pins, &tool_of("another", 400)));
        let written = serde_json::to_string(&pins).unwrap();
        assert_eq!(serde_json::from_str::<Pins>(&written).unwrap(), pins);
        assert!(pins.forget("s", None) && pins == Pins::new());
        // A file that somebody else wrote is held to the same bounds.
        let entry = json!({"sha256": "0", "definition": "x".repeat(MAX_TEXT + 1)});
        let read: Pins = serde_json::from_value(json!({"s": {"a": entry}})).unwrap();
        assert_eq!((read.len(), read.text("s", "a"), read.text_bytes), (1, None, 0));
    }

    #[test]
    fn s2_a_text_that_another_process_kept_is_no_other_definition() {
        let (first, second) = (tool_of("t", 200), tool_of("t", 300));
        let mut read = Pins::new();
        read.pin("s", "t", DefinitionHash::of(&first));
        let (mut stored, mut seen) = (read.clone(), read.clone());
        stored.keep_text("s", &first, DefinitionHash::of(&first));
        seen.pin("s", "t", DefinitionHash::of(&second));
        seen.keep_text("s", &second, DefinitionHash::of(&second));
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
        assert_eq!(pins.check("s", "a", DefinitionHash::of(&tool("a"))), Pinned::Same);
        let with_icon = tool("a").with_icons([switchboard_protocol::Icon::new("https://example.com/i.png")]);
        assert_eq!(pins.check("s", "a", DefinitionHash::of(&with_icon)), Pinned::Drifted, "not covered before");
        assert_eq!(pins.check("s", "b", DefinitionHash::of(&tool("b"))), Pinned::Drifted, "only a digest was kept");
    }
}
