//! Revocation of tokens (RFC 7009): at logout, and of the grants that a login replaces.

use std::time::Duration;

use http::header::HeaderMap;

use crate::error::AuthError;
use crate::fetch::Fetcher;
use crate::form::Form;
use crate::metadata::ServerMetadata;
use crate::oauth::state::OAuthSettings;
use crate::store::{GrantKey, StoredGrant};

/// How long a login waits for the revocation of a grant that it replaces.
const REPLACED_TIMEOUT: Duration = Duration::from_secs(5);

/// Whether the tokens of a grant were revoked at the authorization server.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Revocation {
    /// They were.
    Revoked,
    /// The refresh token was, so that the grant cannot be used any more; the server cannot revoke access tokens, as many
    /// cannot whose tokens are signed, and this one stays valid until it expires.
    RefreshTokenOnly,
    /// The server cannot revoke tokens: they stay valid until they expire.
    Unsupported,
    /// The server did not answer as it should; the tokens may stay valid until they expire.
    Failed(AuthError),
}

/// Revokes the tokens of a grant: the refresh token, which ends the grant, and the access token.
pub(super) async fn revoke(fetcher: &Fetcher, stored: &StoredGrant) -> Revocation {
    let grant = &stored.grant;
    let Some(endpoint) = &grant.revocation_endpoint else { return Revocation::Unsupported };
    let refresh = grant.refresh_token.as_ref().map(|token| (token, "refresh_token"));
    let access = (&grant.access_token, "access_token");
    for (token, hint) in refresh.into_iter().chain([access]) {
        let mut form = Form::default();
        form.add("token", token.expose());
        form.add("token_type_hint", hint);
        match post(fetcher, stored, endpoint, form).await {
            Ok(()) => {}
            Err(error) if error.code() == Some("unsupported_token_type") && hint == "access_token" => {
                return match grant.refresh_token {
                    Some(_) => Revocation::RefreshTokenOnly,
                    None => Revocation::Unsupported,
                };
            }
            Err(error) => return Revocation::Failed(error),
        }
    }
    Revocation::Revoked
}

/// Ends the other grants of an account after a login, like those of an earlier client or issuer. A grant that cannot be ended
/// now stays for the logout.
pub(super) async fn end_replaced_grants(settings: &OAuthSettings, new: &GrantKey) {
    let OAuthSettings { account, fetcher, store, .. } = settings;
    let Ok(grants) = store.list().await else { return };
    let is_replaced = |old: &&StoredGrant| {
        old.grant.server == account.server && old.key.account == account.account && old.key != *new
    };
    for old in grants.iter().filter(is_replaced) {
        let revocation = tokio::time::timeout(REPLACED_TIMEOUT, revoke(fetcher, old)).await;
        if matches!(revocation, Err(_) | Ok(Revocation::Failed(_))) {
            continue;
        }
        if let Err(error) = store.compare_and_set(&old.key, Some(old.generation), None).await {
            tracing::warn!(%error, "cannot remove the grant that a login has replaced");
        }
    }
}

async fn post(
    fetcher: &Fetcher,
    stored: &StoredGrant,
    endpoint: &str,
    mut form: Form,
) -> Result<(), AuthError> {
    let server = ServerMetadata {
        issuer: stored.key.issuer.clone(),
        token_endpoint_auth_methods_supported: stored.grant.auth_methods.clone(),
        ..ServerMetadata::default()
    };
    let address = fetcher.check("revocation endpoint", endpoint)?;
    let mut headers = HeaderMap::new();
    stored.grant.client.to_client().authenticate(&server, &mut form, &mut headers)?;
    let answer = fetcher.post_form(address, form.finish(), headers).await?;
    if answer.status.is_success() { Ok(()) } else { Err(answer.error()) }
}
