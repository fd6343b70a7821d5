//! Errors of OAuth flows.
//!
//! Invariant: no message holds a token, a code, a verifier or a client secret. Texts of servers are cut and stripped of
//! control characters.

use std::fmt;

use switchboard_http::{AddressError, AuthorizeError, HttpError};

use crate::attempt::DiscoveryAttempt;

/// Why no token was obtained.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum AuthError {
    /// The server does not say who issues its tokens, or its authorization server cannot be found.
    #[error("{what} was found for {url}; tried {}", AttemptList(attempts))]
    Discovery {
        /// The missing document.
        what: &'static str,
        /// The server or issuer.
        url: String,
        /// The URLs that were tried, and why each failed.
        attempts: Vec<DiscoveryAttempt>,
    },
    /// The metadata describes another resource than the server that was called.
    #[error(
        "the metadata at {url} is about {found}, not about {expected}\n\
         the server is misconfigured, or not the server it claims to be"
    )]
    ResourceMismatch {
        /// The server that was called.
        expected: String,
        /// The resource that is described.
        found: String,
        /// Where the metadata was found.
        url: String,
        /// The URLs that were tried, in order.
        attempts: Vec<DiscoveryAttempt>,
    },
    /// The metadata of the authorization server names another issuer.
    #[error(
        "the metadata at {url} names the issuer {found:?}, expected {expected:?}\n\
         if this server is known to be so, name the URL of its metadata: `OAuthOptions::with_server_metadata_url`"
    )]
    IssuerMismatch {
        /// The issuer that was looked for.
        expected: String,
        /// The issuer in the document.
        found: String,
        /// Where the document was found.
        url: String,
        /// The URLs that were tried, in order.
        attempts: Vec<DiscoveryAttempt>,
    },
    /// The server names another authorization server than the one at which the client was registered by hand.
    #[error(
        "the server names the authorization server {found:?} now, but the client is registered at {expected:?}; nothing was \
         sent there\nif the move is intended, log out, and log in again with a client of the new authorization server"
    )]
    IssuerChanged {
        /// The issuer at which the client is registered.
        expected: String,
        /// The issuer that the server names.
        found: String,
    },
    /// The authorization server does not list PKCE with SHA-256.
    #[error(
        "the authorization server {issuer} does not list PKCE with S256\n\
         if it supports it all the same, use `OAuthOptions::with_pkce(PkcePolicy::Assume)`"
    )]
    PkceUnsupported {
        /// The issuer.
        issuer: String,
    },
    /// The metadata lacks an endpoint that this flow needs.
    #[error("the authorization server {issuer} has no {endpoint}")]
    NoEndpoint {
        /// The issuer.
        issuer: String,
        /// The name of the endpoint.
        endpoint: &'static str,
    },
    /// The authorization server has no device authorization endpoint (RFC 8628).
    #[error(
        "the authorization server {issuer} does not support logins by device code\n\
         log in with a browser instead; `switchboard login SERVER --paste` works if the browser is on another machine"
    )]
    DeviceUnsupported {
        /// The issuer.
        issuer: String,
    },
    /// The client has to be registered by hand.
    #[error(
        "the authorization server {issuer} does not register clients by itself\n\
         register one there with the redirect URI {redirect_uri} and log in with its id: \
         `switchboard login SERVER --client-id ID`, and `--client-secret-env NAME` if it has a secret"
    )]
    NeedsClientRegistration {
        /// The issuer.
        issuer: String,
        /// The redirect URI to register.
        redirect_uri: String,
    },
    /// An administrator denied access; a login of the user would not help.
    #[error("access is blocked by an administrator: {0}")]
    BlockedByAdmin(OAuthError),
    /// The callback of the browser cannot be trusted, or reports an error.
    #[error(transparent)]
    Callback(#[from] CallbackError),
    /// An endpoint answered with an OAuth error.
    #[error("{url} answered: {error}")]
    Endpoint {
        /// The endpoint.
        url: String,
        /// The error.
        error: OAuthError,
    },
    /// An endpoint answered with something unreadable.
    #[error("{url} answered with status {status} and no valid JSON: {reason}")]
    Malformed {
        /// The endpoint.
        url: String,
        /// The HTTP status.
        status: u16,
        /// What is wrong.
        reason: String,
    },
    /// An endpoint must not be called.
    #[error("the {what} {url} must not be called: {reason}")]
    ForbiddenUrl {
        /// The name of the endpoint.
        what: &'static str,
        /// The URL as the server wrote it.
        url: String,
        /// Why not.
        reason: String,
        /// The URLs that were tried before, in order, if it was found during discovery.
        attempts: Vec<DiscoveryAttempt>,
    },
    /// The user did not finish the login.
    #[error("the login was not finished: {0}")]
    LoginAborted(String),
    /// There is no token, and nobody can log in here.
    #[error("a login is needed")]
    NeedsLogin,
    /// A server issued or named something that is too large to be kept.
    #[error(
        "the {what} of the server has {size} bytes; {limit} are the most\n\
         request fewer scopes (`switchboard login SERVER --scope`), or ask the operator of the server"
    )]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// Its size in bytes.
        size: usize,
        /// The limit.
        limit: usize,
    },
    /// The authorization server issued a token of another type than the one that was requested.
    #[error(
        "{url} issued a token of type {found:?}, but {expected} was requested; it is not used\n\
         the authorization server does not do what the MCP server wants: ask their operator"
    )]
    TokenType {
        /// The token endpoint.
        url: String,
        /// The type that it named.
        found: String,
        /// The type that was requested.
        expected: &'static str,
    },
    /// A key or an assertion cannot be used.
    #[error("{what} cannot be used: {reason}")]
    Key {
        /// The key.
        what: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// The token store failed.
    #[error("the token store failed: {0}")]
    Store(#[from] StoreError),
    /// No response.
    #[error(transparent)]
    Http(#[from] HttpError),
}

impl AuthError {
    pub(crate) fn forbidden(what: &'static str, url: &str, error: &AddressError) -> Self {
        Self::forbidden_because(what, url, error.to_string())
    }

    pub(crate) fn forbidden_because(what: &'static str, url: &str, reason: String) -> Self {
        Self::ForbiddenUrl { what, url: printable(url), reason, attempts: Vec::new() }
    }

    /// Adds the URLs that discovery tried before it failed.
    pub(crate) fn with_attempts(mut self, tried: &[DiscoveryAttempt]) -> Self {
        if let Self::Discovery { attempts, .. }
        | Self::ResourceMismatch { attempts, .. }
        | Self::IssuerMismatch { attempts, .. }
        | Self::ForbiddenUrl { attempts, .. } = &mut self
        {
            *attempts = tried.to_vec();
        }
        self
    }

    /// Returns the URLs that discovery tried, in order, each with its outcome; none if the failure is not one of discovery.
    ///
    /// ```
    /// # use switchboard::auth::AuthError;
    /// fn explain(error: &AuthError) {
    ///     for attempt in error.attempts() {
    ///         println!("{:?} {}: {}", attempt.document, attempt.url, attempt.failure.as_deref().unwrap_or("found"));
    ///     }
    /// }
    /// # explain(&AuthError::NeedsLogin);
    /// ```
    pub fn attempts(&self) -> &[DiscoveryAttempt] {
        match self {
            Self::Discovery { attempts, .. }
            | Self::ResourceMismatch { attempts, .. }
            | Self::IssuerMismatch { attempts, .. }
            | Self::ForbiddenUrl { attempts, .. } => attempts,
            _ => &[],
        }
    }

    /// Returns the OAuth error code of an endpoint or callback.
    pub fn code(&self) -> Option<&str> {
        match self {
            Self::Endpoint { error, .. }
            | Self::BlockedByAdmin(error)
            | Self::Callback(CallbackError::Denied(error)) => Some(&error.code),
            _ => None,
        }
    }

    /// Returns whether trying again later may help: the failure is one of the network or of an overloaded server.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Http(_) => true,
            Self::Malformed { status, .. } => *status == 429 || *status >= 500,
            Self::Endpoint { error, .. } => {
                matches!(error.code.as_str(), "temporarily_unavailable" | "server_error")
            }
            _ => false,
        }
    }
}

