//! Tests of the crate as a whole, and the designs that other tests use.

mod random;
pub(crate) mod sample;

/// Returns whether a value is valid under a valid schema.
pub(crate) fn is_valid(schema: &serde_json::Value, value: &serde_json::Value) -> bool {
    crate::schema::Validator::new(schema).unwrap().is_valid(value).unwrap()
}
