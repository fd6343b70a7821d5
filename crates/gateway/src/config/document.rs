//! The document as it is written.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use switchboard_host::DriftPolicy;
use toml::Spanned;

use super::audit_config::AuditConfig;
use super::callers::CallersConfig;
use super::error::{GatewayConfigError, GatewayConfigErrorKind};
use super::excerpt::excerpt;
use super::listen::ListenConfig;
use super::policy_source::{CompiledPolicy, PolicySource};
use super::values;
use crate::names::PrefixPolicy;
use crate::options::{GatewayOptions, ParkedLimits};
use crate::view::ViewDocument;

/// The maximum size of a document.
const MAX_DOCUMENT_BYTES: usize = 1024 * 1024;

/// The configuration of a gateway, as written in its file.
///
/// ```
/// use switchboard::gateway::config::GatewayConfig;
///
/// let config = GatewayConfig::parse(r#"
///     drain = "10s"
///
///     [listen]
///     http = "127.0.0.1:8080"
///
///     [servers.files]
///     command = "mcp-files"
///     args = ["/srv"]
/// "#)?;
/// let servers = config.resolve_servers("/etc/gateway".as_ref(), &|_| None)?;
/// assert_eq!(servers.servers[0].name, "files");
///
/// let error = GatewayConfig::parse("[listen]\nhtpp = \"127.0.0.1:8080\"").unwrap_err();
/// assert_eq!(error.line, Some(2));
/// # Ok::<(), switchboard::gateway::config::GatewayConfigError>(())
/// ```
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct GatewayConfig {
    /// Whether exposed names begin with the name of their server.
    #[serde(deserialize_with = "values::prefix")]
    pub prefix: Option<PrefixPolicy>,
    /// Text in front of the instructions of the servers.
    pub instructions: Option<String>,
    /// How long calls under way may take after a signal.
    #[serde(deserialize_with = "values::duration")]
    pub drain: Option<Duration>,
    /// The rules, limits and payload rules.
    pub policy: Option<PolicySource>,
    /// The log in which requests are recorded.
    pub audit: Option<AuditConfig>,
    /// Files with `mcpServers`, whose servers are served, too.
    pub include: Vec<PathBuf>,
    /// What happens to a tool whose definition has changed since it was pinned; by default it is withheld.
    #[serde(deserialize_with = "values::drift")]
    pub drift: Option<DriftPolicy>,
    /// Where the gateway is reached.
    pub listen: ListenConfig,
    /// Who may send requests.
    pub callers: CallersConfig,
    /// Sizes and times of requests.
    pub limits: RequestLimits,
    /// The views by name; [`View::parse_all`](crate::view::View::parse_all) checks them.
    pub views: BTreeMap<String, ViewDocument>,
    /// The servers by name: entries as in `mcpServers`.
    pub(super) servers: BTreeMap<String, Spanned<serde_json::Value>>,
    /// Where the lines of the text end.
    #[serde(skip)]
    line_ends: Vec<usize>,
}

/// Sizes and times of requests; what is left out has its default.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct RequestLimits {
    /// Entries of one page of a list.
    pub page_size: Option<usize>,
    /// How long the first lists wait for servers that are starting.
    #[serde(deserialize_with = "values::duration")]
    pub startup_wait: Option<Duration>,
    /// How long a call may be silent before the gateway reports progress itself.
    #[serde(deserialize_with = "values::duration")]
    pub keep_alive: Option<Duration>,
    /// Calls that wait for the answer to a question.
    pub parked: Option<usize>,
    /// Calls of one caller that wait for the answer to a question.
    pub parked_per_principal: Option<usize>,
    /// Calls on one server that wait for the answer to a question.
    pub parked_per_server: Option<usize>,
    /// How long a call waits for the answer to a question.
    #[serde(deserialize_with = "values::duration")]
    pub parked_time: Option<Duration>,
}

