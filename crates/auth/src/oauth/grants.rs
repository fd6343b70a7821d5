//! The requests of the grants without a user: client credentials, JWT bearer, and the chain of enterprise-managed
//! authorization.

use crate::client_auth::OAuthClient;
use crate::error::{AuthError, OAuthError};
use crate::fetch::Fetcher;
use crate::form::Form;
use crate::metadata::ServerMetadata;
use crate::oauth::options::EnterpriseManaged;
use crate::scope::Scopes;
use crate::token::{TokenEndpoint, TokenResponse};

const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const TOKEN_EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const ID_TOKEN: &str = "urn:ietf:params:oauth:token-type:id_token";
const ID_JAG: &str = "urn:ietf:params:oauth:token-type:id-jag";

/// Requests a token for the client itself.
pub(super) async fn client_credentials(
    endpoint: &TokenEndpoint<'_>,
    scopes: &Scopes,
    resource: Option<&str>,
) -> Result<TokenResponse, AuthError> {
    let mut form = Form::default();
    form.add("grant_type", "client_credentials");
    add_target(&mut form, scopes, resource);
    endpoint.request(form).await
}

/// Requests a token with an assertion of somebody the authorization server trusts.
pub(super) async fn jwt_bearer(
    endpoint: &TokenEndpoint<'_>,
    assertion: &str,
    scopes: &Scopes,
    resource: Option<&str>,
) -> Result<TokenResponse, AuthError> {
    let mut form = Form::default();
    form.add("grant_type", JWT_BEARER);
    form.add("assertion", assertion);
    add_target(&mut form, scopes, resource);
    endpoint.request(form).await
}

/// Exchanges the identity token of a user at the identity provider for an authorization grant for this server (ID-JAG).
///
/// # Errors
/// [`AuthError::BlockedByAdmin`] when the identity provider denies it: a login would not help.
pub(super) async fn identity_assertion(
    fetcher: &Fetcher,
    idp: &EnterpriseManaged,
    issuer: &str,
    resource: &str,
    scopes: &Scopes,
) -> Result<TokenResponse, AuthError> {
    let provider = ServerMetadata {
        // The audience of assertions: the issuer, or else the endpoint (RFC 7523, section 3).
        issuer: idp.issuer.clone().unwrap_or_else(|| idp.token_endpoint.clone()),
        token_endpoint: Some(idp.token_endpoint.clone()),
        ..ServerMetadata::default()
    };
    let client: &OAuthClient = &idp.client;
    let fetcher = fetcher.for_configured(&idp.token_endpoint);
    let endpoint =
        TokenEndpoint { fetcher: &fetcher, server: &provider, client, dpop: None, is_dpop_required: false };
    let mut form = Form::default();
    form.add("grant_type", TOKEN_EXCHANGE);
    form.add("requested_token_type", ID_JAG);
    form.add("subject_token", idp.id_token.expose());
    form.add("subject_token_type", ID_TOKEN);
    form.add("audience", issuer);
    add_target(&mut form, scopes, Some(resource));
    let response = endpoint.exchange(form).await.map_err(denied)?;
    match response.issued_token_type.as_deref() {
        None | Some(ID_JAG) => Ok(response),
        Some(other) => Err(AuthError::Endpoint {
            url: idp.token_endpoint.clone(),
            error: OAuthError::new("invalid_response", Some(&format!("it issued {other}, not an ID-JAG"))),
        }),
    }
}

/// Turns the denial of an identity provider into an error that no login follows. Outages and mistakes stay what they are.
pub(super) fn denied(error: AuthError) -> AuthError {
    match error {
        AuthError::Endpoint { error, .. } if is_denial(&error.code) => AuthError::BlockedByAdmin(error),
        other => other,
    }
}

/// Returns whether a code says that a policy forbids the access (RFC 6749, 8693, 9470, and OpenID Connect).
fn is_denial(code: &str) -> bool {
    matches!(
        code,
        "access_denied"
            | "invalid_grant"
            | "invalid_target"
            | "unauthorized_client"
            | "consent_required"
            | "interaction_required"
            | "login_required"
            | "account_selection_required"
            | "insufficient_user_authentication"
            | "unmet_authentication_requirements"
    )
}

fn add_target(form: &mut Form, scopes: &Scopes, resource: Option<&str>) {
    form.add_optional("scope", Some(&scopes.to_string()));
    form.add_optional("resource", resource);
}
