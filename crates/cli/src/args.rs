//! The command line of `switchboard`, parsed but not resolved.

mod audit;
mod completions;
mod console;
mod demo;
mod gateway;
mod http_server;
mod key;
mod login;
mod policy;
mod recordings;
mod requests;
mod servers;
mod services;
mod target;
mod value_parsers;

use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};

use crate::error::{CommandError, ErrorFormat};

pub(crate) use audit::AuditArgs;
pub(crate) use completions::{CompletionsArgs, ManArgs};
pub(crate) use console::ConsoleArgs;
pub(crate) use demo::{DemoArgs, DemoServerArgs};
pub(crate) use gateway::{GatewayArgs, PlanArgs};
pub(crate) use http_server::HttpServerArgs;
pub(crate) use key::{KeyAction, KeyArgs, KeyCreateArgs, KeyRevokeArgs};
pub(crate) use login::{AccountsArgs, LoginArgs, LogoutArgs};
pub(crate) use policy::{PolicyAction, PolicyArgs, PolicyCheckArgs, PolicyTestArgs, TargetKindArg};
pub(crate) use recordings::{ReplayArgs, TestArgs};
pub(crate) use requests::{CallArgs, CompleteArgs, ListenArgs, PromptArgs, ReadArgs, SaveArgs, ToolsArgs};
pub(crate) use servers::{
    AddArgs, ApproveArgs, DoctorArgs, ForgetArgs, ImportArgs, ListArgs, PsArgs, ReconnectArgs, RemoveArgs,
    ScopeArg, ServerArgs, StatusArgs, TransportArg, WhyArgs,
};
pub(crate) use services::{
    DesignAction, DesignArgs, DesignCheckArgs, DesignDiffArgs, DesignPrintArgs, DesignSource, NewArgs,
    QuickstartArgs,
};
pub(crate) use target::{HttpTransport, RemoteArgs, ServerTarget, SessionOptions, ViewArgs};

const EXAMPLES: &str = "\
Examples:
  # a demonstration that needs no server
  switchboard demo
  switchboard tools -- npx -y @modelcontextprotocol/server-everything
  # arguments take the types of the tool's schema
  switchboard call add a=1 b=2 -- switchboard demo-server
  # the result exactly as the server wrote it
  switchboard call echo --args @args.json --json -- CMD
  # print all messages to stderr
  switchboard read file:///etc/hosts --trace -- CMD
  # a server at a URL instead of a program
  switchboard info --url https://example.com/mcp
  # add a server to your configuration, to use it by name
  switchboard add files -- mcp-files /srv
  # the status of all configured servers
  switchboard status
  # all of it in the browser
  switchboard console
  # a tool of one of them
  switchboard call files/read path=notes.txt
  # log in to a server that wants OAuth
  switchboard login github
  # record a session, and check another version of the server against it
  switchboard call add a=1 b=2 --record add.talk -- switchboard demo-server
  switchboard test add.talk -- switchboard demo-server
  # why a server does not connect, step by step
  switchboard doctor files
  # a service of your own, from one Rust trait
  switchboard new weather

Exit codes:
  0 success                  3 authentication needed
  1 any other failure        4 server unreachable, or protocol error
  2 wrong command line       5 the tool reported an error";

/// Inspect MCP servers, call their tools, read their resources.
#[derive(Debug, Parser)]
#[command(name = "switchboard", version, after_help = EXAMPLES)]
struct CommandLine {
    #[command(subcommand)]
    command: Option<Command>,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show the name, the protocol revision and the capabilities of a server
    Info(ViewArgs),
    /// List or search the tools of one server or of all configured servers; show one tool in full
    Tools(ToolsArgs),
    /// List the resources and resource templates of one server or of all configured servers
    Resources(ViewArgs),
    /// List the prompts of one server or of all configured servers
    Prompts(ViewArgs),
    /// Call a tool
    Call(CallArgs),
    /// Read a resource
    Read(ReadArgs),
    /// Get a prompt with its arguments filled in
    Prompt(PromptArgs),
    /// Complete an argument of a prompt or of a resource template
    Complete(CompleteArgs),
    /// Print the change notifications of a server as they arrive
    Listen(ListenArgs),
    /// Add a server to a configuration file
    Add(Box<AddArgs>),
    /// Remove a server from its configuration file
    Remove(RemoveArgs),
    /// List the configured servers without starting them
    List(ListArgs),
    /// Show the entry of one configured server, and the file it is in
    Get(ServerArgs),
    /// Enable a disabled server
    Enable(ServerArgs),
    /// Disable a server: keep its entry, but do not start it
    Disable(ServerArgs),
    /// Approve servers of a project's file, after reviewing exactly what would run
    Approve(ApproveArgs),
    /// Revoke approvals and remembered answers about a server or one of its tools
    Forget(ForgetArgs),
    /// Import servers from the configuration files of other programs
    Import(ImportArgs),
    /// Connect all configured servers and show their status
    Status(StatusArgs),
    /// Reconnect one configured server and show its status
    Reconnect(ReconnectArgs),
    /// See and steer the servers in the browser: catalog, calls, traffic, logins
    Console(Box<ConsoleArgs>),
    /// Log in to a server with OAuth, in the browser
    Login(LoginArgs),
    /// Log out of a server: revoke its tokens and remove them
    Logout(LogoutArgs),
    /// List your logins, and how long each is valid
    Accounts(AccountsArgs),
    /// Serve all configured servers as one MCP server, on stdin and stdout or over HTTP
    Gateway(GatewayArgs),
    /// Show what a changed configuration of a gateway would change, before it is applied
    Plan(PlanArgs),
    /// Check the policy of a gateway, and tell what it decides about a call
    Policy(PolicyArgs),
    /// Filter the audit log of a gateway, and export it
    Audit(AuditArgs),
    /// Create, list and revoke the API keys of a service
    Key(KeyArgs),
    /// Explain why a tool is missing or refused, or why a server refuses your login
    Why(WhyArgs),
    /// List the running server processes
    Ps(PsArgs),
    /// Check step by step why a server does not connect, and what to do
    Doctor(Box<DoctorArgs>),
    /// Serve the answers of a recording, as a mock server on stdin and stdout or over HTTP
    Replay(ReplayArgs),
    /// Send the requests of a recording to a server and compare its answers
    Test(Box<TestArgs>),
    /// Create a new service: a project that builds and passes its test
    New(NewArgs),
    /// Write AGENTS_QUICKSTART.md from the design of a service
    Quickstart(QuickstartArgs),
    /// Print the design of a service, check it against its lock file, compare it with another design
    Design(DesignArgs),
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
    /// Print the manual page, or write those of all commands to a directory
    Man(ManArgs),
    /// Start three servers, connect to them, and show what a host does with them
    Demo(DemoArgs),
    /// Run a small MCP server, on stdin and stdout or over HTTP
    DemoServer(DemoServerArgs),
}

