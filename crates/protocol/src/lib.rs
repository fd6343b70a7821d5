//! Message types of the Model Context Protocol, in all five revisions. No I/O, no async.
//!
//! How a message is handled:
//!
//! 1. [`jsonrpc`] classifies it in one pass and keeps the payload as [`Raw`] text.
//! 2. [`surface`] tells whether a method exists in a [`Revision`], and in which direction it is sent.
//! 3. [`Method`] and [`NotificationMethod`] name the types of its parameters and result; [`Raw::decode`] decodes them.
//! 4. Messages for a peer of an older revision pass through `lower`, the only code that drops or rewrites a field.
//!
//! **Invariants.** Values that need not be typed stay JSON text, byte for byte: schemas, arguments, structured results,
//! foreign `_meta` keys, content of unknown types. Decoding is lenient where peers are known to violate the schema;
//! encoding follows the schema of the revision.
//!
//! ```
//! use switchboard::protocol::{CallToolResult, Content, Revision, ServerResult};
//!
//! let audio = Content::audio("UklGRg==", "audio/wav");
//! let mut result = ServerResult::from(CallToolResult::new([audio]));
//! result.lower(Revision::V2024_11_05); // which has no audio content
//! assert!(serde_json::to_string(&result)?.contains(r#""blob":"UklGRg==""#));
//! # Ok::<(), serde_json::Error>(())
//! ```

pub mod jsonrpc;
mod lower;
pub mod method;
mod number;
mod revision;
mod setter;
pub mod surface;
mod types;
mod wire;

pub use jsonrpc::{ErrorCode, RequestId, RpcError};
pub use lower::{Unavailable, lower_error};
pub use method::{Method, NotificationMethod};
pub use revision::{Era, Revision, UnknownRevision};
pub use switchboard_json::{
    DecodeError, DecodeKind, Elements, EncodeError, FieldSpans, FieldTexts, FromRaw, MAX_DEPTH, MAX_NODES,
    Mismatch, Name, ObjectFields, OrderedMap, Raw, RawReader,
};
pub use types::cache::{CacheHints, CacheScope};
pub use types::cancel::CancelledParams;
pub use types::capability::{
    ClientCapabilities, ElicitationCapability, ListCapability, ResourcesCapability, RootsCapability,
    SamplingCapability, ServerCapabilities, Settings, TaskRequests, TasksCapability,
};
pub use types::completion::{
    CompleteArgument, CompleteContext, CompleteParams, CompleteResult, Completion, Reference,
};
pub use types::content::{
    Annotations, Content, MediaContent, Role, TextContent, ToolResultContent, ToolUseContent,
};
pub use types::elicitation::{
    ElicitAction, ElicitParams, ElicitResult, ElicitationComplete, FormParams, UrlParams,
};
pub use types::empty::{EmptyParams, EmptyResult};
pub use types::form::{
    BooleanField, ChoiceField, ChoiceOption, ChoiceStyle, FormField, FormSchema, MultiChoiceField,
    NumberField, TextField,
};
pub use types::handshake::{
    DiscoverParams, DiscoverResult, Implementation, InitializeParams, InitializeResult,
};
pub use types::icon::Icon;
pub use types::input::{InputRequest, InputRequests, InputRequired, InputResponses};
pub use types::input_schema::{InputProperty, InputSchema};
pub use types::logging::{Level, LogMessage, SetLevelParams, UnknownLevel};
pub use types::meta::{Meta, is_meta_key, is_reserved_meta_key};
pub use types::paging::{Page, PageParams, Rejected, decode_entries, read_entries, walk_entries};
pub use types::progress::ProgressParams;
pub use types::prompt::{
    GetPromptParams, GetPromptResult, ListPromptsResult, Prompt, PromptArgument, PromptMessage,
};
pub use types::resource::{
    EmbeddedResource, ListResourceTemplatesResult, ListResourcesResult, ReadResourceParams,
    ReadResourceResult, Resource, ResourceBody, ResourceContents, ResourceTemplate,
};
pub use types::result_type::ResultType;
pub use types::roots::{ListRootsParams, ListRootsResult, Root};
pub use types::sampling::{
    CreateMessageParams, CreateMessageResult, IncludeContext, ModelHint, ModelPreferences, SamplingMessage,
    ToolChoice, ToolChoiceMode,
};
pub use types::server_result::ServerResult;
pub use types::subscription::{Acknowledged, ListenFilter, ListenParams, ResourceUpdated, SubscribeParams};
pub use types::task::{
    CreateTaskResult, DetailedTask, LegacyCreateTaskResult, LegacyTask, LegacyTaskState, ListTasksResult,
    Task, TaskIdParams, TaskParams, TaskStatus, UpdateTaskParams,
};
pub use types::tool::{
    CallToolParams, CallToolResult, ListToolsResult, TaskSupport, Tool, ToolAnnotations, ToolExecution,
};
