//! Secrets: tokens and passwords that must not be printed or logged.
//!
//! Invariants: it prints as dots, has no `Display`, is overwritten when dropped, compares in constant time, and
//! leaves through [`Secret::expose`] only, which is easy to search for.

use std::fmt;

use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

/// A secret text, such as a token or a password. `Debug` prints dots.
///
/// ```
/// use switchboard::transport::http_client::Secret;
///
/// let token = Secret::new("s3cr3t");
/// assert_eq!(format!("{token:?}"), "••••");
/// assert_eq!(token.expose(), "s3cr3t");
/// ```
#[derive(Clone)]
pub struct Secret(Zeroizing<Box<str>>);

impl Secret {
    /// Creates a secret from this text.
    pub fn new(text: impl Into<String>) -> Self {
        let mut text = Zeroizing::new(text.into());
        // A boxed str has no spare room; making one from a String may move it and leave the old bytes behind.
        if text.len() == text.capacity() {
            Self(Zeroizing::new(std::mem::take(&mut *text).into_boxed_str()))
        } else {
            Self(Zeroizing::new(Box::from(text.as_str())))
        }
    }

    /// Returns the text. Call it in as few places as possible.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl PartialEq for Secret {
    /// In constant time for texts of one length; the length itself is not hidden.
    fn eq(&self, other: &Self) -> bool {
        self.0.as_bytes().ct_eq(other.0.as_bytes()).into()
    }
}

impl Eq for Secret {}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<&String> for Secret {
    fn from(text: &String) -> Self {
        Self::new(text.as_str())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("••••")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_prints_as_dots_also_inside_other_values() {
        let secret = Secret::new("hunter2");
        assert_eq!(
            format!("{secret:?} {:?} {:#?}", Some(&secret), [&secret]),
            "•••• Some(••••) [\n    ••••,\n]"
        );
    }

    #[test]
    fn equality_is_of_the_text() {
        let mut roomy = String::with_capacity(100);
        roomy.push_str("abc");
        assert_eq!(Secret::new(roomy), Secret::from("abc"));
        assert_ne!(Secret::from("abc"), Secret::from("abd"));
        assert_ne!(Secret::from("abc"), Secret::from("abcd"));
        assert_eq!(Secret::from(""), Secret::from(String::new()));
    }
}
