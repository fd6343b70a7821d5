//! The compiled form of a schema: an arena of nodes that refer to each other by number.

use serde_json::{Number, Value};

use super::format::Format;
use super::number::Decimal;
use super::pattern::PatternMatcher;

/// The index of a node in the arena.
pub(super) type NodeId = u32;
/// The index of a schema resource: the root, or a subschema with its own `$id`.
pub(super) type ResourceId = u32;
/// The index of a compiled pattern; `None` for an unchecked pattern.
pub(super) type PatternId = Option<u32>;

/// The node that accepts every value.
pub(super) const ACCEPT_ALL: NodeId = 0;
/// The node that rejects every value.
pub(super) const REJECT_ALL: NodeId = 1;

/// A compiled schema. Rules per type of value are boxed because most nodes have only one of them.
#[derive(Debug, Default)]
pub(super) struct Node {
    pub(super) types: TypeSet,
    pub(super) resource: ResourceId,
    pub(super) never: bool,
    /// Whether `types` is the only rule.
    pub(super) is_leaf: bool,
    pub(super) values: Option<Box<[Value]>>,
    pub(super) number: Option<Box<NumberRules>>,
    pub(super) text: Option<Box<TextRules>>,
    pub(super) object: Option<Box<ObjectRules>>,
    pub(super) array: Option<Box<ArrayRules>>,
    pub(super) applicators: Vec<Applicator>,
    pub(super) unevaluated: Option<Box<UnevaluatedRules>>,
}

/// A set of JSON types; empty means that every type is allowed.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct TypeSet(pub(super) u8);

impl TypeSet {
    pub(super) const NAMES: [(&'static str, &'static str); 7] = [
        ("null", "null"),
        ("boolean", "a boolean"),
        ("integer", "an integer"),
        ("number", "a number"),
        ("string", "a string"),
        ("array", "an array"),
        ("object", "an object"),
    ];
    const INTEGER: u8 = 1 << 2;
    const NUMBER: u8 = 1 << 3;

    /// Adds a type; `None` for an unknown name.
    pub(super) fn with(self, name: &str) -> Option<Self> {
        let at = Self::NAMES.iter().position(|(known, _)| *known == name)?;
        Some(Self(self.0 | 1 << at))
    }

    pub(super) fn allows(self, value: &Value) -> bool {
        if self.0 == 0 {
            return true;
        }
        let kind = match value {
            Value::Null => 1,
            Value::Bool(_) => 1 << 1,
            Value::Number(_) if self.0 & Self::NUMBER != 0 => return true,
            Value::Number(number) => {
                return self.0 & Self::INTEGER != 0 && super::number::is_integer(number);
            }
            Value::String(_) => 1 << 4,
            Value::Array(_) => 1 << 5,
            Value::Object(_) => 1 << 6,
        };
        self.0 & kind != 0
    }

    /// Describes the types, like `a string or null`.
    pub(super) fn description(self) -> String {
        let names = Self::NAMES.iter().enumerate().filter(|(at, _)| self.0 & (1 << at) != 0);
        let mut names: Vec<&str> = names.map(|(_, (_, text))| *text).collect();
        // "a string or null" reads better than "null or a string".
        if names.first() == Some(&"null") && names.len() > 1 {
            names.rotate_left(1);
        }
        names.join(" or ")
    }
}

#[derive(Debug, Default)]
pub(super) struct NumberRules {
    pub(super) minimum: Option<Number>,
    pub(super) maximum: Option<Number>,
    pub(super) above: Option<Number>,
    pub(super) below: Option<Number>,
    pub(super) multiple_of: Option<(Number, Decimal)>,
}

#[derive(Debug, Default)]
pub(super) struct TextRules {
    pub(super) min: Option<u64>,
    pub(super) max: Option<u64>,
    pub(super) pattern: PatternId,
    pub(super) format: Option<Format>,
}

#[derive(Debug, Default)]
pub(super) struct ObjectRules {
    pub(super) min: Option<u64>,
    pub(super) max: Option<u64>,
    pub(super) required: Box<[Box<str>]>,
    /// If the first name is a member, the others are required.
    pub(super) dependent_required: Vec<Dependents>,
    /// Sorted by name.
    pub(super) properties: Box<[(Box<str>, NodeId)]>,
    pub(super) patterns: Vec<(PatternId, NodeId)>,
    pub(super) additional: Option<NodeId>,
    pub(super) names: Option<NodeId>,
}

/// A name, and the names that are required beside it.
pub(super) type Dependents = (Box<str>, Box<[Box<str>]>);

impl ObjectRules {
    pub(super) fn property(&self, name: &str) -> Option<NodeId> {
        let at = self.properties.binary_search_by(|(known, _)| (**known).cmp(name)).ok()?;
        Some(self.properties[at].1)
    }

    /// Returns whether every member must be visited.
    pub(super) fn visits_members(&self) -> bool {
        !self.properties.is_empty()
            || !self.patterns.is_empty()
            || self.additional.is_some()
            || self.names.is_some()
    }
}

#[derive(Debug, Default)]
pub(super) struct ArrayRules {
    pub(super) min: Option<u64>,
    pub(super) max: Option<u64>,
    pub(super) unique: bool,
    pub(super) prefix: Box<[NodeId]>,
    /// The schema of items after the prefix.
    pub(super) items: Option<NodeId>,
    pub(super) contains: Option<ContainsRule>,
}

#[derive(Debug)]
pub(super) struct ContainsRule {
    pub(super) node: NodeId,
    pub(super) min: u64,
    pub(super) max: Option<u64>,
    /// Whether matching items count as evaluated (since 2020-12).
    pub(super) counts_as_evaluated: bool,
}

/// An in-place applicator: a keyword that applies subschemas to the same value.
#[derive(Debug)]
pub(super) enum Applicator {
    Ref(NodeId),
    /// `initial` is the static target; the outermost resource with the same dynamic anchor overrides it.
    DynamicRef {
        initial: NodeId,
        anchor: u32,
    },
    AllOf(Box<[NodeId]>),
    AnyOf(Box<[NodeId]>),
    OneOf(Box<[NodeId]>),
    Not(NodeId),
    If {
        condition: NodeId,
        then: NodeId,
        otherwise: NodeId,
    },
    Dependent {
        name: Box<str>,
        node: NodeId,
    },
}

#[derive(Debug, Default)]
pub(super) struct UnevaluatedRules {
    pub(super) properties: Option<NodeId>,
    pub(super) items: Option<NodeId>,
}

/// A compiled pattern and its source.
#[derive(Debug)]
pub(super) struct CompiledPattern {
    pub(super) source: Box<str>,
    pub(super) matcher: PatternMatcher,
}
