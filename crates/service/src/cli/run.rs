//! Runs a command line of a service: reads it, opens a session, does what was asked, tells the result.

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use clap::{ArgMatches, Command};
use serde_json::{Map, Value};
use switchboard_design::{Design, Error, Operation, Repair};
use switchboard_protocol::{ListenFilter, Raw};
use switchboard_session::ClientSession;
use switchboard_session::client::Change;

use super::command::with_usage;
use super::failure::Failure;
use super::given;
use super::options::Options;
use super::sanitize::one_line;
use super::target::{self, Target};
use super::{listed, print};
use tokio::sync::mpsc;

use crate::client::{Arguments, Caller};
use crate::wire::{EVENT_NOTE, EVENTS_METHOD, EventNote, NOTIFY_PREFIX};
use crate::{Cx, EventSink, Prompt};

/// How long ending a session may take.
const CLOSING: Duration = Duration::from_secs(5);
/// How many events may wait to be printed.
const WAITING: usize = 1024;

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
    command: Command,
    args: impl IntoIterator<Item = OsString>,
) -> Result<(ArgMatches, Command), ExitCode> {
    let args: Vec<OsString> = args.into_iter().collect();
    let program = args.first().map(std::path::Path::new).and_then(std::path::Path::file_name);
    let program = program.map(|name| name.to_string_lossy().into_owned());
    let mut command = match program {
        Some(program) => with_usage(command, &program),
        None => command,
    };
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
    match Asked::read(design, matches)? {
        Asked::Method(place, given) => method(design, place, given, options).await,
        asked => run(design, Target::read(options, design)?, asked, options).await,
    }
}

/// Calls a method that MCP does not have, at the plain endpoint.
async fn method(
    design: &Arc<Design>,
    place: usize,
    given: Map<String, Value>,
    options: &Options,
) -> Result<(), Failure> {
    let caller = target::plain(options, design)?;
    let called = caller.call_raw(&design.rpc_only[place].rust_name, Value::Object(given));
    let result = tokio::select! {
        result = called => result?,
        _ = tokio::signal::ctrl_c() => return Err(Failure::Interrupted),
    };
    if options.json { print::json(&result) } else { print::text(&print::pretty(&result)) }
}

/// Commands that need nobody else.
pub(super) fn without_session(
    design: &Design,
    matches: &ArgMatches,
    mut command: Command,
    options: &Options,
) -> Option<Result<(), Failure>> {
    match matches.subcommand()? {
        ("list", _) if options.json => Some(print::json(&listed::to_json(design))),
        ("list", matches) => Some(print::text(&listed::to_text(design, matches.get_flag("schema")))),
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
    Notify { event: String, payload: Raw },
    Method(usize, Map<String, Value>),
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
            ("notify", Some((name, matches))) => notification(design, name, matches),
            ("rpc", Some((name, matches))) => {
                let place = design.rpc_only.iter().position(|method| method.name == name);
                let place = place.ok_or_else(unknown)?;
                let method = &design.rpc_only[place];
                let schema = design.types.bundle(&method.args.schema);
                let given = given::arguments(matches, &design.method_flags(method), Some(&schema))?;
                Ok(Self::Method(place, given))
            }
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
                let schema = design.types.bundle(&tool.args.schema);
                let given = given::arguments(matches, &design.tool_flags(tool), Some(&schema));
                let repair = |said: &str| design.repair_tool(&tool.name, said);
                Ok(Self::Tool(place, given.map_err(|failure| failure.with_repair(repair))?))
            }
        }
    }
}

/// An event to publish, whose payload fits.
fn notification(design: &Design, name: &str, matches: &ArgMatches) -> Result<Asked, Failure> {
    let event = design.notifications.iter().find(|event| event.name == name);
    let event = event.ok_or_else(|| Failure::usage("there is no such event"))?;
    let text = matches.get_one::<String>("payload").map_or("null", String::as_str);
    let payload: Value = serde_json::from_str(text)
        .map_err(|error| Failure::usage(format!("the payload is not JSON: {error}")))?;
    let issues =
        switchboard_design::schema::validation_issues(&design.types.bundle(&event.payload), &payload);
    if issues.is_empty() {
        return Ok(Asked::Notify { event: event.name.clone(), payload: Raw::from(payload) });
    }
    let said = issues.iter().map(ToString::to_string).collect();
    Err(Failure::Arguments { said, invalid: switchboard_design::InvalidParams::from_issues(issues) })
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
            let explained = |error| Failure::Call(error).with_repair(|said| repair(design, place, said));
            let uri = caller.uri(place, Arguments::whole(&given)).map_err(explained)?;
            let result = caller.read(&uri, Some(&cx)).await.map_err(explained)?;
            if options.json { print::json(&result) } else { print::text(&print::contents(&result.contents)) }
        }
        Asked::Prompt(place, given) => {
            let Prompt { messages, .. } =
                caller.prompt::<Error>(place, Arguments::whole(&given), Some(&cx)).await?;
            if options.json { print::json(&messages) } else { print::text(&print::messages(&messages)) }
        }
        Asked::Listen { resources, count } => listen(design, session, resources, count, options).await,
        Asked::Notify { event, payload } => {
            session.request_raw(&format!("{NOTIFY_PREFIX}{event}"), payload).await?;
            if options.json { print::json(&serde_json::json!({})) } else { print::text("published\n") }
        }
        Asked::Method(..) => Err(Failure::usage("a service has no plain endpoint while it is not served")),
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

