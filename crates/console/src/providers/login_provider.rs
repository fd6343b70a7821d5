//! Provider of logins: lists stored ones, logs in, forgets; tells which identity reaches a server.

use std::fmt::Debug;

use super::{BoxFuture, ProviderError, StepSink};
use crate::contract::{ForgetLogin, Identity, LoginRequest, LoginStep, Logins};

/// Provider of logins.
pub trait LoginProvider: Debug + Send + Sync {
    /// Returns the stored logins.
    fn logins(&self) -> BoxFuture<'_, Logins>;

    /// Logs in to a server and reports each step; the last one is `done` or `failed`. The console runs at most one attempt
    /// per server.
    ///
    /// # Errors
    /// Returns an error, before the first step, if nobody can log in to this server.
    ///
    /// # Cancellation
    /// Dropping the future cancels the attempt.
    fn log_in<'a>(
        &'a self,
        request: &'a LoginRequest,
        steps: StepSink<LoginStep>,
    ) -> BoxFuture<'a, Result<(), ProviderError>>;

    /// Revokes a login and removes it.
    ///
    /// # Errors
    /// Returns an error if there is no such login, or it cannot be removed.
    fn forget<'a>(&'a self, login: &'a ForgetLogin) -> BoxFuture<'a, Result<(), ProviderError>>;

    /// Returns which identity reaches a server, as far as it is known now. Does not wait.
    fn identity(&self, server: &str) -> Identity;

    /// Waits until the stored logins or identities have changed since the last call. Only the console waits.
    fn changed(&self) -> BoxFuture<'_, ()>;
}
