//! An entry that is to be added to a configuration file: checked, and written later.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use switchboard::host::config::{Approvals, Binding, ConfigFile, Scope, ServerConfig, TransportConfig};

use crate::args::{self, AddArgs};
use crate::configured_servers::files::ConfigFiles;
use crate::environment::variable;
use crate::error::CommandError;
use crate::sanitize::one_line;

/// A valid entry that is not written yet, with the file that it is for.
pub(crate) struct PreparedEntry {
    name: String,
    pub(crate) entry: ServerConfig,
    pub(crate) scope: Scope,
    files: ConfigFiles,
    file: ConfigFile,
}

impl PreparedEntry {
    /// Checks the arguments and edits the file in memory.
    ///
    /// # Errors
    /// Returns an error if the entry is not valid, the name is taken, or the user must not change the file.
    pub(crate) fn new(args: &AddArgs) -> Result<Self, CommandError> {
        let files = ConfigFiles::read()?;
        check_name(&args.name)?;
        let mut entry = entry(args)?;
        let scope = args.scope.scope();
        if args.trust && scope == Scope::Project {
            return Err(CommandError::usage(
                "--trust: a project's file cannot make a server trusted for everyone",
            )
            .hint("add it to your own file: -s user or -s local"));
        }
        entry.settings.trust |= args.trust;
        // Report mistakes now rather than at the first start. A variable may still be set by then.
        if let Err(fault) = entry.resolve(&|name| variable(name).or_else(|| Some("unset".to_owned()))) {
            return Err(CommandError::usage(format!("the entry is not valid: {fault}")));
        }
        let mut file = files.edit(scope)?;
        match args.replace {
            true => file.set(&args.name, &entry)?,
            false => file.add(&args.name, &entry).map_err(|fault| {
                CommandError::from(fault).hint("replace it with --replace; `switchboard get` shows it")
            })?,
        }
        Ok(Self { name: args.name.clone(), entry, scope, files, file })
    }

    /// Returns the file that is changed.
    pub(crate) fn path(&self) -> &Path {
        self.file.path()
    }

    /// Writes the file. A server of the project's file counts as approved: the user has just written it. Returns the path.
    ///
    /// # Errors
    /// Returns an error if a file cannot be written.
    pub(crate) fn write(mut self) -> Result<PathBuf, CommandError> {
        self.file.write()?;
        if self.scope == Scope::Project {
            let locations = &self.files.locations;
            Approvals::open(&locations.approvals)?.approve(&locations.project, &self.name, &self.entry)?;
        }
        Ok(self.file.path().to_owned())
    }

    /// Returns warnings about risks of the entry, about variables that are not set, and about a server that hides it.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let Self { entry, scope, .. } = self;
        let mut warnings = Vec::new();
        if *scope == Scope::Project && has_literals(entry) {
            warnings.push("its values are now in a shared file; write ${NAME} for secret values".to_owned());
        }
        warnings
            .extend(entry.risk_warnings(*scope).into_iter().map(|caution| one_line(&caution.to_string())));
        if let TransportConfig::Stdio { command, .. } = &entry.transport
            && *scope == Scope::User
            && command.contains('/')
            && !command.starts_with('/')
        {
            warnings.push(
                "its program path is relative to the current directory; use an absolute path".to_owned(),
            );
        }
        let missing: Vec<String> = entry
            .variables()
            .into_iter()
            .filter(|name| variable(name).is_none())
            .map(|name| one_line(&name))
            .collect();
        if !missing.is_empty() {
            warnings.push(format!("not set in this environment: {}", missing.join(", ")));
        }
        if let Some(winner) = self.files.resolved.server(&self.name).filter(|server| server.scope < *scope) {
            warnings
                .push(format!("it is shadowed by a server of the same name in the scope {}", winner.scope));
        }
        warnings
    }
}

