//! The whole design of a service.
//!
//! Invariant: the order of every list is the order of declaration, and every list that is shown keeps it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{CompletionDef, MethodDef, NotificationDef, PromptDef, ResourceDef, ToolDef, WatchDef};
use crate::schema::{self, Schemas};
use crate::setter::setters;

/// A service, described once: what lists, decoding, repair prompts, documents and the lock are made from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct Design {
    /// The name of the server.
    pub name: String,
    /// The version of the server.
    pub version: String,
    /// Its name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is, in a sentence or two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// How to use it, for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// The protocol revisions it accepts, by name; the first is the default. None means all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub protocols: Vec<String>,
    /// The path of its plain JSON-RPC endpoint. None is pure MCP: then every method must have a role in MCP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rpc: Option<String>,
    /// Whether a quickstart document is written for it.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub quickstart: bool,
    /// What it can be asked to do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolDef>,
    /// What it lets others read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<ResourceDef>,
    /// The texts it offers to start from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prompts: Vec<PromptDef>,
    /// The methods that watch a resource while somebody is subscribed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub watches: Vec<WatchDef>,
    /// The events it publishes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notifications: Vec<NotificationDef>,
    /// The methods that complete arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub completions: Vec<CompletionDef>,
    /// The methods without a role in MCP.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rpc_only: Vec<MethodDef>,
    /// The types that several schemas share, referred to as `#/$defs/<name>`.
    #[serde(default, skip_serializing_if = "Schemas::is_empty")]
    pub types: Schemas,
}

fn yes() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes the field by reference")]
fn is_yes(value: &bool) -> bool {
    *value
}

impl Design {
    /// A service that offers nothing yet.
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
            types: Schemas::new(),
        }
    }

    /// The JSON Schema of a design as JSON.
    pub fn json_schema() -> Value {
        schema::canonical(schemars::schema_for!(Self).to_value())
    }

    /// The same design, with every `$defs` moved into [`Self::types`].
    ///
    /// A name that stands for two different types gets a number; a type that stands in several schemas is kept once.
    #[must_use]
    pub fn pooled(mut self) -> Self {
        let mut types = std::mem::take(&mut self.types);
        for schema in self.schemas_mut() {
            let own = std::mem::take(schema);
            *schema = types.pool(own);
        }
        self.types = types;
        self
    }

    /// Every schema in the design, in order of declaration.
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
    set with_types types Schemas;
);
