//! A stored login in words and as JSON: account, issuer, expiry, whether it refreshes by itself. Never a token.

use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use switchboard::auth::{GrantState, StoredGrant};

use crate::sanitize::one_line;

/// Returns a stored login as JSON.
pub(crate) fn login_json(stored: &StoredGrant) -> Value {
    let unix =
        |time: SystemTime| time.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    json!({
        "server": stored.grant.server,
        "account": stored.key.account,
        "issuer": stored.key.issuer,
        "clientId": stored.key.client_id,
        "scopes": stored.grant.scopes().iter().collect::<Vec<_>>(),
        "expiresAt": stored.grant.expires_at.map(unix),
        "canRefresh": stored.grant.refresh_token.is_some(),
        "needsLogin": stored.grant.needs_login(),
    })
}

/// Returns how long a token is valid, in words.
pub(crate) fn expiry_text(stored: &StoredGrant, now: SystemTime) -> String {
    if let GrantState::NeedsLogin { reason } = &stored.grant.state {
        return format!("rejected: {}", one_line(reason));
    }
    let Some(expires_at) = stored.grant.expires_at else { return "until the server rejects it".to_owned() };
    match expires_at.duration_since(now) {
        Ok(left) => format!("for {}", duration_text(left)),
        Err(_) if stored.grant.refresh_token.is_some() => "expired, refreshed when used".to_owned(),
        Err(_) => "expired".to_owned(),
    }
}

/// Returns a duration in the largest unit that shows at least two of it.
pub(crate) fn duration_text(left: Duration) -> String {
    match left.as_secs() {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds @ 120..7200 => format!("{} min", seconds / 60),
        seconds @ 7200..172_800 => format!("{} h", seconds / 3600),
        seconds => format!("{} days", seconds / 86_400),
    }
}
