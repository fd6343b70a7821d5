//! Builds the clap command of a design.

use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Arg, ArgAction, Command};
use serde_json::Value;
use switchboard_design::{Design, Flag, FlagKind, MethodScope, shell_line};

use super::arguments::ARGS_ID;
use super::options::{self, ServerLocation};

const CODES: &str = "Exit codes:\n  0 success   1 link or protocol failure   2 invalid usage or arguments   \
                     3 user interaction required   4 tool failure";

/// Returns the client command line of a service: a command for each tool, `read`, `prompt`, `list`, and others
/// depending on the design.
///
/// ```
/// use switchboard::service::design::{Design, ToolDef};
///
/// let design = Design::new("clock", "1.0.0").with_tools([ToolDef::new("time_now", "What time it is")]);
/// let matches = switchboard::service::cli::command(&design).try_get_matches_from(["clock-cli", "time-now"])?;
/// assert_eq!(matches.subcommand_name(), Some("time-now"));
/// # Ok::<(), clap::Error>(())
/// ```
pub fn command(design: &Design) -> Command {
    let name = format!("{}-cli", design.name);
    with_common_commands(root(design, name), design, ServerLocation::Remote)
        .args(options::arguments(ServerLocation::Remote, &[]))
        .subcommands(tool_commands(design, ServerLocation::Remote))
        .subcommands(rpc(design))
        .subcommands(notify(design))
}

/// Returns the root command of a service, without subcommands.
pub(super) fn root(design: &Design, name: String) -> Command {
    let about =
        design.title.clone().or_else(|| design.description.clone()).unwrap_or_else(|| design.name.clone());
    let about = match &design.instructions {
        Some(instructions) => format!("{about}\n\n{instructions}"),
        None => about,
    };
    Command::new(name)
        .about(about)
        .version(design.version.clone())
        .after_help(CODES)
        .subcommand_required(true)
        .arg_required_else_help(true)
}

/// Adds the commands, other than tools, that both command lines of a service have.
pub(super) fn with_common_commands(root: Command, design: &Design, location: ServerLocation) -> Command {
    let schema = Arg::new("schema")
        .long("schema")
        .action(ArgAction::SetTrue)
        .help("With the JSON Schema of arguments and results");
    let list = Command::new("list")
        .about("List the tools, resources, prompts and events of the service")
        .arg(schema);
    let shell = Arg::new("shell").required(true).value_parser(clap::value_parser!(clap_complete::Shell));
    let completions = Command::new("completions").about("Print completions for a shell").arg(shell);
    let mut root = root.subcommand(list.args(options::arguments(location, &[]))).subcommand(completions);
    if !design.resources.is_empty() {
        root = root.subcommand(read(design, location));
    }
    if !design.prompts.is_empty() {
        root = root.subcommand(prompt(design, location));
    }
    if design.resources.iter().any(|resource| resource.watch) || !design.notifications.is_empty() {
        root = root.subcommand(listen(design, location));
    }
    root
}

/// Returns a command for each tool.
pub(super) fn tool_commands(design: &Design, location: ServerLocation) -> Vec<Command> {
    let commands = design.tools.iter().zip(design.tool_commands()).map(|(tool, name)| {
        let flags = design.tool_flags(tool);
        let about = described(&tool.description, tool.deprecated.as_deref());
        let example = design.tool_example(tool).value;
        let example = example_line(&name, &flags, &example);
        item_command(&name, &about, &flags, location)
            .visible_aliases(wire_name_alias(&tool.name, &name))
            .after_help(example)
    });
    commands.collect()
}

fn read(design: &Design, location: ServerLocation) -> Command {
    let resources = design.resources.iter().zip(design.resource_commands()).map(|(resource, name)| {
        let about = described(&resource.description, resource.deprecated.as_deref());
        item_command(&name, &about, &resource.flags(), location)
            .visible_aliases(wire_name_alias(&resource.name, &name))
            .after_help(format!("URI: {}", resource.uri))
    });
    group("read", "Read a resource").subcommands(resources)
}

fn prompt(design: &Design, location: ServerLocation) -> Command {
    let prompts = design.prompts.iter().zip(design.prompt_commands()).map(|(prompt, name)| {
        let about = described(&prompt.description, prompt.deprecated.as_deref());
        item_command(&name, &about, &prompt.flags(), location)
            .visible_aliases(wire_name_alias(&prompt.name, &name))
    });
    group("prompt", "Get a rendered prompt").subcommands(prompts)
}