/// Tells what comes until there is enough of it.
async fn listen(
    design: &Design,
    session: &ClientSession,
    resources: Vec<String>,
    count: Option<u64>,
    options: &Options,
) -> Result<(), Failure> {
    let (heard, mut events) = mpsc::channel(WAITING);
    let lost = Arc::new(AtomicU64::new(0));
    let losing = Arc::clone(&lost);
    let wants_events = resources.is_empty() && !design.notifications.is_empty();
    // Answered only when the server ends it; meanwhile every event is told, but for those that nobody reads in time.
    let streaming = session.raw_call(EVENTS_METHOD, Raw::empty_object()).timeout(Duration::MAX).on_note(
        move |method, params| {
            if method == EVENT_NOTE && heard.try_send(params).is_err() {
                losing.fetch_add(1, Ordering::Relaxed);
            }
        },
    );
    let mut streaming = std::pin::pin!(async {
        match wants_events {
            true => streaming.await.map(drop),
            false => std::future::pending().await,
        }
    });
    let mut filter = ListenFilter::new();
    filter.resource_subscriptions = if resources.is_empty() { watched(design) } else { resources };
    let mut listening = match filter.resource_subscriptions.is_empty() {
        true => None,
        false => Some(session.listen(filter).await?),
    };
    let ended = || Failure::Other("the service ended the subscription".to_owned());
    let mut left = count.unwrap_or(u64::MAX);
    while left > 0 {
        let line = tokio::select! {
            biased;
            Some(event) = events.recv() => Some(event_line(&event)),
            change = next(&mut listening) => match change {
                Some(change) => told(&change),
                None => return Err(ended()),
            },
            done = &mut streaming => {
                // What came with the end is told as well.
                while left > 0 && let Ok(event) = events.try_recv() {
                    show(&event_line(&event), options)?;
                    left -= 1;
                }
                if left > 0 {
                    done?;
                    return Err(ended());
                }
                None
            }
        };
        let lost = lost.swap(0, Ordering::Relaxed);
        if lost > 0 {
            let said = format!("lost {lost} events: they came faster than they are read here\n");
            _ = std::io::Write::write_all(&mut std::io::stderr(), said.as_bytes());
        }
        if let Some(line) = line {
            show(&line, options)?;
            left -= 1;
        }
    }
    Ok(())
}

/// Prints what was heard.
fn show(line: &Value, options: &Options) -> Result<(), Failure> {
    if options.json { print::json(line) } else { print::text(&people(line)) }
}

fn event_line(event: &Raw) -> Value {
    match event.decode::<EventNote>() {
        Ok(note) => serde_json::json!({"event": note.name, "data": note.data, "lost": note.lost}),
        Err(_) => serde_json::json!({"event": "unreadable", "data": event}),
    }
}

async fn next(listening: &mut Option<switchboard_session::client::Subscription>) -> Option<Change> {
    match listening {
        Some(listening) => listening.next().await,
        None => std::future::pending().await,
    }
}

/// What can be watched without arguments.
fn watched(design: &Design) -> Vec<String> {
    let fixed =
        |resource: &switchboard_design::ResourceDef| resource.pattern().ok()?.fixed_uri().map(str::to_owned);
    design.resources.iter().filter(|resource| resource.watch).filter_map(fixed).collect()
}

fn told(change: &Change) -> Option<Value> {
    Some(match change {
        Change::Resource { uri } => serde_json::json!({"resource": uri}),
        Change::Missed(count) => serde_json::json!({"missed": count}),
        _ => return None,
    })
}

fn people(told: &Value) -> String {
    match (&told["resource"], &told["event"]) {
        (Value::String(uri), _) => format!("changed: {}", one_line(uri)),
        (_, Value::String(event)) => {
            format!("{}: {}", one_line(event), one_line(&told["data"].to_string()))
        }
        _ => one_line(&told.to_string()),
    }
}
