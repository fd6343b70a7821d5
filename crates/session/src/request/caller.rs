//! The caller of a request: on whose behalf it is made, as the transport authenticated it.

use std::fmt;

use switchboard_protocol::Raw;

/// On whose behalf a request is made. A binding finds it out, by a token or by who started the process; what the client
/// says of itself has no part in it.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct Caller {
    /// Who it is, unique for its issuer.
    pub subject: String,
    /// Who says so.
    pub issuer: Option<String>,
    /// What it may do.
    pub scopes: Vec<String>,
    /// What else is known of it: an object. Never shown by `Debug`.
    pub claims: Raw,
}

impl Caller {
    /// This subject, who may do nothing in particular.
    pub fn new(subject: impl Into<String>) -> Self {
        Self { subject: subject.into(), issuer: None, scopes: Vec::new(), claims: Raw::empty_object() }
    }

    /// Who says so.
    #[must_use]
    pub fn with_issuer(mut self, issuer: impl Into<String>) -> Self {
        self.issuer = Some(issuer.into());
        self
    }

    /// What it may do.
    #[must_use]
    pub fn with_scopes(mut self, scopes: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// What else is known of it.
    #[must_use]
    pub fn with_claims(mut self, claims: Raw) -> Self {
        self.claims = claims;
        self
    }

    /// Whether it may do this.
    pub fn has_scope(&self, scope: &str) -> bool {
        self.scopes.iter().any(|own| own == scope)
    }

    /// Its issuer and subject as one text, which no other caller has. What belongs to a caller is kept under it.
    pub fn principal(&self) -> String {
        // As JSON: no issuer can be written so that it reads as part of a subject.
        // A failure must not become a principal that others share.
        let text = Raw::encode(&(&self.issuer, &self.subject)).expect("two strings can be written as JSON");
        text.as_str().to_owned()
    }
}

impl fmt::Debug for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Caller")
            .field("subject", &self.subject)
            .field("issuer", &self.issuer)
            .field("scopes", &self.scopes)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_are_not_shown() {
        let caller = Caller::new("ada").with_claims(Raw::parse(r#"{"email":"ada@x.y"}"#).unwrap());
        let shown = format!("{caller:?}");
        assert!(shown.contains("ada") && !shown.contains("x.y"), "{shown}");
    }

    #[test]
    fn no_two_callers_share_a_principal() {
        let principals = [
            Caller::new("ada"),
            Caller::new("ada").with_issuer(""),
            Caller::new("ada").with_issuer("https://a"),
            Caller::new(r#"https://a","ada"#),
            Caller::new("null"),
        ]
        .map(|caller| caller.principal());
        for (at, principal) in principals.iter().enumerate() {
            assert!(!principals[..at].contains(principal), "{principal}");
        }
    }
}