/// Returns the command for methods that are not mapped to MCP.
fn rpc(design: &Design) -> Option<Command> {
    let methods = design.rpc_only.iter().filter(|method| method.scope == MethodScope::Rpc);
    let methods: Vec<Command> = methods
        .map(|method| {
            let about = method.description.clone().unwrap_or_default();
            item_command(&method.name, &about, &design.method_flags(method), ServerLocation::Remote)
        })
        .collect();
    let about = "Call a method that is not mapped to MCP, at --rpc-url";
    (!methods.is_empty()).then(|| group("rpc", about).subcommands(methods))
}

/// Returns the command that publishes events, where the service accepts that.
fn notify(design: &Design) -> Option<Command> {
    let event = |event: &switchboard_design::NotificationDef| {
        let payload = Arg::new("payload").required(true).value_name("JSON").help("The payload of the event");
        let schema = design.types.bundle(&event.payload);
        Command::new(event.name.clone())
            .about(event.description.clone())
            .arg(payload)
            .args(options::arguments(ServerLocation::Remote, &[]))
            .after_help(format!("Schema: {schema}"))
    };
    let events: Vec<Command> = design.notifications.iter().map(event).collect();
    let about = "Publish an event to all listeners";
    (!events.is_empty()).then(|| group("notify", about).subcommands(events))
}

fn listen(design: &Design, location: ServerLocation) -> Command {
    let resource = Arg::new("resource")
        .long("resource")
        .value_name("URI")
        .action(ArgAction::Append)
        .help("Only the changes of this resource; may be repeated");
    let count = Arg::new("count")
        .long("count")
        .value_name("N")
        .value_parser(clap::value_parser!(u64).range(1..))
        .help("Stop after this many");
    let events: Vec<String> =
        design.notifications.iter().map(|event| format!("{}: {}", event.name, event.description)).collect();
    let about = "Print events and resource changes as they arrive";
    let command = Command::new("listen").about(about).args([resource, count]);
    let command = command.args(options::arguments(location, &[]));
    if events.is_empty() {
        command
    } else {
        command.after_help(format!("Events:\n  {}", events.join("\n  ")))
    }
}

fn group(name: &'static str, about: &'static str) -> Command {
    Command::new(name).about(about).subcommand_required(true).arg_required_else_help(true)
}

fn described(description: &str, deprecated: Option<&str>) -> String {
    match deprecated {
        Some(reason) => format!("{description}\n\nDeprecated: {reason}"),
        None => description.to_owned(),
    }
}

/// Returns the wire name as an alias if it differs from the command name only in underscores.
fn wire_name_alias(name: &str, command: &str) -> Option<String> {
    (name != command && name.replace('_', "-") == command).then(|| name.to_owned())
}

/// Returns a command with arguments from the design.
fn item_command(name: &str, about: &str, flags: &[Flag], location: ServerLocation) -> Command {
    let whole = Arg::new(ARGS_ID).long("args").value_name("JSON|@FILE|-").help(
        "All arguments as one JSON object: the text itself, @FILE, or - for stdin. Flags override its members",
    );
    let first_line = about.lines().next().unwrap_or_default().to_owned();
    Command::new(name.to_owned())
        .about(first_line)
        .long_about(about.to_owned())
        .args(flags.iter().map(argument))
        .arg(whole)
        .args(options::arguments(location, flags))
}

/// Sets the usage line of every command with arguments from the design. clap does not know the required ones, because
/// they are validated later, all at once.
pub(super) fn with_usage(command: Command, path: &str) -> Command {
    if command.get_arguments().any(|arg| arg.get_id() == ARGS_ID) {
        let is_required =
            |arg: &&Arg| arg.get_help().map(ToString::to_string).is_some_and(|help| help.contains(REQUIRED));
        let required = command.get_arguments().filter(is_required);
        let required: String = required
            .map(|arg| {
                let value = arg.get_value_names().and_then(|names| names.first());
                let value = value.map_or_else(String::new, |value| format!(" <{value}>"));
                format!("--{}{value} ", arg.get_long().unwrap_or_default())
            })
            .collect();
        return command.override_usage(format!("{path} {required}[OPTIONS]"));
    }
    let path = path.to_owned();
    command.mut_subcommands(move |inner| {
        let path = format!("{path} {}", inner.get_name());
        with_usage(inner, &path)
    })
}

/// Marks a required argument in its help.
const REQUIRED: &str = "[required]";