impl From<AuthError> for AuthorizeError {
    fn from(error: AuthError) -> Self {
        match &error {
            AuthError::NeedsLogin => Self::NeedsLogin,
            AuthError::NeedsClientRegistration { issuer, redirect_uri } => Self::NeedsClientRegistration {
                issuer: issuer.clone(),
                // A client without users has none.
                redirect_uri: Some(redirect_uri.clone()).filter(|uri| uri.contains("://")),
            },
            AuthError::BlockedByAdmin(denial) => {
                Self::BlockedByAdmin { code: denial.code.clone(), message: denial.description.clone() }
            }
            _ => Self::Failed { what: error.to_string(), source: Some(std::sync::Arc::new(error)) },
        }
    }
}

/// An error response of OAuth: `error` and `error_description`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OAuthError {
    /// The code, like `invalid_grant`.
    pub code: String,
    /// The description for developers.
    pub description: Option<String>,
}

impl OAuthError {
    /// Returns an error; texts are cut and stripped of control characters.
    pub fn new(code: &str, description: Option<&str>) -> Self {
        Self { code: printable(code), description: description.map(printable) }
    }
}

impl fmt::Display for OAuthError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.description {
            Some(description) => write!(f, "{} ({description})", self.code),
            None => f.write_str(&self.code),
        }
    }
}

