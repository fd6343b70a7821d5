//! Runs a parsed command line: opens a session, executes the request and prints the result.

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
use super::error::CliError;
use super::options::CliOptions;
use super::sanitize::one_line;
use super::target::{self, ServiceTarget};
use super::{arguments, design_listing, print};
use tokio::sync::mpsc;

use crate::client::{CallArguments, ServiceCaller};
use crate::wire::{EVENT_NOTIFICATION, EVENTS_METHOD, EventNotification, NOTIFY_PREFIX};
use crate::{Cx, EventSink, PromptMessages};

/// Timeout for closing the session.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum number of events waiting to be printed.
const EVENT_BUFFER: usize = 1024;

/// Runs the client command line of a service with the arguments of this process.
///
/// A program that calls `switchboard::run_supervisor_if_requested()` first in `main` also terminates processes that a service
/// started with `--stdio` leaves behind.
pub async fn run_cli(design: &Arc<Design>) -> ExitCode {
    run_cli_with(design, std::env::args_os()).await
}

/// As [`run_cli`], with other arguments than those of this process; the first is the program name.
pub async fn run_cli_with(design: &Arc<Design>, args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let (matches, command) = match parse(super::command(design), args) {
        Ok(parsed) => parsed,
        Err(code) => return code,
    };
    let options = CliOptions::read(&matches);
    let outcome = run_client(design, &matches, command, &options).await;
    exit_code(outcome, &options)
}

/// Reports an error and returns the exit code.
pub(super) fn exit_code(outcome: Result<(), CliError>, options: &CliOptions) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => error.report(options.json, options.explain),
    }
}

/// Parses a command line. Prints help and usage errors.
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
            // If the output is closed, the exit code remains.
            _ = error.print();
            Err(ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2)))
        }
    }
}

async fn run_client(
    design: &Arc<Design>,
    matches: &ArgMatches,
    command: Command,
    options: &CliOptions,
) -> Result<(), CliError> {
    if let Some(done) = run_offline(design, matches, command, options) {
        return done;
    }
    match CliRequest::read(design, matches)? {
        CliRequest::Method(index, args) => call_rpc_method(design, index, args, options).await,
        request => run(design, ServiceTarget::read(options, design)?, request, options).await,
    }
}

/// Calls a method that is not mapped to MCP over the plain JSON-RPC endpoint.
async fn call_rpc_method(
    design: &Arc<Design>,
    index: usize,
    args: Map<String, Value>,
    options: &CliOptions,
) -> Result<(), CliError> {
    let caller = target::rpc_caller(options, design)?;
    let called = caller.call_raw(&design.rpc_only[index].rust_name, Value::Object(args));
    let result = tokio::select! {
        result = called => result?,
        _ = tokio::signal::ctrl_c() => return Err(CliError::Interrupted),
    };
    if options.json { print::json(&result) } else { print::text(&print::pretty(&result)) }
}

