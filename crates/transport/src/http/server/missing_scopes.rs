//! The scopes that the calls of one request lack.

use switchboard_protocol::RpcError;

/// The scopes that the calls of one request lack, of one call or of a batch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MissingScopes {
    pub(crate) scopes: Vec<String>,
    /// Whether a call was not rejected for want of scopes.
    pub(crate) has_executed: bool,
}

impl MissingScopes {
    /// Adds the outcome of a call.
    pub fn add<T>(&mut self, outcome: &Result<T, RpcError>) {
        match outcome.as_ref().err().and_then(RpcError::missing_scopes) {
            Some(scopes) => self.extend(scopes),
            None => self.has_executed = true,
        }
    }

    /// Adds those of other calls.
    pub fn merge(&mut self, other: Self) {
        self.has_executed |= other.has_executed;
        self.extend(other.scopes);
    }

    fn extend(&mut self, scopes: Vec<String>) {
        for scope in scopes {
            if !self.scopes.contains(&scope) {
                self.scopes.push(scope);
            }
        }
    }
}
