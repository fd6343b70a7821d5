//! Settings that take effect at a restart only.

use switchboard::gateway::config::GatewayConfig;
use switchboard::host::DriftPolicy;

/// Returns whether a key, as `switchboard plan` names it, takes effect at a restart only.
pub(crate) fn needs_restart(key: &str) -> bool {
    key.starts_with("listen.")
        || key.starts_with("audit.")
        || ["prefix", "instructions", "audit", "drift", "limits", "callers.anonymous"].contains(&key)
}

/// Keeps those of the running settings that cannot be replaced, and returns the names of those that the file changes.
pub(crate) fn keep_restart_keys(running: &GatewayConfig, new: &mut GatewayConfig) -> Vec<&'static str> {
    let mut kept = Vec::new();
    {
        let mut keep = |name: &'static str, is_same: bool| {
            if !is_same {
                kept.push(name);
            }
        };
        let (was, is) = (&running.listen, &new.listen);
        keep("listen.http", was.http == is.http);
        keep("listen.unix", was.unix == is.unix);
        keep("listen.stdio", was.stdio == is.stdio);
        keep("listen.metrics", was.metrics == is.metrics);
        keep("listen.public_url", was.public_url == is.public_url);
        keep("listen.allowed_hosts", was.allowed_hosts == is.allowed_hosts);
        keep("listen.ok_status_clients", was.ok_status_clients == is.ok_status_clients);
        keep("listen.allow_remote", was.allow_remote == is.allow_remote);
        keep("listen.tls", was.tls == is.tls);
        keep("prefix", running.prefix.unwrap_or_default() == new.prefix.unwrap_or_default());
        keep("instructions", running.instructions == new.instructions);
        keep("audit", running.audit == new.audit);
        keep(
            "drift",
            running.drift.unwrap_or(DriftPolicy::Withhold) == new.drift.unwrap_or(DriftPolicy::Withhold),
        );
        keep("limits", running.limits == new.limits);
    }
    new.listen.clone_from(&running.listen);
    new.prefix = running.prefix;
    new.instructions.clone_from(&running.instructions);
    new.audit.clone_from(&running.audit);
    new.drift = running.drift;
    new.limits.clone_from(&running.limits);
    // Clients have read where to log in, and sessions belong to a caller or to nobody.
    let described = |config: &GatewayConfig| {
        let oauth = config.callers.oauth.as_ref();
        oauth.map(|oauth| (oauth.issuer.clone(), oauth.scopes.clone(), oauth.dpop))
    };
    let is_same_kind = running.callers.authenticates() == new.callers.authenticates()
        && running.callers.anonymous == new.callers.anonymous
        && described(running) == described(new);
    if !is_same_kind {
        kept.push("callers");
        new.callers.clone_from(&running.callers);
    }
    kept
}
