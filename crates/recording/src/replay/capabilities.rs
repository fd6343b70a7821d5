//! The capabilities of a replayed server: those that were recorded, and those that its answers need.

use serde_json::{Map, Value, json};
use switchboard_protocol::{FromRaw, Raw, ServerCapabilities};

use crate::conversation::Conversation;

/// The capability that a method needs, by the beginning of its name.
const NEEDED: [(&str, &str); 5] = [
    ("tools/", "tools"),
    ("resources/", "resources"),
    ("prompts/", "prompts"),
    ("completion/", "completions"),
    ("logging/", "logging"),
];

pub(super) fn replayed_capabilities(conversation: &Conversation) -> ServerCapabilities {
    let recorded = conversation.handshake.as_ref().and_then(|handshake| handshake.get("capabilities"));
    let mut members: Map<String, Value> = recorded.and_then(Value::as_object).cloned().unwrap_or_default();
    let answered = conversation
        .exchanges
        .iter()
        .filter(|exchange| exchange.outcome.as_ref().is_some_and(|outcome| outcome.result.is_ok()));
    for exchange in answered {
        for (prefix, capability) in NEEDED {
            if exchange.method.starts_with(prefix) {
                let declared = members.entry(capability).or_insert_with(|| json!({}));
                if exchange.method == "resources/subscribe"
                    && let Some(declared) = declared.as_object_mut()
                {
                    declared.insert("subscribe".to_owned(), true.into());
                }
            }
        }
    }
    ServerCapabilities::from_raw(&Raw::from(Value::Object(members))).unwrap_or_default()
}