/// Describes the range of a number or of a text's length.
fn range(schema: &Value) -> Option<String> {
    let bound =
        |keys: [&str; 2]| keys.iter().find_map(|key| schema.get(*key).filter(|bound| bound.is_number()));
    let length = (schema.get("minLength"), schema.get("maxLength"));
    let (minimum, maximum, unit) =
        match (bound(["minimum", "exclusiveMinimum"]), bound(["maximum", "exclusiveMaximum"]), length) {
            (None, None, (minimum, maximum)) => (minimum, maximum, " characters"),
            (minimum, maximum, _) => (minimum, maximum, ""),
        };
    let above =
        if schema.get("exclusiveMinimum").is_some_and(Value::is_number) { "above" } else { "at least" };
    let below =
        if schema.get("exclusiveMaximum").is_some_and(Value::is_number) { "below" } else { "at most" };
    match (minimum, maximum) {
        (Some(minimum), Some(maximum)) if (above, below) == ("at least", "at most") => {
            Some(format!("[{minimum} to {maximum}{unit}]"))
        }
        (Some(minimum), Some(maximum)) => Some(format!("[{above} {minimum}, {below} {maximum}{unit}]")),
        // Implied by an unsigned integer.
        (Some(minimum), None) if above == "at least" && minimum.as_f64() == Some(0.0) => None,
        (Some(minimum), None) => Some(format!("[{above} {minimum}{unit}]")),
        (None, Some(maximum)) => Some(format!("[{below} {maximum}{unit}]")),
        (None, None) => None,
    }
}

/// Converts a flag to a clap argument. Values are validated later, all at once.
fn argument(flag: &Flag) -> Arg {
    let mut help = flag.description().unwrap_or_default().to_owned();
    let mut add = |text: String| help = format!("{help} {text}").trim().to_owned();
    if flag.required {
        add(REQUIRED.to_owned());
    }
    if let Some(range) = range(&flag.schema) {
        add(range);
    }
    let is_not_empty = |value: &&Value| !value.as_array().is_some_and(Vec::is_empty);
    if let Some(default) = flag.default().filter(is_not_empty) {
        add(format!("[default: {}]", value_text(default)));
    }
    if flag.repeated {
        add("[may be repeated]".to_owned());
    }
    let mut arg = Arg::new(super::arguments::arg_id(flag))
        .long(flag.long.clone())
        .value_name(flag.kind.placeholder())
        .value_parser(TextParser(flag.kind.clone()))
        .action(if flag.repeated { ArgAction::Append } else { ArgAction::Set })
        .allow_hyphen_values(!matches!(flag.kind, FlagKind::Boolean));
    if let Some(alias) = &flag.alias {
        arg = arg.alias(alias.clone());
    }
    if flag.kind == FlagKind::Boolean {
        arg = arg.num_args(0..=1).default_missing_value("true");
    }
    if matches!(flag.kind, FlagKind::Json | FlagKind::Any) {
        arg = arg.long_help(format!("{help}\n\nSchema: {}", flag.schema).trim_start().to_owned());
    }
    arg.help(help)
}

fn value_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn example_line(name: &str, flags: &[Flag], example: &Value) -> String {
    let line = example.as_object().map(|example| shell_line(name, flags, example));
    format!("Example:\n  {}", line.unwrap_or_default())
}

/// Accepts any text, and offers the known values to help and completions.
#[derive(Debug, Clone)]
struct TextParser(FlagKind);

impl TypedValueParser for TextParser {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &std::ffi::OsStr,
    ) -> Result<String, clap::Error> {
        clap::builder::StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        match &self.0 {
            FlagKind::Choice(values) => Some(Box::new(values.iter().map(PossibleValue::new))),
            FlagKind::Boolean => Some(Box::new(["true", "false"].into_iter().map(PossibleValue::new))),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;

    use super::*;

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "used for its schema only")]
    struct SearchArgs {
        /// What to look for
        #[schemars(length(min = 1, max = 80))]
        query: String,
        #[schemars(range(min = 1, max = 50))]
        limit: Option<u32>,
        offset: Option<u32>,
    }

    #[test]
    fn v11_help_shows_the_complete_usage_and_ranges() {
        let tool = crate::rt::tool::<SearchArgs, ()>("find_things", "Finds.", &["query", "limit", "offset"]);
        let design = Design::new("finder", "1.0.0").with_tools([tool]);
        let mut command = with_usage(command(&design), "my-finder");
        let help = command.find_subcommand_mut("find-things").unwrap().render_long_help().to_string();
        assert!(help.contains("Usage: my-finder find-things --query <TEXT> [OPTIONS]"), "{help}");
        for shown in ["What to look for [required] [1 to 80 characters]", "[1 to 50]"] {
            assert!(help.contains(shown), "{shown} in {help}");
        }
        assert!(!help.contains("[at least 0]"), "{help}");
    }
}
