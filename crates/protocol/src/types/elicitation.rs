//! Elicitation: the server asks the user to fill in a form or to visit a URL (from 2025-06-18).

use serde_core::de::DeserializeOwned;
use serde_core::ser::SerializeStruct;
use serde_core::{Serialize, Serializer};
use switchboard_json::{DecodeError, FromRaw, Mismatch, OrderedMap, Raw, RawReader};

use crate::types::form::FormSchema;
use crate::types::meta::Meta;
use crate::types::task::TaskParams;
use crate::wire::{WireObject, impl_deserialize, string_enum, wire};

/// The parameters of `elicitation/create`.
///
/// ```
/// use switchboard::protocol::{ElicitParams, FormField, FormSchema, TextField};
///
/// let form = FormSchema::new().with_required("name", FormField::Text(TextField::new().with_max_length(80u64)));
/// let request = ElicitParams::form("Who should sign the letter?", form);
/// assert_eq!(request.message(), "Who should sign the letter?");
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ElicitParams {
    /// A form to fill in.
    Form(FormParams),
    /// A URL to visit (from 2025-11-25).
    Url(UrlParams),
}

impl ElicitParams {
    /// Creates a form elicitation.
    pub fn form(message: impl Into<String>, schema: FormSchema) -> Self {
        Self::Form(FormParams::new(message, schema))
    }

    /// Creates a URL elicitation.
    pub fn url(message: impl Into<String>, url: impl Into<String>) -> Self {
        Self::Url(UrlParams::new(message, url))
    }

    /// Returns the message shown to the user.
    pub fn message(&self) -> &str {
        match self {
            Self::Form(form) => &form.message,
            Self::Url(url) => &url.message,
        }
    }

    /// Returns the `_meta` object.
    pub fn meta(&self) -> Option<&Meta> {
        match self {
            Self::Form(form) => form.meta.as_ref(),
            Self::Url(url) => url.meta.as_ref(),
        }
    }
}

/// The parameters of a form elicitation.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FormParams {
    /// Whether `mode: "form"` is encoded; 2025-06-18 does not have the field.
    pub says_mode: bool,
    /// The message shown to the user.
    pub message: String,
    /// The schema of the form.
    pub requested_schema: FormSchema,
    /// Requests execution as a task (2025-11-25 only).
    pub task: Option<TaskParams>,
    /// The `_meta` object (until 2025-11-25).
    pub meta: Option<Meta>,
}

impl FormParams {
    /// Creates a form elicitation.
    pub fn new(message: impl Into<String>, schema: FormSchema) -> Self {
        Self { says_mode: true, message: message.into(), requested_schema: schema, task: None, meta: None }
    }
}

// Encoding only; `ElicitParamsWire` decodes both modes.
wire!(write FormParams:
    required message "message";
    required requested_schema "requestedSchema";
    optional task "task", with_task(TaskParams);
    optional meta "_meta", with_meta(Meta);
);

/// The parameters of a URL elicitation.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct UrlParams {
    /// The message shown to the user.
    pub message: String,
    /// The URL to visit.
    pub url: String,
    /// The id that the completion notification refers to (required in 2025-11-25, unknown in any other).
    pub elicitation_id: Option<String>,
    /// Requests execution as a task (2025-11-25 only).
    pub task: Option<TaskParams>,
    /// The `_meta` object (until 2025-11-25).
    pub meta: Option<Meta>,
}

impl UrlParams {
    /// Creates a URL elicitation.
    pub fn new(message: impl Into<String>, url: impl Into<String>) -> Self {
        Self { message: message.into(), url: url.into(), elicitation_id: None, task: None, meta: None }
    }
}

wire!(write UrlParams:
    required message "message";
    required url "url";
    optional elicitation_id "elicitationId", with_elicitation_id(String);
    optional task "task", with_task(TaskParams);
    optional meta "_meta", with_meta(Meta);
);

/// The wire form of both modes; a missing mode means a form.
struct ElicitParamsWire {
    mode: Option<String>,
    message: String,
    requested_schema: Option<FormSchema>,
    url: Option<String>,
    elicitation_id: Option<String>,
    task: Option<TaskParams>,
    meta: Option<Meta>,
}

