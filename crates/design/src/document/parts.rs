//! What a quickstart says of each thing a service offers.

use serde_json::{Map, Value, json};

use super::{Quickstart, Table, fence, pretty};
use crate::flags::{Flag, FlagKind, shell_line};
use crate::ir::{Design, MethodDef, MethodScope, OutputDef, ToolDef};
use crate::schema::canonical;

/// Methods that only the plain endpoint has.
pub(super) fn plain_methods(design: &Design) -> impl Iterator<Item = &MethodDef> {
    design.rpc_only.iter().filter(|method| method.scope == MethodScope::Rpc)
}

impl Quickstart<'_> {
    pub(super) fn tools(&self, out: &mut String) {
        let design = self.design;
        if design.tools.is_empty() {
            return;
        }
        *out += "## Tools\n\n";
        for (tool, command) in design.tools.iter().zip(design.tool_commands()) {
            let flags = design.tool_flags(tool);
            let example = design.tool_example(tool).value;
            self.heading(out, &tool.name, &tool.description, tool.deprecated.as_deref());
            *out += &effects(tool);
            let given = example.as_object().cloned().unwrap_or_default();
            let line = shell_line(&format!("{} call {command}", self.shell()), &flags, &given);
            *out += &fence("sh", &line);
            *out += "Arguments, for example:\n\n";
            *out += &fence("json", &pretty(example));
            *out += &arguments(&flags);
            *out += &hints(&flags);
            *out += &returns(&tool.output, tool.events.is_some());
        }
    }

    pub(super) fn resources(&self, out: &mut String) {
        let design = self.design;
        if design.resources.is_empty() {
            return;
        }
        *out += "## Resources\n\n";
        for (resource, command) in design.resources.iter().zip(design.resource_commands()) {
            self.heading(out, &resource.name, &resource.description, resource.deprecated.as_deref());
            let uri = resource.pattern().map_or_else(|_| resource.uri.clone(), |pattern| pattern.to_string());
            let mime = resource.mime.as_deref().map(|mime| format!(", `{mime}`")).unwrap_or_default();
            let watch = if resource.watch { "; clients may subscribe to it" } else { "" };
            *out += &format!("`{uri}`{mime}{watch}\n\n");
            let flags = resource.flags();
            let line = shell_line(&format!("{} read {command}", self.shell()), &flags, &needed(&flags));
            *out += &fence("sh", &line);
            *out += &arguments(&flags);
        }
    }

    pub(super) fn prompts(&self, out: &mut String) {
        let design = self.design;
        if design.prompts.is_empty() {
            return;
        }
        *out += "## Prompts\n\n";
        for (prompt, command) in design.prompts.iter().zip(design.prompt_commands()) {
            self.heading(out, &prompt.name, &prompt.description, prompt.deprecated.as_deref());
            let flags = prompt.flags();
            let line = shell_line(&format!("{} prompt {command}", self.shell()), &flags, &needed(&flags));
            *out += &fence("sh", &line);
            *out += &arguments(&flags);
        }
    }

    pub(super) fn events(&self, out: &mut String) {
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
            self.heading(out, &event.name, &event.description, None);
            *out += &fence("json", &pretty(design.types.close(&event.payload)));
        }
    }

    pub(super) fn methods(&self, out: &mut String) {
        let design = self.design;
        let mut methods = plain_methods(design).peekable();
        let (Some(path), true) = (&design.rpc, methods.peek().is_some()) else { return };
        *out += &format!("## Methods outside MCP\n\nPlain JSON-RPC, one POST to `{path}`:\n\n");
        for method in methods {
            self.heading(out, &method.name, method.description.as_deref().unwrap_or_default(), None);
            let flags = design.method_flags(method);
            let params = Value::Object(needed(&flags));
            let call = json!({"jsonrpc": "2.0", "id": 1, "method": method.rust_name, "params": params});
            *out += &fence("json", &canonical(call).to_string());
            *out += &arguments(&flags);
        }
    }

    fn heading(&self, out: &mut String, name: &str, description: &str, deprecated: Option<&str>) {
        *out += &format!("### `{name}`\n\n");
        if !description.trim().is_empty() {
            *out += &format!("{}\n\n", description.trim());
        }
        if let Some(reason) = deprecated {
            *out += &format!("**Deprecated:** {reason}\n\n");
        }
    }
}

