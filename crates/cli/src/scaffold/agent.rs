//! Files of a new agent, generated from the design of its service: a bootstrap, a planner, and an adapter for
//! each tool.
//!
//! Invariant: the generated code compiles for every design, whatever the names of its tools and arguments, and is
//! formatted like rustfmt does.

use std::collections::BTreeSet;

use serde_json::Value;
use switchboard_design::{Design, OutputDef, ToolDef};

use super::files::template;
use super::names::{ProjectNames, is_reserved};

/// Line width of rustfmt.
const WIDTH: usize = 100;
/// With more parameters than this, a function takes one object instead.
const MAX_PARAMETERS: usize = 7;

/// A file of the agent: its path in the project's folder, and its text.
#[derive(Debug)]
pub(crate) struct AgentFile {
    pub(crate) path: String,
    pub(crate) text: String,
}

/// Returns the files of an agent for a service; `command` is the program that serves it.
pub(crate) fn agent_files(
    names: &ProjectNames,
    design: &Design,
    command: &[String],
    switchboard: &str,
) -> Vec<AgentFile> {
    let toolset = Toolset::of(design);
    let fill = |text: &str| {
        let text = names.fill(text, switchboard);
        let text = text.replace("__service__", &escaped(&design.name)).replace("__module__", &toolset.module);
        text.replace("__command__", &constant("const PROGRAM: &[&str] =", &list(command)))
    };
    let (imports, about, start, called) = toolset.operator(design);
    let planner = template!("operator/planner.rs")
        .replace("__imports__", &imports)
        .replace("__operator__", about)
        .replace("__start__", &start);
    let modules: String = toolset.tools.iter().map(|(module, _)| format!("pub mod {module};\n")).collect();
    let open: Vec<String> =
        design.tools.iter().filter(|tool| tool.scopes.is_empty()).map(|tool| tool.name.clone()).collect();
    let tools = constant(&format!("pub const TOOLS: [&str; {}] =", open.len()), &list(&open)[1..]);
    let tools = format!("/// The tools that need no scope.\n{tools}");
    let shared = template!("operator/toolset/mod.rs")
        .replace("__modules__", modules.trim_end())
        .replace("__tools__", &tools);
    let folder = format!("operator/toolsets/{}", toolset.module);
    let mut files = vec![
        ("Cargo.toml".to_owned(), template!("Cargo.toml.in").to_owned()),
        (".gitignore".to_owned(), template!("gitignore").to_owned()),
        ("lib.rs".to_owned(), template!("lib.rs").to_owned()),
        ("main.rs".to_owned(), template!("main.rs").to_owned()),
        ("bootstrap.rs".to_owned(), template!("bootstrap.rs").to_owned()),
        ("operator/mod.rs".to_owned(), template!("operator/mod.rs").to_owned()),
        ("operator/planner.rs".to_owned(), planner),
        ("operator/toolsets/mod.rs".to_owned(), template!("operator/toolsets.rs").to_owned()),
        (format!("{folder}/mod.rs"), shared),
        ("tests/operator.rs".to_owned(), template!("tests/operator.rs").replace("__called__", &called)),
    ];
    for (module, tool) in &toolset.tools {
        files.push((format!("{folder}/{module}.rs"), adapter(design, tool, &toolset.module)));
    }
    let file =
        |(path, text): (String, String)| AgentFile { path: format!("agents/{path}"), text: fill(&text) };
    files.into_iter().map(file).collect()
}

/// The tools of a service with the modules of their adapters.
struct Toolset<'a> {
    module: String,
    tools: Vec<(String, &'a ToolDef)>,
}

impl<'a> Toolset<'a> {
    fn of(design: &'a Design) -> Self {
        let mut taken = BTreeSet::from(["mod".to_owned()]);
        let mut tools: Vec<(String, &ToolDef)> =
            design.tools.iter().map(|tool| (unique(&tool.name, "tool", &mut taken), tool)).collect();
        // The order of modules in rustfmt.
        tools.sort_by(|one, other| one.0.cmp(&other.0));
        Self { module: identifier(&design.name, "service"), tools }
    }

    /// Returns the imports of the planner, its description, its first step, and the assertion of its test. It calls
    /// only a tool that is read-only.
    fn operator(&self, design: &Design) -> (String, &'static str, String, String) {
        let is_harmless = |tool: &ToolDef| {
            tool.annotations.as_ref().is_some_and(|says| says.is_read_only()) && tool.scopes.is_empty()
        };
        let first = design.tools.iter().find(|tool| is_harmless(tool));
        let module = first.and_then(|first| self.tools.iter().find(|(_, tool)| tool.name == first.name));
        let Some((module, tool)) = module else {
            let start = "Plan::Done(format!(\"Nothing was done about: {goal}\"))".to_owned();
            return ("Step".to_owned(), "Does nothing.", start, "assert!(run.called.is_empty());".to_owned());
        };
        let imports = format!("{{Step, {}::{module}}}", self.module);
        let start = format!(
            "// The goal is for a planner that chooses; this one always makes the same call.\n        \
             let _ = goal;\n        Plan::Call({module}::example())"
        );
        let called = format!("assert_eq!(run.called, [\"{}\"]);", escaped(&tool.name));
        (imports, "Calls one tool and answers with what it said.", start, called)
    }
}

