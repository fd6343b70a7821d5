//! The catalog: rows, definitions, and why an item is not shown.

use serde::{Deserialize, Serialize};

use crate::contract::JsonText;

/// `GET /api/catalog`: rows only; a definition is fetched when it is opened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Catalog {
    pub revision: u64,
    pub tools: Vec<ToolRow>,
    pub resources: Vec<ResourceRow>,
    pub templates: Vec<TemplateRow>,
    pub prompts: Vec<PromptRow>,
}

/// A tool, as a row of the catalog.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolRow {
    pub server: String,
    /// The name on the server.
    pub name: String,
    /// The name that models see.
    pub qualified_name: String,
    pub title: Option<String>,
    /// At most 400 characters.
    pub description: String,
    /// Estimated tokens of the definition.
    pub tokens: u64,
    /// Why models do not see it; null if they do.
    pub hidden: Option<Hidden>,
    /// The definition differs from the pinned one.
    pub drifted: bool,
    pub hints: ToolHints,
    pub task_support: TaskSupport,
}

/// Whether a tool runs as a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum TaskSupport {
    Forbidden,
    Optional,
    Required,
}

/// The annotations of a tool: unverified claims of its server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolHints {
    pub read_only: Option<bool>,
    pub destructive: Option<bool>,
    pub idempotent: Option<bool>,
    pub open_world: Option<bool>,
}

/// Why an item is not shown, with the rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Hidden {
    Denied { rule: String },
    NotAllowed { allow: Vec<String> },
    Clash { with: Vec<ServerItem> },
    Drifted,
    TooMany { max: u64 },
    Rejected { reason: String },
    ServerDisabled,
    Policy { rule: String, reason: String },
}

/// A name of a server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerItem {
    pub server: String,
    pub name: String,
}

/// A resource, as a row of the catalog.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceRow {
    pub server: String,
    pub uri: String,
    pub name: String,
    pub title: Option<String>,
    pub description: String,
    pub mime_type: Option<String>,
    pub size: Option<u64>,
    pub tokens: u64,
    pub hidden: Option<Hidden>,
}

/// A resource template, as a row of the catalog.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TemplateRow {
    pub server: String,
    pub uri_template: String,
    pub name: String,
    pub title: Option<String>,
    pub description: String,
    pub mime_type: Option<String>,
    pub tokens: u64,
    pub hidden: Option<Hidden>,
}

/// A prompt, as a row of the catalog.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PromptRow {
    pub server: String,
    pub name: String,
    pub title: Option<String>,
    pub description: String,
    pub arguments: Vec<PromptArgument>,
    pub tokens: u64,
    pub hidden: Option<Hidden>,
}

/// An argument of a prompt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PromptArgument {
    pub name: String,
    pub description: Option<String>,
    pub required: bool,
}

/// `GET /api/tool`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolDetail {
    pub row: ToolRow,
    /// Not cut.
    pub description: String,
    pub input_schema_json: JsonText,
    pub output_schema_json: Option<JsonText>,
    /// The whole definition as the server lists it.
    pub definition_json: JsonText,
    /// What the permission rules decide about a call.
    pub permission: Permission,
    pub drift: Option<Drift>,
}

/// What the permission rules decide about a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Permission {
    Allow { sentence: String },
    Ask { sentence: String },
    Deny { sentence: String, rule: Option<String> },
}

/// How a definition differs from the pinned one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Drift {
    /// Null if only the digest was pinned.
    pub before_json: Option<JsonText>,
    pub now_json: JsonText,
}

/// The kind of an item that is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CatalogItemKind {
    Tool,
    Resource,
    Template,
    Prompt,
    Server,
}

/// `GET /api/why`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WhyAnswer {
    pub kind: CatalogItemKind,
    pub server: Option<String>,
    pub name: String,
    pub verdict: WhyVerdict,
    /// One sentence that answers the question.
    pub sentence: String,
    /// Checks in the order in which they are made; the first that fails decides.
    pub checks: Vec<WhyCheck>,
    /// What to do, if anything.
    pub next_step: Option<String>,
    pub similar: Vec<String>,
}

/// The answer to why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum WhyVerdict {
    Available,
    Refused,
    Hidden,
    NotReady,
    Unknown,
}

/// One of the checks that answer why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WhyCheck {
    /// Such as `configuration`, `connection`, `login`, `definition`, `allow and deny rules`, `permission`, `policy`.
    pub check: String,
    pub outcome: CheckOutcome,
    pub message: String,
    pub rule: Option<String>,
}

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CheckOutcome {
    Pass,
    Fail,
    Skipped,
}