fn check_name(name: &str) -> Result<(), CommandError> {
    let is_invalid = name.trim().is_empty() || name.trim() != name || name.chars().any(char::is_control);
    match is_invalid || name.starts_with('-') {
        true => Err(CommandError::usage(format!("{:?} is not a valid name for a server", one_line(name)))
            .hint("letters, digits, `-` and `_` are best: its tools are named after it")),
        false => Ok(()),
    }
}

fn entry(args: &AddArgs) -> Result<ServerConfig, CommandError> {
    let positional = args.address.as_ref().filter(|word| word.trim_start().starts_with('{'));
    if let Some(json) = args.entry.as_ref().or(positional) {
        let entry: Result<ServerConfig, _> = serde_json::from_str(json);
        return entry.map_err(|error| {
            CommandError::usage(format!("the entry is not valid: {error}"))
                .hint("expected one entry: {\"command\": …}")
        });
    }
    if let Some(word) = args.address.as_ref().filter(|word| !word.contains("://")) {
        return Err(usage_error(&format!("expected a URL, got {:?}", one_line(word))));
    }
    match (args.url.as_ref().or(args.address.as_ref()), args.command.split_first()) {
        (Some(url), _) => remote_entry(args, url),
        (None, Some((program, rest))) => program_entry(args, program, rest),
        (None, None) => Err(usage_error("expected a command, a URL or an entry")),
    }
}

fn remote_entry(args: &AddArgs, url: &str) -> Result<ServerConfig, CommandError> {
    let binding = match args.transport {
        Some(args::TransportArg::Stdio) => {
            return Err(usage_error("-t stdio is for a program; a URL is reached over http or sse"));
        }
        Some(args::TransportArg::Sse) => Binding::Sse,
        Some(args::TransportArg::Http) | None => Binding::Streamable,
    };
    let headers = BTreeMap::new();
    let mut entry = ServerConfig::new(TransportConfig::Http {
        url: url.to_owned(),
        headers,
        binding,
        allow_http: args.allow_http,
    });
    for given in &args.headers {
        let (name, value) = given
            .expose()
            .split_once(':')
            .ok_or_else(|| CommandError::usage("-H: the colon is missing").hint("expected 'Name: value'"))?;
        entry = entry.with_header(name.trim(), value.trim());
    }
    if let Some(variable) = &args.bearer_env {
        entry = entry.with_header("Authorization", format!("Bearer ${{{variable}}}"));
    }
    Ok(entry)
}

fn program_entry(
    args: &AddArgs,
    program: &OsString,
    rest: &[OsString],
) -> Result<ServerConfig, CommandError> {
    if matches!(args.transport, Some(args::TransportArg::Http | args::TransportArg::Sse)) {
        return Err(usage_error("a program is reached over stdio; for http or sse give --url"));
    }
    if !args.headers.is_empty() || args.allow_http || args.bearer_env.is_some() {
        return Err(usage_error("headers are for a server at a URL"));
    }
    let text = |word: &OsString| {
        word.to_str().map(str::to_owned).ok_or_else(|| usage_error("the command is not UTF-8 text"))
    };
    let kind = TransportConfig::Stdio {
        command: text(program)?,
        args: rest.iter().map(text).collect::<Result<_, _>>()?,
        env: BTreeMap::new(),
        inherit_env: args.inherit_env.clone(),
        cwd: args.cwd.clone(),
    };
    let variables = args.env.iter().cloned();
    Ok(variables.fold(ServerConfig::new(kind), |entry, (name, value)| entry.with_env(name, value)))
}

fn usage_error(message: &str) -> CommandError {
    CommandError::usage(message).hint(
        "switchboard add NAME -- CMD ARGS, switchboard add NAME URL, or switchboard add NAME --entry '{…}'",
    )
}

/// Returns whether a variable or header has a literal value instead of a reference.
fn has_literals(entry: &ServerConfig) -> bool {
    let values = match &entry.transport {
        TransportConfig::Stdio { env, .. } => env,
        TransportConfig::Http { headers, .. } => headers,
        TransportConfig::Sdk { .. } | TransportConfig::Proxy { .. } => return false,
    };
    values.values().any(|value| !value.expose().contains("${"))
}
