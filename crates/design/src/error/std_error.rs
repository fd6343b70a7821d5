//! [`Error`] as a [`std::error::Error`], for `anyhow`, `eyre` and `Box<dyn Error>`.

use std::error::Error as StdError;

use super::Error;
use super::convert::StdErrorAdapter;

impl Error {
    /// Converts to a value that implements [`std::error::Error`], which [`Error`] itself does not. `?` and `into` convert
    /// it back to this error.
    ///
    /// ```
    /// use switchboard::service::design::Error;
    ///
    /// let standard = Error::tool("not_found", "no such note").into_std();
    /// assert_eq!(std::error::Error::source(&standard).map(ToString::to_string), None);
    /// let back = Error::from(standard);
    /// assert!(matches!(back, Error::Tool(own) if own.code == "not_found"));
    /// ```
    pub fn into_std(self) -> impl StdError + Send + Sync + 'static {
        StdErrorAdapter(self)
    }
}

/// Allows `?` in functions that return [`anyhow::Result`].
#[cfg(feature = "anyhow")]
impl From<Error> for anyhow::Error {
    fn from(error: Error) -> Self {
        Self::new(StdErrorAdapter(error))
    }
}
