//! Runs a command line of a service: reads it, opens a session, does what was asked, tells the result.

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::{ArgMatches, Command};
use serde_json::{Map, Value};
use switchboard_design::{Design, Error, Operation, Repair};
use switchboard_protocol::{ListenFilter, Raw};
use switchboard_session::ClientSession;
use switchboard_session::client::Change;

use super::failure::Failure;
use super::given;
use super::options::Options;
use super::sanitize::one_line;
use super::target::Target;
use super::{listed, print};
use crate::client::{Arguments, Caller};
use crate::{Contents, Cx, EventSink, Prompt};

/// How long ending a session may take.
const CLOSING: Duration = Duration::from_secs(5);

/// Runs the command line of a client of a service, with the arguments of this process.
///
/// A program whose first call in `main` is `switchboard::enter_if_asked()` also ends everything that a service started
/// with `--stdio` leaves behind.
pub async fn run_cli(design: &Arc<Design>) -> ExitCode {
    run_cli_with(design, std::env::args_os()).await
}

/// As [`run_cli`], with other arguments than those of this process; the first is the name of the program.
pub async fn run_cli_with(design: &Arc<Design>, args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let (matches, command) = match parse(super::command(design), args) {
        Ok(parsed) => parsed,
        Err(code) => return code,
    };
    let options = Options::read(&matches);
    let done = client(design, &matches, command, &options).await;
    finish(done, &options)
}

/// What is left to say of a command that is done.
pub(super) fn finish(done: Result<(), Failure>, options: &Options) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.tell(options.json, options.explain),
    }
}

/// Reads a command line; help and wrong usage are told here.
pub(super) fn parse(
    mut command: Command,
    args: impl IntoIterator<Item = OsString>,
) -> Result<(ArgMatches, Command), ExitCode> {
    match command.try_get_matches_from_mut(args) {
        Ok(matches) => Ok((matches, command)),
        Err(error) => {
            // Where nobody reads, the exit code still speaks.
            _ = error.print();
            Err(ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2)))
        }
    }
}

async fn client(
    design: &Arc<Design>,
    matches: &ArgMatches,
    command: Command,
    options: &Options,
) -> Result<(), Failure> {
    if let Some(done) = without_session(design, matches, command, options) {
        return done;
    }
    let asked = Asked::read(design, matches)?;
    let target = Target::read(options, design)?;
    run(design, target, asked, options).await
}

/// Commands that need nobody else.
pub(super) fn without_session(
    design: &Design,
    matches: &ArgMatches,
    mut command: Command,
    options: &Options,
) -> Option<Result<(), Failure>> {
    match matches.subcommand()? {
        ("list", _) if options.json => Some(print::json(&listed::data(design))),
        ("list", matches) => Some(print::text(&listed::people(design, matches.get_flag("schema")))),
        ("completions", matches) => {
            let shell = *matches.get_one::<clap_complete::Shell>("shell")?;
            let name = command.get_bin_name().unwrap_or(command.get_name()).to_owned();
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut command, name, &mut script);
            Some(print::text(&String::from_utf8_lossy(&script)))
        }
        _ => None,
    }
}

/// What a command line asks of the service, with arguments that fit.
#[derive(Debug)]
pub(super) enum Asked {
    Tool(usize, Map<String, Value>),
    Resource(usize, Map<String, Value>),
    Prompt(usize, Map<String, Value>),
    Listen { resources: Vec<String>, count: Option<u64> },
}

impl Asked {
    /// What is asked.
    ///
    /// # Errors
    /// When arguments do not fit.
    pub(super) fn read(design: &Design, matches: &ArgMatches) -> Result<Self, Failure> {
        let unknown = || Failure::usage("there is no such command");
        let (name, matches) = matches.subcommand().ok_or_else(unknown)?;
        if name == "listen" {
            let resources = matches.get_many::<String>("resource").into_iter().flatten().cloned().collect();
            return Ok(Self::Listen { resources, count: matches.get_one("count").copied() });
        }
        let place = |commands: Vec<String>, name: &str| {
            commands.iter().position(|command| command == name).ok_or_else(unknown)
        };
        match (name, matches.subcommand()) {
            ("read", Some((name, matches))) => {
                let place = place(design.resource_commands(), name)?;
                let flags = design.resources[place].flags();
                let given = given::arguments(matches, &flags, None);
                let given = given.map_err(|failure| failure.with_repair(|said| repair(design, place, said)));
                Ok(Self::Resource(place, given?))
            }
            ("prompt", Some((name, matches))) => {
                let place = place(design.prompt_commands(), name)?;
                let prompt = &design.prompts[place];
                let given = given::arguments(matches, &prompt.flags(), None);
                let repair = |said: &str| design.repair_prompt(&prompt.name, said);
                Ok(Self::Prompt(place, given.map_err(|failure| failure.with_repair(repair))?))
            }
            (name, _) => {
                let place = place(design.tool_commands(), name)?;
                let tool = &design.tools[place];
                let schema = design.types.close(&tool.args.schema);
                let given = given::arguments(matches, &design.tool_flags(tool), Some(&schema));
                let repair = |said: &str| design.repair_tool(&tool.name, said);
                Ok(Self::Tool(place, given.map_err(|failure| failure.with_repair(repair))?))
            }
        }
    }
}

