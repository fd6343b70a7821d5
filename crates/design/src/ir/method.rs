//! Methods that are not mapped to MCP.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ArgsDef, OutputDef};
use switchboard_protocol::setters;

/// A method that is not mapped to MCP: served by the plain JSON-RPC endpoint only, or internal.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct MethodDef {
    /// The name.
    pub name: String,
    /// The name of the Rust method.
    pub rust_name: String,
    /// The description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The arguments.
    #[serde(default)]
    pub args: ArgsDef,
    /// The result.
    #[serde(default)]
    pub output: OutputDef,
    /// The callers that can reach it.
    #[serde(default)]
    pub scope: MethodScope,
}

/// The callers of a method that is not mapped to MCP.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum MethodScope {
    /// Callers of the plain JSON-RPC endpoint; requires [`Design::rpc`](super::Design::rpc).
    #[default]
    Rpc,
    /// Only code of the same program.
    Internal,
}

impl MethodDef {
    /// Creates a method without arguments and without a result.
    pub fn new(name: impl Into<String>) -> Self {
        let name = name.into();
        Self { rust_name: name.clone(), name, ..Self::default() }
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