/// Returns the definition of the command line, for completion scripts and manual pages.
pub(crate) fn command_line() -> clap::Command {
    CommandLine::command()
}

impl Command {
    /// Returns the format for errors of this command.
    pub(crate) fn error_format(&self) -> ErrorFormat {
        let wants_json = match self {
            Self::Info(args) | Self::Resources(args) | Self::Prompts(args) => args.target.options.json,
            Self::Tools(args) => args.target.options.json,
            Self::Call(args) => args.target.options.json,
            Self::Read(args) => args.target.options.json,
            Self::Prompt(args) => args.target.options.json,
            Self::Complete(args) => args.target.options.json,
            Self::Listen(args) => args.target.options.json,
            Self::Test(args) => args.target.options.json,
            Self::List(args) => args.json,
            Self::Add(args) => args.json,
            Self::Remove(args) => args.json,
            Self::Approve(args) => args.json,
            Self::Forget(args) => args.json,
            Self::Get(args) | Self::Enable(args) | Self::Disable(args) => args.json,
            Self::Import(args) => args.json,
            Self::Status(args) => args.json,
            Self::Reconnect(args) => args.json,
            Self::Console(args) => args.view.target.options.json,
            Self::Login(args) => args.json,
            Self::Logout(args) => args.json,
            Self::Accounts(args) => args.json,
            Self::Policy(args) => match &args.action {
                PolicyAction::Check(args) => args.json,
                PolicyAction::Test(args) => args.json,
            },
            Self::Plan(args) => args.json,
            Self::Key(args) => args.action.file().json,
            Self::Why(args) => args.json,
            Self::Ps(args) => args.json,
            Self::Doctor(args) => args.json,
            Self::Design(args) => match &args.action {
                DesignAction::Print(args) => args.json,
                DesignAction::Check(args) => args.json,
                DesignAction::Diff(args) => args.json,
            },
            Self::New(_)
            | Self::Quickstart(_)
            | Self::Completions(_)
            | Self::Man(_)
            | Self::Gateway(_)
            | Self::Audit(_)
            | Self::Replay(_)
            | Self::Demo(_)
            | Self::DemoServer(_) => false,
        };
        if wants_json { ErrorFormat::Json } else { ErrorFormat::Text }
    }
}

/// Parses the command line of this process. Help, version and usage errors are printed here and end the program.
pub(crate) fn parse() -> Result<Command, ExitCode> {
    match CommandLine::try_parse() {
        Ok(CommandLine { command: Some(command) }) => Ok(command),
        // Like cargo: without a command, print the help.
        Ok(CommandLine { command: None }) => {
            _ = CommandLine::command().print_help();
            Err(ExitCode::SUCCESS)
        }
        Err(error) if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => {
            _ = error.print();
            Err(ExitCode::SUCCESS)
        }
        Err(error) => Err(report_usage_error(&error)),
    }
}

fn report_usage_error(error: &clap::Error) -> ExitCode {
    // The options of a command line that cannot be parsed are unknown: look for `--json` before the server's own
    // arguments.
    let wants_json = std::env::args_os().skip(1).take_while(|arg| arg != "--").any(|arg| arg == "--json");
    if !wants_json {
        _ = error.print();
        return ExitCode::from(2);
    }
    let text = error.to_string();
    // clap lists missing arguments on separate lines below the first.
    let message =
        text.lines().take_while(|line| !line.trim().is_empty()).map(str::trim).collect::<Vec<_>>().join(" ");
    CommandError::usage(message.trim_start_matches("error: "))
        .hint("see `switchboard --help`")
        .report(ErrorFormat::Json)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        CommandLine::command().debug_assert();
    }

    #[test]
    fn c13_examples_fit_a_terminal_of_80_columns() {
        fn check(command: &clap::Command) {
            let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            for line in text.lines() {
                assert!(line.chars().count() <= 79, "{}: {line}", command.get_name());
            }
            command.get_subcommands().for_each(check);
        }
        check(&command_line());
    }

    #[test]
    fn arguments_after_two_dashes_belong_to_the_server() {
        let args = CommandLine::try_parse_from([
            "switchboard",
            "call",
            "t",
            "a=1",
            "--json",
            "--",
            "srv",
            "--json",
            "b=2",
        ]);
        let Some(Command::Call(call)) = args.expect("well formed").command else { panic!("a call") };
        assert_eq!(call.pairs, ["a=1"]);
        assert_eq!(call.target.command, ["srv", "--json", "b=2"]);
    }
}
