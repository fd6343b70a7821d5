//! One URL that was tried during discovery.

use std::fmt;

/// One URL that was tried during discovery, and what came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DiscoveryAttempt {
    /// The document that was looked for.
    pub document: DocumentKind,
    /// The URL.
    pub url: String,
    /// Why the document was not used; `None` if it was.
    pub failure: Option<String>,
}

/// A metadata document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DocumentKind {
    /// Metadata of the protected resource (RFC 9728).
    ProtectedResource,
    /// Metadata of the authorization server (RFC 8414 or OpenID Connect).
    AuthorizationServer,
}

impl DiscoveryAttempt {
    pub(crate) fn found(document: DocumentKind, url: impl Into<String>) -> Self {
        Self { document, url: url.into(), failure: None }
    }

    pub(crate) fn failed(document: DocumentKind, url: impl Into<String>, why: impl fmt::Display) -> Self {
        Self { document, url: url.into(), failure: Some(why.to_string()) }
    }
}

impl DocumentKind {
    /// Returns the name of the document, for people.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ProtectedResource => "protected resource metadata",
            Self::AuthorizationServer => "authorization server metadata",
        }
    }
}

impl fmt::Display for DiscoveryAttempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.failure {
            Some(failure) => write!(f, "{} ({failure})", self.url),
            None => write!(f, "{} (found)", self.url),
        }
    }
}
