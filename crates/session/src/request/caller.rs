//! The caller of a request: on whose behalf it is made, as the transport authenticated it.

use std::fmt;

use switchboard_protocol::Raw;

/// The authenticated caller of a request. The binding determines it, by a token or by the owner of the process, never by the
/// client's own claims.
///
/// ```
/// use switchboard::server::Caller;
///
/// let ada = Caller::new("ada").with_issuer("https://login.example.org").with_scopes(["notes:read"]);
/// assert!(ada.has_scope("notes:read"));
/// assert_ne!(ada.principal(), Caller::new("ada").principal()); // another issuer, another person
/// ```
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct Caller {
    /// The subject, unique per issuer.
    pub subject: String,
    /// The issuer of the identity.
    pub issuer: Option<String>,
    /// The granted scopes.
    pub scopes: Vec<String>,
    /// Further claims: an object. Never shown by `Debug`.
    pub claims: Raw,
    /// How the caller was authenticated, such as `oauth` or `api-key`. For records.
    pub auth_method: Option<&'static str>,
}

impl Caller {
    /// Creates a caller with this subject and no scopes.
    pub fn new(subject: impl Into<String>) -> Self {
        Self {
            subject: subject.into(),
            issuer: None,
            scopes: Vec::new(),
            claims: Raw::empty_object(),
            auth_method: None,
        }
    }

    /// Sets the issuer.
    #[must_use]
    pub fn with_issuer(mut self, issuer: impl Into<String>) -> Self {
        self.issuer = Some(issuer.into());
        self
    }

    /// Sets the scopes.
    #[must_use]
    pub fn with_scopes(mut self, scopes: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// Sets further claims.
    #[must_use]
    pub fn with_claims(mut self, claims: Raw) -> Self {
        self.claims = claims;
        self
    }

    /// Sets how the caller was authenticated.
    #[must_use]
    pub fn with_auth_method(mut self, method: &'static str) -> Self {
        self.auth_method = Some(method);
        self
    }

    /// Returns whether the caller has this scope.
    pub fn has_scope(&self, scope: &str) -> bool {
        self.scopes.iter().any(|own| own == scope)
    }

    /// Returns issuer and subject as one unique text, the key under which the caller's data is stored.
    pub fn principal(&self) -> String {
        // As JSON: no issuer can be mistaken for part of a subject.
        // A failure must not become a principal that callers share.
        let text = Raw::encode(&(&self.issuer, &self.subject)).expect("two strings can be written as JSON");
        text.as_str().to_owned()
    }

    /// Returns the caller with this [principal](Self::principal), without scopes and claims; `None` when the text is not one.
    pub(crate) fn from_principal(principal: &str) -> Option<Self> {
        let (issuer, subject) =
            Raw::parse(principal.to_owned()).ok()?.decode::<(Option<String>, String)>().ok()?;
        Some(Self { issuer, ..Self::new(subject) })
    }

    /// Returns whether both have the same [principal](Self::principal), without encoding it.
    pub(crate) fn has_same_principal(&self, other: &Self) -> bool {
        self.issuer == other.issuer && self.subject == other.subject
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
        let callers = [
            Caller::new("ada"),
            Caller::new("ada").with_issuer(""),
            Caller::new("ada").with_issuer("https://a"),
            Caller::new(r#"https://a","ada"#),
            Caller::new("null"),
        ];
        for (at, caller) in callers.iter().enumerate() {
            let principal = caller.principal();
            assert!(Caller::from_principal(&principal).unwrap().has_same_principal(caller), "{principal}");
            for other in &callers[..at] {
                assert!(other.principal() != principal && !other.has_same_principal(caller), "{principal}");
            }
        }
        for text in ["", "ada", r#"["ada"]"#, r#"{"subject":"ada"}"#] {
            assert!(Caller::from_principal(text).is_none(), "{text}");
        }
    }
}
