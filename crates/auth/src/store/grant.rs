//! A grant: tokens, expiry, scopes, and all that a refresh needs.

use std::fmt;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use switchboard_http::Secret;

use crate::client_auth::{ClientAuthentication, OAuthClient, SecretPlacement};
use crate::scope::Scopes;
use crate::token::{TokenKind, TokenResponse};

/// The least time before expiry at which a token is refreshed.
const REFRESH_AHEAD: Duration = Duration::from_secs(60);

/// Identifies a grant. Tokens of one key are never sent for another.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct GrantKey {
    /// The authorization server.
    pub issuer: String,
    /// The resource that the token is for.
    pub resource: String,
    /// The client.
    pub client_id: String,
    /// The account of the user, by the name that they gave it.
    pub account: String,
}

/// An account at an MCP server.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ServerAccount {
    /// The URL of the MCP server.
    pub server: String,
    /// The account, by the name that the user gave it.
    pub account: String,
}

impl ServerAccount {
    /// The name of the account if the user gives none.
    pub const DEFAULT: &'static str = "default";

    /// Returns an account at a server.
    pub fn new(server: impl Into<String>, account: impl Into<String>) -> Self {
        Self { server: server.into(), account: account.into() }
    }
}

/// A grant: what an authorization server issued, and all that a refresh needs.
#[derive(Clone, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Grant {
    /// The URL of the MCP server that it was obtained for.
    pub server: String,
    /// The access token.
    #[serde(with = "exposed")]
    pub access_token: Secret,
    /// How it is sent.
    pub kind: TokenKind,
    /// When it was obtained.
    pub obtained_at: SystemTime,
    /// When it expires, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<SystemTime>,
    /// The refresh token.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "exposed_option")]
    pub refresh_token: Option<Secret>,
    /// The scopes that were requested; a refresh and a step-up start from them.
    pub requested_scopes: Scopes,
    /// The scopes that were granted, if the server said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub granted_scopes: Option<Scopes>,
    /// The value of `resource` in token requests; `None` to omit it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_parameter: Option<String>,
    /// The client that it was issued to.
    pub client: StoredClient,
    /// The token endpoint.
    pub token_endpoint: String,
    /// Where it is revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revocation_endpoint: Option<String>,
    /// The methods of client authentication that the token endpoint lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth_methods: Option<Vec<String>>,
    /// The private key that the tokens are bound to: PKCS#8 in base64.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "exposed_option")]
    pub dpop_key: Option<Secret>,
    /// Whether it can be used.
    #[serde(default)]
    pub state: GrantState,
}

/// Whether a grant can be used.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum GrantState {
    /// Yes.
    #[default]
    Active,
    /// A refresh was sent and no answer came: the server may have rotated the refresh token.
    MaybeRotated {
        /// When it was sent.
        since: SystemTime,
    },
    /// The server rejected the refresh token. The grant is kept so that the reason can be shown.
    NeedsLogin {
        /// The error of the server.
        reason: String,
    },
}

/// A registered client, as it is stored.
#[derive(Clone, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StoredClient {
    /// The client id.
    pub id: String,
    /// The secret.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "exposed_option")]
    pub secret: Option<Secret>,
    /// Where the secret is sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<SecretPlacement>,
    /// The scopes that its registration named, to which some servers restrict it.
    #[serde(default, skip_serializing_if = "Scopes::is_empty")]
    pub scopes: Scopes,
}

impl Grant {
    /// Returns whether the access token should be refreshed now: less than 60 s or a tenth of its lifetime remain, but
    /// never more than half of it.
    pub fn is_due(&self, now: SystemTime) -> bool {
        let Some(expires_at) = self.expires_at else { return false };
        let lifetime = expires_at.duration_since(self.obtained_at).unwrap_or_default();
        let ahead = REFRESH_AHEAD.max(lifetime / 10).min(lifetime / 2);
        expires_at.duration_since(now).unwrap_or_default() <= ahead
    }

