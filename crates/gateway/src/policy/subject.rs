//! The caller of a call, as rules see it.

use switchboard_session::server::Caller;

/// On whose behalf a call is made, and through which view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Subject<'a> {
    /// The subject of the authenticated caller; `None` for an anonymous one.
    pub principal: Option<&'a str>,
    /// The issuer that authenticated the principal; `None` for a local one, such as the owner of an API key.
    pub issuer: Option<&'a str>,
    /// The granted scopes.
    pub scopes: &'a [String],
    /// The view; `None` for the endpoint of all servers.
    pub view: Option<&'a str>,
}

impl<'a> Subject<'a> {
    /// Returns an anonymous subject, which no rule with a `principal` matches.
    pub fn anonymous() -> Self {
        Self::default()
    }

    /// Returns a local principal without scopes.
    pub fn new(principal: &'a str) -> Self {
        Self { principal: Some(principal), ..Self::default() }
    }

    /// Returns the subject of a request: its authenticated caller, or an anonymous one.
    pub fn from_caller(caller: Option<&'a Caller>) -> Self {
        caller.map_or_else(Self::anonymous, |caller| Self {
            principal: Some(&caller.subject),
            issuer: caller.issuer.as_deref(),
            scopes: &caller.scopes,
            view: None,
        })
    }

    /// Sets the issuer.
    #[must_use]
    pub fn with_issuer(mut self, issuer: &'a str) -> Self {
        self.issuer = Some(issuer);
        self
    }

    /// Sets the scopes.
    #[must_use]
    pub fn with_scopes(mut self, scopes: &'a [String]) -> Self {
        self.scopes = scopes;
        self
    }

    /// Sets the view.
    #[must_use]
    pub fn with_view(mut self, view: &'a str) -> Self {
        self.view = Some(view);
        self
    }

    /// Returns whether the subject has this scope.
    pub fn has_scope(&self, scope: &str) -> bool {
        self.scopes.iter().any(|own| own == scope)
    }
}
