//! The parameter and result types of each method.
//!
//! One marker type per request and per notification, so that a typed call is `call::<CallTool>(params)`.

use serde_core::Serialize;
use serde_core::de::DeserializeOwned;
use switchboard_json::Raw;

use crate::types::{
    cancel, completion, elicitation, empty, handshake, logging, paging, progress, prompt, resource, roots,
    sampling, subscription, task, tool,
};

/// A request method: its name, parameters and result.
pub trait Method {
    /// The method name on the wire.
    const NAME: &'static str;
    /// The parameters.
    type Params: Serialize + DeserializeOwned;
    /// The complete result.
    type Result: Serialize + DeserializeOwned;
}

/// A notification method: its name and parameters.
pub trait NotificationMethod {
    /// The method name on the wire.
    const NAME: &'static str;
    /// The parameters.
    type Params: Serialize + DeserializeOwned;
}

macro_rules! methods {
    ($($type:ident $name:literal $params:ty => $result:ty;)+) => {$(
        #[doc = concat!("`", $name, "`.")]
        #[derive(Debug, Clone, Copy)]
        pub struct $type;

        impl Method for $type {
            const NAME: &'static str = $name;
            type Params = $params;
            type Result = $result;
        }
    )+

        /// The names of all typed requests.
        #[cfg(test)]
        const METHODS: &[&str] = &[$($name),+];
    };
}

macro_rules! notices {
    ($($type:ident $name:literal $params:ty;)+) => {$(
        #[doc = concat!("`", $name, "`.")]
        #[derive(Debug, Clone, Copy)]
        pub struct $type;

        impl NotificationMethod for $type {
            const NAME: &'static str = $name;
            type Params = $params;
        }
    )+

        /// The names of all typed notifications.
        #[cfg(test)]
        const NOTICES: &[&str] = &[$($name),+];
    };
}

methods! {
    Initialize "initialize" handshake::InitializeParams => handshake::InitializeResult;
    Ping "ping" empty::EmptyParams => empty::EmptyResult;
    Discover "server/discover" handshake::DiscoverParams => handshake::DiscoverResult;
    ListTools "tools/list" paging::PageParams => tool::ListToolsResult;
    CallTool "tools/call" tool::CallToolParams => tool::CallToolResult;
    ListResources "resources/list" paging::PageParams => resource::ListResourcesResult;
    ListResourceTemplates "resources/templates/list" paging::PageParams => resource::ListResourceTemplatesResult;
    ReadResource "resources/read" resource::ReadResourceParams => resource::ReadResourceResult;
    Subscribe "resources/subscribe" subscription::SubscribeParams => empty::EmptyResult;
    Unsubscribe "resources/unsubscribe" subscription::SubscribeParams => empty::EmptyResult;
    Listen "subscriptions/listen" subscription::ListenParams => empty::EmptyResult;
    ListPrompts "prompts/list" paging::PageParams => prompt::ListPromptsResult;
    GetPrompt "prompts/get" prompt::GetPromptParams => prompt::GetPromptResult;
    Complete "completion/complete" completion::CompleteParams => completion::CompleteResult;
    SetLevel "logging/setLevel" logging::SetLevelParams => empty::EmptyResult;
    CreateMessage "sampling/createMessage" sampling::CreateMessageParams => sampling::CreateMessageResult;
    ListRoots "roots/list" roots::ListRootsParams => roots::ListRootsResult;
    Elicit "elicitation/create" elicitation::ElicitParams => elicitation::ElicitResult;
    GetTask "tasks/get" task::TaskIdParams => task::DetailedTask;
    UpdateTask "tasks/update" task::UpdateTaskParams => empty::EmptyResult;
    CancelTask "tasks/cancel" task::TaskIdParams => empty::EmptyResult;
    LegacyGetTask "tasks/get" task::TaskIdParams => task::LegacyTaskState;
    LegacyTaskResult "tasks/result" task::TaskIdParams => Raw;
    LegacyListTasks "tasks/list" paging::PageParams => task::ListTasksResult;
    LegacyCancelTask "tasks/cancel" task::TaskIdParams => task::LegacyTaskState;
}

notices! {
    Initialized "notifications/initialized" empty::EmptyParams;
    RootsListChanged "notifications/roots/list_changed" empty::EmptyParams;
    Cancelled "notifications/cancelled" cancel::CancelledParams;
    Progress "notifications/progress" progress::ProgressParams;
    Logged "notifications/message" logging::LogMessage;
    ToolsListChanged "notifications/tools/list_changed" empty::EmptyParams;
    PromptsListChanged "notifications/prompts/list_changed" empty::EmptyParams;
    ResourcesListChanged "notifications/resources/list_changed" empty::EmptyParams;
    ResourceWasUpdated "notifications/resources/updated" subscription::ResourceUpdated;
    ElicitationCompleted "notifications/elicitation/complete" elicitation::ElicitationComplete;
    LegacyTaskStatusChanged "notifications/tasks/status" task::LegacyTaskState;
    TaskChanged "notifications/tasks" task::DetailedTask;
    ListenAcknowledged "notifications/subscriptions/acknowledged" subscription::Acknowledged;
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{METHODS, NOTICES};
    use crate::surface::{MessageKind, SURFACE};

    #[test]
    fn every_row_of_the_surface_has_a_type() {
        for (kind, typed) in [(MessageKind::Request, METHODS), (MessageKind::Notification, NOTICES)] {
            let known: BTreeSet<&str> = typed.iter().copied().collect();
            let rows = SURFACE.iter().filter(|row| row.kind == kind).map(|row| row.method);
            assert_eq!(known, rows.collect::<BTreeSet<_>>());
        }
    }
}