impl GatewayConfig {
    /// Reads a document. [`Self::check`] and [`Self::resolve_servers`] find what remains to be said against it.
    ///
    /// # Errors
    /// When it is not TOML, too large, or has an unknown key or a value of another type.
    pub fn parse(text: &str) -> Result<Self, GatewayConfigError> {
        if text.len() > MAX_DOCUMENT_BYTES {
            let kind = GatewayConfigErrorKind::TooLarge { limit: MAX_DOCUMENT_BYTES };
            return Err(GatewayConfigError::new(kind));
        }
        let line_ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
        let parsed: Self = toml::from_str(text).map_err(|error| {
            let message = error.message().trim_end_matches('\n').replace('\n', "; ");
            let found = GatewayConfigError::new(GatewayConfigErrorKind::Document(message));
            match error.span() {
                Some(span) => found.at_line(line_ends.partition_point(|at| *at < span.start) + 1),
                None => found,
            }
        })?;
        Ok(Self { line_ends, ..parsed })
    }

    /// Makes relative paths absolute: they begin at `base`, the directory of the document. Paths in `include` begin at the
    /// directory that [`Self::resolve_servers`] gets.
    pub fn resolve_paths(&mut self, base: &Path) {
        let Self { listen, callers, audit, policy, .. } = self;
        let policy = match policy {
            Some(PolicySource::File(path)) => Some(path),
            Some(PolicySource::Inline) | None => None,
        };
        let tls = listen.tls.iter_mut().flat_map(|tls| [&mut tls.certificate, &mut tls.key]);
        let oauth = callers.oauth.as_mut().and_then(|oauth| oauth.introspection.as_mut());
        let secret = oauth.map(|introspection| &mut introspection.client_secret_file);
        let paths = tls.chain(listen.unix.as_mut()).chain(callers.api_keys.as_mut());
        let audit = audit.as_mut().map(|audit| &mut audit.path);
        for path in paths.chain(secret).chain(audit).chain(policy) {
            *path = base.join(&*path);
        }
    }

    /// Checks settings that exclude or require each other.
    ///
    /// # Errors
    /// Names the settings and what to write.
    pub fn check(&self) -> Result<(), GatewayConfigError> {
        let Self { listen, callers, .. } = self;
        let is_remote = listen.http.is_some_and(|address| !address.ip().is_loopback());
        let has_tls =
            listen.tls.is_some() || listen.public_url.as_ref().is_some_and(|url| url.starts_with("https://"));
        let message = if listen.stdio && (listen.http.is_some() || listen.unix.is_some()) {
            "`listen.stdio` excludes `listen.http` and `listen.unix`: stdin has one client; remove one of them"
        } else if listen.http.is_none() && (callers.anonymous || callers.authenticates()) {
            "`callers` needs `listen.http`: stdin and a Unix socket belong to one user already; remove `[callers]`"
        } else if callers.anonymous && callers.authenticates() {
            "`callers.anonymous` excludes `callers.api_keys` and `callers.oauth`; remove one of them"
        } else if is_remote && !listen.allow_remote {
            "`listen.http` is reachable from other machines; listen on 127.0.0.1, or set `listen.allow_remote = true`"
        } else if is_remote && listen.allowed_hosts.is_empty() && listen.public_url.is_none() {
            "`listen.allow_remote` needs `listen.allowed_hosts` or `listen.public_url`: requests for other hosts are rejected"
        } else if is_remote && callers.authenticates() && !has_tls {
            "keys and tokens would cross the network in the clear; set `listen.tls`, or `listen.public_url` to the https URL of \
             the proxy in front"
        } else if listen.metrics.is_some_and(|address| !address.ip().is_loopback()) && !listen.allow_remote {
            "`listen.metrics` is reachable from other machines, and metrics name servers, tools and rules; listen on 127.0.0.1, \
             or set `listen.allow_remote = true`"
        } else if listen.tls.is_some() && listen.http.is_none() {
            "`listen.tls` needs `listen.http`: a Unix socket is not encrypted"
        } else {
            return Ok(());
        };
        Err(GatewayConfigError::new(GatewayConfigErrorKind::Conflict(message.to_owned())))
    }

