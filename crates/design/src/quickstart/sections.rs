//! The sections of a quickstart about tools, resources, prompts, notifications and methods.

use serde_json::{Map, Value, json};

use super::members::members;
use super::type_text::describe_type;
use super::{MarkdownTable, Quickstart, fence, pretty};
use crate::flags::{Flag, FlagKind, shell_line};
use crate::ir::{ArgsDef, Design, MethodDef, MethodScope, OutputDef, ToolDef};
use crate::schema::canonicalize;

/// Iterates over the methods that only the plain JSON-RPC endpoint serves.
pub(super) fn rpc_methods(design: &Design) -> impl Iterator<Item = &MethodDef> {
    design.rpc_only.iter().filter(|method| method.scope == MethodScope::Rpc)
}

impl Quickstart<'_> {
    pub(super) fn write_tools(&self, out: &mut String) {
        let design = self.design;
        if design.tools.is_empty() {
            return;
        }
        *out += "## Tools\n\n";
        for (tool, command) in design.tools.iter().zip(design.tool_commands()) {
            let flags = design.tool_flags(tool);
            let example = design.tool_example(tool).value;
            self.write_heading(out, &tool.name, &tool.description, tool.deprecated.as_deref());
            *out += &effects_sentence(tool);
            let arguments = example.as_object().cloned().unwrap_or_default();
            let line = shell_line(&format!("{} call {command}", self.shell()), &flags, &arguments);
            *out += &fence("sh", &line);
            *out += "Arguments, for example:\n\n";
            *out += &fence("json", &pretty(example));
            *out += &arguments_table(&flags);
            *out += unknown_arguments_sentence(&tool.args);
            *out += &self.result_section(&tool.output);
            if let Some(events) = &tool.events {
                *out += &self.data_section("Sends events while it works", events);
            }
        }
    }

    pub(super) fn write_resources(&self, out: &mut String) {
        let design = self.design;
        if design.resources.is_empty() {
            return;
        }
        *out += "## Resources\n\n";
        for (resource, command) in design.resources.iter().zip(design.resource_commands()) {
            self.write_heading(out, &resource.name, &resource.description, resource.deprecated.as_deref());
            let uri = resource.pattern().map_or_else(|_| resource.uri.clone(), |pattern| pattern.to_string());
            let mime = resource.mime.as_deref().map(|mime| format!(", `{mime}`")).unwrap_or_default();
            let watch = if resource.watch { "; clients may subscribe to it" } else { "" };
            *out += &format!("`{uri}`{mime}{watch}\n\n");
            let flags = resource.flags();
            let line =
                shell_line(&format!("{} read {command}", self.shell()), &flags, &required_examples(&flags));
            *out += &fence("sh", &line);
            *out += &arguments_table(&flags);
            if let OutputDef::Structured { schema } = &resource.output {
                *out += &self.data_section("Holds data", schema);
            }
        }
    }

    pub(super) fn write_prompts(&self, out: &mut String) {
        let design = self.design;
        if design.prompts.is_empty() {
            return;
        }
        *out += "## Prompts\n\n";
        for (prompt, command) in design.prompts.iter().zip(design.prompt_commands()) {
            self.write_heading(out, &prompt.name, &prompt.description, prompt.deprecated.as_deref());
            let flags = prompt.flags();
            let line =
                shell_line(&format!("{} prompt {command}", self.shell()), &flags, &required_examples(&flags));
            *out += &fence("sh", &line);
            *out += &arguments_table(&flags);
        }
    }

    pub(super) fn write_notifications(&self, out: &mut String) {
        let design = self.design;
        if design.notifications.is_empty() {
            return;
        }
        *out += "## Events\n\nPushed to whoever listens, with `events/stream` or from a shell:\n\n";
        let program = match self.command.as_slice() {
            [program] => program,
            _ => &design.name,
        };
        *out += &fence("sh", &format!("{program}-cli --url http://127.0.0.1:8080/mcp listen"));
        for event in &design.notifications {
            self.write_heading(out, &event.name, &event.description, None);
            *out += &fence("json", &pretty(design.types.bundle(&event.payload)));
        }
    }

    pub(super) fn write_methods(&self, out: &mut String) {
        let design = self.design;
        let mut methods = rpc_methods(design).peekable();
        let (Some(path), true) = (&design.rpc, methods.peek().is_some()) else { return };
        *out += &format!("## Methods outside MCP\n\nPlain JSON-RPC, one POST to `{path}`:\n\n");
        for method in methods {
            self.write_heading(out, &method.name, method.description.as_deref().unwrap_or_default(), None);
            let flags = design.method_flags(method);
            let params = Value::Object(required_examples(&flags));
            let call = json!({"jsonrpc": "2.0", "id": 1, "method": method.rust_name, "params": params});
            *out += &fence("json", &canonicalize(call).to_string());
            *out += &arguments_table(&flags);
            *out += &self.result_section(&method.output);
        }
    }

    fn write_heading(&self, out: &mut String, name: &str, description: &str, deprecated: Option<&str>) {
        *out += &format!("### `{name}`\n\n");
        if !description.trim().is_empty() {
            *out += &format!("{}\n\n", description.trim());
        }
        if let Some(reason) = deprecated {
            *out += &format!("**Deprecated:** {reason}\n\n");
        }
    }
}

