//! Estimates the memory of a decoded JSON text before decoding it: `{"a":0}` has 7 bytes as text and takes 650 as a
//! value. Schemas and results come from servers, and servers are not trusted.

/// The memory limit of a decoded value.
const MAX_BYTES: usize = 16 * 1024 * 1024;
/// The memory limit of a decoded schema, which is also compiled.
const MAX_SCHEMA_BYTES: usize = 8 * 1024 * 1024;

/// The decoded text would take too much memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it would take more than {} MiB in memory", .0 / (1024 * 1024))]
pub(crate) struct TooLarge(usize);

/// Checks the text of a value.
pub(crate) fn check_value(text: &str) -> Result<(), TooLarge> {
    check(text, MAX_BYTES)
}

/// Checks the text of a schema.
pub(crate) fn check_schema(text: &str) -> Result<(), TooLarge> {
    check(text, MAX_SCHEMA_BYTES)
}

/// Adds an upper bound for each byte. Bytes within strings count too, which only overestimates.
fn check(text: &str, limit: usize) -> Result<(), TooLarge> {
    // No byte takes more than an object: most texts need no scan.
    const OBJECT: usize = 640;
    if text.len() * OBJECT <= limit {
        return Ok(());
    }
    let mut estimate = text.len();
    for byte in text.bytes() {
        estimate += match byte {
            // The smallest node of a map.
            b'{' => OBJECT,
            // Room for four items.
            b'[' => 128,
            // An item, with what a vector keeps free.
            b',' => 72,
            // Half of the smallest allocation for a string.
            b'"' => 16,
            _ => 0,
        };
    }
    if estimate > limit { Err(TooLarge(limit)) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_grow_too_much_are_rejected() {
        assert_eq!(check_value(&"text, with {braces}. ".repeat(20_000)), Ok(()));
        assert_eq!(check_value(&format!("[{}0]", "0,".repeat(200_000))), Ok(()));
        let objects = format!("[{}0]", r#"{"a":0},"#.repeat(100_000));
        assert!(objects.len() < 1024 * 1024);
        assert_eq!(check_value(&objects), Err(TooLarge(MAX_BYTES)));
        assert_eq!(check_schema(r#"{"type":"object"}"#), Ok(()));
    }
}
