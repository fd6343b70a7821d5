//! What a gateway has applied, for `switchboard plan`: written with every start, reload and change of the tools.
//!
//! Invariant: no secret is in it, and none can be guessed with it. Entries are masked; their digests tell whether a secret has
//! changed, and are made with a key that is not in the file.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use switchboard::gateway::audit::OverflowPolicy;
use switchboard::gateway::config::{GatewayConfig, PolicySource};
use switchboard::gateway::view::{View, ViewDocument};
use switchboard::host::config::canonical::{canonical_digest, to_hex};
use switchboard::host::config::disk::{self, Owner};
use switchboard::host::config::update::update;
use switchboard::host::config::{ConfigError, Locations, ResolvedConfig};

use crate::gateway::digest_key::DigestKey;
use crate::gateway::known_tool::KnownTools;
use crate::gateway::settings::GatewaySettings;

/// The largest state that is read.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// The applied settings of a gateway.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct AppliedState {
    /// The process that applied them.
    pub(crate) pid: u32,
    /// Settings by key, as text.
    pub(crate) settings: BTreeMap<String, String>,
    /// The keys whose values are those of flags: a file does not change them.
    pub(crate) overridden: BTreeSet<String>,
    pub(crate) servers: BTreeMap<String, AppliedServer>,
    /// The text of the policy.
    pub(crate) policy: Option<String>,
    /// Whether `policy` is the table `[policy]` of that text.
    pub(crate) is_inline_policy: bool,
    /// The tools of the servers that have listed them.
    pub(crate) tools: KnownTools,
    pub(crate) views: BTreeMap<String, AppliedView>,
    /// Why the file was not applied when it was last changed.
    pub(crate) error: Option<String>,
}

/// A server of an [`AppliedState`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct AppliedServer {
    /// The entry with masked secrets.
    pub(crate) entry: serde_json::Value,
    /// The digest of the entry as written, with its secrets, by the key of this user.
    pub(crate) keyed_digest: String,
}

/// A view of an [`AppliedState`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct AppliedView {
    /// The digest of its definition, which may fix secrets as arguments, by the key of this user.
    pub(crate) keyed_digest: String,
    /// The known tools that it takes, as `server/tool`.
    pub(crate) tools: BTreeSet<String>,
}

impl AppliedState {
    /// Returns the state of settings that were applied a moment ago; no tools are known yet.
    pub(crate) fn of(settings: &GatewaySettings, key: &DigestKey) -> Self {
        Self {
            pid: std::process::id(),
            settings: setting_texts(&settings.config),
            overridden: settings.overridden.clone(),
            servers: applied_servers(&settings.servers, key),
            policy: settings.policy_text.clone(),
            is_inline_policy: matches!(settings.config.policy, Some(PolicySource::Inline)),
            tools: KnownTools::new(),
            views: applied_views(settings, key),
            error: None,
        }
    }

    /// Sets the tools of the servers, and with them those of the views.
    pub(crate) fn set_tools(&mut self, tools: KnownTools, views: &[View]) {
        self.tools = tools;
        for view in views {
            let Some(applied) = self.views.get_mut(view.name()) else { continue };
            let all =
                self.tools.iter().flat_map(|(server, tools)| tools.keys().map(move |tool| (server, tool)));
            applied.tools = tools_of_view(view, all);
        }
    }

    /// Reads the state that a gateway with this configuration file has written; `None` if none has.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read.
    pub(crate) fn read(locations: &Locations, config: &Path) -> Result<Option<Self>, ConfigError> {
        let path = path(locations, config);
        let text = disk::read(&path, Owner::User, MAX_BYTES)?;
        // A state of another version is as good as none.
        Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
    }

    /// Writes the state.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub(crate) fn write(&self, locations: &Locations, config: &Path) -> Result<(), ConfigError> {
        let text = serde_json::to_string_pretty(self).unwrap_or_default();
        update(&path(locations, config), Owner::User, MAX_BYTES, |_| Ok::<_, ConfigError>((text.clone(), ())))
    }
}

/// Returns the file of the state: one per configuration file, among the user's state files.
fn path(locations: &Locations, config: &Path) -> PathBuf {
    state_file(locations, config, "")
}