/// Returns a sentence about the effects and the required scopes of a tool.
fn effects_sentence(tool: &ToolDef) -> String {
    let hints = tool.annotations.clone().unwrap_or_default();
    let mut effects = Vec::new();
    if hints.read_only_hint == Some(true) {
        effects.push("changes nothing".to_owned());
    }
    if hints.destructive_hint == Some(true) {
        effects.push("may destroy something".to_owned());
    }
    if hints.idempotent_hint == Some(true) {
        effects.push("may be called again with the same effect".to_owned());
    }
    if !tool.scopes.is_empty() {
        effects.push(format!(
            "needs {}",
            tool.scopes.iter().map(|scope| format!("`{scope}`")).collect::<Vec<_>>().join(", ")
        ));
    }
    if effects.is_empty() { String::new() } else { format!("It {}.\n\n", effects.join("; ")) }
}

/// Returns example values of the required flags.
fn required_examples(flags: &[Flag]) -> Map<String, Value> {
    let required = flags.iter().filter(|flag| flag.required);
    required.map(|flag| (flag.name.clone(), crate::example::example(&flag.schema, None).value)).collect()
}

/// Returns a table with a row for each argument and for each member of nested objects.
fn arguments_table(flags: &[Flag]) -> String {
    let mut table = MarkdownTable::new(["Argument", "Flag", "Type", "Needed", "What it is"]);
    let needed = |is_required: bool, default: Option<&Value>| match default {
        _ if is_required => "yes".to_owned(),
        Some(default) => format!("no, `{default}` by default"),
        None => "no".to_owned(),
    };
    for flag in flags {
        table.row([
            &format!("`{}`", flag.name),
            &format!("`--{}`", flag.long),
            &flag_type(flag),
            &needed(flag.required, flag.default()),
            flag.description().unwrap_or_default(),
        ]);
        for member in members(&flag.schema, &flag.name) {
            let needed = needed(member.is_required, member.default.as_ref());
            table.row([&format!("`{}`", member.path), "", &member.kind, &needed, &member.description]);
        }
    }
    table.to_string()
}

fn flag_type(flag: &Flag) -> String {
    let text = describe_type(&flag.schema, &flag.schema);
    let is_json = flag.kind == FlagKind::Json || text.contains("object");
    if is_json { format!("{text}, as JSON") } else { text }
}

/// Returns a sentence that says whether unknown arguments are accepted.
fn unknown_arguments_sentence(args: &ArgsDef) -> &'static str {
    match args.schema.get("additionalProperties") {
        Some(Value::Bool(false)) if !args.names().is_empty() => {
            "Other arguments and other members of objects are refused.\n\n"
        }
        Some(Value::Bool(false)) => "It takes no arguments.\n\n",
        _ => "Other arguments are accepted.\n\n",
    }
}

impl Quickstart<'_> {
    /// Returns the type of the result, with a table of its members.
    fn result_section(&self, output: &OutputDef) -> String {
        match output {
            OutputDef::Nothing => "Returns nothing but success.\n\n".to_owned(),
            OutputDef::Text => "Returns text.\n\n".to_owned(),
            OutputDef::Content => {
                "Returns content blocks: text, images, audio, links or bytes.\n\n".to_owned()
            }
            OutputDef::Structured { schema } => self.data_section("Returns data", schema),
        }
    }

    /// Returns the type of structured data, introduced by `sentence`, with a table of its members.
    fn data_section(&self, sentence: &str, schema: &Value) -> String {
        let schema = self.design.types.bundle(schema);
        let text = describe_type(&schema, &schema);
        let mut table = MarkdownTable::new(["Member", "Type", "Always there", "What it is"]);
        for member in members(&schema, "") {
            let always = if member.is_required { "yes" } else { "no" };
            table.row([&format!("`{}`", member.path), &member.kind, always, &member.description]);
        }
        let table = table.to_string();
        if table.is_empty() {
            format!("{sentence}: {text}.\n\n")
        } else {
            format!("{sentence}: {text}, with these members.\n\n{table}")
        }
    }
}
