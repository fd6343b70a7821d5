//! Configuration files for the console: entries, adding servers as `switchboard add` does, the first run.

use std::sync::Arc;

use switchboard::host::config::{Scope, ServerConfig};
use switchboard_console::contract::{AddPlan, AddRequest, FirstRun, ImportSource};
use switchboard_console::providers::{
    BoxFuture, ConfigEditor, ProviderError, ProviderErrorKind, ServerEntry,
};

use super::console_host::ConsoleServers;
use super::demo_servers::{DemoKind, demo_servers};
use crate::args::{AddArgs, ScopeArg};
use crate::configured_servers::{ConfigFiles, PreparedEntry, find_sources};
use crate::error::CommandError;
use crate::sanitize::one_line;
use crate::shell_quote::shell_quote;

/// The command that lists what can be imported, and imports with the name of a program.
const IMPORT_COMMAND: &str = "switchboard import";

/// Edits configuration files.
#[derive(Debug)]
pub(super) struct FileEditor {
    servers: Arc<ConsoleServers>,
    /// Whether programs may be added.
    allows_programs: bool,
    /// Whether the console shows all servers of the files: only then an added one appears.
    shows_all: bool,
}

impl FileEditor {
    pub(super) fn new(servers: Arc<ConsoleServers>, allows_programs: bool, shows_all: bool) -> Self {
        Self { servers, allows_programs, shows_all }
    }

    /// Returns why the console does not write this server; `None` if it does.
    fn refusal(&self, request: &AddRequest) -> Option<&'static str> {
        match request {
            _ if !self.shows_all => {
                Some("this console shows one server only, not those of your configuration")
            }
            AddRequest::Program { .. } if !self.allows_programs => {
                Some("a program could do anything on this machine, so the page does not add it")
            }
            _ => None,
        }
    }

    fn plan_now(&self, request: &AddRequest) -> Result<AddPlan, ProviderError> {
        let prepared = PreparedEntry::new(&add_args(request)?).map_err(|error| add_error(error, request))?;
        if let Some(reason) = self.refusal(request) {
            return Ok(AddPlan::Command { command: add_command(request), reason: reason.to_owned() });
        }
        Ok(AddPlan::Apply {
            path: prepared.path().display().to_string(),
            entry_json: pretty_json(&prepared.entry),
            warnings: prepared.warnings(),
        })
    }

    fn add_now(&self, request: &AddRequest) -> Result<(), ProviderError> {
        if let Some(reason) = self.refusal(request) {
            return Err(ProviderError::new(ProviderErrorKind::Forbidden, "config_edit_off", reason)
                .with_next_step(format!(
                    "run {}; or start the console with --allow-config-edit",
                    add_command(request)
                )));
        }
        let prepared = PreparedEntry::new(&add_args(request)?).map_err(|error| add_error(error, request))?;
        prepared.write().map_err(|error| add_error(error, request))?;
        self.servers.reload();
        Ok(())
    }

    async fn start_demo(&self, name: &str) -> Result<(), ProviderError> {
        let Some(kind) = DemoKind::named(name) else {
            let message = format!("no demo server is named {:?}", one_line(name));
            return Err(ProviderError::new(ProviderErrorKind::NotFound, "unknown_demo", message));
        };
        let (spec, serving) = kind.start().await.map_err(failed)?;
        if !self.servers.add_demo(name, spec, serving) {
            let message = format!("a server named {name} exists already");
            return Err(ProviderError::new(ProviderErrorKind::Conflict, "exists", message));
        }
        Ok(())
    }
}

impl ConfigEditor for FileEditor {
    fn entry(&self, server: &str) -> Option<ServerEntry> {
        let approve = format!("switchboard approve {}", shell_quote(&one_line(server)));
        let Some(configured) = self.servers.known.configured(server) else {
            // Of the command line, or a demo server.
            let config = self.servers.host.server_status(server).ok()?.config;
            return Some(ServerEntry::new(None, config.value().to_string(), approve));
        };
        let config = configured.entry.as_ref().map(masked_json).unwrap_or_else(|| "{}".to_owned());
        Some(ServerEntry::new(Some(configured.scope.as_str().to_owned()), config, approve))
    }

