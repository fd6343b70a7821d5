//! Settings of an OAuth client for one MCP server.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

use switchboard_http::Secret;
use zeroize::Zeroizing;

use crate::client_auth::OAuthClient;
use crate::error::AuthError;
use crate::registration::Registration;
use crate::scope::Scopes;
use crate::sizes::{MAX_ACCESS_TOKEN, check_size};
use crate::store::ServerAccount;

/// Settings of an OAuth client for one MCP server. The defaults suit a server that follows the specification.
///
/// ```
/// use switchboard::auth::{OAuthClient, OAuthOptions, ResourceParameter, Scopes};
///
/// // A server whose authorization server registers no clients and rejects `resource`.
/// let options = OAuthOptions::default()
///     .with_client(OAuthClient::public("0oa1b2c3"))
///     .with_scopes(Scopes::parse("api://notes/.default"))
///     .with_resource(ResourceParameter::Omit);
/// assert!(format!("{options:?}").contains("0oa1b2c3"));
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct OAuthOptions {
    pub(crate) registration: Registration,
    pub(crate) grant: GrantMethod,
    pub(crate) scopes: Option<Scopes>,
    pub(crate) resource: ResourceParameter,
    pub(crate) server_metadata_url: Option<String>,
    pub(crate) issuer: Option<String>,
    pub(crate) authorize_parameters: Vec<(String, String)>,
    pub(crate) pkce: PkcePolicy,
    pub(crate) dpop: DpopPolicy,
    pub(crate) account: String,
}

/// How tokens are obtained.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub enum GrantMethod {
    /// A user logs in.
    #[default]
    AuthorizationCode,
    /// The client itself is the user.
    ClientCredentials,
    /// A workload presents the JWT of its platform (RFC 7523). It needs no client: a `client_id` is sent only if one is
    /// configured.
    JwtBearer(AssertionSource),
    /// The identity provider of an enterprise decides (ID-JAG). A denial never falls back to a login.
    EnterpriseManaged(EnterpriseManaged),
}

impl GrantMethod {
    pub(crate) fn is_without_user(&self) -> bool {
        !matches!(self, Self::AuthorizationCode)
    }
}

/// The settings of enterprise-managed authorization.
#[derive(Clone)]
#[non_exhaustive]
pub struct EnterpriseManaged {
    /// The token endpoint of the identity provider.
    pub token_endpoint: String,
    /// The client at the identity provider.
    pub client: OAuthClient,
    /// The identity token of the user.
    pub id_token: Secret,
    /// The issuer of the identity provider, to which assertions of the client (`private_key_jwt`) are addressed. Without
    /// it they are addressed to the token endpoint.
    pub issuer: Option<String>,
}

impl EnterpriseManaged {
    /// Returns the settings of an identity provider.
    pub fn new(token_endpoint: impl Into<String>, client: OAuthClient, id_token: Secret) -> Self {
        Self { token_endpoint: token_endpoint.into(), client, id_token, issuer: None }
    }

    /// Addresses assertions of the client to this issuer instead of the token endpoint.
    #[must_use]
    pub fn with_issuer(mut self, issuer: impl Into<String>) -> Self {
        self.issuer = Some(issuer.into());
        self
    }
}

/// Where the JWT of a workload comes from.
#[derive(Clone)]
#[non_exhaustive]
pub enum AssertionSource {
    /// A fixed one.
    Fixed(Secret),
    /// A file that the platform renews.
    File(PathBuf),
}

impl AssertionSource {
    /// Returns the current assertion.
    pub(crate) fn read(&self) -> Result<Secret, AuthError> {
        match self {
            Self::Fixed(assertion) => Ok(assertion.clone()),
            Self::File(path) => {
                let mut text = Zeroizing::new(String::new());
                let limit = MAX_ACCESS_TOKEN as u64 + 1;
                let read = File::open(path).and_then(|file| file.take(limit).read_to_string(&mut text));
                match read {
                    Ok(_) => {
                        check_size("workload token", &text, MAX_ACCESS_TOKEN)?;
                        Ok(Secret::new(text.trim()))
                    }
                    Err(error) => {
                        let reason = format!("{}: {error}", path.display());
                        Err(AuthError::Key { what: "the workload token", reason })
                    }
                }
            }
        }
    }
}

