//! Tools of a server and calls of them.
//!
//! Schemas stay JSON text, byte for byte; [`Tool::input`] returns a typed view. Validates nothing.

use serde_core::de::DeserializeOwned;
use switchboard_json::{DecodeError, Raw};

use crate::types::cache::{CacheScope, cacheable};
use crate::types::content::Content;
use crate::types::icon::Icon;
use crate::types::input::InputResponses;
use crate::types::input_schema::InputSchema;
use crate::types::meta::Meta;
use crate::types::task::TaskParams;
use crate::wire::{string_enum, wire};

/// A tool in a list.
///
/// ```
/// use switchboard::json;
/// use switchboard::protocol::{Tool, ToolAnnotations};
///
/// let schema = json!({ "type": "object", "properties": { "city": { "type": "string" } }, "required": ["city"] });
/// let tool = Tool::new("forecast", schema)
///     .with_title("Weather forecast")
///     .with_description("Returns the weather of the next three days.")
///     .with_annotations(ToolAnnotations::new().with_read_only_hint(true));
/// assert_eq!(tool.display_name(), "Weather forecast");
/// assert!(tool.effects().is_read_only());
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Tool {
    /// The name, unique within its server.
    pub name: String,
    /// The display name (from 2025-06-18).
    pub title: Option<String>,
    /// A description for the model.
    pub description: Option<String>,
    /// The JSON Schema of its arguments: an object.
    pub input_schema: Raw,
    /// The JSON Schema of its structured result (from 2025-06-18).
    pub output_schema: Option<Raw>,
    /// Hints about its effects (from 2025-03-26).
    pub annotations: Option<ToolAnnotations>,
    /// Execution options (2025-11-25 only).
    pub execution: Option<ToolExecution>,
    /// Icons (from 2025-11-25).
    pub icons: Option<Vec<Icon>>,
    /// The `_meta` object (from 2025-06-18).
    pub meta: Option<Meta>,
}

wire!(Tool:
    required name "name";
    optional title "title", with_title(String);
    optional description "description", with_description(String);
    object input_schema "inputSchema";
    optional output_schema "outputSchema", with_output_schema(Raw);
    optional annotations "annotations", with_annotations(ToolAnnotations);
    optional execution "execution", with_execution(ToolExecution);
    optional icons "icons", with_icons(Vec<Icon>);
    optional meta "_meta", with_meta(Meta);
);

impl Tool {
    /// Creates a tool with the JSON Schema of its arguments.
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

    /// Returns the display name: the title, otherwise the title in the annotations, otherwise the name.
    pub fn display_name(&self) -> &str {
        let annotated = self.annotations.as_ref().and_then(|annotations| annotations.title.as_deref());
        self.title.as_deref().or(annotated).unwrap_or(&self.name)
    }

    /// Returns the properties of the input schema, in order.
    ///
    /// # Errors
    /// When the schema is malformed.
    pub fn input(&self) -> Result<InputSchema, DecodeError> {
        InputSchema::read(&self.input_schema)
    }

    /// Returns the annotations, or default ones if it has none.
    pub fn effects(&self) -> ToolAnnotations {
        self.annotations.clone().unwrap_or_default()
    }
}

/// Hints about the effects of a tool. Untrusted unless the server is trusted.
///
/// ```
/// use switchboard::protocol::ToolAnnotations;
///
/// let unknown = ToolAnnotations::new();
/// assert!(unknown.is_destructive() && unknown.is_open_world()); // the worst case
///
/// let reader = ToolAnnotations::new().with_read_only_hint(true).with_open_world_hint(false);
/// assert!(!reader.is_destructive() && reader.is_idempotent());
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolAnnotations {
    /// The display name.
    pub title: Option<String>,
    /// Whether the tool does not modify its environment.
    pub read_only_hint: Option<bool>,
    /// Whether the tool may perform destructive updates.
    pub destructive_hint: Option<bool>,
    /// Whether repeating a call with the same arguments has no further effect.
    pub idempotent_hint: Option<bool>,
    /// Whether the tool interacts with external entities.
    pub open_world_hint: Option<bool>,
}

wire!(ToolAnnotations:
    optional title "title", with_title(String);
    optional read_only_hint "readOnlyHint", with_read_only_hint(bool);
    optional destructive_hint "destructiveHint", with_destructive_hint(bool);
    optional idempotent_hint "idempotentHint", with_idempotent_hint(bool);
    optional open_world_hint "openWorldHint", with_open_world_hint(bool);
);

impl ToolAnnotations {
    /// Creates annotations without hints.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns whether the tool does not modify its environment; defaults to `false`.
    pub fn is_read_only(&self) -> bool {
        self.read_only_hint.unwrap_or(false)
    }

    /// Returns whether the tool may perform destructive updates; defaults to `true`. A read-only tool is not
    /// destructive.
    pub fn is_destructive(&self) -> bool {
        !self.is_read_only() && self.destructive_hint.unwrap_or(true)
    }

