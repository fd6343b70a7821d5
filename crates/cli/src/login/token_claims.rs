//! What a JWT access token says about itself. Its signature is not verified: only the server can judge it.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;

/// The longest token that is decoded.
const MAX_TOKEN: usize = 64 * 1024;

/// Claims of a token that explain a refusal. Nothing about the person is kept.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct TokenClaims {
    pub(crate) issuer: Option<String>,
    pub(crate) audience: Vec<String>,
    /// Seconds since 1970.
    pub(crate) expires_at: Option<u64>,
    pub(crate) scopes: Option<String>,
}

impl TokenClaims {
    /// Reads the claims of a token; `None` if it is not a JWT.
    pub(crate) fn read(token: &str) -> Option<Self> {
        let mut parts = token.split('.');
        let (_, payload, _) = (parts.next()?, parts.next()?, parts.next()?);
        if parts.next().is_some() || token.len() > MAX_TOKEN {
            return None;
        }
        let claims: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload).ok()?).ok()?;
        let text = |name: &str| claims[name].as_str().map(str::to_owned);
        let audience = match &claims["aud"] {
            Value::String(one) => vec![one.clone()],
            Value::Array(all) => all.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            _ => Vec::new(),
        };
        claims.is_object().then(|| Self {
            issuer: text("iss"),
            audience,
            expires_at: claims["exp"]
                .as_f64()
                .filter(|seconds| *seconds >= 0.0)
                .map(|seconds| seconds as u64),
            scopes: text("scope").or_else(|| text("scp")),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_jwt_has_claims() {
        let token = |claims: &str| format!("e30.{}.sig", URL_SAFE_NO_PAD.encode(claims));
        let read = TokenClaims::read(&token(
            r#"{"iss":"https://as.example","aud":["a","b"],"exp":17.9,"scp":"x y","sub":"u"}"#,
        ));
        let expected = TokenClaims {
            issuer: Some("https://as.example".into()),
            audience: vec!["a".into(), "b".into()],
            expires_at: Some(17),
            scopes: Some("x y".into()),
        };
        assert_eq!(read, Some(expected));
        assert_eq!(TokenClaims::read(&token(r#"{"aud":"a"}"#)).unwrap().audience, ["a"]);
        assert_eq!(TokenClaims::read(&token("{}")), Some(TokenClaims::default()));
        for other in
            ["opaque", "a.b", "a.!.c", &token("[1]"), &token("{}").repeat(2), &token(&" ".repeat(60_000))]
        {
            assert_eq!(TokenClaims::read(other), None, "{other:.40}");
        }
    }
}
