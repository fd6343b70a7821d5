//! The HTTP client of logins.

use switchboard::auth::AuthError;
use switchboard::transport::http_client::{HttpClient, HttpClientOptions};

use crate::error::CommandError;

/// Returns a client with the proxies and certificates of the environment.
///
/// # Errors
/// Returns an error if the environment names a proxy or a certificate that cannot be used.
pub(crate) fn http_client() -> Result<HttpClient, CommandError> {
    Ok(HttpClient::new(HttpClientOptions::from_environment()).map_err(AuthError::from)?)
}