    fn first_run(&self) -> Option<FirstRun> {
        if !self.shows_all || !self.servers.known.is_empty() {
            return None;
        }
        let sources = ConfigFiles::read().map(|files| find_sources(&files)).unwrap_or_default();
        let import_sources = sources.into_iter().map(|source| ImportSource {
            client: source.program.to_owned(),
            path: one_line(&source.path.display().to_string()),
            servers: source.servers as u64,
            command: format!("{IMPORT_COMMAND} {}", source.id),
        });
        Some(FirstRun {
            demo_servers: demo_servers(),
            import_command: IMPORT_COMMAND.to_owned(),
            import_sources: import_sources.collect(),
        })
    }

    fn plan<'a>(&'a self, request: &'a AddRequest) -> BoxFuture<'a, Result<AddPlan, ProviderError>> {
        Box::pin(std::future::ready(self.plan_now(request)))
    }

    fn add<'a>(&'a self, request: &'a AddRequest) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(std::future::ready(self.add_now(request)))
    }

    fn add_demo<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(self.start_demo(name))
    }
}

/// Returns the arguments of `switchboard add` for a request.
fn add_args(request: &AddRequest) -> Result<AddArgs, ProviderError> {
    Ok(match request {
        AddRequest::Url { name, url, scope } => AddArgs::for_url(name, url, parse_scope(scope)?),
        AddRequest::Program { name, command, scope } => {
            AddArgs::for_program(name, command, parse_scope(scope)?)
        }
    })
}

fn parse_scope(scope: &str) -> Result<ScopeArg, ProviderError> {
    match scope {
        "local" => Ok(ScopeArg::Local),
        "project" => Ok(ScopeArg::Project),
        "user" => Ok(ScopeArg::User),
        other => {
            let message = format!("{:?} is not a scope", one_line(other));
            Err(ProviderError::new(ProviderErrorKind::Invalid, "invalid_server", message)
                .with_next_step("use local, project or user"))
        }
    }
}

/// Returns the command that adds the server.
fn add_command(request: &AddRequest) -> String {
    let (name, scope, rest) = match request {
        AddRequest::Url { name, url, scope } => (name, scope, vec![url.clone()]),
        AddRequest::Program { name, command, scope } => {
            (name, scope, [&["--".to_owned()], command.as_slice()].concat())
        }
    };
    let words = rest.iter().map(|word| shell_quote(&one_line(word)));
    let words = words.collect::<Vec<_>>().join(" ");
    let scope = if scope == Scope::Local.as_str() { String::new() } else { format!(" -s {scope}") };
    format!("switchboard add {}{scope} {words}", shell_quote(&one_line(name)))
}

fn add_error(error: CommandError, request: &AddRequest) -> ProviderError {
    let (AddRequest::Url { name, .. } | AddRequest::Program { name, .. }) = request;
    let parse = |scope: &String| parse_scope(scope).ok().map(ScopeArg::scope);
    let (AddRequest::Url { scope, .. } | AddRequest::Program { scope, .. }) = request;
    let exists = ConfigFiles::read().is_ok_and(|files| {
        files.resolved.server(name).is_some_and(|server| Some(server.scope) == parse(scope))
    });
    let (kind, code) = match exists {
        true => (ProviderErrorKind::Conflict, "exists"),
        false => (ProviderErrorKind::Invalid, "invalid_server"),
    };
    ProviderError { kind, code, ..failed(error) }
}

/// Returns the error of a provider for an error of a command.
pub(super) fn failed(error: CommandError) -> ProviderError {
    match error {
        CommandError::Reported(report) => ProviderError {
            kind: ProviderErrorKind::Failed,
            code: report.kind,
            message: one_line(&report.message),
            next_step: report.hint.as_deref().map(one_line),
        },
        other => ProviderError::new(ProviderErrorKind::Failed, "failed", one_line(&format!("{other:?}"))),
    }
}

fn masked_json(entry: &ServerConfig) -> String {
    entry.masked().to_string()
}

fn pretty_json(entry: &ServerConfig) -> String {
    serde_json::to_string_pretty(&entry.masked()).unwrap_or_default()
}
