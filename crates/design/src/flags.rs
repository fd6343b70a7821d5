//! The command line of a design: command names, a flag for each argument, and shell lines for documentation.
//!
//! The command-line parser and the documentation both use these names. Invariants: within one command all flag names are
//! distinct and none is reserved; a value returned by [`Flag::parse`] is valid under its schema.

mod flag_names;
mod parse;
mod shell;

use serde_json::{Value, json};

use crate::ir::{ArgsDef, Design, MethodDef, ParamDef, ParamKind, PromptDef, ResourceDef, ToolDef};
use crate::schema::definition_name;

use flag_names::UsedNames;
pub use shell::{shell_line, shell_word};

/// Commands that every command line has. A tool with such a name is renamed.
const RESERVED_COMMANDS: [&str; 11] =
    ["call", "completions", "design", "help", "list", "listen", "notify", "prompt", "read", "rpc", "serve"];
/// Flags that every command has. An argument with such a name is renamed.
const RESERVED_FLAGS: [&str; 3] = ["args", "help", "version"];

/// The command-line flag of one argument of a tool, resource, prompt or method.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Flag {
    /// The name of the argument.
    pub name: String,
    /// The name of the flag without dashes.
    pub long: String,
    /// The exact name of the argument as an alias, if it differs from the flag and is not in use.
    pub alias: Option<String>,
    /// How the text is parsed.
    pub kind: FlagKind,
    /// Whether it is a list; the flag is repeated for each item.
    pub repeated: bool,
    /// Whether it is required.
    pub required: bool,
    /// The self-contained schema of the argument.
    pub schema: Value,
    /// The schema of one occurrence: that of the argument, or of an item of a list.
    item: Value,
}

/// The type that the text of a flag is parsed as.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum FlagKind {
    /// `true` or `false`.
    Boolean,
    /// An integer.
    Integer,
    /// A number.
    Number,
    /// Text.
    Text,
    /// Bytes, encoded as base64 in JSON: `@FILE`, or base64.
    Bytes,
    /// One of these values, as text.
    Choice(Vec<String>),
    /// JSON.
    Json,
    /// JSON if that is valid, else a string.
    Any,
}

impl Flag {
    /// Returns the description of the argument.
    pub fn description(&self) -> Option<&str> {
        self.schema.get("description").and_then(Value::as_str)
    }

    /// Returns the default of the argument.
    pub fn default(&self) -> Option<&Value> {
        self.schema.get("default").filter(|default| !default.is_null())
    }

    fn new(name: &str, schema: Value, required: bool, used: &mut UsedNames) -> Self {
        let (long, alias) = used.flag(name);
        let repeated = resolve(&schema, &schema).get("type").is_some_and(|kind| kind == "array");
        let item = if repeated { item_schema(&schema) } else { schema.clone() };
        let kind = FlagKind::from_schema(resolve(&item, &item));
        Self { name: name.to_owned(), long, alias, kind, repeated, required, schema, item }
    }
}

/// Returns the self-contained schema of the items of a list.
fn item_schema(schema: &Value) -> Value {
    let items = resolve(schema, schema).get("items").cloned().unwrap_or(Value::Bool(true));
    with_defs(items, schema.get("$defs"))
}

fn with_defs(mut schema: Value, defs: Option<&Value>) -> Value {
    if let (Some(map), Some(defs)) = (schema.as_object_mut(), defs) {
        map.entry("$defs").or_insert_with(|| defs.clone());
    }
    schema
}

/// Returns the target of a `$ref`, or the schema itself.
fn resolve<'a>(schema: &'a Value, root: &'a Value) -> &'a Value {
    let name = schema.get("$ref").and_then(Value::as_str).and_then(definition_name);
    let target = name.and_then(|name| root.get("$defs")?.get(&name));
    target.unwrap_or(schema)
}

