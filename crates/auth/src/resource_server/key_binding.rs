//! The key that a token is bound to: the claim `cnf` (RFC 7800).

use serde::Deserialize;
use serde_json::Value;

/// The key that only the rightful sender of a token has.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "Value")]
pub(crate) enum KeyBinding {
    /// The thumbprint of the key of DPoP proofs (RFC 9449).
    Dpop(String),
    /// A certificate, or another kind that is not supported here.
    Unsupported,
}

impl From<Value> for KeyBinding {
    fn from(confirmation: Value) -> Self {
        // With a second member, both would have to be proven.
        match confirmation.as_object() {
            Some(members) if members.len() == 1 => match members.get("jkt").and_then(Value::as_str) {
                Some(thumbprint) => Self::Dpop(thumbprint.to_owned()),
                None => Self::Unsupported,
            },
            _ => Self::Unsupported,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_a_thumbprint_alone_is_a_dpop_key() {
        assert_eq!(KeyBinding::from(json!({ "jkt": "x" })), KeyBinding::Dpop("x".to_owned()));
        for other in [
            json!({ "x5t#S256": "x" }),
            json!({ "jkt": "x", "x5t#S256": "y" }),
            json!({ "jkt": 1 }),
            json!({}),
            json!("x"),
        ] {
            assert_eq!(KeyBinding::from(other.clone()), KeyBinding::Unsupported, "{other}");
        }
    }
}
