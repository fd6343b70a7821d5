//! Tools: what a server can be asked to do.
//!
//! Schemas stay text, byte for byte; [`Tool::input`] gives a typed view on demand. Validates nothing.

use serde_core::de::DeserializeOwned;
use switchboard_json::{DecodeError, FromRaw, Name, Raw};

use crate::setter::setters;
use crate::types::cache::{CacheScope, cacheable};
use crate::types::content::Content;
use crate::types::icon::Icon;
use crate::types::input::InputResponses;
use crate::types::input_schema::InputSchema;
use crate::types::meta::Meta;
use crate::types::task::TaskParams;
use crate::wire::{string_enum, wire};

/// Fills a slot that may be filled once.
#[inline]
fn set_once<T>(slot: &mut Option<T>, name: &str, value: Option<T>) -> Result<(), DecodeError> {
    if slot.is_some() {
        return Err(DecodeError::mismatch(name, "duplicate member"));
    }
    *slot = value;
    Ok(())
}

/// Reads the value of a member; an error names it.
fn read_member<T: FromRaw>(value: &Raw, name: &str) -> Result<T, DecodeError> {
    T::from_raw(value).map_err(|error| error.within(name))
}

/// `null` counts as absent.
#[inline]
fn non_null(value: Raw) -> Option<Raw> {
    if value.is_null() { None } else { Some(value) }
}

#[inline]
fn received_meta(value: Raw) -> Result<Option<Meta>, DecodeError> {
    if value.is_object() {
        return Ok(Some(Meta::received(value)));
    }
    if value.is_null() { Ok(None) } else { Err(DecodeError::mismatch("_meta", "expected an object")) }
}

/// A tool, as listed.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Tool {
    /// Its name, unique in its server.
    pub name: String,
    /// Its name for people (from 2025-06-18).
    pub title: Option<String>,
    /// What it does, for the model.
    pub description: Option<String>,
    /// The JSON Schema of its arguments: an object.
    pub input_schema: Raw,
    /// The JSON Schema of its structured result (from 2025-06-18).
    pub output_schema: Option<Raw>,
    /// What it says of its effects (from 2025-03-26).
    pub annotations: Option<ToolAnnotations>,
    /// How it may be run (2025-11-25 only).
    pub execution: Option<ToolExecution>,
    /// Pictures (from 2025-11-25).
    pub icons: Option<Vec<Icon>>,
    /// Anything else (from 2025-06-18).
    pub meta: Option<Meta>,
}

wire!(Tool:
    required name "name";
    optional title "title";
    optional description "description";
    object input_schema "inputSchema";
    optional output_schema "outputSchema";
    optional annotations "annotations";
    optional execution "execution";
    optional icons "icons";
    optional meta "_meta";
);

impl Tool {
    /// A tool with the JSON Schema of its arguments.
    pub fn new(name: impl Into<String>, input_schema: impl Into<Raw>) -> Self {
        Self {
            name: name.into(),
            title: None,
            description: None,
            input_schema: input_schema.into(),
            output_schema: None,
            annotations: None,
            execution: None,
            icons: None,
            meta: None,
        }
    }

    /// What to call it in front of people: its title, else the title in its annotations, else its name.
    pub fn display_name(&self) -> &str {
        let annotated = self.annotations.as_ref().and_then(|annotations| annotations.title.as_deref());
        self.title.as_deref().or(annotated).unwrap_or(&self.name)
    }

    /// The properties of its arguments, in the order they are written.
    ///
    /// # Errors
    /// When the schema is not shaped like one.
    pub fn input(&self) -> Result<InputSchema, DecodeError> {
        InputSchema::read(&self.input_schema)
    }

    /// What it says of its effects, with the defaults of the specification where it says nothing.
    pub fn effects(&self) -> ToolAnnotations {
        self.annotations.clone().unwrap_or_default()
    }
}

setters!(Tool:
    some with_title title String;
    some with_description description String;
    some with_output_schema output_schema Raw;
    some with_annotations annotations ToolAnnotations;
    some with_execution execution ToolExecution;
    some with_icons icons Vec<Icon>;
    some with_meta meta Meta;
);

/// What a tool says of its effects. Not to be trusted unless the server is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolAnnotations {
    /// Its name for people.
    pub title: Option<String>,
    /// Changes nothing.
    pub read_only_hint: Option<bool>,
    /// May destroy something.
    pub destructive_hint: Option<bool>,
    /// Calling it again with the same arguments changes nothing more.
    pub idempotent_hint: Option<bool>,
    /// Deals with the world outside.
    pub open_world_hint: Option<bool>,
}

wire!(ToolAnnotations:
    optional title "title";
    optional read_only_hint "readOnlyHint";
    optional destructive_hint "destructiveHint";
    optional idempotent_hint "idempotentHint";
    optional open_world_hint "openWorldHint";
);

impl ToolAnnotations {
    /// Says nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Changes nothing; `false` unless said.
    pub fn is_read_only(&self) -> bool {
        self.read_only_hint.unwrap_or(false)
    }

    /// May destroy something; `true` unless said. A tool that changes nothing destroys nothing.
    pub fn is_destructive(&self) -> bool {
        !self.is_read_only() && self.destructive_hint.unwrap_or(true)
    }

    /// May be repeated without further effect; `false` unless said. A tool that changes nothing may.
    pub fn is_idempotent(&self) -> bool {
        self.is_read_only() || self.idempotent_hint.unwrap_or(false)
    }

    /// Deals with the world outside; `true` unless said.
    pub fn is_open_world(&self) -> bool {
        self.open_world_hint.unwrap_or(true)
    }
}

