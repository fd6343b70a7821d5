//! The settings of a gateway: its file with the flags applied, its servers and its policy, valid as a whole.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use switchboard::gateway::GatewayOptions;
use switchboard::gateway::audit::AuditPolicy;
use switchboard::gateway::config::{
    AuditConfig, CertificateFiles, CompiledPolicy, GatewayConfig, GatewayConfigError, GatewayConfigErrorKind,
    PolicySource, check_token_passthrough,
};
use switchboard::gateway::policy::Policy;
use switchboard::gateway::view::{View, ViewError};
use switchboard::host::config::{Locations, ResolvedConfig, Scope};

use crate::args::GatewayArgs;
use crate::configured_servers::{ConfigFiles, NO_SERVERS_HINT};
use crate::environment::variable;
use crate::error::CommandError;
use crate::gateway::applied_state::setting_texts;
use crate::gateway::policy_file::read_policy;
use crate::gateway::source_files::SourceFiles;
use crate::output::Screen;
use crate::sanitize::one_line;

/// How long calls under way may take after a signal.
const DEFAULT_DRAIN: Duration = Duration::from_secs(30);

/// The settings of a gateway.
#[derive(Debug)]
pub(crate) struct GatewaySettings {
    /// The document with the flags applied.
    pub(crate) config: GatewayConfig,
    /// The document.
    pub(crate) file: Option<PathBuf>,
    pub(crate) locations: Locations,
    pub(crate) servers: ResolvedConfig,
    pub(crate) policy: Option<CompiledPolicy>,
    /// The text of the policy, or a document that has it as its only table.
    pub(crate) policy_text: Option<String>,
    pub(crate) views: Vec<View>,
    /// Everything that was read.
    pub(crate) sources: SourceFiles,
    /// The keys whose values are those of flags.
    pub(crate) overridden: BTreeSet<String>,
}

impl GatewaySettings {
    /// Reads the file and the flags.
    ///
    /// # Errors
    /// Names the file, the line and what to do. Nothing of an invalid file is used.
    pub(crate) fn load(args: &GatewayArgs) -> Result<Self, CommandError> {
        let settings = Self::read(args.config.as_deref(), |config| apply_flags(config, args))?;
        settings.config.check().map_err(|error| settings.conflict(error))?;
        settings.check_servers()?;
        Ok(settings)
    }

