//! The quickstart document of a service, for agents and the people who configure them.
//!
//! Deterministic: the same design gives the same bytes. Every command line in it is valid for the service.

mod markdown_table;
mod members;
mod sections;
mod type_text;

use serde_json::{Value, json};

use crate::flags::shell_word;
use crate::ir::Design;
use crate::schema::canonicalize;
use markdown_table::MarkdownTable;

/// The prefix of the first line of every quickstart; identifies generated files.
pub const QUICKSTART_MARKER: &str = "<!-- Written by `switchboard quickstart`";

/// The quickstart document: the items of a service, how to run it, call it and connect it to an agent.
///
/// ```
/// use switchboard::service::design::{Design, Quickstart, ToolDef};
///
/// let design = Design::new("clock", "1.0.0").with_tools([ToolDef::new("now", "The time")]);
/// let text = Quickstart::new(&design).with_command(["target/debug/clock"]).to_string();
/// assert!(text.contains("target/debug/clock call now"));
/// ```
#[derive(Debug, Clone)]
pub struct Quickstart<'a> {
    design: &'a Design,
    command: Vec<String>,
}

impl<'a> Quickstart<'a> {
    /// Creates the quickstart of a service whose program has the name of the service.
    pub fn new(design: &'a Design) -> Self {
        Self { design, command: vec![design.name.clone()] }
    }

    /// Sets the command that starts the program.
    #[must_use]
    pub fn with_command<W: Into<String>>(mut self, words: impl IntoIterator<Item = W>) -> Self {
        self.command = words.into_iter().map(Into::into).collect();
        self
    }

    /// Returns the command, quoted for a shell.
    fn shell(&self) -> String {
        self.command.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" ")
    }

    fn write_head(&self, out: &mut String) {
        let Design { name, version, title, description, instructions, .. } = self.design;
        *out +=
            &format!("{QUICKSTART_MARKER} from the design of {name}; what is changed here is lost. -->\n\n");
        *out += &format!("# {}: quickstart\n\n", title.as_deref().unwrap_or(name).trim_end_matches('.'));
        *out += &format!("`{name}` {version} is a service of the Model Context Protocol (MCP).\n\n");
        if let Some(description) = description {
            *out += &format!("{}\n\n", description.trim());
        }
        if let Some(instructions) = instructions {
            *out += &format!("{}\n\n", instructions.trim());
        }
    }

    fn write_overview(&self, out: &mut String) {
        let design = self.design;
        let mut table = MarkdownTable::new(["Kind", "Name", "What it is"]);
        let mut add =
            |kind: &str, name: &str, what: &str| table.row([kind, &format!("`{name}`"), first_line(what)]);
        for tool in &design.tools {
            add("tool", &tool.name, &tool.description);
        }
        for resource in &design.resources {
            add("resource", &resource.name, &resource.description);
        }
        for prompt in &design.prompts {
            add("prompt", &prompt.name, &prompt.description);
        }
        for event in &design.notifications {
            add("event", &event.name, &event.description);
        }
        for method in sections::rpc_methods(design) {
            add("method outside MCP", &method.name, method.description.as_deref().unwrap_or_default());
        }
        *out += "## What exists\n\n";
        *out += &table.to_string();
    }

    fn write_running(&self, out: &mut String) {
        let shell = self.shell();
        *out += "## Run it\n\n";
        *out += "On stdin and stdout, for a client that starts it:\n\n";
        *out += &fence("sh", &format!("{shell} serve --stdio"));
        *out += "Over HTTP, at `http://127.0.0.1:8080/mcp`";
        if let Some(path) = &self.design.rpc {
            *out += &format!(", and plain JSON-RPC at `http://127.0.0.1:8080{path}`");
        }
        *out += ":\n\n";
        *out += &fence("sh", &format!("{shell} serve --http 127.0.0.1:8080"));
        *out += "Without serving anything, from a shell:\n\n";
        *out += &fence("sh", &format!("{shell} list\n{shell} design print --json"));
        *out += "Exit codes: 0 fine, 1 the link or the protocol failed, 2 wrong usage or arguments, 3 a person is needed, \
                 4 the tool failed.\n\n";
    }

    fn write_configuration(&self, out: &mut String) {
        let name = &self.design.name;
        let (program, args) =
            self.command.split_first().map_or(("", &[][..]), |(first, rest)| (first.as_str(), rest));
        let args: Vec<&str> = args.iter().map(String::as_str).chain(["serve", "--stdio"]).collect();
        let stdio = json!({"mcpServers": {name: {"command": program, "args": args}}});
        let http = json!({"mcpServers": {name: {"type": "http", "url": "http://127.0.0.1:8080/mcp"}}});
        *out += "## Set up a client\n\n";
        *out += "In `.mcp.json`, as a program that the client starts:\n\n";
        *out += &fence("json", &pretty(stdio));
        *out += "or as a server that runs already:\n\n";
        *out += &fence("json", &pretty(http));
        *out += "With the `switchboard` command:\n\n";
        let add = format!("switchboard add {} -- {} serve --stdio", shell_word(name), self.shell());
        *out += &fence("sh", &add);
    }

    fn write_agent_wiring(&self, out: &mut String) {
        *out += "## Wire it into an agent\n\n";
        *out += "Give the model the tools above with their schemas (`tools/list`), and pass what it calls on as it is. \
                 When arguments do not fit, the answer says what is wrong with each: show that to the model and let it \
                 try again. In Rust:\n\n";
        let (tool, example) = match self.design.tools.first() {
            Some(tool) => (tool.name.clone(), self.design.tool_example(tool).value),
            None => ("tool".to_owned(), json!({})),
        };
        let example = canonicalize(example);
        let code = format!(
            "use switchboard::{{Client, Http, json}};\n\n\
             async fn call() -> Result<(), Box<dyn std::error::Error>> {{\n    \
                 let session = Client::new().connect(Http::new(\"http://127.0.0.1:8080/mcp\")).await?;\n    \
                 let tools = session.list_tools().await?;\n    \
                 let result = session.call_tool({tool:?}, json!({example})).await?;\n    \
                 println!(\"{{}} tools; {{}}\", tools.len(), result.text());\n    \
                 Ok(())\n\
             }}"
        );
        *out += &fence("rust,no_run", &code);
        *out += "The trait of the service has a typed client of the same methods, and `with_repair` runs the loop above.\n";
    }
}

impl std::fmt::Display for Quickstart<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut out = String::new();
        self.write_head(&mut out);
        self.write_overview(&mut out);
        self.write_running(&mut out);
        self.write_configuration(&mut out);
        self.write_tools(&mut out);
        self.write_resources(&mut out);
        self.write_prompts(&mut out);
        self.write_notifications(&mut out);
        self.write_methods(&mut out);
        self.write_agent_wiring(&mut out);
        f.write_str(&out)
    }
}

impl Design {
    /// Returns the [`Quickstart`] of the service, whose program has its name.
    pub fn quickstart(&self) -> String {
        Quickstart::new(self).to_string()
    }
}

/// Returns a fenced code block and an empty line.
fn fence(language: &str, code: &str) -> String {
    // A fence must be longer than every run of backticks in the code.
    let longest = code.split(|char| char != '`').map(str::len).max().unwrap_or_default();
    let ticks = "`".repeat(longest.max(2) + 1);
    format!("{ticks}{language}\n{}\n{ticks}\n\n", code.trim_end())
}

/// Returns indented canonical JSON, independent of the features of `serde_json`.
fn pretty(value: Value) -> String {
    format!("{:#}", canonicalize(value))
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

#[cfg(test)]
mod tests;
