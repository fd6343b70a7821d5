//! What somebody who starts a server should know of it: no reason not to, but a reason to look.

use crate::read::Warning;
use crate::scope::Scope;
use crate::server_config::{Kind, ServerConfig};

/// Programs that download what they run, and how a version is written for them.
const FETCHERS: [(&str, &[&str]); 5] =
    [("npx", &["@"]), ("bunx", &["@"]), ("pnpx", &["@"]), ("uvx", &["==", "@"]), ("pipx", &["==", "@"])];
/// What a variable of this name can do to a program, if it is more than configuring it.
fn loader(name: &str) -> Option<&'static str> {
    const CODE: [&str; 16] = [
        "NODE_OPTIONS",
        "NODE_PATH",
        "JAVA_TOOL_OPTIONS",
        "JDK_JAVA_OPTIONS",
        "_JAVA_OPTIONS",
        "CLASSPATH",
        "RUBYOPT",
        "RUBYLIB",
        "PERL5OPT",
        "PERL5LIB",
        "PERL5DB",
        "BASH_ENV",
        "ENV",
        "SHELLOPTS",
        "PHP_INI_SCAN_DIR",
        "DOTNET_STARTUP_HOOKS",
    ];
    // npm reads its variables in any case, and a warning too many does no harm.
    let name = name.to_ascii_uppercase();
    let begins = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    if name == "PATH" {
        Some("this decides which programs are run")
    } else if begins(&["LD_", "DYLD_", "PYTHON", "GIT_"]) || CODE.contains(&name.as_str()) {
        Some("this makes the program load other code")
    } else if begins(&["NPM_CONFIG_", "PIP_", "UV_"])
        || name.ends_with("_INDEX_URL")
        || name.ends_with("_REGISTRY")
    {
        Some("this decides where packages are downloaded from")
    } else if name.ends_with("_PROXY")
        || begins(&["NODE_EXTRA_CA_CERTS", "NODE_TLS_REJECT_UNAUTHORIZED", "SSL_CERT_"])
    {
        Some("this decides who can read its network traffic")
    } else {
        None
    }
}

impl ServerConfig {
    /// What somebody who adds or approves this server should know; no reason not to.
    pub fn cautions(&self, scope: Scope) -> Vec<Warning> {
        let mut cautions = self.misuses(scope);
        if let Kind::Stdio { command, args, env, .. } = &self.kind {
            if let Some(package) = unpinned(command, args) {
                let text = format!("`{package}` has no version, so what runs may change any day; pin it");
                cautions.push(Warning::new("args", text));
            }
            if scope == Scope::Project && command.contains('/') && !command.starts_with('/') {
                cautions.push(Warning::new("command", "this program is a file of the project"));
            }
            let loaders = env.keys().filter_map(|name| Some((name, loader(name)?)));
            cautions.extend(loaders.map(|(name, text)| Warning::new(format!("env.{name}"), text)));
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
        if let Kind::Stdio { command, .. } = &self.kind
            && command.contains("${")
        {
            say("command".into(), "variables are never filled in here; write the program out".into());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s2_variables_that_load_code_are_called_out() {
        for name in [
            "LD_PRELOAD",
            "LD_X",
            "DYLD_INSERT_LIBRARIES",
            "PATH",
            "NODE_OPTIONS",
            "PYTHONPATH",
            "PYTHONHOME",
            "npm_config_registry",
            "NPM_CONFIG_REGISTRY",
            "PIP_INDEX_URL",
            "UV_INDEX_URL",
            "MY_INDEX_URL",
            "GIT_SSH",
            "JAVA_TOOL_OPTIONS",
            "RUBYOPT",
            "PERL5OPT",
            "BASH_ENV",
        ] {
            assert!(loader(name).is_some(), "{name}");
            let config = ServerConfig::stdio("x", ["a"]).with_env(name, "v");
            assert!(
                config.cautions(Scope::User).iter().any(|caution| caution.to_string().contains(name)),
                "{name}"
            );
        }
        for name in ["TOKEN", "DEBUG", "MY_PATH", "HOME"] {
            assert!(loader(name).is_none(), "{name}");
        }
    }
}
