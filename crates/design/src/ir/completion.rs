//! Argument completion (`completion/complete`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A method that completes an argument of a prompt or a parameter of a resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CompletionDef {
    /// The prompt or resource that has the argument.
    #[serde(flatten)]
    pub target: CompletionTarget,
    /// The name of the argument.
    pub argument: String,
    /// The name of the Rust method.
    pub rust_name: String,
}

/// The item whose argument is completed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum CompletionTarget {
    /// The prompt of this name.
    Prompt(String),
    /// The resource of this name.
    Resource(String),
}

impl CompletionDef {
    /// Creates the completion of one argument by a method.
    pub fn new(target: CompletionTarget, argument: impl Into<String>, rust_name: impl Into<String>) -> Self {
        Self { target, argument: argument.into(), rust_name: rust_name.into() }
    }
}
