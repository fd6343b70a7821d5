//! `switchboard add` and `switchboard remove`: servers put into a file, and taken out.

use std::collections::BTreeMap;
use std::ffi::OsString;

use serde_json::json;
use switchboard::host::config::{Approvals, Binding, Scope, ServerConfig, TransportConfig};

use crate::args::{self, AddArgs, RemoveArgs};
use crate::command::list::described;
use crate::command::tools::encode;
use crate::configured::{Files, quoted, reach};
use crate::environment::variable;
use crate::failure::Failure;
use crate::output::{Paper, Screen, show_json};
use crate::sanitize::one_line;

pub(crate) fn add(args: &AddArgs) -> Result<(), Failure> {
    let (files, screen) = (Files::read()?, Screen::read_as(args.json));
    check_name(&args.name)?;
    let mut entry = entry(args)?;
    let scope = args.scope.scope();
    if args.trust && scope == Scope::Project {
        return Err(Failure::usage("--trust: a project's file cannot make a server trusted for everybody")
            .hint("add it to your own file: -s user or -s local"));
    }
    entry.settings.trust |= args.trust;
    // A mistake is told now rather than when the server is first needed; a variable may still be set by then.
    if let Err(fault) = entry.resolve(&|name| variable(name).or_else(|| Some("unset".to_owned()))) {
        return Err(Failure::usage(format!("the entry is not valid: {fault}")));
    }
    let mut file = files.edit(scope)?;
    match args.replace {
        true => file.set(&args.name, &entry)?,
        false => file.add(&args.name, &entry).map_err(|fault| {
            Failure::from(fault).hint("--replace takes its place; `switchboard get` shows it")
        })?,
    }
    file.write()?;
    if scope == Scope::Project {
        // Whoever writes an entry has seen it.
        Approvals::open(&files.at.approvals)?.approve(&files.at.project, &args.name, &entry)?;
        if has_literals(&entry) {
            screen.warn("its values are now in a shared file; write ${NAME} where one is secret");
        }
    }
    for caution in entry.risk_warnings(scope) {
        screen.warn(&one_line(&caution.to_string()));
    }
    if let TransportConfig::Stdio { command, .. } = &entry.transport
        && scope == Scope::User
        && command.contains('/')
        && !command.starts_with('/')
    {
        screen.warn("its program is relative to the directory a command is run in; write its full path");
    }
    let missing: Vec<String> = entry
        .variables()
        .into_iter()
        .filter(|name| variable(name).is_none())
        .map(|name| one_line(&name))
        .collect();
    if !missing.is_empty() {
        screen.warn(&format!("not set in this environment: {}", missing.join(", ")));
    }
    if let Some(winner) = files.resolved.server(&args.name).filter(|server| server.scope < scope) {
        screen.warn(&format!("it is hidden by a server of the same name in the scope {}", winner.scope));
    }
    if args.json {
        let now = Files::read()?;
        return show_json(&Paper::stdout(), &encode(&described(&now, now.server(&args.name)?))?);
    }
    let name = one_line(&args.name);
    let text =
        format!("added {name} ({scope}): {}\n{}\n", reach(&entry), one_line(&file.path().to_string_lossy()));
    Paper::stdout().print(&text)?;
    screen.say(&screen.paper.dim(&format!("next: switchboard doctor {}", quoted(&name))));
    Ok(())
}

