//! Canonical JSON text for hashing: keys sorted, no white space.

use std::fmt::Write;

use serde_json::Value;
use sha2::{Digest, Sha256};

/// Returns the canonical text, independent of the order of a map.
pub(crate) fn canonical(value: &Value) -> String {
    let mut out = String::new();
    append(&mut out, value);
    out
}

/// Returns the SHA-256 digest of the canonical text.
pub fn canonical_digest(value: &Value) -> [u8; 32] {
    Sha256::digest(canonical(value)).into()
}

/// Returns bytes in hexadecimal.
pub fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut out, byte| {
        // Writing to a string does not fail.
        _ = write!(out, "{byte:02x}");
        out
    })
}

fn append(out: &mut String, value: &Value) {
    match value {
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                append(out, item);
            }
            out.push(']');
        }
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by_key(|(key, _)| key.as_str());
            out.push('{');
            for (index, (key, value)) in members.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                out.push_str(&Value::from(key.as_str()).to_string());
                out.push(':');
                append(out, value);
            }
            out.push('}');
        }
        leaf => out.push_str(&leaf.to_string()),
    }
}
