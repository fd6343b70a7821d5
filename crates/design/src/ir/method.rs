//! A method without a role in MCP.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ArgsDef, OutputDef};
use crate::setter::setters;

/// A method that only the plain JSON-RPC endpoint serves, or nobody.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct MethodDef {
    /// Its name.
    pub name: String,
    /// The method it is in Rust.
    pub rust_name: String,
    /// What it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What it is called with.
    #[serde(default)]
    pub args: ArgsDef,
    /// What it answers with.
    #[serde(default)]
    pub output: OutputDef,
    /// Who can call it.
    #[serde(default)]
    pub scope: MethodScope,
}

/// Who can call a method that has no role in MCP.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum MethodScope {
    /// Callers of the plain JSON-RPC endpoint, which the design must then have.
    #[default]
    Rpc,
    /// Only the program itself.
    Internal,
}

impl MethodDef {
    /// A method without arguments that answers nothing.
    pub fn new(name: impl Into<String>) -> Self {
        let name = name.into();
        Self {
            rust_name: name.clone(),
            name,
            description: None,
            args: ArgsDef::none(),
            output: OutputDef::Nothing,
            scope: MethodScope::Rpc,
        }
    }
}

setters!(MethodDef:
    set with_name name String;
    set with_rust_name rust_name String;
    some with_description description String;
    set with_args args ArgsDef;
    set with_output output OutputDef;
    set with_scope scope MethodScope;
);