    /// Reads a file without flags, and without the rules that only hold for a gateway that runs.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub(crate) fn load_file(file: &Path) -> Result<Self, CommandError> {
        let settings = Self::read(Some(file), |_| ())?;
        settings.config.check().map_err(|error| settings.conflict(error))?;
        settings.check_servers()?;
        Ok(settings)
    }

    fn read(file: Option<&Path>, apply_flags: impl FnOnce(&mut GatewayConfig)) -> Result<Self, CommandError> {
        // Before the contents: a change in between is found by the next comparison.
        let file = file.map(absolute).transpose()?;
        let (mut config, text) = match &file {
            Some(file) => read_document(file)?,
            None => (GatewayConfig::default(), String::new()),
        };
        let base = base_directory(file.as_deref());
        config.resolve_paths(&base);
        let written = setting_texts(&config);
        apply_flags(&mut config);
        let effective = setting_texts(&config);
        let is_overridden = |key: &&String| written.get(*key) != effective.get(*key);
        let overridden = written.keys().chain(effective.keys()).filter(is_overridden).cloned().collect();
        let standard = ConfigFiles::read();
        let (locations, servers) = match config.has_servers() {
            true => {
                let locations = standard.map(|files| files.locations);
                let locations = locations.unwrap_or_else(|_| Locations::under(&base, &base, &base));
                (
                    locations,
                    config
                        .resolve_servers(&base, &variable)
                        .map_err(|error| in_file(error, file.as_deref()))?,
                )
            }
            false => standard.map(|files| (files.locations, files.resolved))?,
        };
        let (policy, policy_text) = match &config.policy {
            Some(PolicySource::File(path)) => {
                let (policy, text) = read_policy(path)?;
                (Some(policy), Some(text))
            }
            Some(PolicySource::Inline) => {
                let policy = config.inline_policy(&text).map_err(|error| in_file(error, file.as_deref()))?;
                (policy, config.policy_excerpt(&text))
            }
            None => (None, None),
        };
        let views = View::parse_all(&text).map_err(|error| view_error(&error, file.as_deref()))?;
        let sources = SourceFiles::read(watched_files(&config, file.as_deref(), &base, &locations));
        Ok(Self { config, file, locations, servers, policy, policy_text, views, sources, overridden })
    }

    /// Returns where the policy is written, in words.
    pub(crate) fn policy_source(&self) -> String {
        match (&self.config.policy, &self.file) {
            (Some(PolicySource::File(path)), _) => one_line(&path.display().to_string()),
            (Some(PolicySource::Inline), Some(file)) => {
                format!("[policy] of {}", one_line(&file.display().to_string()))
            }
            _ => "no policy: every call is allowed".to_owned(),
        }
    }

    /// Returns the secret of the client as which tokens are introspected, as it was read with these settings.
    pub(crate) fn client_secret(&self) -> Option<&[u8]> {
        self.sources.contents(self.config.callers.client_secret_file()?)
    }

    /// Returns how long calls under way may take after a signal.
    pub(crate) fn drain(&self) -> Duration {
        self.config.drain.unwrap_or(DEFAULT_DRAIN)
    }

    /// Returns whether every program that reaches the port can send requests, without having been told to allow that.
    pub(crate) fn is_open_by_default(&self) -> bool {
        let callers = &self.config.callers;
        self.config.listen.http.is_some() && !callers.authenticates() && !callers.anonymous
    }

    /// Sets policy, limits and payload rules of a gateway, once; prints warnings about rules without effect. Buckets of limits
    /// that replace others keep their state.
    pub(crate) fn apply_policy(&mut self, mut options: GatewayOptions, screen: &Screen) -> GatewayOptions {
        let (policy, limits, payloads) = match self.policy.take() {
            Some(CompiledPolicy { policy, limits, audit }) => (policy, Some(limits), audit),
            None => (Policy::allow_all(), None, AuditPolicy::default()),
        };
        for warning in policy.warnings() {
            screen.warn(&one_line(&warning.to_string()));
        }
        options.policy = Arc::new(policy);
        let replaced = options.limits.take();
        options.limits = limits.map(|limits| match &replaced {
            Some(replaced) => Arc::new(limits.with_state_of(replaced)),
            None => Arc::new(limits),
        });
        options.audit = options.audit.map(|log| log.with_policy(payloads));
        options
    }

    fn check_servers(&self) -> Result<(), CommandError> {
        if self.servers.servers.is_empty() {
            let failure = CommandError::usage("no servers are configured");
            return Err(match &self.file {
                Some(_) => failure.hint("add a table [servers.NAME], or `include` a file with mcpServers"),
                None => failure.hint(NO_SERVERS_HINT),
            });
        }
        for server in &self.servers.servers {
            if let Some(entry) = &server.entry {
                check_token_passthrough(&server.name, entry)
                    .map_err(|kind| in_file(GatewayConfigError::new(kind), None))?;
            }
        }
        Ok(())
    }

    fn conflict(&self, error: GatewayConfigError) -> CommandError {
        in_file(error, self.file.as_deref()).hint(
            "the flags of these keys are --http, --unix, --stdio, --allow-remote, --allow-host, --public-url, --tls-cert, \
             --tls-key, --api-keys and --anonymous",
        )
    }
}

