//! Warnings about risks of a server configuration, for people who add or approve it.

use crate::scope::Scope;
use crate::server_config::{ServerConfig, TransportConfig};
use crate::warning::Warning;

/// Package runners that download the program they run, and the separators of a version for each.
const PACKAGE_RUNNERS: [(&str, &[&str]); 5] =
    [("npx", &["@"]), ("bunx", &["@"]), ("pnpx", &["@"]), ("uvx", &["==", "@"]), ("pipx", &["==", "@"])];

/// Returns the risk of setting this environment variable, if it can change which code runs or where data goes.
fn variable_risk(name: &str) -> Option<&'static str> {
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
    // npm ignores the case of its variables, and a superfluous warning does no harm.
    let name = name.to_ascii_uppercase();
    let starts_with_any = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    if name == "PATH" {
        Some("this decides which programs are run")
    } else if starts_with_any(&["LD_", "DYLD_", "PYTHON", "GIT_"]) || CODE.contains(&name.as_str()) {
        Some("this makes the program load other code")
    } else if starts_with_any(&["NPM_CONFIG_", "PIP_", "UV_"])
        || name.ends_with("_INDEX_URL")
        || name.ends_with("_REGISTRY")
    {
        Some("this decides where packages are downloaded from")
    } else if name.ends_with("_PROXY")
        || starts_with_any(&["NODE_EXTRA_CA_CERTS", "NODE_TLS_REJECT_UNAUTHORIZED", "SSL_CERT_"])
    {
        Some("this decides who can read its network traffic")
    } else {
        None
    }
}

impl ServerConfig {
    /// Returns warnings for people who add or approve this server.
    pub fn risk_warnings(&self, scope: Scope) -> Vec<Warning> {
        let mut warnings = self.misuse_warnings(scope);
        if let TransportConfig::Stdio { command, args, env, .. } = &self.transport {
            if let Some(package) = unpinned_package(command, args) {
                let text =
                    format!("`{package}` has no version, so the code that runs may change any day; pin it");
                warnings.push(Warning::new("args", text));
            }
            if scope == Scope::Project && command.contains('/') && !command.starts_with('/') {
                warnings.push(Warning::new("command", "this program is a file of the project"));
            }
            let risky = env.keys().filter_map(|name| Some((name, variable_risk(name)?)));
            warnings.extend(risky.map(|(name, text)| Warning::new(format!("env.{name}"), text)));
        }
        warnings
    }

    /// Returns warnings about fields that have no effect, whenever the entry is read.
    pub(crate) fn misuse_warnings(&self, scope: Scope) -> Vec<Warning> {
        let mut warnings = Vec::new();
        let mut warn = |field: String, text: String| warnings.push(Warning::new(field, text));
        if self.settings.trust && scope == Scope::Project {
            warn("trust".into(), "a project cannot declare itself trusted; set it in your own file".into());
        }
        if let TransportConfig::Stdio { command, .. } = &self.transport
            && command.contains("${")
        {
            warn(
                "command".into(),
                "variables are not substituted in a command; write the program name".into(),
            );
        }
        if let TransportConfig::Http { headers, .. } = &self.transport
            && headers.keys().any(|name| name.eq_ignore_ascii_case("authorization"))
            && self.oauth.is_some()
        {
            warn(
                "oauth".into(),
                "not used: the entry has an `Authorization` header, which is sent instead".into(),
            );
        }
        warnings
    }
}

/// Returns the package that a runner would download in its latest version.
fn unpinned_package<'a>(command: &str, args: &'a [String]) -> Option<&'a str> {
    let program = command.rsplit(['/', '\\']).next()?.trim_end_matches(".cmd");
    let (_, separators) = PACKAGE_RUNNERS.iter().find(|(name, _)| *name == program)?;
    let package = args.iter().find(|arg| !arg.starts_with('-') && arg.as_str() != "run")?;
    // The `@` of an npm scope is the first character; a path or URL is not a registry package.
    let is_pinned =
        separators.iter().any(|separator| package.get(1..).is_some_and(|rest| rest.contains(separator)));
    let is_latest = package.ends_with("@latest");
    let is_elsewhere = package.starts_with(['.', '/']) || package.contains("://");
    (!is_elsewhere && (!is_pinned || is_latest)).then_some(package)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s2_variables_that_load_code_are_reported() {
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
            assert!(variable_risk(name).is_some(), "{name}");
            let config = ServerConfig::stdio("x", ["a"]).with_env(name, "v");
            assert!(
                config.risk_warnings(Scope::User).iter().any(|warning| warning.to_string().contains(name)),
                "{name}"
            );
        }
        for name in ["TOKEN", "DEBUG", "MY_PATH", "HOME"] {
            assert!(variable_risk(name).is_none(), "{name}");
        }
    }
}
