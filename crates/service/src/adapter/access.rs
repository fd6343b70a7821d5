//! Scope checks: an item whose scopes the caller lacks is not reachable, and listed only if scopes are revealed.

use std::collections::BTreeSet;

use switchboard_design::{Error, ItemKind};
use switchboard_session::server::Caller;

use super::Core;
use crate::options::BuilderOptions;

/// The scopes granted to one caller.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Access<'a> {
    granted: GrantedScopes<'a>,
    /// Whether an error names the missing scopes.
    reveals: bool,
}

#[derive(Debug, Clone, Copy)]
enum GrantedScopes<'a> {
    Caller(&'a Caller),
    Anonymous(&'a BTreeSet<String>),
}

impl<'a> Access<'a> {
    /// Returns the scopes granted to the caller of a request.
    pub(crate) fn new(options: &'a BuilderOptions, caller: Option<&'a Caller>) -> Self {
        let anonymous = GrantedScopes::Anonymous(&options.anonymous_scopes);
        Self {
            granted: caller.map_or(anonymous, GrantedScopes::Caller),
            reveals: options.reveal_scopes.unwrap_or_default(),
        }
    }

    /// Returns whether all of these scopes are granted.
    pub(crate) fn covers(&self, scopes: &[String]) -> bool {
        match self.granted {
            GrantedScopes::Caller(caller) => scopes.iter().all(|scope| caller.has_scope(scope)),
            GrantedScopes::Anonymous(granted) => scopes.iter().all(|scope| granted.contains(scope)),
        }
    }

    /// Returns whether an item with these scopes is listed.
    pub(crate) fn lists(&self, scopes: &[String]) -> bool {
        self.reveals || self.covers(scopes)
    }

    /// Checks that all of these scopes are granted.
    ///
    /// # Errors
    /// The missing scopes if they are revealed, else the error for an unknown item.
    pub(crate) fn check(&self, scopes: &[String], unknown: impl FnOnce() -> Error) -> Result<(), Error> {
        if self.covers(scopes) {
            return Ok(());
        }
        Err(if self.reveals { Error::Unauthorized { scopes: scopes.to_vec() } } else { unknown() })
    }
}

impl Core {
    /// Returns the scopes granted to the caller of a request.
    pub(crate) fn access<'a>(&'a self, caller: Option<&'a Caller>) -> Access<'a> {
        Access::new(&self.options, caller)
    }

    /// Checks that a caller has the scopes of an item.
    ///
    /// # Errors
    /// As [`Access::check`].
    pub(crate) fn check_scopes(
        &self,
        caller: Option<&Caller>,
        scopes: &[String],
        kind: ItemKind,
        name: &str,
    ) -> Result<(), Error> {
        self.access(caller).check(scopes, || Error::unknown(kind, name))
    }
}