    /// Returns whether the access token has expired.
    pub fn is_expired(&self, now: SystemTime) -> bool {
        self.expires_at.is_some_and(|expires_at| expires_at <= now)
    }

    /// Returns whether the server rejected the refresh token.
    pub fn needs_login(&self) -> bool {
        matches!(self.state, GrantState::NeedsLogin { .. })
    }

    /// Returns the scopes that the token has, as far as known.
    pub fn scopes(&self) -> &Scopes {
        self.granted_scopes.as_ref().unwrap_or(&self.requested_scopes)
    }

    /// Takes over the answer of a refresh. An answer without a refresh token keeps the old one.
    #[must_use]
    pub fn refreshed(&self, response: TokenResponse, now: SystemTime) -> Self {
        Self {
            access_token: response.access_token,
            kind: response.kind,
            obtained_at: now,
            expires_at: response.expires_at,
            refresh_token: response.refresh_token.or_else(|| self.refresh_token.clone()),
            granted_scopes: response.scopes.or_else(|| self.granted_scopes.clone()),
            state: GrantState::Active,
            ..self.clone()
        }
    }
}

impl StoredClient {
    /// Returns the stored form of a client; `None` for a client with a key, which its configuration holds.
    pub(crate) fn of(client: &OAuthClient) -> Option<Self> {
        let (secret, placement) = match &client.authentication {
            ClientAuthentication::Public => (None, None),
            ClientAuthentication::Secret { secret, placement } => (Some(secret.clone()), *placement),
            ClientAuthentication::PrivateKey(_) => return None,
        };
        Some(Self { id: client.id.clone(), secret, placement, scopes: Scopes::default() })
    }

    /// Returns whether a login may ask for these scopes with this client.
    pub(crate) fn allows(&self, scopes: &Scopes) -> bool {
        self.scopes.is_empty() || self.scopes.contains_all(scopes)
    }

    /// Returns the client.
    pub(crate) fn to_client(&self) -> OAuthClient {
        let authentication = match &self.secret {
            Some(secret) => {
                ClientAuthentication::Secret { secret: secret.clone(), placement: self.placement }
            }
            None => ClientAuthentication::Public,
        };
        OAuthClient { id: self.id.clone(), authentication }
    }
}

impl fmt::Debug for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Grant")
            .field("server", &self.server)
            .field("kind", &self.kind)
            .field("expires_at", &self.expires_at)
            .field("scopes", self.scopes())
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for StoredClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredClient").field("id", &self.id).finish_non_exhaustive()
    }
}

/// Secrets in a store are written as they are; the store protects them.
mod exposed {
    use serde::{Deserialize, Deserializer, Serializer};
    use switchboard_http::Secret;

    pub(super) fn serialize<S: Serializer>(secret: &Secret, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(secret.expose())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Secret, D::Error> {
        String::deserialize(deserializer).map(Secret::new)
    }
}

mod exposed_option {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use switchboard_http::Secret;

    pub(super) fn serialize<S: Serializer>(
        secret: &Option<Secret>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        secret.as_ref().map(Secret::expose).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Secret>, D::Error> {
        Ok(Option::<String>::deserialize(deserializer)?.map(Secret::new))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_allows_the_scopes_of_its_registration_or_all() {
        let unrestricted = StoredClient::of(&OAuthClient::public("c")).unwrap();
        assert!(unrestricted.allows(&Scopes::parse("a b")));
        let restricted = StoredClient { scopes: Scopes::parse("a b"), ..unrestricted };
        assert!(restricted.allows(&Scopes::parse("b")) && restricted.allows(&Scopes::default()));
        assert!(!restricted.allows(&Scopes::parse("b c")));
        // A store that was written before has no scopes.
        let old: StoredClient = serde_json::from_str(r#"{"id":"c"}"#).unwrap();
        assert!(old.allows(&Scopes::parse("a")));
        let text = serde_json::to_string(&restricted).unwrap();
        assert_eq!(text, r#"{"id":"c","scopes":"a b"}"#);
    }
}
