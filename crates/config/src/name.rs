//! The name a model calls a tool by: `mcp__server__tool`.
//!
//! Invariants:
//! - A name depends on the pair and the limit alone, so adding or removing a server renames nothing.
//! - It has only `A-Z a-z 0-9 _ -`, and at most as many characters as the limit says.
//! - A plain pair comes out verbatim. Any other ends in `_` and a hash of the exact pair; no verbatim name ends so.
//! - Two pairs with one name would need two equal hashes of 63 bits beside equal visible parts.
//!
//! A name is never taken apart again: who has one looks it up in the catalogue, which knows the pair.

use std::borrow::Borrow;
use std::fmt;

use sha2::{Digest, Sha256};

const PREFIX: &str = "mcp__";
const SEPARATOR: &str = "__";

/// The mark of a name that is not verbatim: `_`, a digit from 0 to 7, and twelve more. The digit keeps ordinary
/// words out of the shape: `get_transactions` has twelve letters after its `_`.
const MARK: usize = 14;

/// No letter that is read as another: no `i`, `l`, `o`, `u`.
const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// How many characters a name may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NameLimit(usize);

impl NameLimit {
    /// What every provider takes.
    pub const DEFAULT: Self = Self(64);
    /// Shorter ones could not show anything of the pair beside the hash.
    pub const LEAST: Self = Self(32);

    /// This many characters, or [`NameLimit::LEAST`] where that is more.
    pub fn new(characters: usize) -> Self {
        Self(characters.max(Self::LEAST.0))
    }

    /// How many.
    pub fn characters(self) -> usize {
        self.0
    }
}

impl Default for NameLimit {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// The name of one server's tool among all tools of all servers.
///
/// ```
/// use switchboard::host::name::{NameLimit, QualifiedName};
///
/// let plain = QualifiedName::of("context7", "search", NameLimit::DEFAULT);
/// assert_eq!(plain.as_str(), "mcp__context7__search");
///
/// let dotted = QualifiedName::of("context7", "search.all", NameLimit::DEFAULT);
/// assert!(dotted.as_str().starts_with("mcp__context7__search_all_"));
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QualifiedName(Box<str>);

impl QualifiedName {
    /// The name of this pair. Any two texts have one.
    pub fn of(server: &str, tool: &str, limit: NameLimit) -> Self {
        let length = PREFIX.len() + server.len() + SEPARATOR.len() + tool.len();
        if length <= limit.0 && is_plain_server(server) && is_plain_tool(tool) {
            let mut name = String::with_capacity(length);
            name.extend([PREFIX, server, SEPARATOR, tool]);
            if !is_marked(&name) {
                return Self(name.into());
            }
        }
        Self(marked(server, tool, limit).into())
    }

    /// The name as text.
    #[inline]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is not verbatim, and so ends in a hash.
    pub fn is_hashed(&self) -> bool {
        is_marked(&self.0)
    }
}

/// Such a server's name ends where the first `__` after the prefix begins, so whatever the tool is called, a verbatim
/// name belongs to one pair.
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

fn is_marked(name: &str) -> bool {
    let Some(start) = name.len().checked_sub(MARK) else { return false };
    match &name.as_bytes()[start..] {
        [b'_', b'0'..=b'7', rest @ ..] => rest.iter().all(|byte| DIGITS.contains(byte)),
        _ => false,
    }
}

fn marked(server: &str, tool: &str, limit: NameLimit) -> String {
    let room = limit.0 - PREFIX.len() - SEPARATOR.len() - MARK;
    let (server_text, tool_text) = (escaped(server, room), escaped(tool, room));
    // The tool says more than the server: of what is too long, the server keeps a third, or what the tool leaves.
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

/// With one `_` for each run of characters a name cannot have; no longer than can be shown. Only ASCII.
fn escaped(text: &str, most: usize) -> String {
    let mut out = String::with_capacity(text.len().min(most));
    for char in text.chars() {
        if out.len() == most {
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

/// 63 bits over the exact pair. A strong hash: a server that could choose a tool's name to match another's would take
/// its calls.
fn hash(server: &str, tool: &str) -> u64 {
    let mut sha = Sha256::new();
    // With its length in front, no end of the server's name can pass for the beginning of the tool's.
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
