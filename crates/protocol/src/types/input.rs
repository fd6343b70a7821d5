//! What a server needs before it can answer, and the answers (from 2026-07-28).
//!
//! Only the shapes: asking the user and sending the request again is the business of a conversation.

use serde_core::de::DeserializeOwned;
use serde_core::ser::SerializeStruct;
use serde_core::{Serialize, Serializer};
use switchboard_json::{DecodeError, EncodeError, FromRaw, Mismatch, OrderedMap, Raw, Reader};

use crate::setter::setters;
use crate::types::elicitation::ElicitParams;
use crate::types::meta::Meta;
use crate::types::roots::ListRootsParams;
use crate::types::sampling::CreateMessageParams;
use crate::wire::{MemberBinding, OptionalSlot, impl_deserialize, read_members, string_enum, wire};

/// One thing a server needs: a request without an id.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum InputRequest {
    /// Something from the user.
    Elicit(Box<ElicitParams>),
    /// Something from the model.
    Sample(Box<CreateMessageParams>),
    /// The roots.
    Roots(ListRootsParams),
    /// Something we do not know.
    Unknown {
        /// The method.
        method: String,
        /// Its parameters.
        params: Option<Raw>,
    },
}

impl InputRequest {
    /// The method, as written on the wire.
    pub fn method(&self) -> &str {
        match self {
            Self::Elicit(_) => "elicitation/create",
            Self::Sample(_) => "sampling/createMessage",
            Self::Roots(_) => "roots/list",
            Self::Unknown { method, .. } => method,
        }
    }
}

impl From<ElicitParams> for InputRequest {
    fn from(params: ElicitParams) -> Self {
        Self::Elicit(Box::new(params))
    }
}

impl From<CreateMessageParams> for InputRequest {
    fn from(params: CreateMessageParams) -> Self {
        Self::Sample(Box::new(params))
    }
}

impl Serialize for InputRequest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("InputRequest", 2)?;
        object.serialize_field("method", self.method())?;
        match self {
            Self::Elicit(params) => object.serialize_field("params", params)?,
            Self::Sample(params) => object.serialize_field("params", params)?,
            Self::Roots(params) if params.meta.is_some() => object.serialize_field("params", params)?,
            Self::Unknown { params: Some(params), .. } => object.serialize_field("params", params)?,
            Self::Roots(_) | Self::Unknown { params: None, .. } => {}
        }
        object.end()
    }
}

impl FromRaw for InputRequest {
    fn read(reader: &mut Reader<'_>) -> Result<Self, Mismatch> {
        let start = reader.offset();
        let method =
            reader.peek_string_member("method")?.ok_or_else(|| Mismatch::missing(start, "method"))?;
        match &*method {
            "elicitation/create" => params(reader).map(Self::Elicit),
            "sampling/createMessage" => params(reader).map(Self::Sample),
            "roots/list" => params(reader).map(Self::Roots),
            _ => {
                let mut params = OptionalSlot(None);
                read_members(reader, &mut [MemberBinding::new("params", &mut params)])?;
                Ok(Self::Unknown { method: method.into_owned(), params: params.0 })
            }
        }
    }
}

/// The parameters of the request at which the reader is; without any they are an empty object.
fn params<T: FromRaw>(reader: &mut Reader<'_>) -> Result<T, Mismatch> {
    let start = reader.offset();
    let mut params = OptionalSlot(None);
    read_members(reader, &mut [MemberBinding::new("params", &mut params)])?;
    let none = || T::from_raw(&Raw::empty_object()).map_err(|error| Mismatch::new(start, error.to_string()));
    params.0.map_or_else(none, Ok)
}

impl_deserialize!(InputRequest);

/// What a server needs, by the keys under which it wants the answers.
pub type InputRequests = OrderedMap<InputRequest>;

/// The answers, by the keys of the requests: bare results.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InputResponses(OrderedMap<Raw>);

impl FromRaw for InputResponses {
    fn read(reader: &mut Reader<'_>) -> Result<Self, Mismatch> {
        OrderedMap::read(reader).map(Self)
    }
}

impl Serialize for InputResponses {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl_deserialize!(InputResponses);

impl InputResponses {
    /// No answers.
    pub const fn new() -> Self {
        Self(OrderedMap::new())
    }

    /// The answer under `key`, as text.
    pub fn get(&self, key: &str) -> Option<&Raw> {
        self.0.get(key)
    }

    /// Reads the answer under `key`; `None` when there is none.
    ///
    /// # Errors
    /// When there is an answer of another shape.
    pub fn decode<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, DecodeError> {
        self.0.get(key).map(Raw::decode).transpose().map_err(|error: DecodeError| {
            DecodeError::mismatch(format!("inputResponses[{key:?}]"), error.kind().to_string())
        })
    }

    /// Sets the answer under `key`; gives back the old one.
    pub fn insert(&mut self, key: impl Into<String>, answer: Raw) -> Option<Raw> {
        self.0.insert(key, answer)
    }

    /// The same with one more answer.
    ///
    /// # Errors
    /// When the answer cannot be JSON.
    pub fn with<T: Serialize + ?Sized>(
        mut self,
        key: impl Into<String>,
        answer: &T,
    ) -> Result<Self, EncodeError> {
        self.0.insert(key, Raw::encode(answer)?);
        Ok(self)
    }

    /// The answers, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Raw)> {
        self.0.iter()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<(String, Raw)> for InputResponses {
    fn from_iter<I: IntoIterator<Item = (String, Raw)>>(answers: I) -> Self {
        Self(answers.into_iter().collect())
    }
}

/// Not an answer yet: what the server needs, and what it wants back with it.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct InputRequired {
    result_type: InputRequiredTag,
    /// What it needs. Without any, the request may simply be sent again.
    pub input_requests: Option<InputRequests>,
    /// To be sent back unchanged.
    pub request_state: Option<String>,
    /// Anything else.
    pub meta: Option<Meta>,
}

wire!(InputRequired:
    or_default result_type "resultType";
    optional input_requests "inputRequests";
    optional request_state "requestState";
    optional meta "_meta";
);

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum InputRequiredTag {
    #[default]
    InputRequired,
}

string_enum!(InputRequiredTag: InputRequired "input_required");

impl InputRequired {
    /// Needs these.
    pub fn new(requests: InputRequests) -> Self {
        Self { input_requests: Some(requests), ..Self::default() }
    }

    /// Needs nothing but the request again, with this state.
    pub fn again(state: impl Into<String>) -> Self {
        Self { request_state: Some(state.into()), ..Self::default() }
    }
}

setters!(InputRequired: some with_request_state request_state String; some with_meta meta Meta;);