/// What a tool says of its effects, and what a caller needs for it.
fn effects(tool: &ToolDef) -> String {
    let hints = tool.annotations.clone().unwrap_or_default();
    let mut said = Vec::new();
    if hints.read_only_hint == Some(true) {
        said.push("changes nothing".to_owned());
    }
    if hints.destructive_hint == Some(true) {
        said.push("may destroy something".to_owned());
    }
    if hints.idempotent_hint == Some(true) {
        said.push("may be called again with the same effect".to_owned());
    }
    if !tool.scopes.is_empty() {
        said.push(format!(
            "needs {}",
            tool.scopes.iter().map(|scope| format!("`{scope}`")).collect::<Vec<_>>().join(", ")
        ));
    }
    if said.is_empty() { String::new() } else { format!("It {}.\n\n", said.join("; ")) }
}

/// Values for what must be given.
fn needed(flags: &[Flag]) -> Map<String, Value> {
    let needed = flags.iter().filter(|flag| flag.required);
    needed.map(|flag| (flag.name.clone(), crate::example::example(&flag.schema, None).value)).collect()
}

fn arguments(flags: &[Flag]) -> String {
    let mut table = Table::new(["Argument", "Flag", "Type", "Needed", "What it is"]);
    for flag in flags {
        let default = flag.default().map(|default| format!("no, `{default}` else"));
        let needed =
            if flag.required { "yes".to_owned() } else { default.unwrap_or_else(|| "no".to_owned()) };
        table.row([
            &format!("`{}`", flag.name),
            &format!("`--{}`", flag.long),
            &kind(flag),
            &needed,
            flag.description().unwrap_or_default(),
        ]);
    }
    table.to_string()
}

fn kind(flag: &Flag) -> String {
    let one = match &flag.kind {
        FlagKind::Boolean => "true or false".to_owned(),
        FlagKind::Integer => "whole number".to_owned(),
        FlagKind::Number => "number".to_owned(),
        FlagKind::Text => "text".to_owned(),
        FlagKind::Bytes => "bytes (base64)".to_owned(),
        FlagKind::Choice(values) => {
            let values: Vec<String> = values.iter().map(|value| format!("`{value}`")).collect();
            format!("one of {}", values.join(", "))
        }
        FlagKind::Json => "JSON".to_owned(),
        FlagKind::Any => "any value".to_owned(),
    };
    if flag.repeated { format!("list: {one}") } else { one }
}

/// What goes wrong most, and how it is put right.
fn hints(flags: &[Flag]) -> String {
    let mut hints = Vec::new();
    let names = |wanted: &dyn Fn(&&Flag) -> bool| -> Vec<String> {
        flags.iter().filter(wanted).map(|flag| format!("`{}`", flag.name)).collect()
    };
    let required = names(&|flag| flag.required);
    if !required.is_empty() {
        hints.push(format!("give {}", required.join(", ")));
    }
    for flag in flags {
        if let FlagKind::Choice(values) = &flag.kind {
            hints.push(format!("`{}` takes nothing but {}", flag.name, values.join(", ")));
        }
        for (key, words) in [
            ("minimum", "is at least"),
            ("maximum", "is at most"),
            ("minLength", "has at least so many characters:"),
            ("maxLength", "has at most so many characters:"),
            ("pattern", "fits the pattern"),
        ] {
            if let Some(bound) = flag.schema.get(key).filter(|bound| **bound != json!(0)) {
                hints.push(format!(
                    "`{}` {words} {}",
                    flag.name,
                    bound.as_str().map_or_else(|| bound.to_string(), |text| format!("`{text}`"))
                ));
            }
        }
    }
    if hints.is_empty() {
        String::new()
    } else {
        format!("When arguments do not fit: {}. No other arguments are taken.\n\n", hints.join("; "))
    }
}

fn returns(output: &OutputDef, streams: bool) -> String {
    let what = match output {
        OutputDef::Nothing => "that it succeeded",
        OutputDef::Text => "text",
        OutputDef::Content => "content blocks",
        OutputDef::Structured { .. } => "data",
    };
    let events = if streams { ", and events while it works" } else { "" };
    format!("Returns {what}{events}.\n\n")
}
