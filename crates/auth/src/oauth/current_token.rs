//! The token in use: the stored grant, and what is sent of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::header::HeaderValue;
use zeroize::Zeroizing;

use crate::dpop::DpopKey;
use crate::error::AuthError;
use crate::store::StoredGrant;
use crate::token::{TokenKind, sensitive};

/// How long a token counts as just issued if no request has been accepted with it.
const TRIAL_PERIOD: Duration = Duration::from_secs(60);

/// The token in use.
pub(super) struct CurrentToken {
    pub(super) stored: StoredGrant,
    pub(super) authorization: HeaderValue,
    pub(super) dpop: Option<Arc<DpopKey>>,
    /// Whether it was issued during this process and no request has been accepted with it yet.
    pub(super) is_unproven: AtomicBool,
}

impl CurrentToken {
    /// Returns the token of a grant that replaces another.
    pub(super) fn new(
        stored: StoredGrant,
        is_unproven: bool,
        former: Option<&Self>,
    ) -> Result<Self, AuthError> {
        let dpop = match (&stored.grant.dpop_key, former) {
            // The same key keeps its nonces.
            (Some(key), Some(former)) if former.stored.grant.dpop_key.as_ref() == Some(key) => {
                former.dpop.clone()
            }
            (Some(key), _) => {
                let pkcs8 = Zeroizing::new(STANDARD.decode(key.expose()).unwrap_or_default());
                Some(Arc::new(DpopKey::from_pkcs8(&pkcs8)?))
            }
            (None, _) => None,
        };
        let scheme = match stored.grant.kind {
            TokenKind::Bearer => "Bearer",
            TokenKind::Dpop => "DPoP",
        };
        let text = Zeroizing::new(format!("{scheme} {}", stored.grant.access_token.expose()));
        Ok(Self { authorization: sensitive(&text)?, stored, dpop, is_unproven: AtomicBool::new(is_unproven) })
    }

    /// Returns whether it was issued to this process a moment ago and no request has been accepted with it.
    pub(super) fn is_just_issued(&self) -> bool {
        let age = SystemTime::now().duration_since(self.stored.grant.obtained_at).unwrap_or_default();
        self.is_unproven.load(Ordering::Relaxed) && age < TRIAL_PERIOD
    }
}
