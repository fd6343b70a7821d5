//! Verifiers, which check the credentials of requests that a server receives: the trait and its types.
//!
//! The counterpart of `authorize`: an authorizer provides the token of a request, a verifier says whose token it is.
//! Knows no OAuth: JWTs, introspection and API keys live behind the trait. Needs no client and no async runtime.

use std::fmt;
use std::sync::Arc;

use http::{HeaderMap, Method};

use crate::boxed_future::BoxFuture;

/// Verifies the credentials of requests.
///
/// # Cancellation
/// The future may be dropped at any point.
pub trait Verifier: Send + Sync + fmt::Debug {
    /// Returns the caller whose token a request carries. Called for every request, so results should be cached.
    ///
    /// # Errors
    /// When the token is not valid here, or when that cannot be decided at the moment.
    fn verify<'a>(
        &'a self,
        presented: PresentedToken<'a>,
    ) -> BoxFuture<'a, Result<Arc<VerifiedCaller>, VerifyError>>;

    /// Returns the description of the resource that clients read to obtain a token, if there is one.
    fn protected_resource(&self) -> Option<&ProtectedResource> {
        None
    }
}

/// A token and the request that carries it.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct PresentedToken<'a> {
    /// The token, without its scheme.
    pub token: &'a str,
    /// The method of the request.
    pub method: &'a Method,
    /// The path of the request.
    pub path: &'a str,
    /// The headers of the request.
    pub headers: &'a HeaderMap,
    /// The scheme by which the token was sent.
    pub scheme: TokenScheme,
}

/// How a request carries its token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum TokenScheme {
    /// Alone (RFC 6750).
    #[default]
    Bearer,
    /// With a proof that the sender has the key it is bound to (RFC 9449).
    Dpop,
}

impl<'a> PresentedToken<'a> {
    /// Returns the bearer token of a request to the root.
    pub fn new(token: &'a str, method: &'a Method, headers: &'a HeaderMap) -> Self {
        Self { token, method, path: "/", headers, scheme: TokenScheme::Bearer }
    }

    /// Sets the path of the request.
    #[must_use]
    pub fn with_path(mut self, path: &'a str) -> Self {
        self.path = path;
        self
    }

    /// Sets the scheme.
    #[must_use]
    pub fn with_scheme(mut self, scheme: TokenScheme) -> Self {
        self.scheme = scheme;
        self
    }
}

/// The identity and the permissions that a token stands for.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct VerifiedCaller {
    /// The subject, unique per issuer.
    pub subject: String,
    /// The issuer of the identity.
    pub issuer: Option<String>,
    /// The client that obtained the token.
    pub client_id: Option<String>,
    /// The granted scopes.
    pub scopes: Vec<String>,
    /// All claims as the text of a JSON object. Never shown by `Debug`.
    pub claims: String,
    /// The kind of the token, such as `oauth` or `api-key`. For records.
    pub auth_method: Option<&'static str>,
}

impl VerifiedCaller {
    /// Returns a caller with this subject, no scopes and no claims.
    pub fn new(subject: impl Into<String>) -> Self {
        Self {
            subject: subject.into(),
            issuer: None,
            client_id: None,
            scopes: Vec::new(),
            claims: "{}".to_owned(),
            auth_method: None,
        }
    }

    /// Sets the issuer.
    #[must_use]
    pub fn with_issuer(mut self, issuer: impl Into<String>) -> Self {
        self.issuer = Some(issuer.into());
        self
    }

    /// Sets the client.
    #[must_use]
    pub fn with_client_id(mut self, client_id: impl Into<String>) -> Self {
        self.client_id = Some(client_id.into());
        self
    }

