//! The words of the Model Context Protocol, in all five revisions. No I/O, no async.
//!
//! One message, from the outside in:
//!
//! 1. [`jsonrpc`] finds its shape in one pass and keeps the payload as [`Raw`] text.
//! 2. [`surface`] says whether a method exists in a [`Revision`], and which way it may travel.
//! 3. [`Method`] and [`Notice`] name the types of its parameters and result; [`Raw::decode`] reads them.
//! 4. What is written for an older revision goes through `lower`, the only code that drops or rewrites a field.
//!
//! **Invariants.** Text that nobody needs typed stays byte for byte as it came: schemas, arguments, structured
//! results, foreign `_meta` keys, content of unknown types. Reading is tolerant where peers are known to be sloppy;
//! writing follows the schema of the revision.
//!
//! ```
//! use switchboard::protocol::{CallToolResult, Content, Revision, ServerResult};
//!
//! let mut result = ServerResult::from(CallToolResult::new([Content::audio("UklGRg==", "audio/wav")]));
//! result.lower(Revision::V2024_11_05); // which knows no audio
//! assert!(serde_json::to_string(&result)?.contains(r#""blob":"UklGRg==""#));
//! # Ok::<(), serde_json::Error>(())
//! ```

mod cache;
mod cancel;
mod capability;
mod completion;
mod content;
mod elicitation;
mod empty;
mod form;
mod icon;
mod input;
mod input_schema;
pub mod jsonrpc;
mod lenient;
mod logging;
mod lower;
mod meta;
pub mod method;
mod opening;
mod paging;
mod progress;
mod prompt;
mod resource;
mod result_type;
mod revision;
mod roots;
mod sampling;
mod server_result;
mod setter;
mod subscription;
pub mod surface;
mod task;
mod tool;
mod wire;

pub use cache::{CacheHints, CacheScope};
pub use cancel::CancelledParams;
pub use capability::{
    ClientCapabilities, ElicitationCapability, ListCapability, ResourcesCapability, RootsCapability,
    SamplingCapability, ServerCapabilities, Settings, TaskRequests, TasksCapability,
};
pub use completion::{
    CompleteArgument, CompleteContext, CompleteParams, CompleteResult, Completion, Reference,
};
pub use content::{Annotations, Content, MediaContent, Role, TextContent, ToolResultContent, ToolUseContent};
pub use elicitation::{ElicitAction, ElicitParams, ElicitResult, ElicitationComplete, FormParams, UrlParams};
pub use empty::{EmptyParams, EmptyResult};
pub use form::{
    BooleanField, ChoiceField, ChoiceOption, ChoiceStyle, FormField, FormSchema, MultiChoiceField,
    NumberField, TextField,
};
pub use icon::Icon;
pub use input::{InputRequest, InputRequests, InputRequired, InputResponses};
pub use input_schema::{InputProperty, InputSchema};
pub use jsonrpc::{ErrorCode, RequestId, RpcError};
pub use logging::{Level, LogMessage, SetLevelParams, UnknownLevel};
pub use lower::{Unavailable, lower_error};
pub use meta::{Meta, is_meta_key, is_reserved_meta_key};
pub use method::{Method, Notice};
pub use opening::{DiscoverParams, DiscoverResult, Implementation, InitializeParams, InitializeResult};
pub use paging::{Page, PageParams, Rejected, decode_entries, read_entries, walk_entries};
pub use progress::ProgressParams;
pub use prompt::{
    GetPromptParams, GetPromptResult, ListPromptsResult, Prompt, PromptArgument, PromptMessage,
};
pub use resource::{
    EmbeddedResource, ListResourceTemplatesResult, ListResourcesResult, ReadResourceParams,
    ReadResourceResult, Resource, ResourceBody, ResourceContents, ResourceTemplate,
};
pub use result_type::ResultType;
pub use revision::{Era, Revision, UnknownRevision};
pub use roots::{ListRootsParams, ListRootsResult, Root};
pub use sampling::{
    CreateMessageParams, CreateMessageResult, IncludeContext, ModelHint, ModelPreferences, SamplingMessage,
    ToolChoice, ToolChoiceMode,
};
pub use server_result::ServerResult;
pub use subscription::{Acknowledged, ListenFilter, ListenParams, ResourceUpdated, SubscribeParams};
pub use switchboard_json::{
    DecodeError, DecodeKind, Elements, EncodeError, Fields, FromRaw, Glances, MAX_DEPTH, MAX_NODES, Mismatch,
    Name, OrderedMap, Raw, Reader,
};
pub use task::{
    CreateTaskResult, DetailedTask, LegacyCreateTaskResult, LegacyTask, LegacyTaskState, ListTasksResult,
    Task, TaskIdParams, TaskParams, TaskStatus, UpdateTaskParams,
};
pub use tool::{
    CallToolParams, CallToolResult, ListToolsResult, TaskSupport, Tool, ToolAnnotations, ToolExecution,
};
