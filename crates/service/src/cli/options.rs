//! The options that every command of a service has: how it is reached, and how results are told.
//!
//! They may stand before or behind the name of a tool. Where a tool has an argument of the same name, that one is meant
//! behind it.

use std::str::FromStr;
use std::time::Duration;

use clap::{Arg, ArgAction, ArgMatches};
use switchboard_design::Flag;
use switchboard_protocol::Revision;

/// Which options a command has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// The server is somewhere else.
    Remote,
    /// The server is this program.
    Local,
}

/// What the options say.
#[derive(Debug, Default)]
pub(super) struct Options {
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

/// Names of options begin with this, so that none is the name of an argument.
const MARK: &str = "@";

fn option(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    Arg::new(format!("{MARK}{name}")).long(name).value_name(value).help(help).help_heading("Server")
}

fn switch(name: &'static str, help: &'static str) -> Arg {
    Arg::new(format!("{MARK}{name}")).long(name).action(ArgAction::SetTrue).help(help).help_heading("Output")
}

/// The options, but for those whose names these flags have.
pub(super) fn arguments(reach: Reach, flags: &[Flag]) -> Vec<Arg> {
    let time = option("timeout", "SECS", "How long to wait for the server, and for each answer");
    let mut all = vec![
        option("revision", "REV", "Speak this revision of the protocol and no other")
            .value_parser(Revision::from_str),
        time.value_parser(seconds),
        switch("json", "Print results as JSON, and failures as one JSON object on stderr"),
        switch("explain", "When arguments do not fit, print what tells a model how to try again"),
    ];
    if reach == Reach::Remote {
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
            option("rpc-url", "URL", "The address of the plain endpoint, for methods that MCP does not have"),
            option(
                "allow-http",
                "",
                "Allow plain http beyond this machine: everything can be read on the way",
            )
            .action(ArgAction::SetTrue),
        ]);
    }
    let is_taken = |arg: &Arg| {
        let long = arg.get_long().unwrap_or_default();
        flags.iter().any(|flag| flag.long == long || flag.alias.as_deref() == Some(long))
    };
    all.retain(|arg| !is_taken(arg));
    all
}

fn seconds(text: &str) -> Result<Duration, String> {
    let time = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    time.filter(|time| !time.is_zero()).ok_or_else(|| "a number of seconds above zero is needed".to_owned())
}

impl Options {
    /// What the options say, wherever they stand: the innermost command counts.
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

fn set<T>(place: &mut Option<T>, value: Option<T>) {
    if value.is_some() {
        *place = value;
    }
}

/// The value of an option that the command may not even have.
pub(super) fn one<T: Clone + Send + Sync + 'static>(matches: &ArgMatches, name: &str) -> Option<T> {
    matches.try_get_one::<T>(&format!("{MARK}{name}")).ok().flatten().cloned()
}
