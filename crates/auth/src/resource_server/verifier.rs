//! The verifier of a resource server: finds out what kind of token a request carries, and who its caller is.

use std::future::ready;
use std::sync::Arc;

use switchboard_http::{
    BoxFuture, PresentedToken, ProtectedResource, TokenScheme, VerifiedCaller, Verifier, VerifyError,
};

use crate::jws::{MAX_TOKEN, has_jws_header, unix_now};
use crate::metadata::ResourceMetadata;
use crate::resource_server::access_token::AccessTokenVerifier;
use crate::resource_server::api_key::ApiKeys;
use crate::resource_server::api_key_file::ApiKeySource;
use crate::resource_server::claims::CheckedClaims;
use crate::resource_server::dpop_proof::ProofVerifier;
use crate::resource_server::introspection::IntrospectionVerifier;
use crate::resource_server::key_binding::KeyBinding;
use crate::resource_server::token_cache::TokenCache;
use crate::resource_server::token_digest::TokenDigest;
use crate::resource_server::verified_tokens::VerifiedTokens;

/// Verifies the tokens of one resource server. Made by [`ResourceServer::build`](crate::ResourceServer::build).
#[derive(Debug)]
pub struct ResourceVerifier {
    /// Verifies signed tokens.
    pub(crate) signed: Option<AccessTokenVerifier>,
    /// Verifies opaque tokens.
    pub(crate) opaque: Option<IntrospectionVerifier>,
    pub(crate) api_keys: Option<ApiKeySource>,
    /// Verifies the proofs of tokens that are bound to a key.
    pub(crate) proofs: Option<ProofVerifier>,
    pub(crate) verified: VerifiedTokens<Arc<VerifiedToken>>,
    /// Opaque tokens that the authorization server rejected.
    pub(crate) rejected: TokenCache<TokenDigest, VerifyError>,
    pub(crate) metadata: ResourceMetadata,
    pub(crate) protected_resource: ProtectedResource,
}

/// A token that was verified: its caller, and the key that it is bound to.
#[derive(Debug)]
pub(crate) struct VerifiedToken {
    caller: Arc<VerifiedCaller>,
    binding: Option<KeyBinding>,
}

impl ResourceVerifier {
    /// Returns the metadata document (RFC 9728). It is served at the paths of [`Verifier::protected_resource`].
    pub fn metadata(&self) -> &ResourceMetadata {
        &self.metadata
    }

    async fn verify_request(
        &self,
        presented: PresentedToken<'_>,
    ) -> Result<Arc<VerifiedCaller>, VerifyError> {
        let verified = self.verify_token(presented.token).await?;
        self.check_possession(presented, &verified)?;
        Ok(Arc::clone(&verified.caller))
    }

    /// Verifies a token that is cached; `None` for any other.
    fn verify_cached(
        &self,
        presented: PresentedToken<'_>,
    ) -> Option<Result<Arc<VerifiedCaller>, VerifyError>> {
        let is_api_key = self.api_keys.is_some() && ApiKeys::is_api_key(presented.token);
        if presented.token.len() > MAX_TOKEN || is_api_key {
            return None;
        }
        let verified = self.verified.get(presented.token)?;
        Some(self.check_possession(presented, &verified).map(|()| Arc::clone(&verified.caller)))
    }

    /// Checks that a token was sent in the way that its binding demands.
    fn check_possession(
        &self,
        presented: PresentedToken<'_>,
        verified: &VerifiedToken,
    ) -> Result<(), VerifyError> {
        let is_required = self.proofs.as_ref().is_some_and(|proofs| proofs.is_required);
        match (&verified.binding, presented.scheme, &self.proofs) {
            (None, TokenScheme::Bearer, _) if is_required && !ApiKeys::is_api_key(presented.token) => {
                Err(VerifyError::invalid("it is not bound to a key, which this server demands (DPoP)"))
            }
            (None, TokenScheme::Bearer, _) => Ok(()),
            (None, ..) => Err(VerifyError::invalid("it is not bound to a key: send it as a bearer token")),
            (Some(KeyBinding::Dpop(thumbprint)), TokenScheme::Dpop, Some(proofs)) => {
                proofs.check(presented, thumbprint, unix_now())
            }
            // Without a proof, a bound token is a stolen one (RFC 9449, 7.1).
            (Some(KeyBinding::Dpop(_)), ..) => {
                Err(VerifyError::invalid("it is bound to a key and was sent as a bearer token"))
            }
            (Some(KeyBinding::Unsupported), ..) => {
                Err(VerifyError::invalid("it is bound to a certificate, or in another unsupported way"))
            }
        }
    }

    async fn verify_token(&self, token: &str) -> Result<Arc<VerifiedToken>, VerifyError> {
        if token.len() > MAX_TOKEN {
            return Err(VerifyError::invalid("it is too long"));
        }
        if let Some(api_keys) = &self.api_keys
            && ApiKeys::is_api_key(token)
        {
            let keys = api_keys.keys();
            let entry = keys.find(token, unix_now());
            let entry = entry.ok_or_else(|| VerifyError::invalid("the API key is unknown or has expired"))?;
            let caller = Arc::new(entry.caller());
            return Ok(Arc::new(VerifiedToken { caller, binding: None }));
        }
        let checked = match (&self.signed, &self.opaque) {
            (_, Some(opaque)) if !has_jws_header(token) => self.introspect(opaque, token).await?,
            (Some(signed), _) => signed.verify(token).await?,
            _ => return Err(VerifyError::invalid("it is not an API key")),
        };
        let verified = Arc::new(VerifiedToken { caller: Arc::new(checked.caller), binding: checked.binding });
        self.verified.insert(token, Arc::clone(&verified), checked.remaining);
        Ok(verified)
    }

    /// Asks the authorization server, unless it rejected the token a moment ago.
    async fn introspect(
        &self,
        opaque: &IntrospectionVerifier,
        token: &str,
    ) -> Result<CheckedClaims, VerifyError> {
        let digest = TokenDigest::of(token);
        if let Some(rejection) = self.rejected.get(digest) {
            return Err(rejection);
        }
        let outcome = opaque.verify(token).await;
        if let Err(rejection @ VerifyError::InvalidToken { .. }) = &outcome {
            self.rejected.insert(digest, rejection.clone(), None);
        }
        outcome
    }
}

impl Verifier for ResourceVerifier {
    fn verify<'a>(
        &'a self,
        presented: PresentedToken<'a>,
    ) -> BoxFuture<'a, Result<Arc<VerifiedCaller>, VerifyError>> {
        // The common case needs no large future.
        match self.verify_cached(presented) {
            Some(outcome) => Box::pin(ready(outcome)),
            None => Box::pin(self.verify_request(presented)),
        }
    }

    fn protected_resource(&self) -> Option<&ProtectedResource> {
        Some(&self.protected_resource)
    }
}
