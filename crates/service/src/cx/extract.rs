//! What a method takes out of its context by type.

use switchboard_design::Error;

use super::Cx;

/// What can be taken out of a context: the user a token speaks of, the tenant of a request.
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
    /// Takes it out.
    ///
    /// # Errors
    /// When it is not there; the caller is told.
    fn from_cx(cx: &Cx) -> Result<Self, Error>;
}
