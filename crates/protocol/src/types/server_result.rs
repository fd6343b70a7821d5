//! `ServerResult`: the result of any request to a server.
//!
//! Encoded without a tag: the peer knows which method it called.

use serde_core::{Serialize, Serializer};
use switchboard_json::Raw;

use crate::types::completion::CompleteResult;
use crate::types::content::Content;
use crate::types::empty::EmptyResult;
use crate::types::handshake::{DiscoverResult, InitializeResult};
use crate::types::input::InputRequired;
use crate::types::meta::Meta;
use crate::types::prompt::{GetPromptResult, ListPromptsResult};
use crate::types::resource::{
    ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult, ResourceContents,
};
use crate::types::task::{
    CreateTaskResult, DetailedTask, LegacyCreateTaskResult, LegacyTaskState, ListTasksResult,
};
use crate::types::tool::{CallToolResult, ListToolsResult};

macro_rules! server_results {
    ($($(#[$doc:meta])* $variant:ident($type:ident),)+) => {
        /// A result of any request that a client can send.
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum ServerResult {
            $($(#[$doc])* $variant(Box<$type>),)+
            /// JSON text, forwarded unchanged.
            Raw(Raw),
        }

        impl Serialize for ServerResult {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $(Self::$variant(result) => result.serialize(serializer),)+
                    Self::Raw(raw) => raw.serialize(serializer),
                }
            }
        }

        impl ServerResult {
            /// Returns the `_meta` of the result, mutably; `None` for JSON text.
            pub fn meta_mut(&mut self) -> Option<&mut Option<Meta>> {
                match self {
                    $(Self::$variant(result) => Some(&mut result.meta),)+
                    Self::Raw(_) => None,
                }
            }
        }

        $(impl From<$type> for ServerResult {
            fn from(result: $type) -> Self {
                Self::$variant(Box::new(result))
            }
        })+
    };
}

// Boxed throughout: results differ much in size, and the allocation is cheap compared with encoding.
server_results! {
    /// The result of `initialize`.
    Initialize(InitializeResult),
    /// The result of `server/discover`.
    Discover(DiscoverResult),
    /// The result of a method without a value.
    Empty(EmptyResult),
    /// The result of `tools/list`.
    ListTools(ListToolsResult),
    /// The result of `tools/call`.
    CallTool(CallToolResult),
    /// The result of `resources/list`.
    ListResources(ListResourcesResult),
    /// The result of `resources/templates/list`.
    ListResourceTemplates(ListResourceTemplatesResult),
    /// The result of `resources/read`.
    ReadResource(ReadResourceResult),
    /// The result of `prompts/list`.
    ListPrompts(ListPromptsResult),
    /// The result of `prompts/get`.
    GetPrompt(GetPromptResult),
    /// The result of `completion/complete`.
    Complete(CompleteResult),
    /// The server needs input (from 2026-07-28).
    InputRequired(InputRequired),
    /// The call continues as a task (tasks extension).
    CreateTask(CreateTaskResult),
    /// The result of `tasks/get` (tasks extension).
    Task(DetailedTask),
    /// The call continues as a task (2025-11-25 only).
    LegacyCreateTask(LegacyCreateTaskResult),
    /// The result of `tasks/get` and `tasks/cancel` (2025-11-25 only).
    LegacyTask(LegacyTaskState),
    /// The result of `tasks/list` (2025-11-25 only).
    ListTasks(ListTasksResult),
}

impl ServerResult {
    /// Estimates the encoded size in bytes of large results; 0 for others.
    pub fn size_hint(&self) -> usize {
        let bytes = match self {
            Self::CallTool(result) => result.content.iter().map(Content::size_hint).sum(),
            Self::ReadResource(result) => result.contents.iter().map(ResourceContents::size_hint).sum(),
            Self::Raw(raw) => raw.len(),
            _ => 0,
        };
        // Reserve for escapes: line feeds and quotes take two bytes each.
        bytes + bytes / 16
    }
}

impl From<Raw> for ServerResult {
    fn from(raw: Raw) -> Self {
        Self::Raw(raw)
    }
}
