//! The verifier of a resource server: finds out what kind of token a request carries, and who its caller is.

use std::sync::Arc;

use switchboard_http::{BoxFuture, PresentedToken, ProtectedResource, VerifiedCaller, Verifier, VerifyError};

use crate::jws::{MAX_TOKEN, has_jws_header, unix_now};
use crate::metadata::ResourceMetadata;
use crate::resource_server::access_token::AccessTokenVerifier;
use crate::resource_server::api_key::ApiKeys;
use crate::resource_server::api_key_file::ApiKeySource;
use crate::resource_server::introspection::IntrospectionVerifier;
use crate::resource_server::token_cache::{TokenCache, TokenDigest};

/// Verifies the tokens of one resource server. Made by [`ResourceServer::build`](crate::ResourceServer::build).
#[derive(Debug)]
pub struct ResourceVerifier {
    /// Verifies signed tokens.
    pub(crate) signed: Option<AccessTokenVerifier>,
    /// Verifies opaque tokens.
    pub(crate) opaque: Option<IntrospectionVerifier>,
    pub(crate) api_keys: Option<ApiKeySource>,
    pub(crate) cache: TokenCache,
    pub(crate) metadata: ResourceMetadata,
    pub(crate) protected_resource: ProtectedResource,
}

impl ResourceVerifier {
    /// Returns the metadata document (RFC 9728). It is served at the paths of [`Verifier::protected_resource`].
    pub fn metadata(&self) -> &ResourceMetadata {
        &self.metadata
    }

    async fn verify_token(&self, token: &str) -> Result<Arc<VerifiedCaller>, VerifyError> {
        if token.len() > MAX_TOKEN {
            return Err(VerifyError::invalid("it is too long"));
        }
        if let Some(api_keys) = &self.api_keys
            && ApiKeys::is_api_key(token)
        {
            let keys = api_keys.keys();
            let entry = keys.find(token, unix_now());
            let entry = entry.ok_or_else(|| VerifyError::invalid("the API key is unknown or has expired"))?;
            return Ok(Arc::new(entry.caller()));
        }
        let digest = TokenDigest::of(token);
        if let Some(caller) = self.cache.get(digest) {
            return Ok(caller);
        }
        let checked = match (&self.signed, &self.opaque) {
            (_, Some(opaque)) if !has_jws_header(token) => opaque.verify(token).await?,
            (Some(signed), _) => signed.verify(token).await?,
            _ => return Err(VerifyError::invalid("it is not an API key")),
        };
        let caller = Arc::new(checked.caller);
        self.cache.insert(digest, Arc::clone(&caller), checked.remaining);
        Ok(caller)
    }
}

impl Verifier for ResourceVerifier {
    fn verify<'a>(
        &'a self,
        presented: PresentedToken<'a>,
    ) -> BoxFuture<'a, Result<Arc<VerifiedCaller>, VerifyError>> {
        Box::pin(self.verify_token(presented.token))
    }

    fn protected_resource(&self) -> Option<&ProtectedResource> {
        Some(&self.protected_resource)
    }
}
