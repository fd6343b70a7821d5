//! Extraction of typed values from the context.

use switchboard_design::Error;

use super::Cx;

/// A type that can be extracted from a context, such as the user of a token or the tenant of a request.
///
/// ```
/// use switchboard::service::{Cx, Error, FromCx};
///
/// struct Tenant(String);
/// impl FromCx for Tenant {
///     fn from_cx(cx: &Cx) -> Result<Self, Error> {
///         let name = cx.extension::<String>().ok_or_else(|| Error::tool("no_tenant", "Whose is this?"))?;
///         Ok(Tenant(name.clone()))
///     }
/// }
///
/// let cx = Cx::test().extension("acme".to_owned()).build();
/// assert_eq!(cx.extract::<Tenant>().unwrap().0, "acme");
/// assert!(Cx::test().build().extract::<Tenant>().is_err());
/// ```
pub trait FromCx: Sized {
    /// Extracts the value.
    ///
    /// # Errors
    /// When the context does not contain it; the error is sent to the caller.
    fn from_cx(cx: &Cx) -> Result<Self, Error>;
}
