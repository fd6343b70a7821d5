//! Who may use what: a caller without the scopes does not see a thing, and does not reach it.

use std::collections::BTreeSet;

use switchboard_design::{Error, ItemKind};
use switchboard_session::answering;

use super::Core;

/// What one caller may do.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Access<'a> {
    granted: Granted<'a>,
}

#[derive(Debug, Clone, Copy)]
enum Granted<'a> {
    Anonymous(&'a BTreeSet<String>),
}

impl Access<'_> {
    /// Whether all of these are granted.
    pub(crate) fn covers(&self, scopes: &[String]) -> bool {
        match self.granted {
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
    pub(crate) fn access<'a>(&'a self, cx: &'a answering::Cx) -> Access<'a> {
        let _ = cx;
        Access { granted: Granted::Anonymous(&self.options.anonymous_scopes) }
    }

    /// Lets a caller through to what needs scopes.
    ///
    /// # Errors
    /// As if there were no such thing, unless scopes are revealed.
    pub(crate) fn admit(
        &self,
        cx: &answering::Cx,
        scopes: &[String],
        kind: ItemKind,
        name: &str,
    ) -> Result<(), Error> {
        if scopes.is_empty() || self.access(cx).covers(scopes) {
            return Ok(());
        }
        Err(if self.options.reveal_scopes {
            Error::Unauthorised { scopes: scopes.to_vec() }
        } else {
            Error::Unknown { kind, name: name.to_owned() }
        })
    }
}
