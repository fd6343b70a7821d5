//! Claims of access tokens (RFC 9068, RFC 7662) and the conditions under which they are accepted.
//!
//! Invariant: an ID token is never accepted. It says who logged in at a client, and every client that a user logs in to has
//! one; so a token that its type does not mark as an access token must look like one.

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use switchboard_http::{VerifiedCaller, VerifyError};

use crate::discovery::is_same_issuer;
use crate::resource_server::key_binding::KeyBinding;

/// How far the clocks of issuer and server may differ.
const CLOCK_SKEW: Duration = Duration::from_secs(60);

/// The claims that are read.
#[derive(Deserialize)]
pub(crate) struct Claims<'a> {
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
    cnf: Option<KeyBinding>,
    /// The kind of the token, in the tokens of Keycloak.
    #[serde(borrow)]
    typ: Option<&'a RawValue>,
    #[serde(borrow)]
    nonce: Option<&'a RawValue>,
    #[serde(borrow)]
    at_hash: Option<&'a RawValue>,
    #[serde(borrow)]
    c_hash: Option<&'a RawValue>,
    #[serde(borrow)]
    s_hash: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

/// What the claims of a token must say, and where they say who calls.
#[derive(Debug, Clone)]
pub(crate) struct ExpectedClaims {
    /// The issuer.
    pub(crate) issuer: String,
    /// The resource, which is an accepted audience.
    pub(crate) resource: String,
    /// Further names of this server.
    pub(crate) audiences: Vec<String>,
    /// The claim with the subject instead of `sub`.
    pub(crate) subject_claim: Option<String>,
    /// Claims whose values are scopes, besides `scope` or `scp`.
    pub(crate) scope_claims: Vec<String>,
}

/// Where claims come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClaimsSource {
    /// From a signed token that its type marks as an access token: issuer and expiry are mandatory.
    AccessToken,
    /// From a signed token of the general type: as an access token, and it must not look like an ID token.
    Jwt,
    /// From the introspection endpoint of the issuer, which may leave issuer and expiry out.
    Introspection,
}

/// A caller, the key that the token is bound to, and how long the token remains valid.
pub(crate) struct CheckedClaims {
    pub(crate) caller: VerifiedCaller,
    pub(crate) binding: Option<KeyBinding>,
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
        let claims: Claims<'_> =
            serde_json::from_str(text).map_err(|_| VerifyError::invalid("its claims are malformed"))?;
        match &claims.iss {
            Some(issuer) if is_same_issuer(&self.issuer, issuer) => {}
            None if source == ClaimsSource::Introspection => {}
            _ => return Err(VerifyError::invalid("it is of another issuer")),
        }
        let audience = self.matching_audience(&claims)?.to_owned();
        if claims.exp.is_none() && source != ClaimsSource::Introspection {
            return Err(VerifyError::invalid("it has no expiry"));
        }
        let (now, skew) = (now as f64, CLOCK_SKEW.as_secs_f64());
        if claims.exp.is_some_and(|expiry| now >= expiry + skew) {
            return Err(VerifyError::invalid("it has expired"));
        }
        if claims.nbf.is_some_and(|start| now < start - skew) {
            return Err(VerifyError::invalid("it is not valid yet"));
        }
        let remaining = claims.exp.map(|expiry| {
            Duration::try_from_secs_f64((expiry + skew - now).max(0.0)).unwrap_or(Duration::MAX)
        });
        let is_marked = claims.check_kind(source)?;
        let binding = claims.cnf.clone();
        let caller = self.caller(claims, text)?;
        if !is_marked && audience != self.resource && looks_like_id_token(&caller, &audience) {
            return Err(VerifyError::invalid("it is an ID token, or has no scopes"));
        }
        Ok(CheckedClaims { caller, binding, remaining })
    }

    /// Returns the audience of the token that is this server. One with an empty path may have a trailing slash or not.
    fn matching_audience<'c>(&'c self, claims: &Claims<'_>) -> Result<&'c str, VerifyError> {
        let audiences = claims.aud.as_ref().map_or(&[][..], OneOrMany::as_slice);
        let mut own = std::iter::once(&self.resource).chain(&self.audiences);
        own.find(|own| audiences.iter().any(|audience| is_same_issuer(own, audience)))
            .map(String::as_str)
            .ok_or_else(|| VerifyError::invalid("its audience is another server"))
    }

    fn caller(&self, claims: Claims<'_>, text: &str) -> Result<VerifiedCaller, VerifyError> {
        let is_plain = self.subject_claim.is_none() && self.scope_claims.is_empty();
        let all = if is_plain { Value::Null } else { serde_json::from_str(text).unwrap_or_default() };
        let client = claims.client_id.or(claims.azp).or(claims.cid).filter(|client| !client.is_empty());
        let subject = match &self.subject_claim {
            Some(name) => claim(&all, name).and_then(Value::as_str).map(str::to_owned),
            None => claims.sub.filter(|subject| !subject.is_empty()).or_else(|| client.clone()),
        };
        let subject = subject.filter(|subject| !subject.is_empty());
        let subject = subject.ok_or_else(|| VerifyError::invalid("it has no subject"))?;
        let scopes = claims.scope.or(claims.scp);
        let scopes = scopes.iter().flat_map(OneOrMany::as_slice).map(String::as_str);
        let further = self.scope_claims.iter().filter_map(|name| claim(&all, name)).flat_map(texts);
        let scopes = scopes.chain(further).flat_map(str::split_ascii_whitespace);
        let mut caller = VerifiedCaller::new(subject)
            .with_issuer(claims.iss.as_deref().unwrap_or(&self.issuer))
            .with_scopes(scopes)
            .with_claims(text)
            .with_auth_method("oauth");
        caller.client_id = client;
        Ok(caller)
    }
}

