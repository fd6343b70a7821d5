//! Qualified tool names for models: `mcp__server__tool`.
//!
//! Invariants:
//! - A name depends on the pair and the limit alone, so adding or removing a server renames nothing.
//! - It has only `A-Z a-z 0-9 _ -`, and at most as many characters as the limit.
//! - A plain pair is used verbatim. Any other name ends in `_` and a hash of the exact pair; no verbatim name does.
//! - Two pairs have the same name only if their 63-bit hashes and their visible parts are equal.
//!
//! A name is never parsed: it is looked up in the catalog, which knows the pair.

use std::borrow::Borrow;
use std::fmt;

use sha2::{Digest, Sha256};

const PREFIX: &str = "mcp__";
const SEPARATOR: &str = "__";

/// The length of the hash suffix: `_`, a digit from 0 to 7, and twelve more characters. The digit distinguishes it from
/// words: `get_transactions` has twelve letters after its `_`.
const HASH_SUFFIX_LENGTH: usize = 14;

/// Crockford base 32: without the ambiguous letters `i`, `l`, `o` and `u`.
const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// The length limit of a name, in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NameLimit(usize);

impl NameLimit {
    /// The limit that every provider accepts.
    pub const DEFAULT: Self = Self(64);
    /// The least limit: shorter names have no room for the pair beside the hash.
    pub const MIN: Self = Self(32);

    /// This many characters, or [`NameLimit::MIN`] where that is more.
    pub fn new(characters: usize) -> Self {
        Self(characters.max(Self::MIN.0))
    }

    /// Returns the number of characters.
    pub fn characters(self) -> usize {
        self.0
    }
}

impl Default for NameLimit {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// The name of a tool that is unique among the tools of all servers.
///
/// ```
/// use switchboard::host::name::{NameLimit, QualifiedName};
///
/// let plain = QualifiedName::new("context7", "search", NameLimit::DEFAULT);
/// assert_eq!(plain.as_str(), "mcp__context7__search");
///
/// let dotted = QualifiedName::new("context7", "search.all", NameLimit::DEFAULT);
/// assert!(dotted.as_str().starts_with("mcp__context7__search_all_"));
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QualifiedName(Box<str>);

impl QualifiedName {
    /// Returns the name of a pair; any two texts are valid.
    pub fn new(server: &str, tool: &str, limit: NameLimit) -> Self {
        let length = PREFIX.len() + server.len() + SEPARATOR.len() + tool.len();
        if length <= limit.0 && is_plain_server(server) && is_plain_tool(tool) {
            let mut name = String::with_capacity(length);
            name.extend([PREFIX, server, SEPARATOR, tool]);
            if !has_hash_suffix(&name) {
                return Self(name.into());
            }
        }
        Self(hashed_name(server, tool, limit).into())
    }

    /// Returns the name.
    #[inline]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether the name ends in a hash, because the pair could not be used verbatim.
    pub fn is_hashed(&self) -> bool {
        has_hash_suffix(&self.0)
    }
}

/// Returns whether the server's name can be used verbatim. It then ends at the first `__` after the prefix, so a verbatim
/// name belongs to exactly one pair.
fn is_plain_server(server: &str) -> bool {
    !server.is_empty()
        && server.bytes().all(is_plain)
        && !server.ends_with('_')
        && !server.as_bytes().windows(2).any(|two| two == b"__")
}

fn is_plain_tool(tool: &str) -> bool {
    !tool.is_empty() && tool.bytes().all(is_plain)
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

fn has_hash_suffix(name: &str) -> bool {
    let Some(start) = name.len().checked_sub(HASH_SUFFIX_LENGTH) else { return false };
    match &name.as_bytes()[start..] {
        [b'_', b'0'..=b'7', rest @ ..] => rest.iter().all(|byte| DIGITS.contains(byte)),
        _ => false,
    }
}

fn hashed_name(server: &str, tool: &str, limit: NameLimit) -> String {
    let room = limit.0 - PREFIX.len() - SEPARATOR.len() - HASH_SUFFIX_LENGTH;
    let (server_text, tool_text) = (escaped(server, room), escaped(tool, room));
    // The tool matters more than the server: the server gets a third of the room, or what the tool leaves.
    let for_server = server_text.len().min((room / 3).max(room.saturating_sub(tool_text.len())));
    let for_tool = tool_text.len().min(room - for_server);
    let mut name = String::with_capacity(limit.0);
    name.extend([PREFIX, &server_text[..for_server], SEPARATOR, &tool_text[..for_tool], "_"]);
    let hash = hash(server, tool);
    name.push(char::from(DIGITS[(hash >> 60) as usize]));
    for digit in (0..12).rev() {
        name.push(char::from(DIGITS[(hash >> (digit * 5)) as usize & 31]));
    }
    name
}

/// Replaces each run of invalid characters by one `_`; the result is ASCII and has at most `max_length` characters.
fn escaped(text: &str, max_length: usize) -> String {
    let mut out = String::with_capacity(text.len().min(max_length));
    for char in text.chars() {
        if out.len() == max_length {
            break;
        }
        match u8::try_from(char) {
            Ok(byte) if is_plain(byte) => out.push(char),
            _ if out.ends_with('_') => {}
            _ => out.push('_'),
        }
    }
    out
}

/// Returns 63 bits of a hash of the exact pair. Cryptographic: a server that could choose a colliding name would receive
/// the calls of another tool.
fn hash(server: &str, tool: &str) -> u64 {
    let mut sha = Sha256::new();
    // The length separates the two names unambiguously.
    sha.update((server.len() as u64).to_be_bytes());
    sha.update(server);
    sha.update(tool);
    let digest = sha.finalize();
    let mut first = [0; 8];
    first.copy_from_slice(&digest[..8]);
    u64::from_be_bytes(first) >> 1
}

impl fmt::Display for QualifiedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for QualifiedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl AsRef<str> for QualifiedName {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for QualifiedName {
    fn borrow(&self) -> &str {
        &self.0
    }
}
