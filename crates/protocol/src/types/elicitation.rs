//! Elicitation: a server asks the user, by a form or by a URL to visit (from 2025-06-18).

use serde_core::de::DeserializeOwned;
use serde_core::ser::SerializeStruct;
use serde_core::{Serialize, Serializer};
use switchboard_json::{DecodeError, FromRaw, Mismatch, OrderedMap, Raw, Reader};

use crate::setter::setters;
use crate::types::form::FormSchema;
use crate::types::meta::Meta;
use crate::types::task::TaskParams;
use crate::wire::{WireObject, impl_deserialize, string_enum, wire};

/// What to ask the user.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ElicitParams {
    /// To fill in a form.
    Form(FormParams),
    /// To visit a URL (from 2025-11-25).
    Url(UrlParams),
}

impl ElicitParams {
    /// Asks for a form to be filled in.
    pub fn form(message: impl Into<String>, schema: FormSchema) -> Self {
        Self::Form(FormParams::new(message, schema))
    }

    /// Asks for a URL to be visited.
    pub fn url(message: impl Into<String>, url: impl Into<String>) -> Self {
        Self::Url(UrlParams::new(message, url))
    }

    /// What the user is told.
    pub fn message(&self) -> &str {
        match self {
            Self::Form(form) => &form.message,
            Self::Url(url) => &url.message,
        }
    }

    /// Anything else.
    pub fn meta(&self) -> Option<&Meta> {
        match self {
            Self::Form(form) => form.meta.as_ref(),
            Self::Url(url) => url.meta.as_ref(),
        }
    }
}

/// A form to be filled in.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FormParams {
    /// Whether `mode: "form"` is written; 2025-06-18 does not have the field.
    pub says_mode: bool,
    /// What the user is told.
    pub message: String,
    /// The fields.
    pub requested_schema: FormSchema,
    /// Asks to run it as a task (2025-11-25 only).
    pub task: Option<TaskParams>,
    /// Anything else (until 2025-11-25).
    pub meta: Option<Meta>,
}

impl FormParams {
    /// This form.
    pub fn new(message: impl Into<String>, schema: FormSchema) -> Self {
        Self { says_mode: true, message: message.into(), requested_schema: schema, task: None, meta: None }
    }
}

// How it is written; both modes are read as one.
wire!(write FormParams:
    required message "message";
    required requested_schema "requestedSchema";
    optional task "task";
    optional meta "_meta";
);

setters!(FormParams: some with_task task TaskParams; some with_meta meta Meta;);

/// A URL to be visited.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct UrlParams {
    /// What the user is told.
    pub message: String,
    /// Where to go.
    pub url: String,
    /// What the completion will refer to (required in 2025-11-25, unknown in any other).
    pub elicitation_id: Option<String>,
    /// Asks to run it as a task (2025-11-25 only).
    pub task: Option<TaskParams>,
    /// Anything else (until 2025-11-25).
    pub meta: Option<Meta>,
}

impl UrlParams {
    /// This URL.
    pub fn new(message: impl Into<String>, url: impl Into<String>) -> Self {
        Self { message: message.into(), url: url.into(), elicitation_id: None, task: None, meta: None }
    }
}

wire!(write UrlParams:
    required message "message";
    required url "url";
    optional elicitation_id "elicitationId";
    optional task "task";
    optional meta "_meta";
);

setters!(UrlParams:
    some with_elicitation_id elicitation_id String;
    some with_task task TaskParams;
    some with_meta meta Meta;
);

/// Both modes, as one object; a missing mode means a form.
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
    fn read(reader: &mut Reader<'_>) -> Result<Self, Mismatch> {
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

/// What the user did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ElicitAction {
    /// Agreed, or sent the form.
    Accept,
    /// Said no.
    Decline,
    /// Went away without an answer.
    Cancel,
}

string_enum!(ElicitAction: Accept "accept", Decline "decline", Cancel "cancel");

/// The user's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ElicitResult {
    /// What the user did.
    pub action: ElicitAction,
    /// What was filled in: text, numbers, yes or no, and lists of text (from 2025-11-25).
    pub content: Option<OrderedMap<Raw>>,
    /// Anything else (until 2025-11-25).
    pub meta: Option<Meta>,
}

wire!(ElicitResult:
    required action "action";
    optional content "content";
    optional meta "_meta";
);

impl ElicitResult {
    /// The user did this, and filled in nothing.
    pub fn new(action: ElicitAction) -> Self {
        Self { action, content: None, meta: None }
    }

    /// The user sent the form.
    pub fn accept(content: OrderedMap<Raw>) -> Self {
        Self { action: ElicitAction::Accept, content: Some(content), meta: None }
    }

    /// Reads what was filled in; `None` when nothing was.
    ///
    /// # Errors
    /// When it has another shape.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<Option<T>, DecodeError> {
        let Some(content) = &self.content else { return Ok(None) };
        let raw =
            Raw::encode(content).map_err(|error| DecodeError::mismatch("content", error.to_string()))?;
        raw.decode().map(Some)
    }
}

setters!(ElicitResult: some with_content content OrderedMap<Raw>; some with_meta meta Meta;);

/// The URL of an elicitation has been dealt with (2025-11-25 only).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ElicitationComplete {
    /// Which one.
    pub elicitation_id: String,
    /// Anything else.
    pub meta: Option<Meta>,
}

wire!(ElicitationComplete: required elicitation_id "elicitationId"; optional meta "_meta";);

impl ElicitationComplete {
    /// This one.
    pub fn new(elicitation_id: impl Into<String>) -> Self {
        Self { elicitation_id: elicitation_id.into(), meta: None }
    }
}

setters!(ElicitationComplete: some with_meta meta Meta;);
