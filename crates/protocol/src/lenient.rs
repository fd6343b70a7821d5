//! How single fields are read and written where peers are sloppier than the schema.
//!
//! Knows nothing of MCP types; each function is named in a `#[serde(..)]` attribute.

use serde::{Deserialize, Deserializer, Serializer};

use crate::raw::Raw;

/// `null` counts as the default: some peers write every optional field.
pub(crate) fn null_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Option::<T>::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// Anything that does not fit counts as absent: a hint is never worth failing a result for.
pub(crate) fn fit_or_none<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: serde::de::DeserializeOwned,
{
    Ok(Raw::deserialize(deserializer)?.decode().ok())
}

/// A whole number of zero or more, also when written `3e3` or `7.0`; anything else counts as absent.
pub(crate) fn whole<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    Ok(whole_from(Raw::deserialize(deserializer)?.as_str()))
}

fn whole_from(text: &str) -> Option<u64> {
    const EXACT: f64 = 9_007_199_254_740_992.0; // 2^53: beyond it a float skips integers
    if let Ok(number) = text.parse() {
        return Some(number);
    }
    let number: f64 = serde_json::from_str(text).ok()?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked to be whole, positive and within 2^53"
    )]
    (number.fract() == 0.0 && (0.0..=EXACT).contains(&number)).then_some(number as u64)
}

/// Only an object is a JSON Schema that all revisions accept.
pub(crate) fn object<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Raw, D::Error> {
    let raw = Raw::deserialize(deserializer)?;
    if raw.is_object() { Ok(raw) } else { Err(serde::de::Error::custom("expected an object")) }
}

/// Whole numbers are written without a fraction: `1`, not `1.0`, which strict peers do not take for an integer.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
pub(crate) fn tidy<S: Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if number.fract() == 0.0 && number.abs() <= EXACT {
        #[expect(clippy::cast_possible_truncation, reason = "checked to be whole and within 2^53")]
        return serializer.serialize_i64(*number as i64);
    }
    serializer.serialize_f64(*number)
}

/// [`tidy`] for an optional field.
#[expect(clippy::ref_option, reason = "the signature serde asks for")]
pub(crate) fn tidy_some<S: Serializer>(number: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    match number {
        Some(number) => tidy(number, serializer),
        None => serializer.serialize_none(),
    }
}

/// For `skip_serializing_if` on flags whose absence means `false`.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
pub(crate) fn is_false(flag: &bool) -> bool {
    !flag
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_numbers_count() {
        for (text, number) in [
            ("0", Some(0)),
            ("3e3", Some(3000)),
            ("7.0", Some(7)),
            ("18446744073709551615", Some(u64::MAX)),
            ("-1", None),
            ("1.5", None),
            ("1e999", None),
            ("\"60\"", None),
            ("null", None),
            ("{}", None),
        ] {
            assert_eq!(whole_from(text), number, "{text}");
        }
    }
}