/// Returns the adapter of one tool.
fn adapter(design: &Design, tool: &ToolDef, toolset: &str) -> String {
    let name = escaped(&tool.name);
    let summary = tool.description.lines().next().unwrap_or_default().trim();
    let parameters = Parameters::of(tool);
    let (result, reads, generic) = match &tool.output {
        OutputDef::Structured { .. } => ("T", "data", "<T: DeserializeOwned>"),
        _ => ("String", "text", ""),
    };
    let mut text = format!(
        "//! The tool `{}` of `{}`: {summary}\n//!\n\
         //! Written once by `switchboard new --agent`; it is yours. Map your own types to the arguments of the tool here,\n\
         //! and its result to them.\n\nuse std::error::Error;\n\n",
        tool.name, design.name
    );
    if !generic.is_empty() {
        text += "use serde::de::DeserializeOwned;\n";
    }
    text += match parameters.has_value {
        true => "use serde_json::{Value, json};\n",
        false => "use serde_json::json;\n",
    };
    text += "use switchboard::protocol::CallToolResult;\n\n";
    text += &format!(
        "use crate::operator::toolsets::{toolset}::step;\nuse crate::operator::toolsets::{{Step, {reads}}};\n\n"
    );
    text += &format!("/// The name of the tool.\npub const TOOL: &str = \"{name}\";\n\n");
    let example = design.tool_example(tool).value.to_string();
    text += "/// Arguments that fit, as the design has them.\n";
    text += &constant("pub const EXAMPLE: &str =", &raw(&example));
    text += "\n\n/// A call with the arguments of the example.\npub fn example() -> Step {\n    \
             let arguments = serde_json::from_str(EXAMPLE).expect(\"the example is JSON\");\n    \
             step(TOOL, arguments)\n}\n\n";
    text += &format!("/// A call of the tool.{}\n", parameters.optional_doc());
    text += &parameters.function();
    text += &format!(
        "\n\n/// What the tool returned.\n///\n/// # Errors\n/// When it failed{}.\n\
         pub fn read{generic}(result: &CallToolResult) -> Result<{result}, Box<dyn Error>> {{\n    {reads}(result)\n}}\n",
        if generic.is_empty() { "" } else { ", or its data has another shape" },
    );
    text
}