pub(crate) fn remove(args: &RemoveArgs) -> Result<(), Failure> {
    let files = Files::read()?;
    let scope = match args.scope {
        Some(place) => place.scope(),
        None => files.server(&args.name)?.scope,
    };
    let mut file = files.edit(scope)?;
    file.remove(&args.name)?;
    file.write()?;
    if scope == Scope::Project {
        Approvals::open(&files.at.approvals)?.revoke(&files.at.project, &args.name)?;
    }
    if args.json {
        let told =
            json!({ "name": args.name, "scope": scope.as_str(), "file": file.path(), "removed": true });
        return show_json(&Paper::stdout(), &encode(&told)?);
    }
    let name = one_line(&args.name);
    let mut text = format!("removed {name} ({scope}) from {}\n", one_line(&file.path().to_string_lossy()));
    let left = Files::read()?;
    if let Some(left) = left.resolved.server(&args.name) {
        text += &format!("a server of the same name in the scope {} is used now\n", left.scope);
    }
    Ok(Paper::stdout().print(&text)?)
}

fn check_name(name: &str) -> Result<(), Failure> {
    let is_odd = name.trim().is_empty() || name.trim() != name || name.chars().any(char::is_control);
    match is_odd || name.starts_with('-') {
        true => Err(Failure::usage(format!("{:?} is not a valid name for a server", one_line(name)))
            .hint("letters, digits, `-` and `_` are best: its tools are named after it")),
        false => Ok(()),
    }
}

fn entry(args: &AddArgs) -> Result<ServerConfig, Failure> {
    let positional = args.address.as_ref().filter(|word| word.trim_start().starts_with('{'));
    if let Some(json) = args.entry.as_ref().or(positional) {
        let entry: Result<ServerConfig, _> = serde_json::from_str(json);
        return entry.map_err(|error| {
            Failure::usage(format!("the entry is not valid: {error}"))
                .hint("expected one entry: {\"command\": …}")
        });
    }
    if let Some(word) = args.address.as_ref().filter(|word| !word.contains("://")) {
        return Err(wrong(&format!("expected a URL, got {:?}", one_line(word))));
    }
    match (args.url.as_ref().or(args.address.as_ref()), args.command.split_first()) {
        (Some(url), _) => at_address(args, url),
        (None, Some((program, rest))) => program_of(args, program, rest),
        (None, None) => Err(wrong("expected a command, a URL or an entry")),
    }
}

fn at_address(args: &AddArgs, url: &str) -> Result<ServerConfig, Failure> {
    let binding = match args.transport {
        Some(args::Kind::Stdio) => {
            return Err(wrong("-t stdio is for a program; a URL is reached over http or sse"));
        }
        Some(args::Kind::Sse) => Binding::Sse,
        Some(args::Kind::Http) | None => Binding::Streamable,
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
            .ok_or_else(|| Failure::usage("-H: there is no colon").hint("expected 'Name: value'"))?;
        entry = entry.with_header(name.trim(), value.trim());
    }
    if let Some(variable) = &args.bearer_env {
        entry = entry.with_header("Authorization", format!("Bearer ${{{variable}}}"));
    }
    Ok(entry)
}

fn program_of(args: &AddArgs, program: &OsString, rest: &[OsString]) -> Result<ServerConfig, Failure> {
    if matches!(args.transport, Some(args::Kind::Http | args::Kind::Sse)) {
        return Err(wrong("a program is reached over stdio; for http or sse give --url"));
    }
    if !args.headers.is_empty() || args.allow_http || args.bearer_env.is_some() {
        return Err(wrong("headers are for a server at a URL"));
    }
    let text = |word: &OsString| {
        word.to_str().map(str::to_owned).ok_or_else(|| wrong("the command is not UTF-8 text"))
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

fn wrong(what: &str) -> Failure {
    Failure::usage(what).hint(
        "switchboard add NAME -- CMD ARGS, switchboard add NAME URL, or switchboard add NAME --entry '{…}'",
    )
}

/// Whether a variable or header has a value that is no reference.
fn has_literals(entry: &ServerConfig) -> bool {
    let values = match &entry.transport {
        TransportConfig::Stdio { env, .. } => env,
        TransportConfig::Http { headers, .. } => headers,
        TransportConfig::Sdk { .. } | TransportConfig::Proxy { .. } => return false,
    };
    values.values().any(|value| !value.expose().contains("${"))
}
