//! The settings of a resource server.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use switchboard_http::{Address, DpopSupport, HttpClient, HttpClientOptions, PlainHttp, ProtectedResource};

use crate::client_auth::OAuthClient;
use crate::fetch::{Fetcher, canonical_resource};
use crate::jws::SignatureAlgorithm;
use crate::metadata::ResourceMetadata;
use crate::resource_server::access_token::AccessTokenVerifier;
use crate::resource_server::api_key::ApiKeys;
use crate::resource_server::api_key_file::{ApiKeyFile, ApiKeySource};
use crate::resource_server::claims::ExpectedClaims;
use crate::resource_server::dpop_proof::{DpopVerification, ProofVerifier};
use crate::resource_server::error::ResourceServerError;
use crate::resource_server::introspection::IntrospectionVerifier;
use crate::resource_server::jwks_cache::JwksCache;
use crate::resource_server::jwks_source::JwksSource;
use crate::resource_server::token_cache::TokenCache;
use crate::resource_server::verified_tokens::VerifiedTokens;
use crate::resource_server::verifier::ResourceVerifier;

const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";
/// How many verified tokens are cached, and for how long: a revocation takes effect at the latest then.
const CACHED_TOKENS: usize = 10_000;
const MAX_CACHED: Duration = Duration::from_secs(60);
/// How many opaque tokens that the authorization server rejected are cached, and for how long.
const REJECTED_TOKENS: usize = 10_000;
const MAX_REJECTED: Duration = Duration::from_secs(5);

/// The settings of a server whose requests carry tokens: its public URL, and who issues the tokens.
///
/// The public URL is the one that clients use, also behind a proxy: it is the audience of tokens, and challenges and
/// metadata name it. Headers of requests do not change it.
///
/// ```
/// use switchboard::auth::ResourceServer;
///
/// let verifier = ResourceServer::new("https://notes.example.org/mcp")
///     .issuer("https://login.example.org")
///     .scopes(["notes:read"])
///     .build()?;
/// assert_eq!(verifier.metadata().resource, "https://notes.example.org/mcp");
/// assert_eq!(verifier.metadata().authorization_servers, ["https://login.example.org"]);
/// # Ok::<(), switchboard::auth::ResourceServerError>(())
/// ```
#[derive(Debug)]
#[must_use]
pub struct ResourceServer {
    public_url: String,
    issuer: Option<String>,
    jwks_url: Option<String>,
    scopes: Vec<String>,
    audiences: Vec<String>,
    algorithms: Vec<SignatureAlgorithm>,
    is_strict: bool,
    subject_claim: Option<String>,
    scope_claims: Vec<String>,
    dpop: Option<DpopVerification>,
    introspection: Option<(String, OAuthClient)>,
    api_keys: Option<ApiKeys>,
    api_key_file: Option<PathBuf>,
    name: Option<String>,
    http: Option<HttpClient>,
}

impl ResourceServer {
    /// Returns the settings of a server at this public URL. Add an issuer, or API keys.
    pub fn new(public_url: impl Into<String>) -> Self {
        Self {
            public_url: public_url.into(),
            issuer: None,
            jwks_url: None,
            scopes: Vec::new(),
            audiences: Vec::new(),
            algorithms: SignatureAlgorithm::ALL.to_vec(),
            is_strict: false,
            subject_claim: None,
            scope_claims: Vec::new(),
            dpop: None,
            introspection: None,
            api_keys: None,
            api_key_file: None,
            name: None,
            http: None,
        }
    }

    /// Sets the authorization server that issues the tokens. Its metadata is discovered with the first token.
    pub fn issuer(mut self, issuer: impl Into<String>) -> Self {
        self.issuer = Some(issuer.into());
        self
    }

    /// Sets the URL of the issuer's keys, for an issuer without metadata.
    pub fn jwks_url(mut self, url: impl Into<String>) -> Self {
        self.jwks_url = Some(url.into());
        self
    }

