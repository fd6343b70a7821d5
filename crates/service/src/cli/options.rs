//! Options common to all commands of a service: how to reach the server, and how to print results.
//!
//! They may precede or follow the command name. After the name of a tool with an argument of the same name, the
//! argument takes precedence.

use std::str::FromStr;
use std::time::Duration;

use clap::{Arg, ArgAction, ArgMatches};
use switchboard_design::Flag;
use switchboard_protocol::Revision;

/// Where the server runs, which determines the options of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ServerLocation {
    /// In another process or on another machine.
    Remote,
    /// In this process.
    Local,
}

/// The parsed options.
#[derive(Debug, Default)]
pub(super) struct CliOptions {
    pub(super) url: Option<String>,
    pub(super) stdio: Option<String>,
    pub(super) rpc_url: Option<String>,
    pub(super) headers: Vec<String>,
    pub(super) allow_http: bool,
    pub(super) revision: Option<Revision>,
    pub(super) timeout: Option<Duration>,
    pub(super) json: bool,
    pub(super) explain: bool,
}

/// Prefix of option ids, which keeps them distinct from argument ids.
const ID_PREFIX: &str = "@";

fn option(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    Arg::new(format!("{ID_PREFIX}{name}")).long(name).value_name(value).help(help).help_heading("Server")
}

fn switch(name: &'static str, help: &'static str) -> Arg {
    Arg::new(format!("{ID_PREFIX}{name}"))
        .long(name)
        .action(ArgAction::SetTrue)
        .help(help)
        .help_heading("Output")
}

/// Returns the options, except those whose names these flags use.
pub(super) fn arguments(location: ServerLocation, flags: &[Flag]) -> Vec<Arg> {
    let time = option("timeout", "SECS", "Timeout for the connection and for each response");
    let mut all = vec![
        option("revision", "REV", "Use only this protocol revision").value_parser(Revision::from_str),
        time.value_parser(seconds),
        switch("json", "Print results as JSON, and failures as one JSON object on stderr"),
        switch("explain", "When arguments are invalid, print a repair prompt for a model"),
    ];
    if location == ServerLocation::Remote {
        all.extend([
            option("url", "URL", "The address of the server"),
            option(
                "stdio",
                "COMMAND",
                "The command that starts the server, as one text: 'my-service serve --stdio'",
            )
            .conflicts_with("@url"),
            option("header", "NAME=VALUE", "Send this header with every request; may be repeated")
                .action(ArgAction::Append)
                .allow_hyphen_values(true),
            option(
                "rpc-url",
                "URL",
                "The address of the plain endpoint, for methods that are not mapped to MCP",
            ),
            option("allow-http", "", "Allow unencrypted HTTP to other machines").action(ArgAction::SetTrue),
        ]);
    }
    let is_shadowed = |arg: &Arg| {
        let long = arg.get_long().unwrap_or_default();
        flags.iter().any(|flag| flag.long == long || flag.alias.as_deref() == Some(long))
    };
    all.retain(|arg| !is_shadowed(arg));
    all
}

fn seconds(text: &str) -> Result<Duration, String> {
    let time = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    time.filter(|time| !time.is_zero())
        .ok_or_else(|| "expected a number of seconds greater than zero".to_owned())
}

impl CliOptions {
    /// Collects the options of all nested commands; the innermost takes precedence.
    pub(super) fn read(matches: &ArgMatches) -> Self {
        let mut options = Self::default();
        let mut level = Some(matches);
        while let Some(matches) = level {
            options.add(matches);
            level = matches.subcommand().map(|(_, matches)| matches);
        }
        options
    }

    fn add(&mut self, matches: &ArgMatches) {
        set(&mut self.url, one(matches, "url"));
        set(&mut self.stdio, one(matches, "stdio"));
        set(&mut self.rpc_url, one(matches, "rpc-url"));
        set(&mut self.revision, one(matches, "revision"));
        set(&mut self.timeout, one(matches, "timeout"));
        if let Ok(Some(headers)) = matches.try_get_many::<String>("@header") {
            self.headers.extend(headers.cloned());
        }
        let on = |name| one::<bool>(matches, name).unwrap_or_default();
        self.allow_http |= on("allow-http");
        self.json |= on("json");
        self.explain |= on("explain");
    }
}

fn set<T>(option: &mut Option<T>, value: Option<T>) {
    if value.is_some() {
        *option = value;
    }
}

/// Returns the value of an option, if the command has it.
pub(super) fn one<T: Clone + Send + Sync + 'static>(matches: &ArgMatches, name: &str) -> Option<T> {
    matches.try_get_one::<T>(&format!("{ID_PREFIX}{name}")).ok().flatten().cloned()
}