wire!(read ElicitParamsWire:
    optional mode "mode";
    required message "message";
    optional requested_schema "requestedSchema";
    optional url "url";
    optional elicitation_id "elicitationId";
    optional task "task";
    optional meta "_meta";
);

impl FromRaw for ElicitParams {
    fn read(reader: &mut RawReader<'_>) -> Result<Self, Mismatch> {
        let start = reader.offset();
        let ElicitParamsWire { mode, message, requested_schema, url, elicitation_id, task, meta } =
            ElicitParamsWire::read(reader)?;
        match mode.as_deref() {
            None | Some("form") => Ok(Self::Form(FormParams {
                says_mode: mode.is_some(),
                message,
                requested_schema: requested_schema
                    .ok_or_else(|| Mismatch::missing(start, "requestedSchema"))?,
                task,
                meta,
            })),
            Some("url") => {
                let url = url.ok_or_else(|| Mismatch::missing(start, "url"))?;
                Ok(Self::Url(UrlParams { message, url, elicitation_id, task, meta }))
            }
            Some(other) => Err(Mismatch::new(start, format!("unknown elicitation mode {other:?}"))),
        }
    }
}

impl Serialize for ElicitParams {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("ElicitParams", 1 + UrlParams::MEMBERS)?;
        match self {
            Self::Form(form) => {
                if form.says_mode {
                    object.serialize_field("mode", "form")?;
                }
                form.write_members(&mut object)?;
            }
            Self::Url(url) => {
                object.serialize_field("mode", "url")?;
                url.write_members(&mut object)?;
            }
        }
        object.end()
    }
}

impl_deserialize!(ElicitParams);

/// The action of the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ElicitAction {
    /// Agreed, or submitted the form.
    Accept,
    /// Declined.
    Decline,
    /// Dismissed the request without an answer.
    Cancel,
}

string_enum!(ElicitAction: Accept "accept", Decline "decline", Cancel "cancel");

/// The result of `elicitation/create`.
///
/// ```
/// use switchboard::json;
/// use switchboard::protocol::{ElicitAction, ElicitResult, OrderedMap, Raw};
///
/// let values: OrderedMap<Raw> = [("copies", Raw::from(json!(2)))].into_iter().collect();
/// let result = ElicitResult::accept(values);
/// assert_eq!(result.action, ElicitAction::Accept);
/// assert_eq!(result.content.unwrap().get("copies").map(Raw::as_str), Some("2"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ElicitResult {
    /// The action of the user.
    pub action: ElicitAction,
    /// The submitted values: strings, numbers, booleans, and lists of strings (from 2025-11-25).
    pub content: Option<OrderedMap<Raw>>,
    /// The `_meta` object (until 2025-11-25).
    pub meta: Option<Meta>,
}

wire!(ElicitResult:
    required action "action";
    optional content "content", with_content(OrderedMap<Raw>);
    optional meta "_meta", with_meta(Meta);
);

impl ElicitResult {
    /// Creates a result without values.
    pub fn new(action: ElicitAction) -> Self {
        Self { action, content: None, meta: None }
    }

    /// Creates the result of a submitted form.
    pub fn accept(content: OrderedMap<Raw>) -> Self {
        Self { action: ElicitAction::Accept, content: Some(content), meta: None }
    }

    /// Decodes the submitted values; `None` if there are none.
    ///
    /// # Errors
    /// When the values do not fit the type.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<Option<T>, DecodeError> {
        let Some(content) = &self.content else { return Ok(None) };
        let raw =
            Raw::encode(content).map_err(|error| DecodeError::mismatch("content", error.to_string()))?;
        raw.decode().map(Some)
    }
}

/// The parameters of `notifications/elicitation/complete` (2025-11-25 only).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ElicitationComplete {
    /// The id of the elicitation.
    pub elicitation_id: String,
    /// The `_meta` object.
    pub meta: Option<Meta>,
}

wire!(ElicitationComplete:
    required elicitation_id "elicitationId";
    optional meta "_meta", with_meta(Meta);
);

impl ElicitationComplete {
    /// Creates the notification for an elicitation.
    pub fn new(elicitation_id: impl Into<String>) -> Self {
        Self { elicitation_id: elicitation_id.into(), meta: None }
    }
}
