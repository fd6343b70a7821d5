//! Completion of arguments of prompts and resource templates.

use serde_core::ser::SerializeStruct;
use serde_core::{Serialize, Serializer};
use switchboard_json::{FromRaw, Mismatch, OrderedMap, RawReader};

use crate::types::meta::Meta;
use crate::wire::{impl_deserialize, wire};

/// The parameters of `completion/complete`.
///
/// ```
/// use switchboard::protocol::{CompleteParams, Reference};
///
/// let params = CompleteParams::new(Reference::prompt("greet"), "name", "Ad");
/// assert_eq!(params.argument.value, "Ad"); // typed so far
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CompleteParams {
    /// The prompt or resource template.
    pub reference: Reference,
    /// The argument to complete.
    pub argument: CompleteArgument,
    /// The arguments already filled in (from 2025-06-18).
    pub context: Option<CompleteContext>,
    /// The `_meta` object.
    pub meta: Option<Meta>,
}

wire!(CompleteParams:
    required reference "ref";
    required argument "argument";
    optional context "context";
    optional meta "_meta", with_meta(Meta);
);

impl CompleteParams {
    /// Creates a request to complete the argument `name` from its current value.
    pub fn new(reference: Reference, name: impl Into<String>, value: impl Into<String>) -> Self {
        let argument = CompleteArgument { name: name.into(), value: value.into() };
        Self { reference, argument, context: None, meta: None }
    }

    /// Sets the arguments already filled in.
    #[must_use]
    pub fn with_filled(mut self, arguments: OrderedMap<String>) -> Self {
        self.context = Some(CompleteContext { arguments: Some(arguments) });
        self
    }
}

/// The argument to complete.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CompleteArgument {
    /// Its name.
    pub name: String,
    /// The text typed so far.
    pub value: String,
}

wire!(CompleteArgument: required name "name"; required value "value";);

/// The context of a completion.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CompleteContext {
    /// The arguments already filled in.
    pub arguments: Option<OrderedMap<String>>,
}

wire!(CompleteContext: optional arguments "arguments";);

/// A reference to a prompt or a resource template.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reference {
    /// A prompt, by name.
    Prompt {
        /// Its name.
        name: String,
        /// The display name (from 2025-06-18).
        title: Option<String>,
    },
    /// A resource template, by its URI template.
    Resource {
        /// The URI or URI template.
        uri: String,
    },
}

impl Reference {
    /// Creates a reference to a prompt.
    pub fn prompt(name: impl Into<String>) -> Self {
        Self::Prompt { name: name.into(), title: None }
    }

    /// Creates a reference to a resource template.
    pub fn resource(uri: impl Into<String>) -> Self {
        Self::Resource { uri: uri.into() }
    }
}

/// The wire form of both kinds of references.
struct ReferenceWire {
    r#type: String,
    name: Option<String>,
    title: Option<String>,
    uri: Option<String>,
}

wire!(read ReferenceWire:
    required r#type "type";
    optional name "name";
    optional title "title";
    optional uri "uri";
);

impl FromRaw for Reference {
    fn read(reader: &mut RawReader<'_>) -> Result<Self, Mismatch> {
        let start = reader.offset();
        let wire = ReferenceWire::read(reader)?;
        match (wire.r#type.as_str(), wire.name, wire.uri) {
            ("ref/prompt", Some(name), _) => Ok(Self::Prompt { name, title: wire.title }),
            ("ref/resource", _, Some(uri)) => Ok(Self::Resource { uri }),
            ("ref/prompt", None, _) => Err(Mismatch::missing(start, "name")),
            ("ref/resource", _, None) => Err(Mismatch::missing(start, "uri")),
            (other, _, _) => Err(Mismatch::new(start, format!("unknown reference type {other:?}"))),
        }
    }
}

impl Serialize for Reference {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("Reference", 3)?;
        match self {
            Self::Prompt { name, title } => {
                object.serialize_field("type", "ref/prompt")?;
                object.serialize_field("name", name)?;
                if let Some(title) = title {
                    object.serialize_field("title", title)?;
                }
            }
            Self::Resource { uri } => {
                object.serialize_field("type", "ref/resource")?;
                object.serialize_field("uri", uri)?;
            }
        }
        object.end()
    }
}

impl_deserialize!(Reference);

/// The result of `completion/complete`.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct CompleteResult {
    /// The suggestions.
    pub completion: Completion,
    /// The `_meta` object.
    pub meta: Option<Meta>,
}

wire!(CompleteResult: required completion "completion"; optional meta "_meta", with_meta(Meta););

impl CompleteResult {
    /// Creates a result.
    pub fn new(completion: Completion) -> Self {
        Self { completion, meta: None }
    }
}

/// The suggested values.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Completion {
    /// At most [`MAX_VALUES`](Self::MAX_VALUES) values, the best first.
    pub values: Vec<String>,
    /// The total number of values.
    pub total: Option<u64>,
    /// Whether there are more values.
    pub has_more: Option<bool>,
}

wire!(Completion:
    required values "values";
    whole_number total "total", with_total(u64);
    optional has_more "hasMore", with_has_more(bool);
);

impl Completion {
    /// The maximum number of values in one result.
    pub const MAX_VALUES: usize = 100;

    /// Creates a completion; values beyond the limit are dropped, and `total` and `has_more` say so.
    pub fn new(values: impl Into<Vec<String>>) -> Self {
        let mut values = values.into();
        let total = values.len();
        values.truncate(Self::MAX_VALUES);
        let cut = total > values.len();
        Self { values, total: cut.then_some(total as u64), has_more: cut.then_some(true) }
    }
}