/// Parameters of the generated function that creates a call.
struct Parameters {
    /// Rust name, protocol name, type.
    required: Vec<(String, String, &'static str)>,
    optional: Vec<String>,
    has_value: bool,
}

impl Parameters {
    fn of(tool: &ToolDef) -> Self {
        let schema = &tool.args.schema;
        let properties = schema.get("properties").and_then(Value::as_object);
        let required_names: BTreeSet<&str> = schema
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let mut names: Vec<&str> = tool.args.order.iter().map(String::as_str).collect();
        for name in properties.into_iter().flat_map(serde_json::Map::keys) {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        let mut taken = BTreeSet::new();
        let (mut required, mut optional) = (Vec::new(), Vec::new());
        for name in names {
            match required_names.contains(name) {
                true => {
                    let kind = rust_type(properties.and_then(|all| all.get(name)));
                    required.push((unique(name, "argument", &mut taken), name.to_owned(), kind));
                }
                false => optional.push(name.to_owned()),
            }
        }
        if required.len() > MAX_PARAMETERS || required.iter().any(|(name, ..)| name == "step") {
            required.clear();
            optional.clear();
            return Self { required, optional, has_value: true };
        }
        let has_value = required.iter().any(|(.., kind)| *kind == "&Value");
        Self { required, optional, has_value }
    }

    fn optional_doc(&self) -> String {
        if self.optional.is_empty() {
            return String::new();
        }
        let names: Vec<String> = self.optional.iter().map(|name| format!("`{name}`")).collect();
        format!(" It may also have {}.", names.join(", "))
    }

    fn function(&self) -> String {
        if self.required.is_empty() {
            return match self.has_value {
                true => {
                    "pub fn call(arguments: Value) -> Step {\n    step(TOOL, json!(arguments))\n}".to_owned()
                }
                false => "pub fn call() -> Step {\n    step(TOOL, json!({}))\n}".to_owned(),
            };
        }
        let parameters: Vec<String> =
            self.required.iter().map(|(name, _, kind)| format!("{name}: {kind}")).collect();
        let line = format!("pub fn call({}) -> Step {{", parameters.join(", "));
        let head = match line.len() <= WIDTH {
            true => line,
            false => {
                let lines: String =
                    parameters.iter().map(|parameter| format!("    {parameter},\n")).collect();
                format!("pub fn call(\n{lines}) -> Step {{")
            }
        };
        let fields: String = self
            .required
            .iter()
            .map(|(name, wire, _)| format!("        \"{}\": {name},\n", escaped(wire)))
            .collect();
        format!("{head}\n    let arguments = json!({{\n{fields}    }});\n    step(TOOL, arguments)\n}}")
    }
}

/// Returns the Rust type of a parameter: the type of a simple schema, or any JSON.
fn rust_type(schema: Option<&Value>) -> &'static str {
    let kind = |schema: &Value| schema.get("type").and_then(Value::as_str).map(str::to_owned);
    match schema.and_then(kind).as_deref() {
        Some("string") => "&str",
        Some("integer") => "i64",
        Some("number") => "f64",
        Some("boolean") => "bool",
        Some("array") => {
            let items = schema.and_then(|schema| schema.get("items")).and_then(kind);
            if items.as_deref() == Some("string") { "&[&str]" } else { "&Value" }
        }
        _ => "&Value",
    }
}

/// Returns an identifier that is not in `taken`.
fn unique(name: &str, kind: &str, taken: &mut BTreeSet<String>) -> String {
    let wanted = identifier(name, kind);
    let mut candidate = wanted.clone();
    let mut number = 2;
    while !taken.insert(candidate.clone()) {
        candidate = format!("{wanted}_{number}");
        number += 1;
    }
    candidate
}

/// Converts a name to a snake-case identifier; appends `kind` if it is reserved.
fn identifier(name: &str, kind: &str) -> String {
    let mut snake = String::new();
    let mut was_small = false;
    for char in name.chars() {
        match char {
            'a'..='z' | '0'..='9' => snake.push(char),
            'A'..='Z' => {
                if was_small {
                    snake.push('_');
                }
                snake.push(char.to_ascii_lowercase());
            }
            _ if snake.ends_with('_') => {}
            _ => snake.push('_'),
        }
        was_small = char.is_ascii_lowercase() || char.is_ascii_digit();
    }
    let snake = snake.trim_matches('_').to_owned();
    match snake.starts_with(|first: char| first.is_ascii_lowercase()) {
        true if is_reserved(&snake) => format!("{snake}_{kind}"),
        true => snake,
        false if snake.is_empty() => kind.to_owned(),
        false => format!("{kind}_{snake}"),
    }
}

/// Escapes text for a Rust string literal.
fn escaped(text: &str) -> String {
    text.escape_debug().to_string().replace("\\'", "'")
}

/// Returns the expression of a slice of strings.
fn list(texts: &[String]) -> String {
    let quoted: Vec<String> = texts.iter().map(|text| format!("\"{}\"", escaped(text))).collect();
    format!("&[{}]", quoted.join(", "))
}

/// Returns a raw string literal of any text.
fn raw(text: &str) -> String {
    let mut fence = String::from("#");
    while text.contains(&format!("\"{fence}")) {
        fence.push('#');
    }
    format!("r{fence}\"{text}\"{fence}")
}

/// Returns a constant on one line, exempt from rustfmt if it is too long.
fn constant(head: &str, value: &str) -> String {
    let line = format!("{head} {value};");
    match line.len() <= WIDTH {
        true => line,
        false => format!("#[rustfmt::skip]\n{line}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_become_identifiers() {
        for (name, expected) in [
            ("add_note", "add_note"),
            ("addNote", "add_note"),
            ("HTTP-get.all", "http_get_all"),
            ("type", "type_tool"),
            ("7zip", "tool_7zip"),
            ("ärger", "rger"),
            ("…", "tool"),
        ] {
            assert_eq!(identifier(name, "tool"), expected, "{name}");
        }
        let mut taken = BTreeSet::new();
        assert_eq!(["a b", "a-b"].map(|name| unique(name, "tool", &mut taken)), ["a_b", "a_b_2"]);
    }

    #[test]
    fn text_is_unchanged_in_rust_literals() {
        assert_eq!(raw(r##"{"a":"b\"#"}"##), r####"r##"{"a":"b\"#"}"##"####);
        assert_eq!(list(&["a\"b".to_owned(), "it's".to_owned()]), r#"&["a\"b", "it's"]"#);
    }

    #[test]
    fn required_arguments_are_parameters_and_optional_ones_are_documented() {
        let design: Design = serde_json::from_value(json!({
            "name": "texts", "version": "1.0.0",
            "tools": [{"name": "count", "rustName": "count", "description": "Counts.", "args": {"schema": {
                "type": "object", "required": ["text", "type"],
                "properties": {"text": {"type": "string"}, "type": {"type": "object"}, "most": {"type": "integer"}},
            }, "order": ["text", "most", "type"]}}],
        }))
        .unwrap();
        let text = adapter(&design, &design.tools[0], "texts");
        assert!(text.contains("/// A call of the tool. It may also have `most`.\n"), "{text}");
        assert!(text.contains("pub fn call(text: &str, type_argument: &Value) -> Step {\n"), "{text}");
        assert!(text.contains("        \"type\": type_argument,\n"), "{text}");
    }
}
