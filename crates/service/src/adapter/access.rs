//! Who may use what: a caller without the scopes does not see a thing, and does not reach it.

use std::collections::BTreeSet;

use switchboard_design::{Error, ItemKind};
use switchboard_session::server::Caller;

use super::Core;

/// What one caller may do.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Access<'a> {
    granted: Granted<'a>,
}

#[derive(Debug, Clone, Copy)]
enum Granted<'a> {
    To(&'a Caller),
    Anonymous(&'a BTreeSet<String>),
}

impl Access<'_> {
    /// Whether all of these are granted.
    pub(crate) fn covers(&self, scopes: &[String]) -> bool {
        match self.granted {
            Granted::To(caller) => scopes.iter().all(|scope| caller.has_scope(scope)),
            Granted::Anonymous(granted) => scopes.iter().all(|scope| granted.contains(scope)),
        }
    }

    /// Whether this one is granted.
    pub(crate) fn has(&self, scope: &String) -> bool {
        self.covers(std::slice::from_ref(scope))
    }
}

impl Core {
    /// What the caller of a request may do.
    pub(crate) fn access<'a>(&'a self, caller: Option<&'a Caller>) -> Access<'a> {
        let anonymous = Granted::Anonymous(&self.options.anonymous_scopes);
        Access { granted: caller.map_or(anonymous, Granted::To) }
    }

    /// Lets a caller through to what needs scopes.
    ///
    /// # Errors
    /// As if there were no such thing, unless scopes are revealed.
    pub(crate) fn admit(
        &self,
        caller: Option<&Caller>,
        scopes: &[String],
        kind: ItemKind,
        name: &str,
    ) -> Result<(), Error> {
        if scopes.is_empty() || self.access(caller).covers(scopes) {
            return Ok(());
        }
        Err(if self.options.reveal_scopes {
            Error::Unauthorized { scopes: scopes.to_vec() }
        } else {
            Error::unknown(kind, name)
        })
    }
}
