//! Provider of the policy: its rules, test decisions, and denials as they happen.

use std::fmt::Debug;

use super::{BoxFuture, ProviderError};
use crate::contract::{Denial, PolicyDecision, PolicySnapshot, PolicyTest};

/// Provider of the policy.
pub trait PolicyProvider: Debug + Send + Sync {
    /// Returns the rules. The console adds the denials.
    fn snapshot(&self) -> BoxFuture<'_, PolicySnapshot>;

    /// Decides about a call without making it.
    ///
    /// # Errors
    /// Returns an error if the kind or the arguments are not valid.
    fn test<'a>(&'a self, test: &'a PolicyTest) -> BoxFuture<'a, Result<PolicyDecision, ProviderError>>;

    /// Waits for the next denial; `None` if there will be none. Only the console waits.
    fn next_denial(&self) -> BoxFuture<'_, Option<Denial>>;
}
