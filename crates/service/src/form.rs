//! Forms that a user fills in, and the outcome of asking for one.

use serde::de::DeserializeOwned;
use switchboard_design::Error;
use switchboard_protocol::FormSchema;

/// A form that a user can be asked to fill in: a flat struct of primitive fields. Derived with `#[derive(Form)]`.
///
/// ```
/// use switchboard::service::{Deserialize, Form};
///
/// #[derive(Deserialize, Form)]
/// struct Booking {
///     /// Who travels?
///     #[form(max_length = 80)]
///     name: String,
///     /// How many seats?
///     #[form(min = 1, max = 9)]
///     seats: Option<u32>,
/// }
///
/// let form = <Booking as Form>::form();
/// assert_eq!(form.required, ["name"]);
/// assert_eq!(form.properties.len(), 2);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a form",
    note = "derive `Form` (and `serde::Deserialize`) for it: a struct whose fields are text, numbers, booleans or choices"
)]
pub trait Form: DeserializeOwned + Send {
    /// Returns the schema of the form's fields.
    fn form() -> FormSchema;
}

/// The outcome of an elicitation.
///
/// ```
/// use switchboard::service::ElicitOutcome;
///
/// assert_eq!(ElicitOutcome::Accepted(3).into_result().ok(), Some(3));
/// let declined = ElicitOutcome::<u32>::Declined.into_result().unwrap_err();
/// assert_eq!(declined.to_string(), "The user declined."); // for the model to read
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ElicitOutcome<T> {
    /// The user accepted and submitted this value.
    Accepted(T),
    /// The user declined.
    Declined,
    /// The user dismissed the request without a choice.
    Dismissed,
}

impl<T> ElicitOutcome<T> {
    /// Returns the accepted value.
    ///
    /// # Errors
    /// A tool error for the model when the user declined or dismissed the request.
    pub fn into_result(self) -> Result<T, Error> {
        match self {
            Self::Accepted(value) => Ok(value),
            Self::Declined => Err(Error::tool("declined", "The user declined.")),
            Self::Dismissed => Err(Error::tool("dismissed", "The user did not answer.")),
        }
    }
}