setters!(ToolAnnotations:
    some with_title title String;
    some with_read_only_hint read_only_hint bool;
    some with_destructive_hint destructive_hint bool;
    some with_idempotent_hint idempotent_hint bool;
    some with_open_world_hint open_world_hint bool;
);

/// How a tool may be run (2025-11-25 only).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolExecution {
    /// Whether as a task; absent means forbidden.
    pub task_support: Option<TaskSupport>,
}

wire!(ToolExecution: lenient task_support "taskSupport";);

impl ToolExecution {
    /// With this support for tasks.
    pub fn new(task_support: TaskSupport) -> Self {
        Self { task_support: Some(task_support) }
    }
}

/// Whether a tool may be called as a task (2025-11-25 only).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TaskSupport {
    /// Only without a task.
    Forbidden,
    /// Either way.
    Optional,
    /// Only as a task.
    Required,
}

string_enum!(TaskSupport: Forbidden "forbidden", Optional "optional", Required "required");

/// One page of tools.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ListToolsResult {
    /// The tools.
    pub tools: Vec<Tool>,
    /// Where the next page starts.
    pub next_cursor: Option<String>,
    /// How long this stays fresh, in milliseconds.
    pub ttl_ms: Option<u64>,
    /// Who may share it.
    pub cache_scope: Option<CacheScope>,
    /// Anything else.
    pub meta: Option<Meta>,
}

wire!(ListToolsResult:
    required tools "tools";
    optional next_cursor "nextCursor";
    whole_number ttl_ms "ttlMs";
    lenient cache_scope "cacheScope";
    optional meta "_meta";
);

impl ListToolsResult {
    /// The last page of a list, or all of it.
    pub fn new(tools: impl Into<Vec<Tool>>) -> Self {
        Self { tools: tools.into(), ..Self::default() }
    }
}

setters!(ListToolsResult: some with_next_cursor next_cursor String; some with_meta meta Meta;);
cacheable!(ListToolsResult);

/// Which tool to call, and with what.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CallToolParams {
    /// The tool.
    pub name: String,
    /// Its arguments: an object.
    pub arguments: Option<Raw>,
    /// Asks to run it as a task (2025-11-25 only).
    pub task: Option<TaskParams>,
    /// Answers to what the server asked for (from 2026-07-28).
    pub input_responses: Option<InputResponses>,
    /// What the server wants back, unchanged (from 2026-07-28).
    pub request_state: Option<String>,
    /// Anything else.
    pub meta: Option<Meta>,
}

wire!(CallToolParams:
    required name "name";
    optional arguments "arguments";
    optional task "task";
    optional input_responses "inputResponses";
    optional request_state "requestState";
    optional meta "_meta";
);

impl CallToolParams {
    /// Calls a tool without arguments.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            arguments: None,
            task: None,
            input_responses: None,
            request_state: None,
            meta: None,
        }
    }

    /// Reads the parameters; the arguments and `_meta` are slices of the text they came in.
    ///
    /// # Errors
    /// Names the member that does not fit.
    pub fn from_fields<'a>(fields: impl IntoIterator<Item = (Name<'a>, Raw)>) -> Result<Self, DecodeError> {
        let mut name = None;
        let mut read = Self::new(String::new());
        for (member, value) in fields {
            match member.as_bytes() {
                b"name" => set_once(&mut name, "name", Some(read_member(&value, "name")?))?,
                b"arguments" => set_once(&mut read.arguments, "arguments", non_null(value))?,
                b"task" => set_once(&mut read.task, "task", read_member(&value, "task")?)?,
                b"inputResponses" => set_once(
                    &mut read.input_responses,
                    "inputResponses",
                    read_member(&value, "inputResponses")?,
                )?,
                b"requestState" => {
                    set_once(&mut read.request_state, "requestState", read_member(&value, "requestState")?)?
                }
                b"_meta" => set_once(&mut read.meta, "_meta", received_meta(value)?)?,
                _ => {}
            }
        }
        read.name = name.ok_or_else(|| DecodeError::mismatch(".", "missing field `name`"))?;
        Ok(read)
    }
}

setters!(CallToolParams:
    some with_arguments arguments Raw;
    some with_task task TaskParams;
    some with_input_responses input_responses InputResponses;
    some with_request_state request_state String;
    some with_meta meta Meta;
);

/// What a tool answered.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct CallToolResult {
    /// For the model to read.
    pub content: Vec<Content>,
    /// The same as data (from 2025-06-18).
    pub structured_content: Option<Raw>,
    /// Whether the tool failed; the content then says why.
    pub is_error: bool,
    /// Anything else.
    pub meta: Option<Meta>,
}

wire!(CallToolResult:
    or_default content "content";
    optional structured_content "structuredContent";
    or_false is_error "isError";
    optional meta "_meta";
);

impl CallToolResult {
    /// Success, with this content.
    pub fn new(content: impl Into<Vec<Content>>) -> Self {
        Self { content: content.into(), ..Self::default() }
    }

    /// Failure, with the reason for the model.
    pub fn error(reason: impl Into<String>) -> Self {
        Self { content: vec![Content::text(reason)], is_error: true, ..Self::default() }
    }

    /// The blocks of text, joined by line breaks.
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self.content.iter().filter_map(Content::as_text).collect();
        texts.join("\n")
    }

    /// Reads the structured content; `None` when there is none.
    ///
    /// # Errors
    /// When it has another shape.
    pub fn structured<T: DeserializeOwned>(&self) -> Result<Option<T>, DecodeError> {
        self.structured_content.as_ref().map(Raw::decode).transpose()
    }
}

setters!(CallToolResult:
    some with_structured_content structured_content Raw;
    set with_is_error is_error bool;
    some with_meta meta Meta;
);