    /// Sets the scopes that the metadata lists and that clients without a token should ask for. Tokens need the scopes
    /// that the called tool declares, not these.
    pub fn scopes(mut self, scopes: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// Accepts tokens for this audience, too: another name of this server, for issuers that do not use URLs.
    pub fn audience(mut self, audience: impl Into<String>) -> Self {
        self.audiences.push(audience.into());
        self
    }

    /// Takes the subject of callers from this claim instead of `sub`, like `oid` of Entra. It must be unique per issuer;
    /// tokens without it are rejected.
    pub fn subject_claim(mut self, name: impl Into<String>) -> Self {
        self.subject_claim = Some(name.into());
        self
    }

    /// Counts the values of this claim as scopes, too, besides `scope` or `scp`: `permissions` of Auth0, `roles` of Entra,
    /// `realm_access.roles` of Keycloak. A text has scopes separated by blanks, an array one in each element.
    pub fn scope_claim(mut self, name: impl Into<String>) -> Self {
        self.scope_claims.push(name.into());
        self
    }

    /// Accepts only signed tokens of the type `at+jwt` (RFC 9068). Without it, tokens of the general type `JWT`, as Entra,
    /// Okta, Auth0 and Keycloak issue them, are accepted unless they look like ID tokens.
    pub fn require_at_jwt(mut self) -> Self {
        self.is_strict = true;
        self
    }

    /// Accepts tokens that are bound to a key (DPoP), or only such. Without it, they are rejected.
    pub fn dpop(mut self, dpop: DpopVerification) -> Self {
        self.dpop = Some(dpop);
        self
    }

    /// Sets the allowed signature algorithms. The default is all of [`SignatureAlgorithm`].
    pub fn algorithms(mut self, algorithms: impl IntoIterator<Item = SignatureAlgorithm>) -> Self {
        self.algorithms = algorithms.into_iter().collect();
        self
    }

    /// Verifies opaque tokens at this endpoint (RFC 7662), where this client authenticates. Signed tokens are still
    /// verified by the keys of the issuer.
    ///
    /// An answer must name this server as the audience of the token.
    pub fn introspection(mut self, endpoint: impl Into<String>, client: OAuthClient) -> Self {
        self.introspection = Some((endpoint.into(), client));
        self
    }

    /// Accepts these API keys.
    pub fn api_keys(mut self, keys: ApiKeys) -> Self {
        self.api_keys = Some(keys);
        self
    }

    /// Accepts the API keys in this file, which is read again when it changes.
    pub fn api_key_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.api_key_file = Some(path.into());
        self
    }

    /// Sets the name of the server, which users see when they log in.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets the client that calls the issuer. The default connects through the proxies of the environment.
    pub fn http_client(mut self, http: HttpClient) -> Self {
        self.http = Some(http);
        self
    }

    /// Checks the settings and returns the verifier. Nothing is connected yet.
    ///
    /// # Errors
    /// When a URL or a file cannot be used, or no token could ever be valid.
    pub fn build(self) -> Result<ResourceVerifier, ResourceServerError> {
        let public = parse_url("public URL", &self.public_url)?;
        if public.uri().query().is_some() {
            let reason = "it has a query".to_owned();
            return Err(ResourceServerError::Url { what: "public URL", url: self.public_url, reason });
        }
        let proofs = self.dpop.clone().map(|dpop| dpop.into_verifier(public.clone()));
        let has_no_proof = proofs.as_ref().is_some_and(|proofs| proofs.algorithm_names().is_empty());
        if self.algorithms.is_empty() || has_no_proof {
            return Err(ResourceServerError::NoAlgorithm);
        }
        let resource = canonical_resource(&public);
        let metadata = self.metadata(&resource, proofs.as_ref());
        let mut protected_resource = describe(&public, &metadata, &self.scopes);
        protected_resource.dpop =
            proofs.as_ref().map(|proofs| DpopSupport::new(proofs.algorithm_names(), proofs.is_required));
        let (signed, opaque) = self.token_verifiers(resource)?;
        let api_keys = match (self.api_keys, self.api_key_file) {
            (_, Some(path)) => Some(ApiKeySource::File(ApiKeyFile::open(path)?)),
            (Some(keys), None) => Some(ApiKeySource::Fixed(Arc::new(keys))),
            (None, None) => None,
        };
        if signed.is_none() && api_keys.is_none() {
            return Err(ResourceServerError::NoTokens);
        }
        Ok(ResourceVerifier {
            signed,
            opaque,
            api_keys,
            proofs,
            verified: VerifiedTokens::new(CACHED_TOKENS, MAX_CACHED),
            rejected: TokenCache::new(REJECTED_TOKENS, MAX_REJECTED),
            metadata,
            protected_resource,
        })
    }

    fn metadata(&self, resource: &str, proofs: Option<&ProofVerifier>) -> ResourceMetadata {
        let mut metadata = ResourceMetadata::new(resource);
        metadata.authorization_servers = self.issuer.iter().cloned().collect();
        metadata.scopes_supported.clone_from(&self.scopes);
        metadata.bearer_methods_supported = vec!["header".to_owned()];
        metadata.resource_name.clone_from(&self.name);
        if let Some(proofs) = proofs {
            metadata.dpop_signing_alg_values_supported = proofs.algorithm_names();
            metadata.dpop_bound_access_tokens_required = proofs.is_required;
        }
        metadata
    }

