//! Claims of access tokens (RFC 9068, RFC 7662) and the conditions under which they are accepted.

use std::time::Duration;

use serde::Deserialize;
use switchboard_http::{VerifiedCaller, VerifyError};

use crate::discovery::is_same_issuer;

/// How far the clocks of issuer and server may differ.
const CLOCK_SKEW: Duration = Duration::from_secs(60);

/// The claims that are read.
#[derive(Deserialize)]
pub(crate) struct Claims {
    iss: Option<String>,
    sub: Option<String>,
    aud: Option<OneOrMany>,
    exp: Option<f64>,
    nbf: Option<f64>,
    scope: Option<OneOrMany>,
    scp: Option<OneOrMany>,
    client_id: Option<String>,
    azp: Option<String>,
    /// `client_id` in the tokens of Okta.
    cid: Option<String>,
    cnf: Option<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

/// What the claims of a token must say.
#[derive(Debug, Clone)]
pub(crate) struct ExpectedClaims {
    /// The issuer.
    pub(crate) issuer: String,
    /// The accepted audiences: this server, and further names of it.
    pub(crate) audiences: Vec<String>,
}

/// Where claims come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClaimsSource {
    /// From a signed token: issuer and expiry are mandatory.
    Jwt,
    /// From the introspection endpoint of the issuer, which may leave them out.
    Introspection,
}

/// A caller, and how long the token remains valid.
pub(crate) struct CheckedClaims {
    pub(crate) caller: VerifiedCaller,
    /// `None` if the expiry is unknown.
    pub(crate) remaining: Option<Duration>,
}

impl ExpectedClaims {
    /// Checks claims and returns the caller. `now` is in seconds since the Unix epoch, `text` the JSON of the claims.
    ///
    /// # Errors
    /// [`VerifyError::InvalidToken`] with the condition that failed.
    pub(crate) fn check(
        &self,
        text: &str,
        source: ClaimsSource,
        now: u64,
    ) -> Result<CheckedClaims, VerifyError> {
        let claims: Claims =
            serde_json::from_str(text).map_err(|_| VerifyError::invalid("its claims are malformed"))?;
        match &claims.iss {
            Some(issuer) if is_same_issuer(&self.issuer, issuer) => {}
            None if source == ClaimsSource::Introspection => {}
            _ => return Err(VerifyError::invalid("it is of another issuer")),
        }
        let audiences = claims.aud.as_ref().map_or(&[][..], OneOrMany::as_slice);
        if !audiences.iter().any(|audience| self.accepts(audience)) {
            return Err(VerifyError::invalid("its audience is another server"));
        }
        if claims.exp.is_none() && source == ClaimsSource::Jwt {
            return Err(VerifyError::invalid("it has no expiry"));
        }
        let (now, skew) = (now as f64, CLOCK_SKEW.as_secs_f64());
        if claims.exp.is_some_and(|expiry| now >= expiry + skew) {
            return Err(VerifyError::invalid("it has expired"));
        }
        if claims.nbf.is_some_and(|start| now < start - skew) {
            return Err(VerifyError::invalid("it is not valid yet"));
        }
        // A proof of possession is not checked here, and without it a bound token is a stolen one (RFC 9449, 7.1).
        if claims.cnf.is_some() {
            return Err(VerifyError::invalid("it is bound to a key and was sent as a bearer token"));
        }
        let remaining = claims.exp.map(|expiry| {
            Duration::try_from_secs_f64((expiry + skew - now).max(0.0)).unwrap_or(Duration::MAX)
        });
        Ok(CheckedClaims { caller: self.caller(claims, text)?, remaining })
    }

    /// Returns whether an audience is this server. One with an empty path may have a trailing slash or not.
    fn accepts(&self, audience: &str) -> bool {
        self.audiences.iter().any(|own| is_same_issuer(own, audience))
    }

    fn caller(&self, claims: Claims, text: &str) -> Result<VerifiedCaller, VerifyError> {
        let client = claims.client_id.or(claims.azp).or(claims.cid).filter(|client| !client.is_empty());
        let subject = claims.sub.filter(|subject| !subject.is_empty()).or_else(|| client.clone());
        let subject = subject.ok_or_else(|| VerifyError::invalid("it has no subject"))?;
        let scopes = claims.scope.or(claims.scp);
        let scopes =
            scopes.iter().flat_map(OneOrMany::as_slice).flat_map(|text| text.split_ascii_whitespace());
        let mut caller = VerifiedCaller::new(subject)
            .with_issuer(claims.iss.as_deref().unwrap_or(&self.issuer))
            .with_scopes(scopes)
            .with_claims(text);
        caller.client_id = client;
        Ok(caller)
    }
}

impl OneOrMany {
    fn as_slice(&self) -> &[String] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::Many(many) => many,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const NOW: u64 = 1_800_000_000;

    fn expected() -> ExpectedClaims {
        let audiences = vec!["https://mcp.example.org/mcp".to_owned(), "api://notes".to_owned()];
        ExpectedClaims { issuer: "https://login.example.org".to_owned(), audiences }
    }