    /// Compiles the policy in the table `[policy]` of `text`, the document itself; `None` if it is in a file of its own.
    ///
    /// # Errors
    /// Names the line and the rule.
    pub fn inline_policy(&self, text: &str) -> Result<Option<CompiledPolicy>, GatewayConfigError> {
        match self.policy {
            Some(PolicySource::Inline) => CompiledPolicy::parse_inline(text).map(Some).map_err(|error| {
                let message = error.to_string();
                let text = message.split_once(": ").map_or(message.as_str(), |(_, text)| text).to_owned();
                GatewayConfigError::new(GatewayConfigErrorKind::Policy(text)).at_line(error.line)
            }),
            Some(PolicySource::File(_)) | None => Ok(None),
        }
    }

    /// Returns a document with nothing but the table `[policy]` of `text`, the document itself: without secrets of servers.
    pub fn policy_excerpt(&self, text: &str) -> Option<String> {
        matches!(self.policy, Some(PolicySource::Inline)).then(|| excerpt(text, "policy"))?
    }

    /// Returns the options of the gateway, without policy, limits and audit log.
    pub fn options(&self) -> GatewayOptions {
        let mut options = GatewayOptions::default().with_prefix(self.prefix.unwrap_or_default());
        options.instructions.clone_from(&self.instructions);
        let limits = &self.limits;
        options.page_size = limits.page_size.unwrap_or(options.page_size).max(1);
        options.startup_wait = limits.startup_wait.unwrap_or(options.startup_wait);
        options.keep_alive = limits.keep_alive.unwrap_or(options.keep_alive);
        let parked = ParkedLimits::default();
        options.parked = ParkedLimits {
            total: limits.parked.unwrap_or(parked.total),
            per_principal: limits.parked_per_principal.unwrap_or(parked.per_principal),
            per_server: limits.parked_per_server.unwrap_or(parked.per_server),
            lifetime: limits.parked_time.unwrap_or(parked.lifetime),
        };
        options
    }

