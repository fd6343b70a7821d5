//! The `oauth` block of a server as written: how a login to it is made, and where its secrets go.
//!
//! Invariants: a secret is a reference to a variable, never a text of the file; the value of a reference is in a plan only,
//! which is not printed. This crate knows no OAuth: the block is data for whoever logs in.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Value, json};
use switchboard_http::Secret;

/// The settings of logins to one server: the `oauth` block of its entry. All are optional.
///
/// ```
/// use switchboard::host::config::{ResourceConfig, ServerConfig};
///
/// let entry: ServerConfig = serde_json::from_value(serde_json::json!({
///     "url": "https://mcp.example.com/mcp",
///     "oauth": { "clientId": "0oa1b2c3", "scopes": "notes.read notes.write", "resource": "omit" },
/// }))?;
/// let oauth = entry.oauth.expect("the entry has the block");
/// assert_eq!(oauth.scopes, ["notes.read", "notes.write"]);
/// assert_eq!(oauth.resource, Some(ResourceConfig::Omit));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct OAuthConfig {
    /// The id of a client that was registered by hand: `clientId`.
    pub client_id: Option<String>,
    /// The secret of the client: `clientSecret`. As written it is a reference, `${NAME}`; in a plan it is the value, also of
    /// `clientSecretEnv`.
    pub client_secret: Option<Secret>,
    /// The name of the variable with the secret: `clientSecretEnv`.
    pub client_secret_env: Option<String>,
    /// The URL of a client id metadata document: `clientMetadataUrl`.
    pub client_metadata_url: Option<String>,
    /// The port of the callback on this machine: `callbackPort`.
    pub callback_port: Option<u16>,
    /// The scopes to request, whatever the server lists: `scopes`.
    pub scopes: Vec<String>,
    /// Where the metadata of the authorization server is: `authServerMetadataUrl`.
    pub auth_server_metadata_url: Option<String>,
    /// The only issuer that receives the client and its secret: `issuer`.
    pub issuer: Option<String>,
    /// The `resource` parameter.
    pub resource: Option<ResourceConfig>,
    /// Which of several accounts at the server is used: `account`.
    pub account: Option<String>,
    /// Further parameters of the authorization request: `authorizeParameters`.
    pub authorize_parameters: BTreeMap<String, String>,
    /// Whether PKCE is used although the authorization server does not list it: `"pkce": "assume"`.
    pub assumes_pkce: bool,
    /// How a token is obtained: `grant`.
    pub grant: GrantConfig,
    /// Unknown fields, in file order.
    pub unknown: Vec<(String, Value)>,
}

/// The value of the `resource` parameter of requests to the authorization server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResourceConfig {
    /// No parameter: `"omit"`.
    Omit,
    /// This identifier.
    Identifier(String),
}

/// How a token is obtained.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum GrantConfig {
    /// A user logs in: `authorization-code`, the default.
    #[default]
    AuthorizationCode,
    /// The client itself is the user: `client-credentials`.
    ClientCredentials,
    /// A workload presents the JWT of its platform: `jwt-bearer`.
    JwtBearer {
        /// The file with the JWT, which the platform renews: `assertionFile`.
        assertion_file: String,
    },
    /// The identity provider of an enterprise decides: `enterprise-managed`.
    EnterpriseManaged(Box<EnterpriseConfig>),
}

/// The identity provider of an enterprise.
#[derive(Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct EnterpriseConfig {
    /// Its token endpoint: `tokenEndpoint`.
    pub token_endpoint: String,
    /// The client at the identity provider: `clientId`.
    pub client_id: String,
    /// The name of the variable with the secret of that client: `clientSecretEnv`.
    pub client_secret_env: Option<String>,
    /// The file with the identity token of the user: `idTokenFile`.
    pub id_token_file: Option<String>,
    /// The name of the variable with the identity token: `idTokenEnv`.
    pub id_token_env: Option<String>,
    /// The values of both variables, in a plan.
    pub secrets: EnterpriseSecrets,
}

/// The secrets of an [`EnterpriseConfig`], in a plan.
#[derive(Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct EnterpriseSecrets {
    /// The secret of the client.
    pub client_secret: Option<Secret>,
    /// The identity token of the user.
    pub id_token: Option<Secret>,
}

impl OAuthConfig {
    /// Creates a block without settings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the fields in their order, without unknown ones. A secret is the reference that was written.
    pub(crate) fn known_fields(&self) -> Vec<(&'static str, Value)> {
        let text = |text: &Option<String>| text.as_ref().map(|text| json!(text));
        let resource = self.resource.as_ref().map(|resource| match resource {
            ResourceConfig::Omit => json!("omit"),
            ResourceConfig::Identifier(identifier) => json!(identifier),
        });
        // In a plan both are set, and the name is what was written.
        let secret = self.client_secret.as_ref().filter(|_| self.client_secret_env.is_none());
        let all = [
            ("clientId", text(&self.client_id)),
            ("clientSecret", secret.map(|secret| json!(secret.expose()))),
            ("clientSecretEnv", text(&self.client_secret_env)),
            ("clientMetadataUrl", text(&self.client_metadata_url)),
            ("callbackPort", self.callback_port.map(|port| json!(port))),
            ("scopes", (!self.scopes.is_empty()).then(|| json!(self.scopes))),
            ("authServerMetadataUrl", text(&self.auth_server_metadata_url)),
            ("issuer", text(&self.issuer)),
            ("resource", resource),
            ("account", text(&self.account)),
            (
                "authorizeParameters",
                (!self.authorize_parameters.is_empty()).then(|| json!(self.authorize_parameters)),
            ),
            ("pkce", self.assumes_pkce.then(|| json!("assume"))),
            ("grant", self.grant.to_json()),
        ];
        all.into_iter().filter_map(|(key, value)| Some((key, value?))).collect()
    }

    /// Returns the block as it is written to a file.
    pub(crate) fn to_json(&self) -> Value {
        let known = self.known_fields().into_iter().map(|(key, value)| (key.to_owned(), value));
        Value::Object(known.chain(self.unknown.iter().cloned()).collect())
    }
}

impl GrantConfig {
    /// Returns the name of the grant, as it is written.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::AuthorizationCode => "authorization-code",
            Self::ClientCredentials => "client-credentials",
            Self::JwtBearer { .. } => "jwt-bearer",
            Self::EnterpriseManaged(_) => "enterprise-managed",
        }
    }

    fn to_json(&self) -> Option<Value> {
        let name = self.type_name();
        match self {
            Self::AuthorizationCode => None,
            Self::ClientCredentials => Some(json!(name)),
            Self::JwtBearer { assertion_file } => {
                Some(json!({ "type": name, "assertionFile": assertion_file }))
            }
            Self::EnterpriseManaged(enterprise) => {
                let mut fields = json!({
                    "type": name,
                    "tokenEndpoint": enterprise.token_endpoint,
                    "clientId": enterprise.client_id,
                });
                let optional = [
                    ("clientSecretEnv", &enterprise.client_secret_env),
                    ("idTokenFile", &enterprise.id_token_file),
                    ("idTokenEnv", &enterprise.id_token_env),
                ];
                for (key, value) in optional {
                    if let Some(value) = value {
                        fields[key] = json!(value);
                    }
                }
                Some(fields)
            }
        }
    }
}

impl fmt::Debug for OAuthConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OAuthConfig({})", self.masked())
    }
}

impl fmt::Debug for EnterpriseConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EnterpriseConfig")
            .field("token_endpoint", &self.token_endpoint)
            .field("client_id", &self.client_id)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for EnterpriseSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EnterpriseSecrets(••••)")
    }
}