/// Runs commands that need no session.
pub(super) fn run_offline(
    design: &Design,
    matches: &ArgMatches,
    mut command: Command,
    options: &CliOptions,
) -> Option<Result<(), CliError>> {
    match matches.subcommand()? {
        ("list", _) if options.json => Some(print::json(&design_listing::to_json(design))),
        ("list", matches) => Some(print::text(&design_listing::to_text(design, matches.get_flag("schema")))),
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

/// A request to the service, with validated arguments.
#[derive(Debug)]
pub(super) enum CliRequest {
    Tool(usize, Map<String, Value>),
    Resource(usize, Map<String, Value>),
    Prompt(usize, Map<String, Value>),
    Listen { resources: Vec<String>, count: Option<u64> },
    Notify { event: String, payload: Raw },
    Method(usize, Map<String, Value>),
}

impl CliRequest {
    /// Parses the request of a command line.
    ///
    /// # Errors
    /// When the arguments are invalid.
    pub(super) fn read(design: &Design, matches: &ArgMatches) -> Result<Self, CliError> {
        let unknown = || CliError::usage("unknown command");
        let (name, matches) = matches.subcommand().ok_or_else(unknown)?;
        if name == "listen" {
            let resources = matches.get_many::<String>("resource").into_iter().flatten().cloned().collect();
            return Ok(Self::Listen { resources, count: matches.get_one("count").copied() });
        }
        let index_of = |commands: Vec<String>, name: &str| {
            commands.iter().position(|command| command == name).ok_or_else(unknown)
        };
        match (name, matches.subcommand()) {
            ("notify", Some((name, matches))) => notification(design, name, matches),
            ("rpc", Some((name, matches))) => {
                let index = design.rpc_only.iter().position(|method| method.name == name);
                let index = index.ok_or_else(unknown)?;
                let method = &design.rpc_only[index];
                let schema = design.types.bundle(&method.args.schema);
                let args = arguments::parse_arguments(matches, &design.method_flags(method), Some(&schema))?;
                Ok(Self::Method(index, args))
            }
            ("read", Some((name, matches))) => {
                let index = index_of(design.resource_commands(), name)?;
                let flags = design.resources[index].flags();
                let args = arguments::parse_arguments(matches, &flags, None);
                let args = args
                    .map_err(|error| error.with_repair(|message| resource_repair(design, index, message)));
                Ok(Self::Resource(index, args?))
            }
            ("prompt", Some((name, matches))) => {
                let index = index_of(design.prompt_commands(), name)?;
                let prompt = &design.prompts[index];
                let args = arguments::parse_arguments(matches, &prompt.flags(), None);
                let repair = |message: &str| design.repair_prompt(&prompt.name, message);
                Ok(Self::Prompt(index, args.map_err(|error| error.with_repair(repair))?))
            }
            (name, _) => {
                let index = index_of(design.tool_commands(), name)?;
                let tool = &design.tools[index];
                let schema = design.types.bundle(&tool.args.schema);
                let args = arguments::parse_arguments(matches, &design.tool_flags(tool), Some(&schema));
                let repair = |message: &str| design.repair_tool(&tool.name, message);
                Ok(Self::Tool(index, args.map_err(|error| error.with_repair(repair))?))
            }
        }
    }
}

/// Parses an event to publish and validates its payload.
fn notification(design: &Design, name: &str, matches: &ArgMatches) -> Result<CliRequest, CliError> {
    let event = design.notifications.iter().find(|event| event.name == name);
    let event = event.ok_or_else(|| CliError::usage("unknown event"))?;
    let text = matches.get_one::<String>("payload").map_or("null", String::as_str);
    let payload: Value = serde_json::from_str(text)
        .map_err(|error| CliError::usage(format!("the payload is not JSON: {error}")))?;
    let issues =
        switchboard_design::schema::validation_issues(&design.types.bundle(&event.payload), &payload);
    if issues.is_empty() {
        return Ok(CliRequest::Notify { event: event.name.clone(), payload: Raw::from(payload) });
    }
    let lines = issues.iter().map(ToString::to_string).collect();
    Err(CliError::Arguments { lines, invalid: switchboard_design::InvalidParams::from_issues(issues) })
}

/// Returns the repair for invalid arguments of a resource.
fn resource_repair(design: &Design, index: usize, message: &str) -> Option<Repair> {
    let resource = design.resources.get(index)?;
    let schema = arguments::schema_of(&resource.flags());
    let example = switchboard_design::example(&schema, None).value;
    let operation = Operation::ReadResource(resource.name.clone());
    Some(Repair::new(operation, message, example).with_schema(schema))
}

/// Opens a session, executes the request and closes the session. Ctrl-C cancels the request and still closes the
/// session.
pub(super) async fn run(
    design: &Arc<Design>,
    target: ServiceTarget,
    request: CliRequest,
    options: &CliOptions,
) -> Result<(), CliError> {
    let session = tokio::select! {
        session = target.open(options) => session?,
        _ = tokio::signal::ctrl_c() => return Err(CliError::Interrupted),
    };
    let outcome = tokio::select! {
        outcome = execute(design, &session, request, options) => outcome,
        _ = tokio::signal::ctrl_c() => Err(CliError::Interrupted),
    };
    session.close_within(CLOSE_TIMEOUT).await;
    outcome
}

async fn execute(
    design: &Arc<Design>,
    session: &ClientSession,
    request: CliRequest,
    options: &CliOptions,
) -> Result<(), CliError> {
    let caller = ServiceCaller::new(session.clone(), Arc::clone(design));
    let mut call = Cx::call();
    if let Some(time) = options.timeout {
        call = call.timeout(time);
    }
    let cx = call.build();
    match request {
        CliRequest::Tool(index, args) => {
            let tool = &design.tools[index];
            let sink = tool.events.is_some().then(|| events(options.json));
            let result = caller.call_tool(tool, Raw::from(Value::Object(args)), Some(&cx), sink).await?;
            if options.json { print::json(&result) } else { print::text(&print::result(&result)) }
        }
        CliRequest::Resource(index, args) => {
            let explained =
                |error| CliError::Call(error).with_repair(|message| resource_repair(design, index, message));
            let uri = caller.uri(index, CallArguments::from_fields(&args)).map_err(explained)?;
            let result = caller.read(&uri, Some(&cx)).await.map_err(explained)?;
            if options.json { print::json(&result) } else { print::text(&print::contents(&result.contents)) }
        }
        CliRequest::Prompt(index, args) => {
            let PromptMessages { messages, .. } =
                caller.prompt::<Error>(index, CallArguments::from_fields(&args), Some(&cx)).await?;
            if options.json { print::json(&messages) } else { print::text(&print::messages(&messages)) }
        }
        CliRequest::Listen { resources, count } => listen(design, session, resources, count, options).await,
        CliRequest::Notify { event, payload } => {
            session.request_raw(&format!("{NOTIFY_PREFIX}{event}"), payload).await?;
            if options.json { print::json(&serde_json::json!({})) } else { print::text("published\n") }
        }
        CliRequest::Method(..) => Err(CliError::usage("the plain endpoint is available only over HTTP")),
    }
}

/// Returns a sink that prints the events of a streaming tool as they arrive.
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

/// Prints events and changes until `count` is reached.
async fn listen(
    design: &Design,
    session: &ClientSession,
    resources: Vec<String>,
    count: Option<u64>,
    options: &CliOptions,
) -> Result<(), CliError> {
    let (sender, mut events) = mpsc::channel(EVENT_BUFFER);
    let lost = Arc::new(AtomicU64::new(0));
    let lost_counter = Arc::clone(&lost);
    let wants_events = resources.is_empty() && !design.notifications.is_empty();
    // Completes only when the server ends it. Events that are not printed in time are counted as lost.
    let streaming = session
        .raw_call(EVENTS_METHOD, Raw::empty_object())
        .timeout(Duration::MAX)
        .on_notification(move |method, params| {
            if method == EVENT_NOTIFICATION && sender.try_send(params).is_err() {
                lost_counter.fetch_add(1, Ordering::Relaxed);
            }
        });
    let mut streaming = std::pin::pin!(async {
        match wants_events {
            true => streaming.await.map(drop),
            false => std::future::pending().await,
        }
    });
    let mut filter = ListenFilter::new();
    filter.resource_subscriptions = if resources.is_empty() { watchable_uris(design) } else { resources };
    let mut subscription = match filter.resource_subscriptions.is_empty() {
        true => None,
        false => Some(session.listen(filter).await?),
    };
    let ended = || CliError::Other("the service ended the subscription".to_owned());
    let mut left = count.unwrap_or(u64::MAX);
    while left > 0 {
        let line = tokio::select! {
            biased;
            Some(event) = events.recv() => Some(event_line(&event)),
            change = next(&mut subscription) => match change {
                Some(change) => change_line(&change),
                None => return Err(ended()),
            },
            done = &mut streaming => {
                // Print the events that arrived before the end.
                while left > 0 && let Ok(event) = events.try_recv() {
                    print_line(&event_line(&event), options)?;
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
            let warning = format!("lost {lost} events: they arrived faster than they could be printed\n");
            _ = std::io::Write::write_all(&mut std::io::stderr(), warning.as_bytes());
        }
        if let Some(line) = line {
            print_line(&line, options)?;
            left -= 1;
        }
    }
    Ok(())
}

/// Prints one event or change.
fn print_line(line: &Value, options: &CliOptions) -> Result<(), CliError> {
    if options.json { print::json(line) } else { print::text(&human_line(line)) }
}

fn event_line(event: &Raw) -> Value {
    match event.decode::<EventNotification>() {
        Ok(note) => serde_json::json!({"event": note.name, "data": note.data, "lost": note.lost}),
        Err(_) => serde_json::json!({"event": "unreadable", "data": event}),
    }
}

async fn next(subscription: &mut Option<switchboard_session::client::Subscription>) -> Option<Change> {
    match subscription {
        Some(subscription) => subscription.next().await,
        None => std::future::pending().await,
    }
}

/// Returns the URIs that can be watched without arguments.
fn watchable_uris(design: &Design) -> Vec<String> {
    let fixed =
        |resource: &switchboard_design::ResourceDef| resource.pattern().ok()?.fixed_uri().map(str::to_owned);
    design.resources.iter().filter(|resource| resource.watch).filter_map(fixed).collect()
}

fn change_line(change: &Change) -> Option<Value> {
    Some(match change {
        Change::Resource { uri } => serde_json::json!({"resource": uri}),
        Change::Missed(count) => serde_json::json!({"missed": count}),
        _ => return None,
    })
}

fn human_line(line: &Value) -> String {
    match (&line["resource"], &line["event"]) {
        (Value::String(uri), _) => format!("changed: {}", one_line(uri)),
        (_, Value::String(event)) => {
            format!("{}: {}", one_line(event), one_line(&line["data"].to_string()))
        }
        _ => one_line(&line.to_string()),
    }
}