/// Applies the flags, which win.
fn apply_flags(config: &mut GatewayConfig, args: &GatewayArgs) {
    let listen = &mut config.listen;
    if args.stdio {
        (listen.stdio, listen.http, listen.unix) = (true, None, None);
        config.callers = Default::default();
    }
    if args.http.is_some() || args.unix.is_some() {
        listen.stdio = false;
    }
    listen.http = args.http.or(listen.http);
    listen.metrics = args.metrics.or(listen.metrics);
    set(&mut listen.unix, &args.unix);
    set(&mut listen.public_url, &args.public_url);
    listen.allow_remote |= args.allow_remote;
    if !args.allow_host.is_empty() {
        listen.allowed_hosts.clone_from(&args.allow_host);
    }
    if let (Some(certificate), Some(key)) = (&args.tls_cert, &args.tls_key) {
        listen.tls = Some(CertificateFiles::new(certificate, key));
    }
    if args.anonymous {
        config.callers = Default::default();
        config.callers.anonymous = true;
    }
    if args.api_keys.is_some() {
        config.callers.anonymous = false;
        config.callers.api_keys.clone_from(&args.api_keys);
    }
    config.prefix = args.prefix.map(Into::into).or(config.prefix);
    config.drain = args.drain.or(config.drain);
    config.drift = args.drift.map(Into::into).or(config.drift);
    if let Some(path) = &args.audit {
        match &mut config.audit {
            Some(audit) => audit.path.clone_from(path),
            None => config.audit = Some(AuditConfig::new(path)),
        }
    }
    if let Some(path) = &args.policy {
        config.policy = Some(PolicySource::File(path.clone()));
    }
}

fn set<T: Clone>(field: &mut Option<T>, flag: &Option<T>) {
    if flag.is_some() {
        field.clone_from(flag);
    }
}

fn absolute(path: &Path) -> Result<PathBuf, CommandError> {
    std::path::absolute(path).map_err(CommandError::from)
}

fn read_document(file: &Path) -> Result<(GatewayConfig, String), CommandError> {
    let text = std::fs::read_to_string(file).map_err(|error| {
        in_file(GatewayConfigError::new(GatewayConfigErrorKind::Unreadable(error.to_string())), Some(file))
    })?;
    let config = GatewayConfig::parse(&text).map_err(|error| in_file(error, Some(file)))?;
    Ok((config, text))
}

/// Returns the directory where relative paths of a document begin.
fn base_directory(file: Option<&Path>) -> PathBuf {
    file.and_then(Path::parent).map_or_else(|| PathBuf::from("."), Path::to_owned)
}

/// Returns the error with its file; what to do is the hint.
fn in_file(error: GatewayConfigError, file: Option<&Path>) -> CommandError {
    let error = match file {
        Some(file) => error.in_file(file),
        None => error,
    };
    let text = error.to_string();
    match text.split_once('\n') {
        Some((what, hint)) => CommandError::usage(what).hint(hint),
        None => CommandError::usage(text),
    }
}

fn view_error(error: &ViewError, file: Option<&Path>) -> CommandError {
    let place = file.map(|file| format!("{}, ", file.display())).unwrap_or_default();
    CommandError::usage(format!("{place}{error}")).hint("views are described in docs/gateway.md")
}

/// Returns the files whose change is a change of the settings. Certificates and key files are reread by their users, too, but
/// a broken key file is reported at once this way.
fn watched_files(
    config: &GatewayConfig,
    file: Option<&Path>,
    base: &Path,
    locations: &Locations,
) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = file.map(Path::to_owned).into_iter().collect();
    if let Some(PolicySource::File(path)) = &config.policy {
        files.push(path.clone());
    }
    files.extend(config.callers.api_keys.clone());
    files.extend(config.callers.client_secret_file().map(Path::to_owned));
    match config.has_servers() {
        true => files.extend(config.included_files(base)),
        false => {
            files.extend(Scope::files(locations).map(|(_, path)| path.to_owned()));
            files.push(locations.approvals.clone());
        }
    }
    files
}