impl FlagKind {
    fn from_schema(schema: &Value) -> Self {
        if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            let to_text = |value: &Value| match value {
                Value::String(text) => Some(text.clone()),
                Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
                Value::Null | Value::Array(_) | Value::Object(_) => None,
            };
            if let Some(texts) = values.iter().map(to_text).collect() {
                return Self::Choice(texts);
            }
        }
        match schema.get("type").and_then(Value::as_str) {
            Some("boolean") => Self::Boolean,
            Some("integer") => Self::Integer,
            Some("number") => Self::Number,
            Some("string") if schema.get("contentEncoding").is_some_and(|encoding| encoding == "base64") => {
                Self::Bytes
            }
            Some("string") => Self::Text,
            Some(_) => Self::Json,
            None => Self::Any,
        }
    }

    /// Returns the placeholder of the value in usage lines: `TEXT`, `INT`, `JSON`.
    pub fn placeholder(&self) -> &'static str {
        match self {
            Self::Boolean => "BOOL",
            Self::Integer => "INT",
            Self::Number => "NUMBER",
            Self::Text | Self::Choice(_) => "TEXT",
            Self::Bytes => "@FILE",
            Self::Json => "JSON",
            Self::Any => "VALUE",
        }
    }
}

impl Design {
    /// Returns the command names of the tools, in order of declaration.
    ///
    /// The names are in kebab-case; `tool-NAME` if the name is reserved.
    pub fn tool_commands(&self) -> Vec<String> {
        let mut used = UsedNames::new(RESERVED_COMMANDS);
        self.tools.iter().map(|tool| used.command(&tool.name, "tool")).collect()
    }

    /// Returns the names of the resources as subcommands of `read`.
    pub fn resource_commands(&self) -> Vec<String> {
        let mut used = UsedNames::new(["help"]);
        self.resources.iter().map(|resource| used.command(&resource.name, "resource")).collect()
    }

    /// Returns the names of the prompts as subcommands of `prompt`.
    pub fn prompt_commands(&self) -> Vec<String> {
        let mut used = UsedNames::new(["help"]);
        self.prompts.iter().map(|prompt| used.command(&prompt.name, "prompt")).collect()
    }

    /// Returns the flags of a tool.
    pub fn tool_flags(&self, tool: &ToolDef) -> Vec<Flag> {
        self.flags(&tool.args)
    }

    /// Returns the flags of a method that is not mapped to MCP.
    pub fn method_flags(&self, method: &MethodDef) -> Vec<Flag> {
        self.flags(&method.args)
    }

    fn flags(&self, args: &ArgsDef) -> Vec<Flag> {
        let bundled = self.types.bundle(&args.schema);
        let mut used = UsedNames::new(RESERVED_FLAGS);
        let flag = |name: &str| {
            let property = bundled.get("properties").and_then(|all| all.get(name)).cloned();
            let schema = with_defs(property.unwrap_or(Value::Bool(true)), bundled.get("$defs"));
            Flag::new(name, schema, args.requires(name), &mut used)
        };
        args.names().into_iter().map(flag).collect()
    }
}

impl ResourceDef {
    /// Returns the flags of the parameters.
    pub fn flags(&self) -> Vec<Flag> {
        param_flags(&self.params)
    }
}

impl PromptDef {
    /// Returns the flags of the arguments.
    pub fn flags(&self) -> Vec<Flag> {
        param_flags(&self.arguments)
    }
}

fn param_flags(params: &[ParamDef]) -> Vec<Flag> {
    let mut used = UsedNames::new(RESERVED_FLAGS);
    let flag = |param: &ParamDef| {
        // An absent required list is empty.
        let required = param.required && !param.repeated && param.default.is_none();
        Flag::new(&param.name, param.schema(), required, &mut used)
    };
    params.iter().map(flag).collect()
}

impl ParamDef {
    /// Returns the JSON Schema of the value.
    pub fn schema(&self) -> Value {
        let one = match &self.kind {
            ParamKind::Boolean => json!({"type": "boolean"}),
            ParamKind::Integer => json!({"type": "integer"}),
            ParamKind::Number => json!({"type": "number"}),
            ParamKind::Text => json!({"type": "string"}),
            ParamKind::Choice { values } => json!({"type": "string", "enum": values}),
            ParamKind::Any => json!({}),
        };
        let mut schema = if self.repeated { json!({"type": "array", "items": one}) } else { one };
        for (key, value) in [("title", &self.title), ("description", &self.description)] {
            if let Some(text) = value {
                schema[key] = json!(text);
            }
        }
        if let Some(default) = &self.default {
            schema["default"] = default.clone();
        }
        schema
    }
}

#[cfg(test)]
mod tests;