    /// Returns whether repeating a call has no further effect; defaults to `false`. A read-only tool is idempotent.
    pub fn is_idempotent(&self) -> bool {
        self.is_read_only() || self.idempotent_hint.unwrap_or(false)
    }

    /// Returns whether the tool interacts with external entities; defaults to `true`.
    pub fn is_open_world(&self) -> bool {
        self.open_world_hint.unwrap_or(true)
    }
}

/// Execution options of a tool (2025-11-25 only).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolExecution {
    /// Whether the tool may run as a task; `None` means forbidden.
    pub task_support: Option<TaskSupport>,
}

wire!(ToolExecution: lenient task_support "taskSupport";);

impl ToolExecution {
    /// Creates execution options.
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
    /// The cursor of the next page; `None` on the last one.
    pub next_cursor: Option<String>,
    /// How long the result may be cached, in milliseconds.
    pub ttl_ms: Option<u64>,
    /// Who may share the cached result.
    pub cache_scope: Option<CacheScope>,
    /// The `_meta` object.
    pub meta: Option<Meta>,
}

wire!(ListToolsResult:
    required tools "tools";
    optional next_cursor "nextCursor", with_next_cursor(String);
    whole_number ttl_ms "ttlMs";
    lenient cache_scope "cacheScope";
    optional meta "_meta", with_meta(Meta);
);

impl ListToolsResult {
    /// Creates the last or only page.
    pub fn new(tools: impl Into<Vec<Tool>>) -> Self {
        Self { tools: tools.into(), ..Self::default() }
    }
}

cacheable!(ListToolsResult);

/// The parameters of `tools/call`.
///
/// ```
/// use switchboard::protocol::{CallToolParams, FromRaw, Raw};
///
/// let raw = Raw::parse(r#"{"name":"add","arguments":{"a":1,"b":2}}"#)?;
/// let call = CallToolParams::from_raw(&raw)?;
/// assert_eq!(call.name, "add");
/// assert_eq!(call.arguments.as_ref().map(Raw::as_str), Some(r#"{"a":1,"b":2}"#));
/// # Ok::<(), switchboard::protocol::DecodeError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CallToolParams {
    /// The name of the tool.
    pub name: String,
    /// The arguments: an object.
    pub arguments: Option<Raw>,
    /// Requests execution as a task (2025-11-25 only).
    pub task: Option<TaskParams>,
    /// The responses to the input requests of the server (from 2026-07-28).
    pub input_responses: Option<InputResponses>,
    /// The opaque state of the server, sent back unchanged (from 2026-07-28).
    pub request_state: Option<String>,
    /// The `_meta` object.
    pub meta: Option<Meta>,
}

wire!(fields CallToolParams:
    required name "name";
    optional arguments "arguments", with_arguments(Raw);
    optional task "task", with_task(TaskParams);
    optional input_responses "inputResponses", with_input_responses(InputResponses);
    optional request_state "requestState", with_request_state(String);
    optional meta "_meta", with_meta(Meta);
);

impl CallToolParams {
    /// Creates a call without arguments.
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
}

/// The result of `tools/call`.
///
/// ```
/// use switchboard::json;
/// use switchboard::protocol::{CallToolResult, Content};
///
/// let result = CallToolResult::new([Content::text("3 files")]).with_structured_content(json!([1, 2, 3]));
/// assert_eq!(result.text(), "3 files");
/// assert_eq!(result.structured::<Vec<u32>>()?, Some(vec![1, 2, 3]));
///
/// let failed = CallToolResult::error("there is no such folder; call `list` first");
/// assert!(failed.is_error);
/// # Ok::<(), switchboard::protocol::DecodeError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct CallToolResult {
    /// The content for the model.
    pub content: Vec<Content>,
    /// The structured result (from 2025-06-18).
    pub structured_content: Option<Raw>,
    /// Whether the tool failed; the content then contains the reason.
    pub is_error: bool,
    /// The `_meta` object.
    pub meta: Option<Meta>,
}

wire!(CallToolResult:
    or_default content "content";
    optional structured_content "structuredContent", with_structured_content(Raw);
    or_false is_error "isError", with_is_error(bool);
    optional meta "_meta", with_meta(Meta);
);

impl CallToolResult {
    /// Creates a successful result.
    pub fn new(content: impl Into<Vec<Content>>) -> Self {
        Self { content: content.into(), ..Self::default() }
    }

    /// Creates a failed result with the reason for the model.
    pub fn error(reason: impl Into<String>) -> Self {
        Self { content: vec![Content::text(reason)], is_error: true, ..Self::default() }
    }

    /// Returns the text blocks, joined by line breaks.
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self.content.iter().filter_map(Content::as_text).collect();
        texts.join("\n")
    }

    /// Decodes the structured content; `None` if there is none.
    ///
    /// # Errors
    /// When the structured content does not fit the type.
    pub fn structured<T: DeserializeOwned>(&self) -> Result<Option<T>, DecodeError> {
        self.structured_content.as_ref().map(Raw::decode).transpose()
    }
}
