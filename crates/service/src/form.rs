//! What a user is asked, and what they answer.

use serde::de::DeserializeOwned;
use switchboard_design::Error;
use switchboard_protocol::FormSchema;

/// What a user can be asked to fill in: a flat struct of primitive fields. Derived with `#[derive(Form)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a form",
    note = "derive `Form` (and `serde::Deserialize`) for it: a struct whose fields are text, numbers, booleans or choices"
)]
pub trait Form: DeserializeOwned + Send {
    /// Its fields.
    fn form() -> FormSchema;
}

/// What the user answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer<T> {
    /// They filled it in.
    Accepted(T),
    /// They said no.
    Declined,
    /// They went away without saying.
    Dismissed,
}

impl<T> Answer<T> {
    /// What they filled in.
    ///
    /// # Errors
    /// When they did not: the model is told so.
    pub fn accepted(self) -> Result<T, Error> {
        match self {
            Self::Accepted(value) => Ok(value),
            Self::Declined => Err(Error::tool("declined", "The user declined.")),
            Self::Dismissed => Err(Error::tool("dismissed", "The user did not answer.")),
        }
    }
}