    /// Sets the scopes.
    #[must_use]
    pub fn with_scopes(mut self, scopes: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the claims: the text of a JSON object.
    #[must_use]
    pub fn with_claims(mut self, claims: impl Into<String>) -> Self {
        self.claims = claims.into();
        self
    }

    /// Sets the kind of the token.
    #[must_use]
    pub fn with_auth_method(mut self, method: &'static str) -> Self {
        self.auth_method = Some(method);
        self
    }
}

/// Why a token is not accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// The token is invalid, expired, or for another server.
    #[error("the token is not valid: {reason}")]
    InvalidToken {
        /// The reason, which the client may see.
        reason: String,
    },
    /// The proof that the sender has the key of the token is missing or invalid.
    #[error("the DPoP proof is not valid: {reason}")]
    InvalidProof {
        /// The reason, which the client may see.
        reason: String,
    },
    /// The proof must have this nonce.
    #[error("the DPoP proof needs the nonce of this server")]
    NonceRequired {
        /// The nonce.
        nonce: String,
    },
    /// Whether the token is valid cannot be decided at the moment.
    #[error("the token cannot be verified now: {reason}")]
    Unavailable {
        /// The reason, for logs only.
        reason: String,
    },
}

impl VerifyError {
    /// The token is invalid. The client may see the reason.
    pub fn invalid(reason: impl Into<String>) -> Self {
        Self::InvalidToken { reason: reason.into() }
    }

    /// The proof is missing or invalid. The client may see the reason.
    pub fn proof(reason: impl Into<String>) -> Self {
        Self::InvalidProof { reason: reason.into() }
    }

    /// The token cannot be verified at the moment. The reason is for logs only.
    pub fn unavailable(reason: impl Into<String>) -> Self {
        Self::Unavailable { reason: reason.into() }
    }
}

/// The public description of a protected resource (RFC 9728), which clients read to obtain a token.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProtectedResource {
    /// The public URL of the metadata document, which challenges name.
    pub metadata_url: String,
    /// The paths where the document is served.
    pub paths: Vec<String>,
    /// The document: the text of a JSON object.
    pub document: String,
    /// The scopes that a client without a token should ask for.
    pub scopes: Vec<String>,
    /// How proofs of possession are accepted; `None` if they are not.
    pub dpop: Option<DpopSupport>,
}

/// Which proofs of possession (DPoP, RFC 9449) a resource accepts.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DpopSupport {
    /// The names of the signature algorithms.
    pub algorithms: Vec<String>,
    /// Whether tokens without a proof are rejected.
    pub is_required: bool,
}

impl DpopSupport {
    /// Returns support for proofs with these signature algorithms.
    pub fn new(algorithms: impl IntoIterator<Item = impl Into<String>>, is_required: bool) -> Self {
        Self { algorithms: algorithms.into_iter().map(Into::into).collect(), is_required }
    }
}

impl ProtectedResource {
    /// Returns the description of a resource with its document at one URL and no scopes.
    pub fn new(
        metadata_url: impl Into<String>,
        paths: impl IntoIterator<Item = impl Into<String>>,
        document: impl Into<String>,
    ) -> Self {
        let paths = paths.into_iter().map(Into::into).collect();
        Self {
            metadata_url: metadata_url.into(),
            paths,
            document: document.into(),
            scopes: Vec::new(),
            dpop: None,
        }
    }

    /// Sets the scopes that a client without a token should ask for.
    #[must_use]
    pub fn with_scopes(mut self, scopes: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// Sets how proofs of possession are accepted.
    #[must_use]
    pub fn with_dpop(mut self, dpop: DpopSupport) -> Self {
        self.dpop = Some(dpop);
        self
    }
}

impl fmt::Debug for PresentedToken<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PresentedToken").field("method", self.method).finish_non_exhaustive()
    }
}

impl fmt::Debug for VerifiedCaller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VerifiedCaller")
            .field("subject", &self.subject)
            .field("issuer", &self.issuer)
            .field("client_id", &self.client_id)
            .field("scopes", &self.scopes)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_and_claims_are_not_printed() {
        let (method, headers) = (Method::GET, HeaderMap::new());
        let presented = PresentedToken::new("s3cret", &method, &headers);
        let caller = VerifiedCaller::new("ada").with_claims(r#"{"email":"s3cret"}"#);
        assert!(!format!("{presented:?} {caller:?}").contains("s3cret"));
    }
}
