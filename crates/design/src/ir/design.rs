//! [`Design`]: the root of the description of a service.
//!
//! Invariant: every list is in order of declaration, and everything derived from it keeps that order.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{CompletionDef, MethodDef, NotificationDef, PromptDef, ResourceDef, ToolDef, WatchDef};
use crate::schema::{self, SchemaPool};
use switchboard_protocol::setters;

/// The description of a service: the source of its MCP lists, argument decoding, repair prompts, documentation and lock.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct Design {
    /// The name of the server.
    pub name: String,
    /// The version of the server.
    pub version: String,
    /// The display name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// A description of one or two sentences.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Instructions for the model on how to use the service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// The protocol revisions that the service accepts, the default first. An empty list accepts all revisions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub protocols: Vec<String>,
    /// The path of the plain JSON-RPC endpoint. Without one, every method must be mapped to MCP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rpc: Option<String>,
    /// Whether `switchboard quickstart` documents the service.
    #[serde(default = "default_true", skip_serializing_if = "is_true")]
    pub quickstart: bool,
    /// The tools.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolDef>,
    /// The resources and resource templates.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<ResourceDef>,
    /// The prompts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prompts: Vec<PromptDef>,
    /// The methods that watch a resource while a client is subscribed to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub watches: Vec<WatchDef>,
    /// The notifications that the service publishes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notifications: Vec<NotificationDef>,
    /// The methods that complete arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub completions: Vec<CompletionDef>,
    /// The methods that are not mapped to MCP.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rpc_only: Vec<MethodDef>,
    /// The definitions that schemas refer to as `#/$defs/<name>`.
    #[serde(default, skip_serializing_if = "SchemaPool::is_empty")]
    pub types: SchemaPool,
}

fn default_true() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes the field by reference")]
fn is_true(value: &bool) -> bool {
    *value
}

impl Design {
    /// Creates a design without items.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            version: version.into(),
            title: None,
            description: None,
            instructions: None,
            protocols: Vec::new(),
            rpc: None,
            quickstart: true,
            tools: Vec::new(),
            resources: Vec::new(),
            prompts: Vec::new(),
            watches: Vec::new(),
            notifications: Vec::new(),
            completions: Vec::new(),
            rpc_only: Vec::new(),
            types: SchemaPool::new(),
        }
    }

    /// Returns the JSON Schema of a serialized design.
    pub fn json_schema() -> Value {
        schema::canonicalize(schemars::schema_for!(Self).to_value())
    }

    /// Moves the `$defs` of every schema into [`Self::types`].
    ///
    /// Equal definitions are stored once. If two different definitions have the same name, the second gets a number.
    #[must_use]
    pub fn with_pooled_types(mut self) -> Self {
        let mut types = std::mem::take(&mut self.types);
        for schema in self.schemas_mut() {
            let own = std::mem::take(schema);
            *schema = types.absorb_defs(own);
        }
        self.types = types;
        self
    }

    /// Iterates over every schema of the design in order of declaration.
    pub(crate) fn schemas_mut(&mut self) -> impl Iterator<Item = &mut Value> {
        let tools = self.tools.iter_mut().flat_map(|tool| {
            let output = tool.output.schema_mut();
            std::iter::once(&mut tool.args.schema).chain(output).chain(&mut tool.events)
        });
        let resources = self.resources.iter_mut().filter_map(|resource| resource.output.schema_mut());
        let notifications = self.notifications.iter_mut().map(|notification| &mut notification.payload);
        let methods = self.rpc_only.iter_mut().flat_map(|method| {
            let output = method.output.schema_mut();
            std::iter::once(&mut method.args.schema).chain(output)
        });
        tools.chain(resources).chain(notifications).chain(methods)
    }
}

setters!(Design:
    some with_title title String;
    some with_description description String;
    some with_instructions instructions String;
    set with_protocols protocols Vec<String>;
    some with_rpc rpc String;
    set with_quickstart quickstart bool;
    set with_tools tools Vec<ToolDef>;
    set with_resources resources Vec<ResourceDef>;
    set with_prompts prompts Vec<PromptDef>;
    set with_watches watches Vec<WatchDef>;
    set with_notifications notifications Vec<NotificationDef>;
    set with_completions completions Vec<CompletionDef>;
    set with_rpc_only rpc_only Vec<MethodDef>;
    set with_types types SchemaPool;
);
