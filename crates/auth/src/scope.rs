//! Scopes: which ones to request, and their union for a step-up.

use std::collections::VecDeque;
use std::fmt;

use serde::{Deserialize, Serialize};
use switchboard_http::Challenge;

use crate::error::AuthError;
use crate::metadata::{ResourceMetadata, ServerMetadata};

/// The scope by which a client asks for a refresh token.
pub(crate) const OFFLINE_ACCESS: &str = "offline_access";

/// A set of scopes, in the order they were added.
///
/// ```
/// use switchboard::auth::Scopes;
///
/// let granted = Scopes::parse("notes:read profile");
/// let needed = Scopes::parse("notes:write notes:read");
/// assert_eq!(granted.union(&needed).to_string(), "notes:read profile notes:write");
/// assert!(!granted.contains_all(&needed));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct Scopes(Vec<String>);

impl Scopes {
    /// Parses scopes separated by blanks.
    pub fn parse(text: &str) -> Self {
        text.split_ascii_whitespace().collect()
    }

    /// Returns whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether a scope is in the set.
    pub fn contains(&self, scope: &str) -> bool {
        self.0.iter().any(|one| one == scope)
    }

    /// Returns whether all scopes of another set are in this one.
    pub fn contains_all(&self, other: &Self) -> bool {
        other.0.iter().all(|scope| self.contains(scope))
    }

    /// Returns whether another set has the same scopes, in whatever order.
    pub(crate) fn is_same_set(&self, other: &Self) -> bool {
        self.0.len() == other.0.len() && self.contains_all(other)
    }

    /// Returns the scopes of both sets.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        self.iter().chain(other.iter()).collect()
    }

    /// Returns the scopes.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

impl<'a> FromIterator<&'a str> for Scopes {
    fn from_iter<I: IntoIterator<Item = &'a str>>(scopes: I) -> Self {
        let mut set = Self::default();
        for scope in scopes {
            if !scope.is_empty() && !set.contains(scope) {
                set.0.push(scope.to_owned());
            }
        }
        set
    }
}

impl From<String> for Scopes {
    fn from(text: String) -> Self {
        Self::parse(&text)
    }
}

impl From<Scopes> for String {
    fn from(scopes: Scopes) -> Self {
        scopes.0.join(" ")
    }
}

impl fmt::Display for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(" "))
    }
}

/// Returns the scopes of the challenges of a response.
pub(crate) fn challenged_scopes(challenges: &[Challenge]) -> Option<Scopes> {
    challenges.iter().find_map(|challenge| challenge.scope.as_deref()).map(Scopes::parse)
}

/// Chooses the scopes of an authorization request: the configured ones, else those of the challenge, else all that the
/// resource lists. `offline_access` is added only where the authorization server lists it.
pub(crate) fn choose(
    configured: Option<&Scopes>,
    challenged: Option<&Scopes>,
    resource: Option<&ResourceMetadata>,
    server: &ServerMetadata,
) -> Scopes {
    let listed = || resource.map(|resource| resource.scopes_supported.iter().map(String::as_str).collect());
    let chosen = configured.or(challenged).cloned().or_else(listed).unwrap_or_default();
    // Without any scope the server decides; naming this one alone would replace its default.
    if server.lists_scope(OFFLINE_ACCESS) && configured.is_none() && !chosen.is_empty() {
        return chosen.union(&Scopes::parse(OFFLINE_ACCESS));
    }
    chosen
}

/// The scopes of a request, and those to fall back to if the server refuses them (`invalid_scope`): some servers list scopes
/// that they do not grant.
#[derive(Debug)]
pub(crate) struct ScopeChoices {
    /// The scopes to request now.
    pub(crate) current: Scopes,
    /// The next ones first.
    fallbacks: VecDeque<Scopes>,
}

impl ScopeChoices {
    /// Returns scopes without fallbacks.
    pub(crate) fn only(scopes: Scopes) -> Self {
        Self { current: scopes, fallbacks: VecDeque::new() }
    }

    /// Returns scopes that fall back to those of the challenge, and then to none.
    pub(crate) fn new(first: Scopes, challenged: Option<Scopes>) -> Self {
        let mut choices = Self::only(first);
        for next in [challenged.unwrap_or_default(), Scopes::default()] {
            let last = choices.fallbacks.back().unwrap_or(&choices.current);
            if !last.is_same_set(&next) {
                choices.fallbacks.push_back(next);
            }
        }
        choices
    }

    /// Goes on to the next scopes if the outcome is a refusal of the current ones; returns whether there are any.
    pub(crate) fn advance_after<T>(&mut self, outcome: &Result<T, AuthError>) -> bool {
        let is_refused = outcome.as_ref().is_err_and(|error| error.code() == Some("invalid_scope"));
        match self.fallbacks.pop_front().filter(|_| is_refused) {
            Some(next) => {
                self.current = next;
                true
            }
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_challenge_wins_over_the_listed_scopes() {
        let resource = ResourceMetadata {
            scopes_supported: vec!["a".into(), "b".into()],
            ..ResourceMetadata::default()
        };
        let server = ServerMetadata::default();
        let challenged = Scopes::parse("c");
        let configured = Scopes::parse("d");
        let choose =
            |configured, challenged, resource| choose(configured, challenged, resource, &server).to_string();
        assert_eq!(choose(Some(&configured), Some(&challenged), Some(&resource)), "d");
        assert_eq!(choose(None, Some(&challenged), Some(&resource)), "c");
        assert_eq!(choose(None, None, Some(&resource)), "a b");
        assert_eq!(choose(None, None, None), "");
    }

    #[test]
    fn offline_access_is_requested_only_where_it_is_listed() {
        let mut server = ServerMetadata::default();
        let challenged = Scopes::parse("a");
        assert_eq!(choose(None, Some(&challenged), None, &server).to_string(), "a");
        server.scopes_supported = Some(vec!["offline_access".into()]);
        assert_eq!(choose(None, Some(&challenged), None, &server).to_string(), "a offline_access");
        assert_eq!(choose(None, None, None, &server).to_string(), "");
        assert_eq!(choose(Some(&challenged), None, None, &server).to_string(), "a");
    }
}
