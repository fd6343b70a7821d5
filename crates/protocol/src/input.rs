//! What a server needs before it can answer, and the answers (from 2026-07-28).
//!
//! Only the shapes: asking the user and sending the request again is the business of a conversation.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::elicitation::ElicitParams;
use crate::map::OrderedMap;
use crate::meta::Meta;
use crate::raw::{DecodeError, EncodeError, Raw};
use crate::roots::ListRootsParams;
use crate::sampling::CreateMessageParams;
use crate::setter::setters;

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

#[derive(Serialize)]
struct Outgoing<'a, P> {
    method: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    params: Option<P>,
}

#[derive(Deserialize)]
struct Incoming {
    method: String,
    #[serde(default)]
    params: Option<Raw>,
}

impl Serialize for InputRequest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let method = self.method();
        match self {
            Self::Elicit(params) => Outgoing { method, params: Some(params) }.serialize(serializer),
            Self::Sample(params) => Outgoing { method, params: Some(params) }.serialize(serializer),
            Self::Roots(params) => {
                let params = params.meta.is_some().then_some(params);
                Outgoing { method, params }.serialize(serializer)
            }
            Self::Unknown { params, .. } => {
                Outgoing { method, params: params.as_ref() }.serialize(serializer)
            }
        }
    }
}

impl<'de> Deserialize<'de> for InputRequest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Incoming { method, params } = Incoming::deserialize(deserializer)?;
        let read = params.clone().unwrap_or_else(Raw::empty_object);
        let request = match method.as_str() {
            "elicitation/create" => read.decode().map(Self::Elicit),
            "sampling/createMessage" => read.decode().map(Self::Sample),
            "roots/list" => read.decode().map(Self::Roots),
            _ => Ok(Self::Unknown { method, params }),
        };
        request.map_err(serde::de::Error::custom)
    }
}

/// What a server needs, by the keys under which it wants the answers.
pub type InputRequests = OrderedMap<InputRequest>;

/// The answers, by the keys of the requests: bare results.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct InputResponses(OrderedMap<Raw>);

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
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct InputRequired {
    #[serde(default)]
    result_type: InputRequiredTag,
    /// What it needs. Without any, the request may simply be sent again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_requests: Option<InputRequests>,
    /// To be sent back unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_state: Option<String>,
    /// Anything else.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum InputRequiredTag {
    #[default]
    InputRequired,
}

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
