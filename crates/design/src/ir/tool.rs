//! A tool of a service.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use switchboard_protocol::{Icon, TaskSupport, ToolAnnotations};

use super::{ArgsDef, OutputDef};
use crate::setter::setters;

/// Something the service can be asked to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct ToolDef {
    /// Its name on the wire.
    pub name: String,
    /// The method it is in Rust.
    pub rust_name: String,
    /// Its name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it does, for the model. May not be empty.
    pub description: String,
    /// What it is called with.
    #[serde(default)]
    pub args: ArgsDef,
    /// What it answers with.
    #[serde(default)]
    pub output: OutputDef,
    /// The schema of the events it sends while it works; with one, it is a streaming tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<Value>,
    /// What it says of its effects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Map<String, Value>>")]
    pub annotations: Option<ToolAnnotations>,
    /// Pictures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<Map<String, Value>>")]
    pub icons: Vec<Icon>,
    /// Arguments that its author gave as an example.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub example: Option<Value>,
    /// The version of the service that had it first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// Why not to use it any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deprecated: Option<String>,
    /// What a caller must be allowed; who is not does not see it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<String>,
    /// Words to group it by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Whether it is run as a task.
    #[serde(default, skip_serializing_if = "TaskRule::is_never")]
    pub task: TaskRule,
}

/// Whether a tool is run as a task.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum TaskRule {
    /// Never.
    #[default]
    Never,
    /// When the caller can follow one.
    Allowed,
    /// Always: who cannot follow a task cannot call it.
    Required,
    /// When the method says so: it may ask before it becomes one.
    Later,
}

impl TaskRule {
    /// Whether it is never run as a task.
    pub fn is_never(&self) -> bool {
        *self == Self::Never
    }

    /// As the protocol lists it; nothing for a tool that is never a task.
    pub fn support(self) -> Option<TaskSupport> {
        match self {
            Self::Never => None,
            Self::Allowed | Self::Later => Some(TaskSupport::Optional),
            Self::Required => Some(TaskSupport::Required),
        }
    }
}

impl From<bool> for TaskRule {
    fn from(may: bool) -> Self {
        if may { Self::Allowed } else { Self::Never }
    }
}

impl ToolDef {
    /// A tool without arguments that answers nothing; its method has the same name.
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        let name = name.into();
        Self {
            rust_name: name.clone(),
            name,
            title: None,
            description: description.into(),
            args: ArgsDef::none(),
            output: OutputDef::Nothing,
            events: None,
            annotations: None,
            icons: Vec::new(),
            example: None,
            since: None,
            deprecated: None,
            scopes: Vec::new(),
            tags: Vec::new(),
            task: TaskRule::Never,
        }
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
