//! How an argument is completed while somebody types it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A method that completes an argument of a prompt, or a parameter of a resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CompletionDef {
    /// Whose argument.
    #[serde(flatten)]
    pub of: CompletionOf,
    /// Which argument.
    pub argument: String,
    /// The method it is in Rust.
    pub rust_name: String,
}

/// Whose argument is completed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum CompletionOf {
    /// The prompt of this name.
    Prompt(String),
    /// The resource of this name.
    Resource(String),
}

impl CompletionDef {
    /// The method that completes this argument.
    pub fn new(of: CompletionOf, argument: impl Into<String>, rust_name: impl Into<String>) -> Self {
        Self { of, argument: argument.into(), rust_name: rust_name.into() }
    }
}
