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
        if !is_access_token(jwt.kind.as_deref()) {
            return Err(VerifyError::invalid("it is not an access token"));
        }
        self.expected.check(&jwt.claims, ClaimsSource::Jwt, unix_now())
    }
}

/// Returns whether a `typ` may be that of an access token. Many issuers write `JWT` or nothing; other types are tokens for
/// another purpose, like proofs and logout tokens.
fn is_access_token(kind: Option<&str>) -> bool {
    let Some(kind) = kind else { return true };
    let kind = kind.to_ascii_lowercase();
    matches!(kind.strip_prefix("application/").unwrap_or(&kind), "at+jwt" | "jwt")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_kinds_of_tokens_are_no_access_tokens() {
        for kind in
            [None, Some("at+jwt"), Some("AT+JWT"), Some("application/at+jwt"), Some("JWT"), Some("jwt")]
        {
            assert!(is_access_token(kind), "{kind:?}");
        }
        for kind in ["dpop+jwt", "logout+jwt", "token-introspection+jwt", "", "at+jwt2", "JOSE"] {
            assert!(!is_access_token(Some(kind)), "{kind}");
        }
    }
}
