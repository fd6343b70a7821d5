//! Input requests: what a server needs from the client before it can complete a request, and the responses (from
//! 2026-07-28).
//!
//! Types only: asking the user and repeating the request is the job of the session.

use serde_core::de::DeserializeOwned;
use serde_core::ser::SerializeStruct;
use serde_core::{Serialize, Serializer};
use switchboard_json::{DecodeError, EncodeError, FromRaw, Mismatch, OrderedMap, Raw, RawReader};

use crate::types::elicitation::ElicitParams;
use crate::types::meta::Meta;
use crate::types::roots::ListRootsParams;
use crate::types::sampling::CreateMessageParams;
use crate::wire::{MemberBinding, OptionalSlot, impl_deserialize, read_members, string_enum, wire};

/// A request of the server to the client inside a result: a method and parameters without an id.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum InputRequest {
    /// Asks the user.
    Elicit(Box<ElicitParams>),
    /// Samples from the model of the client.
    Sample(Box<CreateMessageParams>),
    /// Lists the roots of the client.
    Roots(ListRootsParams),
    /// An unknown method.
    Unknown {
        /// The method.
        method: String,
        /// The parameters.
        params: Option<Raw>,
    },
}

impl InputRequest {
    /// Returns the method name on the wire.
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
    fn read(reader: &mut RawReader<'_>) -> Result<Self, Mismatch> {
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

/// Decodes the parameters of the input request at the reader; missing ones count as an empty object.
fn params<T: FromRaw>(reader: &mut RawReader<'_>) -> Result<T, Mismatch> {
    let start = reader.offset();
    let mut params = OptionalSlot(None);
    read_members(reader, &mut [MemberBinding::new("params", &mut params)])?;
    let empty = || T::from_raw(&Raw::empty_object()).map_err(|error| Mismatch::new(start, error.to_string()));
    params.0.map_or_else(empty, Ok)
}

impl_deserialize!(InputRequest);

/// Input requests by key; the responses use the same keys.
pub type InputRequests = OrderedMap<InputRequest>;

/// Responses to input requests, by the keys of the requests.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InputResponses(OrderedMap<Raw>);

impl FromRaw for InputResponses {
    fn read(reader: &mut RawReader<'_>) -> Result<Self, Mismatch> {
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
    /// Creates an empty set of responses.
    pub const fn new() -> Self {
        Self(OrderedMap::new())
    }

    /// Returns the response for `key` as JSON text.
    pub fn get(&self, key: &str) -> Option<&Raw> {
        self.0.get(key)
    }

    /// Decodes the response for `key`; `None` if there is none.
    ///
    /// # Errors
    /// When the response does not fit the type.
    pub fn decode<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, DecodeError> {
        self.0.get(key).map(Raw::decode).transpose().map_err(|error: DecodeError| {
            DecodeError::mismatch(format!("inputResponses[{key:?}]"), error.kind().to_string())
        })
    }

    /// Sets the response for `key` and returns the previous one.
    pub fn insert(&mut self, key: impl Into<String>, answer: Raw) -> Option<Raw> {
        self.0.insert(key, answer)
    }

    /// Adds a response.
    ///
    /// # Errors
    /// When the response cannot be encoded as JSON.
    pub fn with<T: Serialize + ?Sized>(
        mut self,
        key: impl Into<String>,
        answer: &T,
    ) -> Result<Self, EncodeError> {
        self.0.insert(key, Raw::encode(answer)?);
        Ok(self)
    }

    /// Iterates over the responses, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Raw)> {
        self.0.iter()
    }

    /// Returns whether there are no responses.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<(String, Raw)> for InputResponses {
    fn from_iter<I: IntoIterator<Item = (String, Raw)>>(answers: I) -> Self {
        Self(answers.into_iter().collect())
    }
}

/// A result that asks for input: the client repeats the request with the responses and the state.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct InputRequired {
    result_type: InputRequiredTag,
    /// The input requests. Without any, the client just repeats the request.
    pub input_requests: Option<InputRequests>,
    /// The opaque state, to be sent back unchanged.
    pub request_state: Option<String>,
    /// The `_meta` object.
    pub meta: Option<Meta>,
}

wire!(InputRequired:
    or_default result_type "resultType";
    optional input_requests "inputRequests";
    optional request_state "requestState", with_request_state(String);
    optional meta "_meta", with_meta(Meta);
);

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum InputRequiredTag {
    #[default]
    InputRequired,
}

string_enum!(InputRequiredTag: InputRequired "input_required");

impl InputRequired {
    /// Creates a result that asks for input.
    pub fn new(requests: InputRequests) -> Self {
        Self { input_requests: Some(requests), ..Self::default() }
    }

    /// Creates a result that asks the client to repeat the request with this state.
    pub fn again(state: impl Into<String>) -> Self {
        Self { request_state: Some(state.into()), ..Self::default() }
    }
}