    pub(super) fn line_of(&self, at: usize) -> usize {
        self.line_ends.partition_point(|end| *end < at) + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> GatewayConfigError {
        let checked = GatewayConfig::parse(text).and_then(|config| {
            config.check()?;
            config.inline_policy(text)?;
            config.resolve_servers("/etc/gateway".as_ref(), &|_| None)
        });
        checked.unwrap_err()
    }

    #[test]
    fn errors_name_the_line_and_what_to_write() {
        for (text, line, hint) in [
            ("prefix = \"sometimes\"", Some(1), "\"always\", \"conflict\" or \"never\""),
            ("\n[listen]\nhttp = \"localhost\"", Some(3), "127.0.0.1:8080"),
            ("[listen]\nport = 80", Some(2), "unknown field `port`"),
            ("drain = \"soon\"", Some(1), "30s"),
            ("drain = \"0s\"", Some(1), "30s"),
            ("drain = \"9999999999999999999h\"", Some(1), "30s"),
            ("[callers.oauth]\nscopes = []", Some(1), "missing field `issuer`"),
            ("[servers.a]\ncommand = \"x\"\n[servers.b]\ncomand = \"x\"", Some(3), "server `b`"),
            ("[servers.a]\ncommand = \"x\"\ncolour = 1", Some(1), "`colour` is not known"),
            (
                "[servers.a]\nurl = \"https://a.example\"\nheaders = { a = \"${NOT_SET}\" }",
                Some(1),
                "NOT_SET",
            ),
            (
                "[servers.a]\nurl = \"https://a.example\"\nheaders = { a = \"${caller.token}\" }",
                Some(1),
                "not offered yet",
            ),
            ("[policy]\ndefault = \"deny\"\n[[policy.rule]]\neffect = \"maybe\"", Some(4), "effect"),
            ("include = [\"none.json\"]", None, "cannot be read"),
            ("[listen]\nhttp = \"0.0.0.0:80\"", None, "allow_remote"),
            ("[listen]\nhttp = \"0.0.0.0:80\"\nallow_remote = true", None, "allowed_hosts"),
            ("[listen]\nstdio = true\nunix = \"a\"", None, "listen.stdio"),
            (
                "[listen]\nhttp = \"80\"\n[callers]\nanonymous = true\napi_keys = \"k\"",
                None,
                "callers.anonymous",
            ),
            ("[callers]\nanonymous = true", None, "listen.http"),
            ("[listen.tls]\ncertificate = \"c\"\nkey = \"k\"", None, "listen.http"),
            (
                "[listen]\nhttp = \"0.0.0.0:80\"\nallow_remote = true\nallowed_hosts = [\"h\"]\n[callers]\napi_keys = \"k\"",
                None,
                "in the clear",
            ),
            ("[audit]\nfiles = 3", Some(1), "missing field `path`"),
            ("[audit]\npath = \"a\"\noverflow = \"wait\"", Some(3), "write \"block\""),
            ("[audit]\npath = \"a\"\nfailure = true", Some(3), "a string"),
            ("[audit]\npath = \"a\"\nfailure = \"ignore\"", Some(3), "\"closed\""),
            ("[audit]\npath = \"a\"\nqueue = 0", Some(3), "from 1 to 1000000"),
            ("[audit]\npath = \"a\"\nmax_bytes = -1", Some(3), "whole number from 1"),
            ("[audit]\npath = \"a\"\nfiles = 1001", Some(3), "from 1 to 1000"),
            ("[audit]\npath = \"a\"\nredact = [\"ssn\"]", Some(3), "unknown field `redact`"),
            ("audit = 1", Some(1), "or a table with `path`"),
            ("not toml", Some(1), ""),
        ] {
            let error = error(text);
            assert_eq!(error.line, line, "{text}: {error}");
            assert!(error.to_string().contains(hint), "{text}: {error}");
        }
    }

    #[test]
    fn a_document_that_is_too_large_is_not_read() {
        let error = error(&"#".repeat(MAX_DOCUMENT_BYTES + 1));
        assert_eq!(error.kind, GatewayConfigErrorKind::TooLarge { limit: MAX_DOCUMENT_BYTES });
    }

    #[test]
    fn everything_is_read() {
        let text = r#"
            prefix = "conflict"
            instructions = "ask first"
            drain = "500ms"
            audit = "audit.jsonl"
            [listen]
            http = "8080"
            unix = "gateway.sock"
            public_url = "https://tools.example.org/mcp"
            allowed_hosts = ["tools.example.org"]
            [listen.tls]
            certificate = "cert.pem"
            key = "key.pem"
            [callers.oauth]
            issuer = "https://login.example.org"
            dpop = "required"
            [callers.oauth.introspection]
            endpoint = "https://login.example.org/introspect"
            client_id = "gateway"
            client_secret_file = "secret"
            [limits]
            page_size = 10
            parked_time = "5m"
            [policy]
            default = "allow"
            [[policy.limit]]
            rate = "1/s"
            [servers.time]
            command = "clock"
            timeout = 1000
        "#;
        let config = GatewayConfig::parse(text).unwrap();
        config.check().unwrap();
        let compiled = config.inline_policy(text).unwrap().unwrap();
        assert!(!compiled.limits.is_empty());
        assert_eq!(config.listen.http.unwrap().to_string(), "127.0.0.1:8080");
        let oauth = config.callers.oauth.as_ref().unwrap();
        assert_eq!(oauth.dpop, super::super::DpopMode::Required);
        let options = config.options();
        assert_eq!((options.page_size, options.prefix), (10, PrefixPolicy::Conflict));
        assert_eq!(options.parked.lifetime, Duration::from_secs(300));
        let servers = config.resolve_servers("/etc/gateway".as_ref(), &|_| None).unwrap();
        let plan = servers.servers[0].plan.as_ref().unwrap();
        assert_eq!(plan.base_directory.as_deref(), Some("/etc/gateway".as_ref()));
    }
}