impl Claims<'_> {
    /// Checks that nothing marks the token as one of another kind. Returns whether it is marked as an access token.
    fn check_kind(&self, source: ClaimsSource) -> Result<bool, VerifyError> {
        // Keycloak writes `Bearer`, `ID`, `Refresh`, `Offline` or `Logout` here; old versions also a `nonce`.
        match self.typ.map(RawValue::get) {
            None => {}
            Some(r#""Bearer""# | r#""DPoP""#) => return Ok(true),
            Some(_) => return Err(VerifyError::invalid("it is not an access token")),
        }
        let marks = [self.nonce, self.at_hash, self.c_hash, self.s_hash];
        if source == ClaimsSource::Jwt && marks.iter().any(Option::is_some) {
            return Err(VerifyError::invalid("it is an ID token, not an access token"));
        }
        Ok(source != ClaimsSource::Jwt)
    }
}

/// Returns whether a token for this audience, which is not the URL of the resource, may have been issued to log in at the
/// client: the audience is then the client, and there are no scopes.
fn looks_like_id_token(caller: &VerifiedCaller, audience: &str) -> bool {
    caller.scopes.is_empty() && caller.client_id.as_deref().is_none_or(|client| client == audience)
}

/// Returns a claim by its name, or by its path with dots.
fn claim<'a>(claims: &'a Value, name: &str) -> Option<&'a Value> {
    let by_path = || name.split('.').try_fold(claims, |value, member| value.get(member));
    claims.get(name).or_else(by_path)
}

/// Returns the texts of a claim: one, or those of an array.
fn texts(value: &Value) -> impl Iterator<Item = &str> {
    let many = value.as_array().map_or(&[][..], Vec::as_slice);
    value.as_str().into_iter().chain(many.iter().filter_map(Value::as_str))
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
        ExpectedClaims {
            issuer: "https://login.example.org".to_owned(),
            resource: "https://mcp.example.org/mcp".to_owned(),
            audiences: vec!["api://notes".to_owned()],
            subject_claim: None,
            scope_claims: Vec::new(),
        }
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
            (json!({ "aud": "api://notes", "scope": "a" }), None),
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
            (json!({ "cnf": { "jkt": "x" } }), None),
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
    fn id_tokens_are_not_accepted() {
        let id = Some("ID token");
        for (change, source, reason) in [
            // Marks of ID tokens.
            (json!({ "nonce": "n" }), ClaimsSource::Jwt, id),
            (json!({ "at_hash": "h" }), ClaimsSource::Jwt, id),
            (json!({ "c_hash": "h" }), ClaimsSource::Jwt, id),
            (json!({ "nonce": "n" }), ClaimsSource::AccessToken, None),
            // The kind that Keycloak writes.
            (json!({ "typ": "ID" }), ClaimsSource::Jwt, Some("not an access token")),
            (json!({ "typ": "Refresh" }), ClaimsSource::Introspection, Some("not an access token")),
            (json!({ "typ": "Bearer", "nonce": "n" }), ClaimsSource::Jwt, None),
            // The audience of an ID token is the client, which may also be a name of the server.
            (json!({ "aud": "api://notes" }), ClaimsSource::Jwt, id),
            (json!({ "aud": "api://notes", "azp": "api://notes" }), ClaimsSource::Jwt, id),
            (json!({ "aud": "api://notes", "azp": "api://notes", "scp": "a" }), ClaimsSource::Jwt, None),
            (json!({ "aud": "api://notes", "azp": "other" }), ClaimsSource::Jwt, None),
            (json!({ "aud": "api://notes" }), ClaimsSource::AccessToken, None),
            (json!({ "aud": "api://notes" }), ClaimsSource::Introspection, None),
        ] {
            let outcome = check(change.clone(), source).map(|_| ());
            match reason {
                Some(reason) => {
                    assert!(outcome.as_ref().is_err_and(|error| error.contains(reason)), "{change}")
                }
                None => assert_eq!(outcome, Ok(()), "{change}"),
            }
        }
    }

    #[test]
    fn subject_and_scopes_come_from_other_claims_if_configured() {
        let mut expected = expected();
        expected.subject_claim = Some("oid".to_owned());
        let names = ["permissions", "realm_access.roles", "https://notes.example.org/groups", "absent"];
        expected.scope_claims = names.map(str::to_owned).to_vec();
        let mut claims = json!({
            "iss": "https://login.example.org", "aud": "api://notes", "sub": "pairwise", "oid": "ada", "azp": "app",
            "exp": NOW + 600, "scp": "a", "permissions": ["b", "c", 1], "realm_access": { "roles": ["d"] },
            "https://notes.example.org/groups": "e f",
        });
        let caller = expected.check(&claims.to_string(), ClaimsSource::Jwt, NOW).ok().unwrap().caller;
        assert_eq!((caller.subject.as_str(), caller.client_id.as_deref()), ("ada", Some("app")));
        assert_eq!(caller.scopes, ["a", "b", "c", "d", "e", "f"]);
        // Another claim never stands in for it.
        claims["oid"] = json!(7);
        assert!(expected.check(&claims.to_string(), ClaimsSource::Jwt, NOW).is_err());
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