/// Returns a file of the state of a gateway, which belongs to its configuration file.
pub(crate) fn state_file(locations: &Locations, config: &Path, suffix: &str) -> PathBuf {
    let canonical = config.canonicalize().unwrap_or_else(|_| config.to_owned());
    let digest = to_hex(&canonical_digest(&serde_json::json!(canonical.to_string_lossy())));
    let folder = locations.approvals.parent().unwrap_or(Path::new("."));
    folder.join("gateways").join(format!("{}{suffix}.json", &digest[..32]))
}

/// Returns the servers with masked entries.
pub(crate) fn applied_servers(servers: &ResolvedConfig, key: &DigestKey) -> BTreeMap<String, AppliedServer> {
    let applied = |server: &switchboard::host::config::ConfiguredServer| {
        let entry = server.entry.as_ref()?;
        let written = serde_json::to_value(entry).unwrap_or_default();
        let keyed_digest = key.digest(&written);
        Some((server.name.clone(), AppliedServer { entry: entry.masked(), keyed_digest }))
    };
    servers.servers.iter().filter_map(applied).collect()
}

/// Returns the tools that a view takes, as `server/tool`.
pub(crate) fn tools_of_view<'a>(
    view: &View,
    tools: impl Iterator<Item = (&'a String, &'a String)>,
) -> BTreeSet<String> {
    let shown = tools.filter(|(server, tool)| view.has_tool(server, tool));
    shown.map(|(server, tool)| format!("{server}/{tool}")).collect()
}

fn applied_views(settings: &GatewaySettings, key: &DigestKey) -> BTreeMap<String, AppliedView> {
    let applied = |(name, document): (&String, &ViewDocument)| {
        let keyed_digest = key.digest(&serde_json::json!(format!("{document:?}")));
        (name.clone(), AppliedView { keyed_digest, tools: BTreeSet::new() })
    };
    settings.config.views.iter().map(applied).collect()
}

/// Returns a policy as a configuration file writes it.
fn overflow_text(policy: OverflowPolicy) -> &'static str {
    match policy {
        OverflowPolicy::Wait => "block",
        OverflowPolicy::Drop => "drop",
    }
}

/// Returns the settings as texts by key, for comparison.
pub(crate) fn setting_texts(config: &GatewayConfig) -> BTreeMap<String, String> {
    let mut texts = BTreeMap::new();
    let mut put = |key: &str, value: Option<String>| {
        if let Some(value) = value {
            texts.insert(key.to_owned(), value);
        }
    };
    let path = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
    let listen = &config.listen;
    put("prefix", config.prefix.map(|prefix| format!("{prefix:?}").to_lowercase()));
    put("drain", config.drain.map(|drain| format!("{drain:?}")));
    put("instructions", config.instructions.clone());
    if let Some(audit) = &config.audit {
        put("audit", Some(audit.path.display().to_string()));
        put("audit.overflow", audit.overflow.map(|policy| overflow_text(policy).to_owned()));
        put("audit.failure", audit.failure.map(|policy| format!("{policy:?}").to_lowercase()));
        put("audit.queue", audit.queue.map(|records| records.to_string()));
        put("audit.max_bytes", audit.max_bytes.map(|bytes| bytes.to_string()));
        put("audit.files", audit.files.map(|files| files.to_string()));
    }
    put("drift", config.drift.map(|drift| format!("{drift:?}").to_lowercase()));
    put("listen.http", listen.http.map(|address| address.to_string()));
    put("listen.unix", path(&listen.unix));
    put("listen.metrics", listen.metrics.map(|address| address.to_string()));
    put("listen.public_url", listen.public_url.clone());
    put("listen.allow_remote", listen.allow_remote.then(|| "true".to_owned()));
    let ok_status_clients = Some(listen.ok_status_clients.join(", "));
    put("listen.ok_status_clients", ok_status_clients.filter(|clients| !clients.is_empty()));
    put("listen.allowed_hosts", Some(listen.allowed_hosts.join(", ")).filter(|hosts| !hosts.is_empty()));
    put("listen.tls", listen.tls.as_ref().map(|tls| tls.certificate.display().to_string()));
    put("callers.api_keys", path(&config.callers.api_keys));
    put("callers.anonymous", config.callers.anonymous.then(|| "true".to_owned()));
    put("callers.oauth", config.callers.oauth.as_ref().map(|oauth| format!("{oauth:?}")));
    put(
        "limits",
        Some(&config.limits)
            .filter(|limits| **limits != Default::default())
            .map(|limits| format!("{limits:?}")),
    );
    texts
}
