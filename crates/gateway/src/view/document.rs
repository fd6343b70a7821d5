//! The definition of a view as an operator writes it: `[views.NAME]` tables.

use std::collections::BTreeMap;

use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::names::PrefixPolicy;

/// The definition of a view, as written. [`View::new`](super::View::new) checks it.
///
/// ```
/// use switchboard::gateway::view::{View, ViewDocument};
///
/// let document: ViewDocument = toml::from_str(r#"
/// servers = ["github", "docs-*"]
/// prefix = "never"
/// tools.exclude = "delete_*"
/// instructions = { add = "Search before you ask." }
/// large_results = { above = 20_000 }
///
/// [server.github.tool.search_issues]
/// name = "search"
/// description = "Searches the issues of the shop."
/// annotations = { read_only = true }
/// arguments.repo = { fixed = "acme/shop" }
/// arguments.page = { hidden = true }
/// arguments.query = { description = "Words that the issue contains." }
/// "#)?;
/// let view = View::new("support", document)?;
/// assert_eq!(view.name(), "support");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ViewDocument {
    /// The servers of the view, by name; `*` and `?` are wildcards.
    pub servers: NameList,
    /// Whether names begin with the name of their server; as the gateway's if absent. A tool with a name of the view has no
    /// prefix.
    pub prefix: Option<PrefixPolicy>,
    /// The instructions; those of the gateway and of the servers if absent.
    pub instructions: Option<InstructionsDocument>,
    /// The tools of all servers, by the name on the server; all if absent.
    pub tools: Option<Selection>,
    /// The prompts of all servers, by the name on the server; all if absent.
    pub prompts: Option<Selection>,
    /// The resources of all servers, by URI; `*` matches within a segment, `**` everything. All if absent.
    pub resources: Option<Selection>,
    /// From which size on a result is kept, and the client gets a handle.
    pub large_results: Option<LargeResultsDocument>,
    /// Single servers, by exact name.
    #[serde(default)]
    pub server: BTreeMap<String, ViewServerDocument>,
}

/// What a view takes of one server. An item needs to be selected here and for all servers.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ViewServerDocument {
    /// The tools, by the name on the server.
    pub tools: Option<Selection>,
    /// The prompts, by the name on the server.
    pub prompts: Option<Selection>,
    /// The resources, by URI.
    pub resources: Option<Selection>,
    /// Single tools, by exact name on the server.
    #[serde(default)]
    pub tool: BTreeMap<String, ViewToolDocument>,
}

/// How a view shows one tool.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ViewToolDocument {
    /// The name in the view: exactly this, without a prefix. It wins over the names that servers choose.
    pub name: Option<String>,
    /// The title.
    pub title: Option<String>,
    /// The description.
    pub description: Option<String>,
    /// Annotations that replace those of the server. Rules rely on them.
    pub annotations: Option<AnnotationsDocument>,
    /// The arguments, by exact name.
    #[serde(default)]
    pub arguments: BTreeMap<String, ArgumentDocument>,
    /// From which size on a result is kept, and the client gets a handle; as the view's if absent.
    pub large_results: Option<LargeResultsDocument>,
}

/// What a view does with an argument of a tool.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ArgumentDocument {
    /// Sets the argument to this value. Clients do not see it and cannot send it.
    #[serde(default, deserialize_with = "json_value")]
    pub fixed: Option<serde_json::Value>,
    /// Leaves the argument to the default of the server. Clients do not see it and cannot send it.
    #[serde(default)]
    pub hidden: bool,
    /// Describes the argument anew.
    pub description: Option<String>,
}

/// Annotations of a tool that a view sets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct AnnotationsDocument {
    /// Whether the tool does not modify its environment.
    pub read_only: Option<bool>,
    /// Whether the tool may perform destructive updates.
    pub destructive: Option<bool>,
    /// Whether repeating a call with the same arguments has no further effect.
    pub idempotent: Option<bool>,
    /// Whether the tool interacts with external entities.
    pub open_world: Option<bool>,
}

/// From which size on a result is kept, and the client gets a handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct LargeResultsDocument {
    /// Results with more bytes than this are kept.
    pub above: usize,
    /// The bytes of the result that the client gets with the handle; 1,000 if absent.
    pub head: Option<usize>,
}

impl LargeResultsDocument {
    /// The bytes of the head if none are set.
    pub(super) const DEFAULT_HEAD: usize = 1_000;
}

/// The instructions of a view.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
#[non_exhaustive]
pub enum InstructionsDocument {
    /// The whole text; those of the gateway and of the servers are not shown.
    Replace(String),
    /// Text in front of those of the servers, in place of that of the gateway.
    Add(String),
}

/// The items of a kind: those that match `include`, without those that match `exclude`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Selection {
    /// All if absent; none if empty.
    pub include: Option<NameList>,
    /// None if absent.
    #[serde(default)]
    pub exclude: NameList,
}

/// A name, or a list of names, with the wildcards `*` and `?`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NameList(pub Vec<String>);

impl<'de> Deserialize<'de> for NameList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NameListVisitor)
    }
}

struct NameListVisitor;

impl<'de> Visitor<'de> for NameListVisitor {
    type Value = NameList;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a name or an array of names")
    }

    fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<NameList, E> {
        Ok(NameList(vec![name.to_owned()]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut names: A) -> Result<NameList, A::Error> {
        let mut list = Vec::new();
        while let Some(name) = names.next_element()? {
            list.push(name);
        }
        Ok(NameList(list))
    }
}

/// Reads a value that JSON has, too.
fn json_value<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<serde_json::Value>, D::Error> {
    to_json(toml::Value::deserialize(deserializer)?)
        .map(Some)
        .ok_or_else(|| D::Error::custom("dates, `inf` and `nan` are not JSON; write a text or a number"))
}

/// Recurses as deep as the parser allows a document to nest.
fn to_json(value: toml::Value) -> Option<serde_json::Value> {
    Some(match value {
        toml::Value::String(text) => text.into(),
        toml::Value::Integer(number) => number.into(),
        toml::Value::Float(number) => serde_json::Number::from_f64(number)?.into(),
        toml::Value::Boolean(value) => value.into(),
        toml::Value::Datetime(_) => return None,
        toml::Value::Array(values) => {
            values.into_iter().map(to_json).collect::<Option<Vec<_>>>().map(Into::into)?
        }
        toml::Value::Table(members) => {
            let member = |(name, value)| Some((name, to_json(value)?));
            serde_json::Value::Object(members.into_iter().map(member).collect::<Option<_>>()?)
        }
    })
}
