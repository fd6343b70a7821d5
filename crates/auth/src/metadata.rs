//! Metadata documents: of the protected resource (RFC 9728) and of the authorization server (RFC 8414, OpenID Connect
//! Discovery).
//!
//! Invariant: identifiers (`resource`, `issuer`) are kept byte for byte as the server wrote them; nothing is normalized.

use serde::{Deserialize, Serialize};

/// Metadata of a protected resource.
///
/// See [RFC 9728, section 2](https://www.rfc-editor.org/rfc/rfc9728#section-2).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ResourceMetadata {
    /// The identifier of the resource.
    pub resource: String,
    /// The issuers of its tokens.
    #[serde(default)]
    pub authorization_servers: Vec<String>,
    /// The scopes that a client may ask for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scopes_supported: Vec<String>,
    /// How a token may be sent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bearer_methods_supported: Vec<String>,
    /// The name of the resource, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_name: Option<String>,
    /// Where developers read about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_documentation: Option<String>,
    /// The signature algorithms of DPoP proofs (RFC 9449).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dpop_signing_alg_values_supported: Vec<String>,
    /// Whether tokens must be bound to a key (RFC 9449).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dpop_bound_access_tokens_required: bool,
}

impl ResourceMetadata {
    /// Returns the metadata of a resource.
    pub fn new(resource: impl Into<String>) -> Self {
        Self { resource: resource.into(), ..Self::default() }
    }
}

/// Metadata of an authorization server.
///
/// See [RFC 8414, section 2](https://www.rfc-editor.org/rfc/rfc8414#section-2).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ServerMetadata {
    /// The identifier of the server.
    pub issuer: String,
    /// Where a user logs in.
    #[serde(default)]
    pub authorization_endpoint: Option<String>,
    /// Where tokens are issued.
    #[serde(default)]
    pub token_endpoint: Option<String>,
    /// Where clients register (RFC 7591).
    #[serde(default)]
    pub registration_endpoint: Option<String>,
    /// Where tokens are revoked (RFC 7009).
    #[serde(default)]
    pub revocation_endpoint: Option<String>,
    /// Where tokens are inspected (RFC 7662).
    #[serde(default)]
    pub introspection_endpoint: Option<String>,
    /// Where a device asks for a user code (RFC 8628).
    #[serde(default)]
    pub device_authorization_endpoint: Option<String>,
    /// Where the signing keys are.
    #[serde(default)]
    pub jwks_uri: Option<String>,
    /// The scopes that it knows; `None` if it does not say.
    #[serde(default)]
    pub scopes_supported: Option<Vec<String>>,
    /// The grants that it knows.
    #[serde(default)]
    pub grant_types_supported: Option<Vec<String>>,
    /// The ways a client authenticates at the token endpoint.
    #[serde(default)]
    pub token_endpoint_auth_methods_supported: Option<Vec<String>>,
    /// The PKCE methods.
    #[serde(default)]
    pub code_challenge_methods_supported: Option<Vec<String>>,
    /// Whether a client id may be the URL of a metadata document.
    #[serde(default)]
    pub client_id_metadata_document_supported: bool,
    /// Whether callbacks carry `iss` (RFC 9207).
    #[serde(default)]
    pub authorization_response_iss_parameter_supported: bool,
    /// The signature algorithms of DPoP proofs.
    #[serde(default)]
    pub dpop_signing_alg_values_supported: Option<Vec<String>>,
}

impl ServerMetadata {
    /// Returns whether the server lists a scope.
    pub fn lists_scope(&self, scope: &str) -> bool {
        self.scopes_supported.as_ref().is_some_and(|scopes| scopes.iter().any(|listed| listed == scope))
    }

    /// Returns whether the server lists PKCE with SHA-256.
    pub fn supports_s256(&self) -> bool {
        self.code_challenge_methods_supported
            .as_ref()
            .is_some_and(|methods| methods.iter().any(|method| method == "S256"))
    }
}
