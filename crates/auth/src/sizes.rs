//! The sizes of what servers issue and name: everything that is kept is bounded.

use crate::error::AuthError;

/// The longest access token, also of an authorization grant that is exchanged.
pub(crate) const MAX_ACCESS_TOKEN: usize = 16 * 1024;
/// The longest refresh token.
pub(crate) const MAX_REFRESH_TOKEN: usize = 16 * 1024;
/// The longest client id, and the longest client secret.
pub(crate) const MAX_CLIENT_ID: usize = 2 * 1024;
/// The longest list of scopes.
pub(crate) const MAX_SCOPES: usize = 8 * 1024;
/// The longest URL or identifier.
pub(crate) const MAX_URL: usize = 2 * 1024;

/// Checks the size of a text of a server.
pub(crate) fn check_size(what: &'static str, text: &str, limit: usize) -> Result<(), AuthError> {
    match text.len() {
        size if size > limit => Err(AuthError::TooLarge { what, size, limit }),
        _ => Ok(()),
    }
}