/// Why a callback is rejected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallbackError {
    /// It cannot be parsed.
    #[error("this is not a callback URL: it has no {0}")]
    Incomplete(&'static str),
    /// It belongs to another login.
    #[error("the callback does not belong to this login (its `state` differs); start the login again")]
    StateMismatch,
    /// It comes from another authorization server (RFC 9207). Its other values are not shown on purpose.
    #[error("the callback comes from another authorization server than {expected}; it is not used")]
    IssuerMismatch {
        /// The issuer that was asked.
        expected: String,
    },
    /// The authorization server promises `iss` and did not send it.
    #[error("the callback does not name its issuer, although {expected} promises to; it is not used")]
    IssuerMissing {
        /// The issuer that was asked.
        expected: String,
    },
    /// The authorization server or the user denied the request.
    #[error("the authorization server denied the login: {0}")]
    Denied(OAuthError),
}

/// Why a store failed.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A file cannot be read, written or locked.
    #[error("cannot {action} {path}: {reason}")]
    File {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: String,
        /// The error of the system.
        reason: String,
    },
    /// A file does not hold what a store holds.
    #[error("{path} is not a token store: {reason}\nmove it away and log in again")]
    Damaged {
        /// The file.
        path: String,
        /// What is wrong.
        reason: String,
    },
    /// The file or its directory may be read or changed by others.
    #[error("{path} is not safe to use: {reason}")]
    Unsafe {
        /// The file or directory.
        path: String,
        /// What is wrong, and the command that repairs it.
        reason: String,
    },
    /// Another process holds the lock for too long.
    #[error("another process has been refreshing this token for over {seconds} s; try again later")]
    Busy {
        /// How long was waited.
        seconds: u64,
    },
    /// The store has as many grants or bytes as it may have.
    #[error(
        "the token store is full: {limit} {what} are the most\n\
         log out of servers that are not in use: `switchboard accounts`, `switchboard logout SERVER`"
    )]
    Full {
        /// What there are too many of.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
    /// A store of another kind failed.
    #[error("{0}")]
    Other(String),
}

struct AttemptList<'a>(&'a [DiscoveryAttempt]);

impl fmt::Display for AttemptList<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, attempt) in self.0.iter().enumerate() {
            let separator = if at == 0 { "" } else { ", " };
            write!(f, "{separator}{attempt}")?;
        }
        Ok(())
    }
}

/// Returns the beginning of a text of a server, without control characters.
pub(crate) fn printable(text: &str) -> String {
    const SHOWN: usize = 300;
    text.chars()
        .take(SHOWN)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect::<String>()
        .trim()
        .to_owned()
}
