//! Tools.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use switchboard_protocol::{Icon, TaskSupport, ToolAnnotations, setters};

use super::{ArgsDef, OutputDef};

/// A tool: an operation that a model can call.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct ToolDef {
    /// The name on the wire.
    pub name: String,
    /// The name of the Rust method.
    pub rust_name: String,
    /// The display name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The description for the model. Must not be empty.
    pub description: String,
    /// The arguments.
    #[serde(default)]
    pub args: ArgsDef,
    /// The result.
    #[serde(default)]
    pub output: OutputDef,
    /// The schema of the events that a streaming tool sends during a call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<Value>,
    /// The hints about its effects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Map<String, Value>>")]
    pub annotations: Option<ToolAnnotations>,
    /// The icons.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<Map<String, Value>>")]
    pub icons: Vec<Icon>,
    /// Example arguments, written by the author.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub example: Option<Value>,
    /// The version of the service that introduced it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// The reason for its deprecation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deprecated: Option<String>,
    /// The scopes that a caller needs. Callers without them do not see the item.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<String>,
    /// Tags for grouping.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Whether calls run as tasks.
    #[serde(default, skip_serializing_if = "TaskRule::is_never")]
    pub task: TaskRule,
}

/// Whether the calls of a tool run as tasks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum TaskRule {
    /// Never.
    #[default]
    Never,
    /// If the caller supports tasks.
    Allowed,
    /// Always. Callers without support for tasks cannot call the tool.
    Required,
    /// When the method decides so during the call. It can ask the user first.
    Later,
}

impl TaskRule {
    /// Returns whether calls never run as tasks.
    pub fn is_never(&self) -> bool {
        *self == Self::Never
    }

    /// Returns the `taskSupport` to list; `None` for [`TaskRule::Never`].
    pub fn support(self) -> Option<TaskSupport> {
        match self {
            Self::Never => None,
            Self::Allowed | Self::Later => Some(TaskSupport::Optional),
            Self::Required => Some(TaskSupport::Required),
        }
    }
}

impl From<bool> for TaskRule {
    fn from(allowed: bool) -> Self {
        if allowed { Self::Allowed } else { Self::Never }
    }
}

impl ToolDef {
    /// Creates a tool without arguments and without a result. Its Rust method has the same name.
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        let name = name.into();
        Self { rust_name: name.clone(), name, description: description.into(), ..Self::default() }
    }
}

setters!(ToolDef:
    set with_name name String;
    set with_rust_name rust_name String;
    some with_title title String;
    set with_args args ArgsDef;
    set with_output output OutputDef;
    some with_events events Value;
    some with_annotations annotations ToolAnnotations;
    set with_icons icons Vec<Icon>;
    some with_example example Value;
    some with_since since String;
    some with_deprecated deprecated String;
    set with_scopes scopes Vec<String>;
    set with_tags tags Vec<String>;
    set with_task task TaskRule;
);
