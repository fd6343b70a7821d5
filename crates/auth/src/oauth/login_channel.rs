//! How a user reaches the login page, and its callback reaches the client.

use std::fmt;

use switchboard_http::BoxFuture;

use crate::error::AuthError;

/// Shows the login page to a user and receives the callback. A command line opens a browser and listens on a loopback
/// port; an application with a window of its own does it there.
pub trait LoginChannel: Send + Sync + fmt::Debug {
    /// Prepares for one login: the redirect URI must be known before the client registers.
    ///
    /// # Errors
    /// When nothing can receive a callback.
    fn begin(&self) -> BoxFuture<'_, Result<Box<dyn PendingCallback>, AuthError>>;

    /// Prepares for one login whose callback arrives at [`FIXED_CALLBACK_PORT`](crate::FIXED_CALLBACK_PORT): some authorization
    /// servers compare the port of a loopback redirect URI with that of the client's metadata document. Returns `None`, as by
    /// default, if the channel has no port of its own.
    ///
    /// # Errors
    /// When the port is taken.
    fn begin_at_fixed_port(&self) -> BoxFuture<'_, Result<Option<Box<dyn PendingCallback>>, AuthError>> {
        Box::pin(std::future::ready(Ok(None)))
    }
}

/// One login whose callback is awaited. Dropping it abandons the login.
pub trait PendingCallback: Send {
    /// Returns the redirect URI of this login.
    fn redirect_uri(&self) -> &str;

    /// Sends the user to a URL, and returns the URL to which the browser was redirected in the end, with its query.
    ///
    /// # Errors
    /// [`AuthError::LoginAborted`] when the user gives up, or too much time passes.
    fn authorize<'a>(self: Box<Self>, url: &'a str) -> BoxFuture<'a, Result<String, AuthError>>;
}
