//! A document for agents and the people who set them up, written from a design.
//!
//! Pure and deterministic: the same design is the same text, byte for byte. Every command line in it is one that the
//! command line of the service takes.

mod members;
mod parts;
mod table;
mod words;

use serde_json::{Value, json};

use crate::flags::shell_word;
use crate::ir::Design;
use crate::schema::canonical;
use table::Table;

/// How the first line of a quickstart begins. A file that begins otherwise was not written here.
pub const QUICKSTART_MARKER: &str = "<!-- Written by `switchboard quickstart`";

/// A quickstart: what a service offers, how to run it, call it and wire it into an agent.
///
/// ```
/// use switchboard::design::{Design, Quickstart, ToolDef};
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
    /// The quickstart of a service whose program has its name.
    pub fn new(design: &'a Design) -> Self {
        Self { design, command: vec![design.name.clone()] }
    }

    /// The same, with the words that start the program.
    #[must_use]
    pub fn with_command<W: Into<String>>(mut self, words: impl IntoIterator<Item = W>) -> Self {
        self.command = words.into_iter().map(Into::into).collect();
        self
    }

    /// The command as words of a shell.
    fn shell(&self) -> String {
        self.command.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" ")
    }

    fn head(&self, out: &mut String) {
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

    fn overview(&self, out: &mut String) {
        let design = self.design;
        let mut table = Table::new(["Kind", "Name", "What it is"]);
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
        for method in parts::plain_methods(design) {
            add("method outside MCP", &method.name, method.description.as_deref().unwrap_or_default());
        }
        *out += "## What exists\n\n";
        *out += &table.to_string();
    }

    fn running(&self, out: &mut String) {
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

    fn configuration(&self, out: &mut String) {
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

    fn wiring(&self, out: &mut String) {
        *out += "## Wire it into an agent\n\n";
        *out += "Give the model the tools above with their schemas (`tools/list`), and pass what it calls on as it is. \
                 When arguments do not fit, the answer says what is wrong with each: show that to the model and let it \
                 try again. In Rust:\n\n";
        let (tool, example) = match self.design.tools.first() {
            Some(tool) => (tool.name.clone(), self.design.tool_example(tool).value),
            None => ("tool".to_owned(), json!({})),
        };
        let example = canonical(example);
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
        self.head(&mut out);
        self.overview(&mut out);
        self.running(&mut out);
        self.configuration(&mut out);
        self.tools(&mut out);
        self.resources(&mut out);
        self.prompts(&mut out);
        self.events(&mut out);
        self.methods(&mut out);
        self.wiring(&mut out);
        f.write_str(&out)
    }
}

impl Design {
    /// The [`Quickstart`] of the service, whose program has its name.
    pub fn quickstart(&self) -> String {
        Quickstart::new(self).to_string()
    }
}

/// A block of code, and the empty line behind it.
fn fence(language: &str, code: &str) -> String {
    // A fence is longer than any in it.
    let longest = code.split(|char| char != '`').map(str::len).max().unwrap_or_default();
    let ticks = "`".repeat(longest.max(2) + 1);
    format!("{ticks}{language}\n{}\n{ticks}\n\n", code.trim_end())
}

/// JSON, indented, the same whatever features `serde_json` was built with.
fn pretty(value: Value) -> String {
    format!("{:#}", canonical(value))
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

#[cfg(test)]
mod tests;
