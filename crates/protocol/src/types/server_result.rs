//! Every result a server can give, as one type.
//!
//! Written without a tag: the peer knows what it asked for.

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
            /// Written already, by someone else: passed on as it is.
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
            /// The `_meta` of the result, to change it; `None` for a result that is text already.
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

// Boxed throughout: results differ much in size, and one allocation is nothing next to writing one.
server_results! {
    /// Of `initialize`.
    Initialize(InitializeResult),
    /// Of `server/discover`.
    Discover(DiscoverResult),
    /// Of what only says "done".
    Empty(EmptyResult),
    /// Of `tools/list`.
    ListTools(ListToolsResult),
    /// Of `tools/call`.
    CallTool(CallToolResult),
    /// Of `resources/list`.
    ListResources(ListResourcesResult),
    /// Of `resources/templates/list`.
    ListResourceTemplates(ListResourceTemplatesResult),
    /// Of `resources/read`.
    ReadResource(ReadResourceResult),
    /// Of `prompts/list`.
    ListPrompts(ListPromptsResult),
    /// Of `prompts/get`.
    GetPrompt(GetPromptResult),
    /// Of `completion/complete`.
    Complete(CompleteResult),
    /// Input is needed first (from 2026-07-28).
    InputRequired(InputRequired),
    /// The call has become a task (tasks extension).
    CreateTask(CreateTaskResult),
    /// Of `tasks/get` (tasks extension).
    Task(DetailedTask),
    /// The call has become a task (2025-11-25 only).
    LegacyCreateTask(LegacyCreateTaskResult),
    /// Of `tasks/get` and `tasks/cancel` (2025-11-25 only).
    LegacyTask(LegacyTaskState),
    /// Of `tasks/list` (2025-11-25 only).
    ListTasks(ListTasksResult),
}

impl ServerResult {
    /// About how many bytes it takes to write it, where that is much; else 0.
    pub fn size_hint(&self) -> usize {
        let bytes = match self {
            Self::CallTool(result) => result.content.iter().map(Content::size_hint).sum(),
            Self::ReadResource(result) => result.contents.iter().map(ResourceContents::size_hint).sum(),
            Self::Raw(raw) => raw.len(),
            _ => 0,
        };
        // Line feeds and quotes take two bytes each.
        bytes + bytes / 16
    }
}

impl From<Raw> for ServerResult {
    fn from(raw: Raw) -> Self {
        Self::Raw(raw)
    }
}
