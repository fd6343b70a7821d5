//! Revocation of tokens (RFC 7009).

use http::header::HeaderMap;

use crate::error::AuthError;
use crate::fetch::Fetcher;
use crate::form::Form;
use crate::metadata::ServerMetadata;
use crate::store::StoredGrant;

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
