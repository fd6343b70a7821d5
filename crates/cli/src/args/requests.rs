//! Arguments of the commands that send requests to a server: `tools`, `call`, `read`, `prompt`, `complete` and `listen`.

use std::path::PathBuf;

use super::target::ServerTarget;
use super::value_parsers::pair;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  # all tools of all configured servers
  switchboard tools
  # the tools of one of them
  switchboard tools files
  # one tool in full: parameters, schemas, hints
  switchboard tools files/read
  # every tool with `mail` in its name or description, one line each
  switchboard tools --brief mail
  switchboard tools https://example.com/mcp
  switchboard tools -- switchboard demo-server")]
pub(crate) struct ToolsArgs {
    /// A configured server, the URL of a server, a tool, `server/tool`, or text to search for
    #[arg(value_name = "SERVER|URL|TOOL|TEXT")]
    pub(crate) query: Option<String>,
    /// One line per tool: its name, its hints such as [read-only], and the first sentence of its description
    #[arg(short, long)]
    pub(crate) brief: bool,
    #[command(flatten)]
    pub(crate) target: ServerTarget,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Arguments:
  key=value   takes the type of the tool's schema, else it is text;
              repeat a key to fill a list
  key:=json   is JSON: n:=1  tags:='[\"a\",\"b\"]'
  key=@FILE   is the contents of a file: text, or base64 as the schema says
  key:=@FILE  is a file of JSON
  '{…}'       is all arguments as one JSON object; - reads it from stdin

Examples:
  switchboard call add a=1 b=2 -- switchboard demo-server
  switchboard call order_pizza --answers '{\"size\":\"large\"}' \\
      -- switchboard demo-server
  echo '{\"text\":\"hi\"}' | switchboard call echo - -- switchboard demo-server
  switchboard call postcard --save-dir . -- switchboard demo-server
  switchboard call files/read path=notes.txt")]
pub(crate) struct CallArgs {
    /// The tool; of configured servers also as `server/tool` or `mcp__server__tool`
    pub(crate) tool: String,
    /// Its arguments
    #[arg(value_name = "key=value | key:=json | '{…}' | -", allow_hyphen_values = false)]
    pub(crate) pairs: Vec<String>,
    /// All arguments as one JSON object: the text itself, @FILE, or - for stdin. key=value pairs override its members
    #[arg(long, value_name = "JSON|@FILE|-")]
    pub(crate) args: Option<String>,
    /// Print the structured content of the result instead of its text
    #[arg(long, conflicts_with_all = ["json", "output"])]
    pub(crate) structured: bool,
    #[command(flatten)]
    pub(crate) save: SaveArgs,
    /// Call the tool without confirmation, even if it is marked destructive or has changed; deny rules still apply
    #[arg(short, long)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) target: ServerTarget,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Redirected, a resource is written byte for byte; parts follow each other.

Examples:
  switchboard read demo://readme -- switchboard demo-server
  switchboard read demo://readme --output readme.md -- switchboard demo-server")]
pub(crate) struct ReadArgs {
    /// The URI of the resource
    pub(crate) uri: String,
    #[command(flatten)]
    pub(crate) save: SaveArgs,
    #[command(flatten)]
    pub(crate) target: ServerTarget,
}

/// Destination of a result other than standard output.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct SaveArgs {
    /// Write the result to this file, byte for byte
    #[arg(short, long, value_name = "FILE", conflicts_with_all = ["json", "save_dir"])]
    pub(crate) output: Option<PathBuf>,
    /// Write every image, audio clip and resource of the result to its own file in this directory
    #[arg(long, value_name = "DIR", conflicts_with = "json")]
    pub(crate) save_dir: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  switchboard prompt translate language=French text=hello \\\n      -- switchboard demo-server"
)]
pub(crate) struct PromptArgs {
    /// The prompt
    pub(crate) name: String,
    /// Its arguments; all values are text
    #[arg(value_name = "key=value", value_parser = pair)]
    pub(crate) arguments: Vec<(String, String)>,
    #[command(flatten)]
    pub(crate) target: ServerTarget,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  switchboard complete --prompt translate language fr \\
      -- switchboard demo-server
  switchboard complete --resource 'demo://city/{name}' name o \\
      -- switchboard demo-server")]
#[group(skip)]
pub(crate) struct CompleteArgs {
    /// The prompt that has the argument
    #[arg(long, value_name = "NAME", conflicts_with = "resource", required_unless_present = "resource")]
    pub(crate) prompt: Option<String>,
    /// The resource template that has the variable
    #[arg(long, value_name = "URI")]
    pub(crate) resource: Option<String>,
    /// The argument
    #[arg(value_name = "ARG")]
    pub(crate) argument: String,
    /// The text typed so far; may be empty
    pub(crate) value: String,
    /// An argument that is already filled in
    #[arg(long, value_name = "k=v", value_parser = pair)]
    pub(crate) context: Vec<(String, String)>,
    #[command(flatten)]
    pub(crate) target: ServerTarget,
}

impl CompleteArgs {
    /// Returns the name of the prompt or the URI template.
    pub(crate) fn name(&self) -> &str {
        self.prompt.as_deref().or(self.resource.as_deref()).unwrap_or_default()
    }
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Without any of these options, listens for all changes the server offers.

Example:
  switchboard listen --resource demo://clock --count 3 \\
      -- switchboard demo-server")]
pub(crate) struct ListenArgs {
    /// Updates of this resource
    #[arg(long = "resource", value_name = "URI")]
    pub(crate) uris: Vec<String>,
    /// Changes of the list of tools
    #[arg(long)]
    pub(crate) tools: bool,
    /// Changes of the list of prompts
    #[arg(long)]
    pub(crate) prompts: bool,
    /// Changes of the list of resources
    #[arg(long)]
    pub(crate) resources: bool,
    /// Stop after this many notifications
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) count: Option<u64>,
    #[command(flatten)]
    pub(crate) target: ServerTarget,
}