    fn check(change: Value, source: ClaimsSource) -> Result<CheckedClaims, String> {
        let mut claims = json!({
            "iss": "https://login.example.org",
            "aud": "https://mcp.example.org/mcp",
            "sub": "ada",
            "exp": NOW + 600,
        });
        for (name, value) in change.as_object().unwrap() {
            match value {
                Value::Null => _ = claims.as_object_mut().unwrap().remove(name),
                value => claims[name] = value.clone(),
            }
        }
        expected().check(&claims.to_string(), source, NOW).map_err(|error| error.to_string())
    }

    #[test]
    fn conditions_are_checked_with_a_skew_of_a_minute() {
        for (change, reason) in [
            (json!({ "iss": "https://evil.example.org" }), Some("of another issuer")),
            (json!({ "iss": "https://login.example.org/x" }), Some("of another issuer")),
            (json!({ "iss": null }), Some("of another issuer")),
            (json!({ "iss": "https://login.example.org/" }), None),
            (json!({ "aud": null }), Some("audience")),
            (json!({ "aud": [] }), Some("audience")),
            (json!({ "aud": "" }), Some("audience")),
            (json!({ "aud": "https://mcp.example.org" }), Some("audience")),
            (json!({ "aud": "https://mcp.example.org/mcp/" }), Some("audience")),
            (json!({ "aud": "https://mcp.example.org/mcp2" }), Some("audience")),
            (json!({ "aud": "https://MCP.example.org/mcp" }), Some("audience")),
            (json!({ "aud": 1 }), Some("malformed")),
            (json!({ "aud": ["other", "https://mcp.example.org/mcp"] }), None),
            (json!({ "aud": "api://notes" }), None),
            (json!({ "exp": null }), Some("no expiry")),
            (json!({ "exp": NOW - 59 }), None),
            (json!({ "exp": NOW - 60 }), Some("has expired")),
            (json!({ "exp": -1 }), Some("has expired")),
            (json!({ "exp": "1900000000" }), Some("malformed")),
            (json!({ "exp": 1e300 }), None),
            (json!({ "nbf": NOW + 60 }), None),
            (json!({ "nbf": NOW + 61 }), Some("not valid yet")),
            (json!({ "sub": null }), Some("no subject")),
            (json!({ "sub": "" }), Some("no subject")),
            (json!({ "sub": null, "client_id": "c" }), None),
            (json!({ "cnf": { "jkt": "x" } }), Some("bound to a key")),
        ] {
            let outcome = check(change.clone(), ClaimsSource::Jwt).map(|_| ());
            match reason {
                Some(reason) => assert!(
                    outcome.as_ref().is_err_and(|error| error.contains(reason)),
                    "{change} {outcome:?}"
                ),
                None => assert_eq!(outcome, Ok(()), "{change}"),
            }
        }
    }

    #[test]
    fn introspection_may_leave_out_issuer_and_expiry_but_not_the_audience() {
        let introspected = |change| check(change, ClaimsSource::Introspection);
        assert!(
            introspected(json!({ "iss": null, "exp": null }))
                .is_ok_and(|checked| checked.remaining.is_none())
        );
        assert!(introspected(json!({ "aud": null })).is_err());
        assert!(introspected(json!({ "iss": "https://evil.example.org" })).is_err());
        assert!(introspected(json!({ "exp": NOW - 60 })).is_err());
    }

    #[test]
    fn identity_and_scopes_are_read_in_every_spelling() {
        for (change, client, scopes) in [
            (json!({ "scope": "a b", "client_id": "c", "azp": "z" }), Some("c"), &["a", "b"][..]),
            (json!({ "scp": ["a", "b"], "azp": "z" }), Some("z"), &["a", "b"]),
            (json!({ "scp": ["a b"], "cid": "o" }), Some("o"), &["a", "b"]),
            (json!({ "scp": "a b" }), None, &["a", "b"]),
            (json!({ "scope": ["a"], "scp": ["b"] }), None, &["a"]),
            (json!({ "scope": "" }), None, &[]),
            (json!({}), None, &[]),
        ] {
            let caller = check(change.clone(), ClaimsSource::Jwt).ok().unwrap().caller;
            assert_eq!((caller.subject.as_str(), caller.client_id.as_deref()), ("ada", client), "{change}");
            assert_eq!(caller.scopes, scopes, "{change}");
            assert_eq!(caller.issuer.as_deref(), Some("https://login.example.org"));
        }
        let remaining = check(json!({}), ClaimsSource::Jwt).ok().unwrap().remaining;
        assert_eq!(remaining, Some(Duration::from_secs(660)));
    }

    #[test]
    fn a_claim_that_is_given_twice_is_rejected() {
        let text = format!(
            r#"{{"iss":"https://login.example.org","aud":"other","aud":"api://notes","sub":"ada","exp":{}}}"#,
            NOW + 600
        );
        assert!(expected().check(&text, ClaimsSource::Jwt, NOW).is_err());
    }
}
