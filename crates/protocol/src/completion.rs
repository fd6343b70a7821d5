//! Completion: suggestions while the user types an argument of a prompt or a resource template.

use serde::{Deserialize, Serialize};

use crate::map::OrderedMap;
use crate::meta::Meta;
use crate::setter::setters;

/// What is being typed, and where.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CompleteParams {
    /// The prompt or template.
    #[serde(rename = "ref")]
    pub reference: Reference,
    /// The argument, so far.
    pub argument: CompleteArgument,
    /// The arguments already filled in (from 2025-06-18).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<CompleteContext>,
    /// Anything else.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl CompleteParams {
    /// Completes an argument of a prompt or template.
    pub fn new(reference: Reference, name: impl Into<String>, value: impl Into<String>) -> Self {
        let argument = CompleteArgument { name: name.into(), value: value.into() };
        Self { reference, argument, context: None, meta: None }
    }

    /// The same with the arguments already filled in.
    #[must_use]
    pub fn with_filled(mut self, arguments: OrderedMap<String>) -> Self {
        self.context = Some(CompleteContext { arguments: Some(arguments) });
        self
    }
}

setters!(CompleteParams: some with_meta meta Meta;);

/// An argument that is being typed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CompleteArgument {
    /// Its name.
    pub name: String,
    /// What is typed so far.
    pub value: String,
}

/// What is known besides the argument that is being typed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CompleteContext {
    /// The arguments already filled in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<OrderedMap<String>>,
}

/// A prompt or a resource template.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "ReferenceWire", try_from = "ReferenceWire")]
#[non_exhaustive]
pub enum Reference {
    /// A prompt, by name.
    Prompt {
        /// Its name.
        name: String,
        /// Its name for people (from 2025-06-18).
        title: Option<String>,
    },
    /// A resource template, by its text.
    Resource {
        /// The URI or URI template.
        uri: String,
    },
}

impl Reference {
    /// The prompt with this name.
    pub fn prompt(name: impl Into<String>) -> Self {
        Self::Prompt { name: name.into(), title: None }
    }

    /// The template with this text.
    pub fn resource(uri: impl Into<String>) -> Self {
        Self::Resource { uri: uri.into() }
    }
}

#[derive(Serialize, Deserialize)]
struct ReferenceWire {
    r#type: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    uri: Option<String>,
}

impl TryFrom<ReferenceWire> for Reference {
    type Error = String;

    fn try_from(wire: ReferenceWire) -> Result<Self, Self::Error> {
        match (wire.r#type.as_str(), wire.name, wire.uri) {
            ("ref/prompt", Some(name), _) => Ok(Self::Prompt { name, title: wire.title }),
            ("ref/resource", _, Some(uri)) => Ok(Self::Resource { uri }),
            ("ref/prompt", None, _) => Err("missing field `name`".into()),
            ("ref/resource", _, None) => Err("missing field `uri`".into()),
            (other, _, _) => Err(format!("unknown reference type {other:?}")),
        }
    }
}

impl From<Reference> for ReferenceWire {
    fn from(reference: Reference) -> Self {
        match reference {
            Reference::Prompt { name, title } => {
                Self { r#type: "ref/prompt".into(), name: Some(name), title, uri: None }
            }
            Reference::Resource { uri } => {
                Self { r#type: "ref/resource".into(), name: None, title: None, uri: Some(uri) }
            }
        }
    }
}

/// Suggestions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CompleteResult {
    /// The suggestions.
    pub completion: Completion,
    /// Anything else.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl CompleteResult {
    /// These suggestions.
    pub fn new(completion: Completion) -> Self {
        Self { completion, meta: None }
    }
}

setters!(CompleteResult: some with_meta meta Meta;);

/// Values that would fit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Completion {
    /// At most [`MAX_VALUES`](Self::MAX_VALUES) values, the best first.
    pub values: Vec<String>,
    /// How many there are in all.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::lenient::whole")]
    pub total: Option<u64>,
    /// Whether there are more than these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub has_more: Option<bool>,
}

impl Completion {
    /// The most values one result may hold.
    pub const MAX_VALUES: usize = 100;

    /// These values; what is beyond the limit is cut, and counted.
    pub fn new(values: impl Into<Vec<String>>) -> Self {
        let mut values = values.into();
        let total = values.len();
        values.truncate(Self::MAX_VALUES);
        let cut = total > values.len();
        Self { values, total: cut.then_some(total as u64), has_more: cut.then_some(true) }
    }
}

setters!(Completion: some with_total total u64; some with_has_more has_more bool;);
