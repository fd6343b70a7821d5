//! `[callers]`: who may send requests.

use std::path::{Path, PathBuf};

use serde::Deserialize;

/// Who may send requests over HTTP. Stdin and the Unix socket have an owner already.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct CallersConfig {
    /// The file of API keys, which `switchboard key` manages.
    pub api_keys: Option<PathBuf>,
    /// Whether everyone may send requests although servers have credentials.
    pub anonymous: bool,
    /// The authorization server whose tokens are accepted.
    pub oauth: Option<OAuthCallersConfig>,
}

impl CallersConfig {
    /// Returns whether callers have to authenticate.
    pub fn authenticates(&self) -> bool {
        self.api_keys.is_some() || self.oauth.is_some()
    }

    /// Returns the file that holds the secret of the client as which tokens are introspected.
    pub fn client_secret_file(&self) -> Option<&Path> {
        Some(&self.oauth.as_ref()?.introspection.as_ref()?.client_secret_file)
    }
}

/// The authorization server whose tokens are accepted, and what they must hold.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct OAuthCallersConfig {
    /// The issuer of the tokens.
    pub issuer: String,
    /// Audiences that are accepted besides the public URL, for issuers that do not use URLs.
    #[serde(default)]
    pub audience: Vec<String>,
    /// Scopes that clients without a token should ask for.
    #[serde(default)]
    pub scopes: Vec<String>,
    /// The URL of the issuer's keys, for an issuer without metadata.
    pub jwks_url: Option<String>,
    /// The claim that names the caller, instead of `sub`.
    pub subject_claim: Option<String>,
    /// Claims whose values count as scopes, too.
    #[serde(default)]
    pub scope_claims: Vec<String>,
    /// Whether only tokens of the type `at+jwt` (RFC 9068) are accepted.
    #[serde(default)]
    pub require_at_jwt: bool,
    /// Whether tokens that are bound to a key are accepted.
    #[serde(default)]
    pub dpop: DpopMode,
    /// Where opaque tokens are verified.
    pub introspection: Option<IntrospectionConfig>,
}

/// Whether tokens that are bound to a key (DPoP, RFC 9449) are accepted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum DpopMode {
    /// They are refused.
    #[default]
    Off,
    /// They are accepted like others.
    Optional,
    /// Only they are accepted.
    Required,
}

/// The introspection endpoint (RFC 7662) of an authorization server.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct IntrospectionConfig {
    /// The URL.
    pub endpoint: String,
    /// The client as which the gateway asks.
    pub client_id: String,
    /// The file that holds the secret of the client, and nothing else.
    pub client_secret_file: PathBuf,
}
