//! Who may send requests: verifiers of keys and tokens, and the check that no server's credentials are lent to everyone.

use std::sync::{Arc, PoisonError, RwLock};

use switchboard::auth::{
    AuthError, DpopVerification, FileStore, OAuthClient, ResourceServer, ResourceVerifier, TokenStore,
};
use switchboard::gateway::config::{CallersConfig, DpopMode, OAuthCallersConfig};
use switchboard::host::config::{ConfiguredServer, ResolvedConfig, ServerConfig};
use switchboard::host::{ServerSpec, Transport};
use switchboard::transport::http::server::{
    PresentedToken, ProtectedResource, VerifiedCaller, Verifier, VerifyError,
};
use switchboard::transport::http_client::{BoxFuture, Secret};

use crate::error::CommandError;
use crate::gateway::settings::GatewaySettings;
use crate::login::open_store;
use crate::sanitize::one_line;

/// The longest secret of an OAuth client.
const MAX_SECRET_BYTES: u64 = 16 * 1024;

/// A verifier that is replaced when the settings of callers change.
#[derive(Debug)]
pub(crate) struct ReplaceableVerifier {
    // Held for a clone, never across an await.
    current: RwLock<Arc<ResourceVerifier>>,
    resource: Option<ProtectedResource>,
}

impl ReplaceableVerifier {
    pub(crate) fn new(verifier: ResourceVerifier) -> Self {
        let resource = verifier.protected_resource().cloned();
        Self { current: RwLock::new(Arc::new(verifier)), resource }
    }

    /// Verifies requests with this verifier from now on. Its public URL must be the same.
    pub(crate) fn replace(&self, verifier: ResourceVerifier) {
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(verifier);
    }
}

impl Verifier for ReplaceableVerifier {
    fn verify<'a>(
        &'a self,
        presented: PresentedToken<'a>,
    ) -> BoxFuture<'a, Result<Arc<VerifiedCaller>, VerifyError>> {
        let current = Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner));
        Box::pin(async move { current.verify(presented).await })
    }

    fn protected_resource(&self) -> Option<&ProtectedResource> {
        self.resource.as_ref()
    }
}

/// Returns the verifier of the callers' keys and tokens; `None` if callers do not authenticate.
///
/// # Errors
/// Returns an error if a URL or a file cannot be used.
pub(crate) fn build_verifier(
    callers: &CallersConfig,
    public_url: &str,
) -> Result<Option<ResourceVerifier>, CommandError> {
    if !callers.authenticates() {
        return Ok(None);
    }
    let mut resource = ResourceServer::new(public_url).name("switchboard gateway");
    if let Some(file) = &callers.api_keys {
        resource = resource.api_key_file(file);
    }
    if let Some(oauth) = &callers.oauth {
        resource = with_issuer(resource, oauth)?;
    }
    let verifier = resource.build().map_err(|error| CommandError::other("callers", error.to_string()))?;
    Ok(Some(verifier))
}

fn with_issuer(
    mut resource: ResourceServer,
    oauth: &OAuthCallersConfig,
) -> Result<ResourceServer, CommandError> {
    resource = resource.issuer(&oauth.issuer).scopes(&oauth.scopes);
    for audience in &oauth.audience {
        resource = resource.audience(audience);
    }
    for claim in &oauth.scope_claims {
        resource = resource.scope_claim(claim);
    }
    if let Some(url) = &oauth.jwks_url {
        resource = resource.jwks_url(url);
    }
    if let Some(claim) = &oauth.subject_claim {
        resource = resource.subject_claim(claim);
    }
    if oauth.require_at_jwt {
        resource = resource.require_at_jwt();
    }
    resource = match oauth.dpop {
        DpopMode::Optional => resource.dpop(DpopVerification::optional()),
        DpopMode::Required => resource.dpop(DpopVerification::required()),
        _ => resource,
    };
    if let Some(introspection) = &oauth.introspection {
        let path = &introspection.client_secret_file;
        let unreadable = |reason: String| {
            let path = one_line(&path.display().to_string());
            CommandError::other("callers", format!("cannot read the client secret in {path}: {reason}"))
                .hint("write the secret, and nothing else, to this file with mode 0600")
        };
        let length = std::fs::metadata(path).map_err(|error| unreadable(error.to_string()))?.len();
        if length > MAX_SECRET_BYTES {
            return Err(unreadable(format!("it has more than {MAX_SECRET_BYTES} bytes")));
        }
        let secret = std::fs::read_to_string(path).map_err(|error| unreadable(error.to_string()))?;
        if secret.trim().is_empty() {
            return Err(unreadable("it is empty".to_owned()));
        }
        let client = OAuthClient::with_secret(&introspection.client_id, Secret::new(secret.trim()));
        resource = resource.introspection(&introspection.endpoint, client);
    }
    Ok(resource)
}

/// Refuses to lend the credentials of servers to every program on this machine: a port, unlike stdin, has no owner.
///
/// # Errors
/// Names a server with credentials, and what to do.
pub(crate) async fn check_credentials(settings: &GatewaySettings) -> Result<(), CommandError> {
    if !settings.is_open_by_default() {
        return Ok(());
    }
    let Some(server) = server_with_credentials(&settings.servers).await? else { return Ok(()) };
    let message = format!(
        "{} has credentials, and every program that reaches the port could use them",
        one_line(&server.name)
    );
    Err(CommandError::usage(message).hint(
        "create a key with `switchboard key create NAME --file KEYS` and pass --api-keys KEYS; --anonymous allows it without",
    ))
}

/// Returns a server that is used with a secret of this user: in its entry, or a stored login.
///
/// # Errors
/// Returns an error if the token store cannot be read: nobody knows then which servers have logins.
async fn server_with_credentials(files: &ResolvedConfig) -> Result<Option<&ConfiguredServer>, CommandError> {
    let logins = match FileStore::default_directory() {
        Some(_) => open_store()?.list().await.map_err(AuthError::from)?,
        // Without a home directory no command uses stored logins.
        None => Vec::new(),
    };
    let is_logged_in = |server: &ConfiguredServer| {
        let Ok(ServerSpec { transport: Transport::Http(http), .. }) = ServerSpec::from_configured(server)
        else {
            return false;
        };
        let address = http.check().ok();
        address.is_some_and(|address| logins.iter().any(|login| login.grant.server == address.as_str()))
    };
    let has_secrets =
        |server: &ConfiguredServer| server.entry.as_ref().is_some_and(ServerConfig::has_credentials);
    Ok(files.servers.iter().find(|server| has_secrets(server) || is_logged_in(server)))
}