    /// Returns the verifiers of signed and of opaque tokens.
    fn token_verifiers(&self, resource: String) -> Result<TokenVerifiers, ResourceServerError> {
        let Some(issuer) = self.issuer.clone() else {
            let needs_issuer = self.introspection.is_some() || self.jwks_url.is_some();
            return if needs_issuer { Err(ResourceServerError::NoIssuer) } else { Ok((None, None)) };
        };
        let http = match &self.http {
            Some(http) => http.clone(),
            None => HttpClient::new(HttpClientOptions::from_environment())?,
        };
        let issuer_address = parse_url("issuer", &issuer)?;
        let expected = ExpectedClaims {
            issuer: issuer.clone(),
            resource,
            audiences: self.audiences.clone(),
            subject_claim: self.subject_claim.clone(),
            scope_claims: self.scope_claims.clone(),
        };
        let mut opaque = None;
        if let Some((endpoint, client)) = &self.introspection {
            let endpoint = parse_url("introspection endpoint", endpoint)?;
            let fetcher = Fetcher::new(http.clone(), &endpoint);
            opaque = Some(IntrospectionVerifier::new(fetcher, endpoint, client.clone(), expected.clone()));
        }
        let jwks_url = self.jwks_url.as_ref().map(|url| parse_url("key set", url)).transpose()?;
        let fetcher = Fetcher::new(http, jwks_url.as_ref().unwrap_or(&issuer_address));
        let signed = AccessTokenVerifier {
            keys: JwksCache::new(JwksSource::new(fetcher, issuer, jwks_url)),
            algorithms: self.algorithms.clone(),
            expected,
            is_strict: self.is_strict,
        };
        Ok((Some(signed), opaque))
    }
}

/// The verifiers of signed and of opaque tokens.
type TokenVerifiers = (Option<AccessTokenVerifier>, Option<IntrospectionVerifier>);

fn parse_url(what: &'static str, url: &str) -> Result<Address, ResourceServerError> {
    Address::parse(url, PlainHttp::LoopbackOnly).map_err(|error| ResourceServerError::url(what, url, &error))
}

/// Returns the description of a resource at its well-known URL: with the path of the resource (RFC 9728, 3.1), and at the
/// root for clients that look there.
fn describe(public: &Address, metadata: &ResourceMetadata, scopes: &[String]) -> ProtectedResource {
    let path = public.uri().path().trim_end_matches('/');
    let own = format!("{WELL_KNOWN}{path}");
    let url = format!("{}{own}", public.origin());
    let mut paths = vec![own];
    if !path.is_empty() {
        paths.push(WELL_KNOWN.to_owned());
    }
    let document = serde_json::to_string(metadata).expect("strings serialize");
    ProtectedResource::new(url, paths, document).with_scopes(scopes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_is_at_the_path_and_at_the_root() {
        for (url, resource, metadata_url, paths) in [
            (
                "https://h.example/mcp",
                "https://h.example/mcp",
                "https://h.example/.well-known/oauth-protected-resource/mcp",
                &["/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource"][..],
            ),
            (
                "https://h.example:8443/",
                "https://h.example:8443",
                "https://h.example:8443/.well-known/oauth-protected-resource",
                &["/.well-known/oauth-protected-resource"],
            ),
        ] {
            let verifier = ResourceServer::new(url).api_keys(ApiKeys::default()).build().unwrap();
            let described = &verifier.protected_resource;
            assert_eq!(
                (verifier.metadata.resource.as_str(), described.metadata_url.as_str()),
                (resource, metadata_url)
            );
            assert_eq!(described.paths, paths);
        }
    }

    #[test]
    fn settings_that_cannot_work_are_rejected() {
        let server = || ResourceServer::new("https://h.example/mcp");
        let client = || OAuthClient::public("id");
        for (settings, message) in [
            (server(), "accepts no tokens"),
            (server().introspection("https://a.example/introspect", client()), "needs an issuer"),
            (server().jwks_url("https://a.example/jwks"), "needs an issuer"),
            (server().issuer("http://a.example"), "issuer"),
            (server().issuer("not a url"), "issuer"),
            (server().issuer("https://a.example").algorithms([]), "algorithm"),
            (
                server().issuer("https://a.example").dpop(DpopVerification::optional().with_algorithms([])),
                "algorithm",
            ),
            (ResourceServer::new("http://h.example/mcp").issuer("https://a.example"), "public URL"),
            (ResourceServer::new("https://h.example/mcp?x=1").issuer("https://a.example"), "query"),
            (server().api_key_file("/does/not/exist"), "API keys"),
        ] {
            let error = settings.build().unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }
}
