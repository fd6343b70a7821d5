//! How a design is written at a shell: the names of its commands, a flag for each argument, and lines to copy.
//!
//! Pure: whoever makes a command line out of it and whoever documents that command line read the same words here.
//! Invariants: within one command no two flags have a name in common, and none has one that the command line itself
//! needs; a value that [`Flag::read`] gives fits its schema.

mod line;
mod name;
mod value;

use serde_json::{Value, json};

use crate::ir::{ArgsDef, Design, MethodDef, ParamDef, ParamKind, PromptDef, ResourceDef, ToolDef};
use crate::schema::referred_name;

pub use line::{shell_line, shell_word};
use name::Taken;

/// Commands that every command line has; a tool of such a name gets another.
const COMMANDS: [&str; 11] =
    ["call", "completions", "design", "help", "list", "listen", "notify", "prompt", "read", "rpc", "serve"];
/// Flags that every command has; an argument of such a name gets another.
const FLAGS: [&str; 3] = ["args", "help", "version"];

/// One argument of a tool, resource or prompt as a flag.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Flag {
    /// The name of the argument.
    pub name: String,
    /// The name of the flag, without its dashes.
    pub long: String,
    /// The exact name of the argument, where the flag is called otherwise and nothing else is called that.
    pub alias: Option<String>,
    /// What is read from a text.
    pub kind: FlagKind,
    /// Whether it is a list, given by repeating the flag.
    pub repeated: bool,
    /// Whether it must be given.
    pub required: bool,
    /// The schema of the argument, which stands on its own.
    pub schema: Value,
    /// What one text must fit: the schema, or that of an item.
    item: Value,
}

/// What the text of a flag is read as.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum FlagKind {
    /// `true` or `false`.
    Boolean,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// Text.
    Text,
    /// Bytes, which are base64 in JSON: `@FILE`, or base64 itself.
    Bytes,
    /// One of these, each as it is written.
    Choice(Vec<String>),
    /// JSON.
    Json,
    /// JSON where that fits, else text.
    Any,
}

impl Flag {
    /// What it is for.
    pub fn description(&self) -> Option<&str> {
        self.schema.get("description").and_then(Value::as_str)
    }

    /// What the service takes when it is not given.
    pub fn default(&self) -> Option<&Value> {
        self.schema.get("default").filter(|default| !default.is_null())
    }

    fn new(name: &str, schema: Value, required: bool, taken: &mut Taken) -> Self {
        let (long, alias) = taken.flag(name);
        let repeated = resolved(&schema, &schema).get("type").is_some_and(|kind| kind == "array");
        let item = if repeated { item_of(&schema) } else { schema.clone() };
        let kind = FlagKind::of(resolved(&item, &item));
        Self { name: name.to_owned(), long, alias, kind, repeated, required, schema, item }
    }
}

/// The schema of the items of a list, standing on its own.
fn item_of(schema: &Value) -> Value {
    let items = resolved(schema, schema).get("items").cloned().unwrap_or(Value::Bool(true));
    with_types(items, schema.get("$defs"))
}

fn with_types(mut schema: Value, types: Option<&Value>) -> Value {
    if let (Some(map), Some(types)) = (schema.as_object_mut(), types) {
        map.entry("$defs").or_insert_with(|| types.clone());
    }
    schema
}

/// What a schema refers to, when that is all it does.
fn resolved<'a>(schema: &'a Value, root: &'a Value) -> &'a Value {
    let named = schema.get("$ref").and_then(Value::as_str).and_then(referred_name);
    let found = named.and_then(|name| root.get("$defs")?.get(&name));
    found.unwrap_or(schema)
}

impl FlagKind {
    fn of(schema: &Value) -> Self {
        if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            let written = |value: &Value| match value {
                Value::String(text) => Some(text.clone()),
                Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
                Value::Null | Value::Array(_) | Value::Object(_) => None,
            };
            if let Some(texts) = values.iter().map(written).collect() {
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

    /// What to write in its place, for people: `TEXT`, `N`, `JSON`.
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
    /// What the tools are called as commands, in order of declaration.
    ///
    /// The name in kebab-case; `tool-NAME` where every command line has a command of that name.
    pub fn tool_commands(&self) -> Vec<String> {
        let mut taken = Taken::new(COMMANDS);
        self.tools.iter().map(|tool| taken.command(&tool.name, "tool")).collect()
    }

    /// What the resources are called behind `read`.
    pub fn resource_commands(&self) -> Vec<String> {
        let mut taken = Taken::new(["help"]);
        self.resources.iter().map(|resource| taken.command(&resource.name, "resource")).collect()
    }

    /// What the prompts are called behind `prompt`.
    pub fn prompt_commands(&self) -> Vec<String> {
        let mut taken = Taken::new(["help"]);
        self.prompts.iter().map(|prompt| taken.command(&prompt.name, "prompt")).collect()
    }

    /// The arguments of a tool as flags.
    pub fn tool_flags(&self, tool: &ToolDef) -> Vec<Flag> {
        self.flags(&tool.args)
    }

    /// The arguments of a method as flags.
    pub fn method_flags(&self, method: &MethodDef) -> Vec<Flag> {
        self.flags(&method.args)
    }

    fn flags(&self, args: &ArgsDef) -> Vec<Flag> {
        let closed = self.types.close(&args.schema);
        let mut taken = Taken::new(FLAGS);
        let flag = |name: &str| {
            let property = closed.get("properties").and_then(|all| all.get(name)).cloned();
            let schema = with_types(property.unwrap_or(Value::Bool(true)), closed.get("$defs"));
            Flag::new(name, schema, args.requires(name), &mut taken)
        };
        args.names().into_iter().map(flag).collect()
    }
}

impl ResourceDef {
    /// The parameters as flags.
    pub fn flags(&self) -> Vec<Flag> {
        param_flags(&self.params)
    }
}

impl PromptDef {
    /// The arguments as flags.
    pub fn flags(&self) -> Vec<Flag> {
        param_flags(&self.arguments)
    }
}

fn param_flags(params: &[ParamDef]) -> Vec<Flag> {
    let mut taken = Taken::new(FLAGS);
    let flag = |param: &ParamDef| {
        // A required list that is not given is empty.
        let required = param.required && !param.repeated && param.default.is_none();
        Flag::new(&param.name, param.schema(), required, &mut taken)
    };
    params.iter().map(flag).collect()
}

impl ParamDef {
    /// The JSON Schema of its value.
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
