//! Converts the `oauth` block of a configuration into the options of an OAuth client.

use std::path::Path;

use switchboard_auth::{
    AssertionSource, AuthError, EnterpriseManaged, GrantMethod, OAuthClient, OAuthOptions, PkcePolicy,
    ResourceParameter, Scopes,
};
use switchboard_host::config::{EnterpriseConfig, GrantConfig, OAuthConfig, ResourceConfig};
use switchboard_http::Secret;

/// The longest identity token that is read from a file.
const MAX_TOKEN_BYTES: u64 = 64 * 1024;

/// Returns the options of logins that an `oauth` block describes. Its variables must be substituted: the block is that of a
/// [`ServerSpec`](switchboard_host::ServerSpec) or [`ServerPlan`](switchboard_host::config::ServerPlan).
///
/// ```
/// use switchboard::host::{ServerSpec, config::OAuthConfig};
/// use switchboard::login::oauth_options;
/// use switchboard::{Http, ServerConfig};
///
/// let config: ServerConfig = serde_json::from_value(serde_json::json!({
///     "url": "https://mcp.example.com/mcp",
///     "oauth": { "clientId": "0oa1b2c3", "account": "work" },
/// }))?;
/// let spec = ServerSpec::from(&config);
/// let options = oauth_options(spec.oauth.as_ref().expect("the entry has the block"))?;
/// assert!(format!("{options:?}").contains("0oa1b2c3"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// When the file of an identity token cannot be read.
pub fn oauth_options(config: &OAuthConfig) -> Result<OAuthOptions, AuthError> {
    let mut options = OAuthOptions::default();
    if let Some(id) = &config.client_id {
        options = options.with_client(client(id, config.client_secret.as_ref()));
    }
    if let Some(url) = &config.client_metadata_url {
        options = options.with_metadata_document(url);
    }
    if !config.scopes.is_empty() {
        options = options.with_scopes(Scopes::parse(&config.scopes.join(" ")));
    }
    if let Some(url) = &config.auth_server_metadata_url {
        options = options.with_server_metadata_url(url);
    }
    if let Some(issuer) = &config.issuer {
        options = options.with_issuer(issuer);
    }
    options = match &config.resource {
        None => options,
        Some(ResourceConfig::Omit) => options.with_resource(ResourceParameter::Omit),
        Some(ResourceConfig::Identifier(identifier)) => {
            options.with_resource(ResourceParameter::Value(identifier.clone()))
        }
    };
    if let Some(account) = &config.account {
        options = options.with_account(account);
    }
    for (name, value) in &config.authorize_parameters {
        options = options.with_authorize_parameter(name, value);
    }
    if config.assumes_pkce {
        options = options.with_pkce(PkcePolicy::Assume);
    }
    Ok(match &config.grant {
        GrantConfig::ClientCredentials => options.with_grant(GrantMethod::ClientCredentials),
        GrantConfig::JwtBearer { assertion_file } => {
            options.with_grant(GrantMethod::JwtBearer(AssertionSource::File(assertion_file.into())))
        }
        GrantConfig::EnterpriseManaged(enterprise) => {
            options.with_grant(GrantMethod::EnterpriseManaged(enterprise_managed(enterprise)?))
        }
        _ => options,
    })
}

fn client(id: &str, secret: Option<&Secret>) -> OAuthClient {
    match secret {
        Some(secret) => OAuthClient::with_secret(id, secret.clone()),
        None => OAuthClient::public(id),
    }
}

fn enterprise_managed(config: &EnterpriseConfig) -> Result<EnterpriseManaged, AuthError> {
    let id_token = match (&config.secrets.id_token, &config.id_token_file) {
        (Some(token), _) => token.clone(),
        (None, Some(file)) => read_token(Path::new(file))?,
        (None, None) => return Err(unusable("the configuration names none".to_owned())),
    };
    let client = client(&config.client_id, config.secrets.client_secret.as_ref());
    Ok(EnterpriseManaged::new(&config.token_endpoint, client, id_token))
}

fn read_token(file: &Path) -> Result<Secret, AuthError> {
    use std::io::Read;
    let mut text = String::new();
    let opened = std::fs::File::open(file);
    let read = opened.and_then(|opened| opened.take(MAX_TOKEN_BYTES + 1).read_to_string(&mut text));
    match read {
        Err(error) => Err(unusable(format!("{}: {error}", file.display()))),
        Ok(bytes) if bytes as u64 > MAX_TOKEN_BYTES => {
            Err(unusable(format!("{} is larger than {MAX_TOKEN_BYTES} bytes", file.display())))
        }
        Ok(_) => Ok(Secret::new(text.trim())),
    }
}

fn unusable(reason: String) -> AuthError {
    AuthError::Key { what: "the identity token", reason }
}
