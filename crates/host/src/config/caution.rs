//! What somebody who starts a server should know of it: no reason not to, but a reason to look.

use crate::config::read::Warning;
use crate::config::scope::Scope;
use crate::config::server_config::{Kind, ServerConfig};

/// Programs that download what they run, and how a version is written for them.
const FETCHERS: [(&str, &[&str]); 5] =
    [("npx", &["@"]), ("bunx", &["@"]), ("pnpx", &["@"]), ("uvx", &["==", "@"]), ("pipx", &["==", "@"])];
/// Variables that make a program load other code.
const LOADERS: [&str; 8] = [
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
    "LD_AUDIT",
    "NODE_OPTIONS",
    "PYTHONSTARTUP",
    "PYTHONPATH",
    "BASH_ENV",
    "PERL5OPT",
];

impl ServerConfig {
    /// What somebody who adds or approves this server should know; no reason not to.
    pub fn cautions(&self, scope: Scope) -> Vec<Warning> {
        let mut cautions = self.misuses(scope);
        if let Kind::Stdio { command, args, .. } = &self.kind
            && let Some(package) = unpinned(command, args)
        {
            let text = format!("`{package}` has no version, so what runs may change any day; pin it");
            cautions.push(Warning::new("args", text));
        }
        cautions
    }

    /// What does not mean what it seems to, whenever the entry is read.
    pub(crate) fn misuses(&self, scope: Scope) -> Vec<Warning> {
        let mut cautions = Vec::new();
        let mut say = |field: String, text: String| cautions.push(Warning::new(field, text));
        if self.settings.trust && scope == Scope::Project {
            say("trust".into(), "a project cannot say that it is trusted; say so in your own file".into());
        }
        if let Kind::Stdio { command, env, .. } = &self.kind {
            if command.contains("${") {
                say("command".into(), "variables are never filled in here; write the program out".into());
            }
            for name in env.keys().filter(|name| LOADERS.contains(&name.as_str())) {
                say(format!("env.{name}"), "this makes the program load other code".into());
            }
        }
        cautions
    }
}

/// The package a program would download in whatever version is the latest.
fn unpinned<'a>(command: &str, args: &'a [String]) -> Option<&'a str> {
    let program = command.rsplit(['/', '\\']).next()?.trim_end_matches(".cmd");
    let (_, marks) = FETCHERS.iter().find(|(name, _)| *name == program)?;
    let package = args.iter().find(|arg| !arg.starts_with('-') && arg.as_str() != "run")?;
    // A scope's own `@` is the first character; a path or address is no package of a registry.
    let is_pinned = marks.iter().any(|mark| package.get(1..).is_some_and(|rest| rest.contains(mark)));
    let is_latest = package.ends_with("@latest");
    let is_elsewhere = package.starts_with(['.', '/']) || package.contains("://");
    (!is_elsewhere && (!is_pinned || is_latest)).then_some(package)
}
