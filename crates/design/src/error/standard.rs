//! An [`Error`] where an [`std::error::Error`] is needed: `anyhow`, `eyre`, `Box<dyn Error>`.

use std::error::Error as StdError;

use super::Error;
use super::any::Whole;

impl Error {
    /// Returns the same error as a value that implements [`std::error::Error`], which [`Error`] itself does not. Converting
    /// it back with `?` or `into` gives this error again.
    ///
    /// ```
    /// use switchboard::design::Error;
    ///
    /// let standard = Error::tool("not_found", "no such note").into_std();
    /// assert_eq!(std::error::Error::source(&standard).map(ToString::to_string), None);
    /// let back = Error::from(standard);
    /// assert!(matches!(back, Error::Tool(own) if own.code == "not_found"));
    /// ```
    pub fn into_std(self) -> impl StdError + Send + Sync + 'static {
        Whole(self)
    }
}

/// Makes `?` work in functions that return [`anyhow::Result`].
#[cfg(feature = "anyhow")]
impl From<Error> for anyhow::Error {
    fn from(error: Error) -> Self {
        Self::new(Whole(error))
    }
}
