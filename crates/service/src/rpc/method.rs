//! A method of a design, found by its Rust name, whatever its role in MCP.

use serde_json::{Map, Value, json};
use switchboard_design::schema::canonicalize;
use switchboard_design::{
    Design, MethodDef, MethodScope, Operation, ParamDef, PromptDef, Repair, ResourceDef, ToolDef, example,
};

/// A method that the plain endpoint serves.
#[derive(Debug, Clone, Copy)]
pub(crate) enum RpcMethod<'a> {
    Tool(&'a ToolDef),
    Resource(&'a ResourceDef),
    Prompt(&'a PromptDef),
    Plain(&'a MethodDef),
}

impl<'a> RpcMethod<'a> {
    /// Finds a method by its Rust name; `None` for an unknown or internal method.
    pub(crate) fn find(design: &'a Design, rust_name: &str) -> Option<Self> {
        Self::all(design).find(|method| method.rust_name() == rust_name)
    }

    /// Returns all methods of a design.
    pub(crate) fn all(design: &'a Design) -> impl Iterator<Item = Self> {
        let tools = design.tools.iter().map(Self::Tool);
        let resources = design.resources.iter().map(Self::Resource);
        let prompts = design.prompts.iter().map(Self::Prompt);
        let plain = design.rpc_only.iter().filter(|method| method.scope == MethodScope::Rpc).map(Self::Plain);
        tools.chain(resources).chain(prompts).chain(plain)
    }

    /// Returns the Rust name.
    pub(crate) fn rust_name(self) -> &'a str {
        match self {
            Self::Tool(tool) => &tool.rust_name,
            Self::Resource(resource) => &resource.rust_name,
            Self::Prompt(prompt) => &prompt.rust_name,
            Self::Plain(method) => &method.rust_name,
        }
    }

    /// Returns the scopes that a caller needs.
    pub(crate) fn scopes(self) -> &'a [String] {
        match self {
            Self::Tool(tool) => &tool.scopes,
            Self::Resource(resource) => &resource.scopes,
            Self::Prompt(prompt) => &prompt.scopes,
            Self::Plain(_) => &[],
        }
    }

    /// Returns the argument names in declaration order.
    pub(crate) fn names(self) -> Vec<&'a str> {
        match self {
            Self::Tool(tool) => tool.args.names(),
            Self::Plain(method) => method.args.names(),
            Self::Resource(_) | Self::Prompt(_) => self.params().iter().map(|param| &*param.name).collect(),
        }
    }

    fn params(self) -> &'a [ParamDef] {
        match self {
            Self::Resource(resource) => &resource.params,
            Self::Prompt(prompt) => &prompt.arguments,
            Self::Tool(_) | Self::Plain(_) => &[],
        }
    }

    /// Returns whether an argument is required.
    pub(crate) fn requires(self, name: &str) -> bool {
        match self {
            Self::Tool(tool) => tool.args.requires(name),
            Self::Plain(method) => method.args.requires(name),
            Self::Resource(_) | Self::Prompt(_) => {
                self.params().iter().any(|param| param.name == name && param.required)
            }
        }
    }

    /// Adds the defaults of absent parameters. Defaults of tool arguments are applied during decoding.
    pub(crate) fn fill_defaults(self, args: &mut Map<String, Value>) {
        for param in self.params().iter().filter(|param| !args.contains_key(&param.name)).collect::<Vec<_>>()
        {
            let value = match &param.default {
                Some(default) => default.clone(),
                None if param.required && param.repeated => json!([]),
                None => continue,
            };
            args.insert(param.name.clone(), value);
        }
    }

    /// Returns the schema of the arguments on the plain endpoint.
    pub(crate) fn schema(self, design: &Design) -> Value {
        match self {
            Self::Tool(tool) => design.types.bundle(&tool.args.schema),
            Self::Plain(method) => design.types.bundle(&method.args.schema),
            Self::Resource(_) | Self::Prompt(_) => schema_of(self.params()),
        }
    }

    /// Returns the repair for a call with invalid arguments.
    pub(crate) fn repair(self, design: &Design, message: &str) -> Repair {
        let schema = self.schema(design);
        let (operation, authored) = match self {
            Self::Tool(tool) => (Operation::CallTool(tool.name.clone()), tool.example.as_ref()),
            Self::Resource(resource) => (Operation::ReadResource(resource.name.clone()), None),
            Self::Prompt(prompt) => (Operation::GetPrompt(prompt.name.clone()), prompt.example.as_ref()),
            Self::Plain(method) => (Operation::CallMethod(method.name.clone()), None),
        };
        let example = example(&schema, authored).value;
        Repair::new(operation, message, example).with_schema(schema)
    }
}

/// Returns the schema of parameters. Over MCP they are sent as text, here as JSON of their type.
fn schema_of(params: &[ParamDef]) -> Value {
    let property = |param: &ParamDef| (param.name.clone(), param.schema());
    let properties: Map<String, Value> = params.iter().map(property).collect();
    let required = params.iter().filter(|param| param.required && !param.repeated && param.default.is_none());
    let required: Vec<&str> = required.map(|param| param.name.as_str()).collect();
    let mut schema = json!({"type": "object", "properties": properties, "additionalProperties": false});
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    canonicalize(schema)
}
