//! Verification of JWT access tokens (RFC 9068): signature by the keys of the issuer, type, claims.

use switchboard_http::VerifyError;

use crate::jws::{JwsError, SignatureAlgorithm, unix_now, verify};
use crate::resource_server::claims::{CheckedClaims, ClaimsSource, ExpectedClaims};
use crate::resource_server::jwks_cache::JwksCache;

/// Verifies JWT access tokens of one issuer.
#[derive(Debug)]
pub(crate) struct AccessTokenVerifier {
    pub(crate) keys: JwksCache,
    pub(crate) algorithms: Vec<SignatureAlgorithm>,
    pub(crate) expected: ExpectedClaims,
    /// Whether only the type `at+jwt` is accepted.
    pub(crate) is_strict: bool,
}

impl AccessTokenVerifier {
    /// Verifies a token.
    ///
    /// # Errors
    /// When the token is invalid, or the keys of the issuer cannot be fetched.
    pub(crate) async fn verify(&self, token: &str) -> Result<CheckedClaims, VerifyError> {
        let keys = self.keys.keys().await?;
        let outcome = match verify(token, &keys, &self.algorithms) {
            // The issuer may have rotated its keys.
            Err(JwsError::UnknownKey) => match self.keys.keys_after_miss(&keys).await {
                Some(newer) => verify(token, &newer, &self.algorithms),
                None => Err(JwsError::UnknownKey),
            },
            outcome => outcome,
        };
        let jwt = outcome.map_err(|error| VerifyError::invalid(error.to_string()))?;
        let source = match claims_source(jwt.kind.as_deref()) {
            Some(ClaimsSource::Jwt) if self.is_strict => {
                return Err(VerifyError::invalid("its type is not `at+jwt`"));
            }
            Some(source) => source,
            None => return Err(VerifyError::invalid("it is not an access token")),
        };
        self.expected.check(&jwt.claims, source, unix_now())
    }
}

/// Returns what a `typ` says about a token. Many issuers write `JWT` or nothing; other types are tokens for another
/// purpose, like proofs and logout tokens.
fn claims_source(kind: Option<&str>) -> Option<ClaimsSource> {
    let Some(kind) = kind else { return Some(ClaimsSource::Jwt) };
    let kind = kind.to_ascii_lowercase();
    match kind.strip_prefix("application/").unwrap_or(&kind) {
        "at+jwt" => Some(ClaimsSource::AccessToken),
        "jwt" => Some(ClaimsSource::Jwt),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_kinds_of_tokens_are_no_access_tokens() {
        for kind in ["at+jwt", "AT+JWT", "application/at+jwt"] {
            assert_eq!(claims_source(Some(kind)), Some(ClaimsSource::AccessToken), "{kind}");
        }
        for kind in [None, Some("JWT"), Some("jwt")] {
            assert_eq!(claims_source(kind), Some(ClaimsSource::Jwt), "{kind:?}");
        }
        for kind in ["dpop+jwt", "logout+jwt", "token-introspection+jwt", "", "at+jwt2", "JOSE"] {
            assert_eq!(claims_source(Some(kind)), None, "{kind}");
        }
    }
}
