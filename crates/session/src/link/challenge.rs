//! The login that a server requires, and what has to happen before it accepts requests.

use std::error::Error;
use std::fmt;

/// A login that the server requires.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Challenge {
    /// 401 for a missing or stale login, 403 for one that is not enough.
    pub status: u16,
    /// Where the server describes how to log in.
    pub resource_metadata: Option<String>,
    /// The scopes that the login must cover.
    pub scope: Option<String>,
    /// The error code of a login that was refused.
    pub error: Option<String>,
    /// The reason, for people.
    pub description: Option<String>,
    /// What has to happen next, as far as this side knows.
    pub requirement: LoginRequirement,
}

/// What has to happen before a server accepts requests.
///
/// ```
/// use switchboard::transport::link::{Challenge, LoginRequirement};
///
/// let mut challenge = Challenge::new(401);
/// assert_eq!(challenge.requirement, LoginRequirement::Login);
/// challenge.requirement = LoginRequirement::ClientRegistration {
///     issuer: "https://login.example.com".into(),
///     redirect_uri: Some("http://127.0.0.1:8700/callback".into()),
/// };
/// assert!(challenge.requirement.next_step().contains("with the redirect URI http://127.0.0.1:8700/callback"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum LoginRequirement {
    /// A user logs in, or logs in again.
    #[default]
    Login,
    /// A client is registered by hand at the authorization server and its id is configured; then a user logs in.
    ClientRegistration {
        /// The issuer of the authorization server.
        issuer: String,
        /// The redirect URI to register; `None` for a client without users.
        redirect_uri: Option<String>,
    },
    /// An administrator allows access. A login of the user does not help.
    Administrator {
        /// The error code of the identity provider.
        code: String,
        /// Its reason, for people.
        message: Option<String>,
    },
    /// The user names one of these accounts.
    Account {
        /// The names of the accounts.
        accounts: Vec<String>,
    },
    /// The configured credentials are replaced: the server refuses them. A login does not help, because they are sent
    /// instead of its token.
    OtherCredentials,
}

impl Challenge {
    /// Creates a challenge with this status.
    pub fn new(status: u16) -> Self {
        Self { status, ..Self::default() }
    }

    /// Sets what has to happen next.
    #[must_use]
    pub fn with_requirement(mut self, requirement: LoginRequirement) -> Self {
        self.requirement = requirement;
        self
    }
}

impl fmt::Display for Challenge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.requirement {
            LoginRequirement::Login | LoginRequirement::OtherCredentials => {
                write!(f, "the server wants a login (status {})", self.status)?;
            }
            LoginRequirement::ClientRegistration { issuer, .. } => {
                return write!(
                    f,
                    "the server wants a login, and its authorization server {issuer} does not register clients by itself"
                );
            }
            LoginRequirement::Account { accounts } => {
                return write!(f, "you have several accounts at this server: {}", accounts.join(", "));
            }
            LoginRequirement::Administrator { code, message } => {
                write!(f, "access is blocked by an administrator: {code}")?;
                return message.as_ref().map_or(Ok(()), |message| write!(f, " ({message})"));
            }
        }
        match self.description.as_ref().or(self.error.as_ref()) {
            Some(reason) => write!(f, ": {reason}"),
            None => Ok(()),
        }
    }
}

impl Error for Challenge {}

impl LoginRequirement {
    /// Returns the name of the requirement: `login`, `client-registration`, `administrator`, `account` or
    /// `other-credentials`.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Login => "login",
            Self::ClientRegistration { .. } => "client-registration",
            Self::Administrator { .. } => "administrator",
            Self::Account { .. } => "account",
            Self::OtherCredentials => "other-credentials",
        }
    }

    /// Returns what to do, for people.
    pub fn next_step(&self) -> String {
        match self {
            Self::Login => "log in to the server, then reconnect it".to_owned(),
            Self::ClientRegistration { issuer, redirect_uri } => {
                let redirect = redirect_uri.as_ref().map(|uri| format!(" with the redirect URI {uri}"));
                format!(
                    "register a client at {issuer}{}, and configure its id; then log in",
                    redirect.unwrap_or_default()
                )
            }
            Self::Administrator { .. } => {
                "ask an administrator for access; logging in again does not help".to_owned()
            }
            Self::Account { accounts } => format!("name one of the accounts: {}", accounts.join(", ")),
            Self::OtherCredentials => {
                "replace the credentials in its configuration, or remove them and log in".to_owned()
            }
        }
    }
}