/// How to repair the arguments of a resource.
fn repair(design: &Design, place: usize, said: &str) -> Option<Repair> {
    let resource = design.resources.get(place)?;
    let schema = given::schema_of(&resource.flags());
    let example = switchboard_design::example(&schema, None).value;
    let operation = Operation::ReadResource(resource.name.clone());
    Some(Repair::new(operation, said, example).with_schema(schema))
}

/// Opens a session, uses it and ends it. Ctrl-C cancels what is under way and still ends it in order.
pub(super) async fn run(
    design: &Arc<Design>,
    target: Target,
    asked: Asked,
    options: &Options,
) -> Result<(), Failure> {
    let session = tokio::select! {
        session = target.open(options) => session?,
        _ = tokio::signal::ctrl_c() => return Err(Failure::Interrupted),
    };
    let used = tokio::select! {
        used = ask(design, &session, asked, options) => used,
        _ = tokio::signal::ctrl_c() => Err(Failure::Interrupted),
    };
    session.close_within(CLOSING).await;
    used
}

async fn ask(
    design: &Arc<Design>,
    session: &ClientSession,
    asked: Asked,
    options: &Options,
) -> Result<(), Failure> {
    let caller = Caller::new(session.clone(), Arc::clone(design));
    let mut call = Cx::call();
    if let Some(time) = options.timeout {
        call = call.timeout(time);
    }
    let cx = call.build();
    match asked {
        Asked::Tool(place, given) => {
            let tool = &design.tools[place];
            let sink = tool.events.is_some().then(|| events(options.json));
            let result = caller.call_tool(tool, Raw::from(Value::Object(given)), Some(&cx), sink).await?;
            if options.json { print::json(&result) } else { print::text(&print::result(&result)) }
        }
        Asked::Resource(place, given) => {
            let read = caller.resource::<Contents, Error>(place, Arguments::whole(&given), Some(&cx)).await;
            let contents =
                read.map_err(|error| Failure::Call(error).with_repair(|said| repair(design, place, said)))?;
            if options.json {
                print::json(&contents.blocks)
            } else {
                print::text(&print::blocks(&contents.blocks))
            }
        }
        Asked::Prompt(place, given) => {
            let Prompt { messages, .. } =
                caller.prompt::<Error>(place, Arguments::whole(&given), Some(&cx)).await?;
            if options.json { print::json(&messages) } else { print::text(&print::messages(&messages)) }
        }
        Asked::Listen { resources, count } => listen(design, session, resources, count, options).await,
    }
}

/// Where the events of a streaming tool go: to people on stdout as they come, to programs a line of JSON each.
fn events(as_json: bool) -> EventSink {
    EventSink::new(move |items| {
        let printed = if as_json {
            print::json(&serde_json::json!({ "event": items }))
        } else {
            print::text(&print::blocks(&items))
        };
        printed.map_err(|_| Error::Cancelled)
    })
}

async fn listen(
    design: &Design,
    session: &ClientSession,
    resources: Vec<String>,
    count: Option<u64>,
    options: &Options,
) -> Result<(), Failure> {
    let mut filter = ListenFilter::new();
    filter.resource_subscriptions = if resources.is_empty() { watched(design) } else { resources };
    let mut changes = session.changes()?;
    let mut listening = match filter.resource_subscriptions.is_empty() {
        true => None,
        false => Some(session.listen(filter).await?),
    };
    let mut left = count.unwrap_or(u64::MAX);
    while left > 0 {
        let change = tokio::select! {
            change = changes.next() => change,
            change = next(&mut listening) => change,
        };
        let Some(change) = change else { break };
        if let Some(line) = told(&change) {
            if options.json {
                print::json(&line)?
            } else {
                print::text(&people(&line))?
            }
            left -= 1;
        }
    }
    Ok(())
}

async fn next(listening: &mut Option<switchboard_session::client::Listening>) -> Option<Change> {
    match listening {
        Some(listening) => listening.next().await,
        None => std::future::pending().await,
    }
}

/// What can be watched without arguments.
fn watched(design: &Design) -> Vec<String> {
    let fixed =
        |resource: &switchboard_design::ResourceDef| resource.pattern().ok()?.fixed().map(str::to_owned);
    design.resources.iter().filter(|resource| resource.watch).filter_map(fixed).collect()
}

fn told(change: &Change) -> Option<Value> {
    Some(match change {
        Change::Resource { uri } => serde_json::json!({"resource": uri}),
        Change::Other { method, params } => serde_json::json!({"event": method, "params": params}),
        Change::Missed(count) => serde_json::json!({"missed": count}),
        _ => return None,
    })
}

fn people(told: &Value) -> String {
    match (&told["resource"], &told["event"]) {
        (Value::String(uri), _) => format!("changed: {}", one_line(uri)),
        (_, Value::String(event)) => {
            format!("{}: {}", one_line(event), one_line(&told["params"].to_string()))
        }
        _ => one_line(&told.to_string()),
    }
}
