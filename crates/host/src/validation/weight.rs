//! What a JSON text takes in memory once it is decoded, before it is decoded: `{"a":0}` is 7 bytes as text and 650 as a
//! value. Schemas and results come from servers, and servers are not trusted.

/// Bytes of a decoded schema or value, at most.
const MAX_BYTES: usize = 16 * 1024 * 1024;
/// Bytes of a decoded schema, which is compiled besides.
const MAX_SCHEMA_BYTES: usize = 8 * 1024 * 1024;

/// Why a text is not decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it would take more than {} MiB in memory", .0 / (1024 * 1024))]
pub(crate) struct TooHeavy(usize);

/// Checks the text of a value.
pub(crate) fn check_value(text: &str) -> Result<(), TooHeavy> {
    check(text, MAX_BYTES)
}

/// Checks the text of a schema.
pub(crate) fn check_schema(text: &str) -> Result<(), TooHeavy> {
    check(text, MAX_SCHEMA_BYTES)
}

/// Counts what each byte can lead to at most. What is within a string counts too, which only overstates.
fn check(text: &str, limit: usize) -> Result<(), TooHeavy> {
    // No byte weighs more than an object: most texts need no count.
    const OBJECT: usize = 640;
    if text.len() * OBJECT <= limit {
        return Ok(());
    }
    let mut weight = text.len();
    for byte in text.bytes() {
        weight += match byte {
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
    if weight > limit { Err(TooHeavy(limit)) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_texts_pass_and_those_that_swell_do_not() {
        assert_eq!(check_value(&"text, with {braces}. ".repeat(20_000)), Ok(()));
        assert_eq!(check_value(&format!("[{}0]", "0,".repeat(200_000))), Ok(()));
        let objects = format!("[{}0]", r#"{"a":0},"#.repeat(100_000));
        assert!(objects.len() < 1024 * 1024);
        assert_eq!(check_value(&objects), Err(TooHeavy(MAX_BYTES)));
        assert_eq!(check_schema(r#"{"type":"object"}"#), Ok(()));
    }
}
