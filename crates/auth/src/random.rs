//! Random strings and hashes in base64url, as OAuth writes them.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom, SystemRandom};
use switchboard_http::Secret;

/// Returns 256 random bits in base64url.
pub(crate) fn random_token() -> Secret {
    let mut bytes = [0; 32];
    SystemRandom::new().fill(&mut bytes).expect("the system's random generator works");
    Secret::new(URL_SAFE_NO_PAD.encode(bytes))
}

/// Returns the SHA-256 of a text in base64url.
pub(crate) fn sha256(text: &str) -> String {
    URL_SAFE_NO_PAD.encode(digest(&SHA256, text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_challenge_of_rfc_7636_appendix_b() {
        assert_eq!(
            sha256("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"),
            "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
        );
    }

    #[test]
    fn tokens_have_43_characters_and_differ() {
        let (one, other) = (random_token(), random_token());
        assert_eq!(one.expose().len(), 43);
        assert_ne!(one, other);
    }
}
