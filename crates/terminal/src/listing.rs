//! The items of a design (tools, resources, prompts, events, methods) as text for people or as JSON.

use serde_json::{Value, json};
use switchboard_design::{Design, Flag, MethodScope, OutputSchemaPolicy, UriPolicy};

/// Returns the items of a design as text for people, each with its command line.
pub fn listing(design: &Design) -> String {
    to_text(design, false)
}

/// Returns the items of a design as text for people; with their schemas if `schema` is set.
pub fn to_text(design: &Design, schema: bool) -> String {
    let mut text = format!(
        "{} {}\n",
        design.title.as_deref().or(design.description.as_deref()).unwrap_or(&design.name),
        design.version
    );
    let tools = design.tools.iter().zip(design.tool_commands()).map(|(tool, command)| {
        let schemas = [
            ("arguments", Some(design_schema(design, &tool.args.schema))),
            ("result", { tool.output.schema().map(|schema| design_schema(design, schema)) }),
        ];
        (signature(&command, &design.tool_flags(tool)), tool.description.as_str(), schemas)
    });
    section(&mut text, "tools", tools, schema);
    let resources = design.resources.iter().zip(design.resource_commands()).map(|(resource, command)| {
        let line = format!("{}   {}", signature(&format!("read {command}"), &resource.flags()), resource.uri);
        let output = resource.output.schema().map(|schema| design_schema(design, schema));
        (line, resource.description.as_str(), [("arguments", None), ("result", output)])
    });
    section(&mut text, "resources", resources, schema);
    let prompts = design.prompts.iter().zip(design.prompt_commands()).map(|(prompt, command)| {
        let line = signature(&format!("prompt {command}"), &prompt.flags());
        (line, prompt.description.as_str(), [("arguments", Some(prompt.schema())), ("result", None)])
    });
    section(&mut text, "prompts", prompts, schema);
    let events = design.notifications.iter().map(|event| {
        let payload = Some(design_schema(design, &event.payload));
        (event.name.clone(), event.description.as_str(), [("payload", payload), ("result", None)])
    });
    section(&mut text, "events", events, schema);
    let methods = design.rpc_only.iter().filter(|method| method.scope == MethodScope::Rpc).map(|method| {
        let line = signature(&format!("rpc {}", method.name), &design.method_flags(method));
        let arguments = Some(design_schema(design, &method.args.schema));
        (
            line,
            method.description.as_deref().unwrap_or_default(),
            [("arguments", arguments), ("result", None)],
        )
    });
    section(&mut text, "methods outside MCP", methods, schema);
    text
}

/// Returns the items of a design as JSON: the entries of the protocol's lists.
pub fn to_json(design: &Design) -> Value {
    let all = UriPolicy::default();
    json!({
        "name": design.name,
        "version": design.version,
        "tools": design.list_tools(OutputSchemaPolicy::AsIs),
        "resources": design.list_resources(&all),
        "resourceTemplates": design.list_templates(&all),
        "prompts": design.list_prompts(),
        "events": design.notifications,
    })
}

fn design_schema(design: &Design, schema: &Value) -> Value {
    design.types.bundle(schema)
}

type Row<'a> = (String, &'a str, [(&'static str, Option<Value>); 2]);

fn section<'a>(text: &mut String, title: &str, rows: impl Iterator<Item = Row<'a>>, schema: bool) {
    let mut rows = rows.peekable();
    if rows.peek().is_none() {
        return;
    }
    *text += &format!("\n{title}\n");
    for (line, description, schemas) in rows {
        *text += &format!("  {line}\n      {}\n", description.lines().next().unwrap_or_default());
        for (label, value) in schemas.into_iter().filter(|_| schema) {
            if let Some(value) = value {
                *text += &format!("      {label}: {value}\n");
            }
        }
    }
}

/// Formats a command and its flags: `search --query <TEXT> [--limit <INT>]`.
fn signature(command: &str, flags: &[Flag]) -> String {
    let flag = |flag: &Flag| {
        let many = if flag.repeated { "…" } else { "" };
        let text = format!("--{} <{}>{many}", flag.long, flag.kind.placeholder());
        if flag.required { text } else { format!("[{text}]") }
    };
    let words = std::iter::once(command.to_owned()).chain(flags.iter().map(flag));
    words.collect::<Vec<_>>().join(" ")
}