/// The value of the `resource` parameter (RFC 8707).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ResourceParameter {
    /// The identifier that the server's metadata names.
    #[default]
    Discovered,
    /// No parameter: some authorization servers reject it.
    Omit,
    /// This value.
    Value(String),
}

/// Whether PKCE must be advertised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum PkcePolicy {
    /// Refuse servers that do not list S256.
    #[default]
    Require,
    /// Send S256 to servers that do not list it.
    Assume,
}

/// Whether tokens are bound to a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum DpopPolicy {
    /// If the server asks for it.
    #[default]
    WhenRequired,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl Default for OAuthOptions {
    fn default() -> Self {
        Self {
            registration: Registration::default(),
            grant: GrantMethod::default(),
            scopes: None,
            resource: ResourceParameter::default(),
            server_metadata_url: None,
            issuer: None,
            authorize_parameters: Vec::new(),
            pkce: PkcePolicy::default(),
            dpop: DpopPolicy::default(),
            account: ServerAccount::DEFAULT.to_owned(),
        }
    }
}

impl OAuthOptions {
    /// Uses a client that was registered by hand.
    #[must_use]
    pub fn with_client(mut self, client: OAuthClient) -> Self {
        self.registration = Registration::Preset(client);
        self
    }

    /// Uses the URL of a client id metadata document where the authorization server supports them, and registers
    /// dynamically elsewhere.
    #[must_use]
    pub fn with_metadata_document(mut self, url: impl Into<String>) -> Self {
        self.registration = match self.registration {
            Registration::Automatic { client_name, .. } => {
                Registration::Automatic { metadata_document: Some(url.into()), client_name }
            }
            preset @ Registration::Preset(_) => preset,
        };
        self
    }

    /// Sets the name under which the client registers.
    #[must_use]
    pub fn with_client_name(mut self, name: impl Into<String>) -> Self {
        if let Registration::Automatic { client_name, .. } = &mut self.registration {
            *client_name = name.into();
        }
        self
    }

    /// Sets how tokens are obtained.
    #[must_use]
    pub fn with_grant(mut self, grant: GrantMethod) -> Self {
        self.grant = grant;
        self
    }

    /// Requests these scopes, whatever the server lists.
    #[must_use]
    pub fn with_scopes(mut self, scopes: Scopes) -> Self {
        self.scopes = Some(scopes);
        self
    }

    /// Sets the `resource` parameter.
    #[must_use]
    pub fn with_resource(mut self, resource: ResourceParameter) -> Self {
        self.resource = resource;
        self
    }

    /// Reads the metadata of the authorization server here, and accepts the issuer it names.
    #[must_use]
    pub fn with_server_metadata_url(mut self, url: impl Into<String>) -> Self {
        self.server_metadata_url = Some(url.into());
        self
    }

    /// Uses a client that was registered by hand at this issuer only. Without it, the issuer of the first grant counts.
    #[must_use]
    pub fn with_issuer(mut self, issuer: impl Into<String>) -> Self {
        self.issuer = Some(issuer.into());
        self
    }

    /// Adds a parameter to authorization requests.
    #[must_use]
    pub fn with_authorize_parameter(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.authorize_parameters.push((name.into(), value.into()));
        self
    }

    /// Sets whether PKCE must be advertised.
    #[must_use]
    pub fn with_pkce(mut self, pkce: PkcePolicy) -> Self {
        self.pkce = pkce;
        self
    }

    /// Sets whether tokens are bound to a key.
    #[must_use]
    pub fn with_dpop(mut self, dpop: DpopPolicy) -> Self {
        self.dpop = dpop;
        self
    }

    /// Uses this account: a user may have several at one server.
    #[must_use]
    pub fn with_account(mut self, account: impl Into<String>) -> Self {
        self.account = account.into();
        self
    }
}

impl fmt::Debug for EnterpriseManaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EnterpriseManaged")
            .field("token_endpoint", &self.token_endpoint)
            .field("client", &self.client)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for AssertionSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(_) => f.write_str("Fixed(••••)"),
            Self::File(path) => f.debug_tuple("File").field(path).finish(),
        }
    }
}
