//! Translates the login settings of other programs into an `oauth` block.
//!
//! Invariant: a secret is imported only if it is a reference to a variable; a text of the file is dropped with a warning.

use serde_json::{Map, Value as Json, json};

use crate::document::{Node, Value};
use crate::import::field_translator::FieldTranslator;

const NO_MEANING: &str = "not imported: it has no meaning here";
/// Why an endpoint is not imported.
pub(crate) const DISCOVERED: &str = "not imported: endpoints are found by the metadata of the server; if it has none, set \
                                     `authServerMetadataUrl`";

/// How a setting is translated.
#[derive(Clone, Copy)]
pub(crate) enum Translation {
    /// Copied under this name.
    Rename(&'static str),
    /// A redirect URI on this machine, of which the port counts.
    RedirectUri,
    /// Values of the parameter `audience` of the authorization request.
    Audience,
    /// Dropped for this reason.
    Reject(&'static str),
    /// Dropped without a warning: it is so here, too.
    Ignore,
}

/// Translates a block of login settings. Settings that are not listed are dropped with a warning.
pub(crate) fn translate(fields: &mut FieldTranslator, key: &str, settings: &[(&str, Translation)]) {
    let Some(member) = fields.take(key) else { return };
    let Some(members) = member.node.members() else {
        // `"oauth": false`: no login.
        if member.node.value != Value::Bool(false) {
            fields.warn(key, "not imported: it is no object");
        }
        return;
    };
    for setting in members {
        let field = format!("{key}.{}", setting.key);
        let translation = settings.iter().find(|(name, _)| *name == setting.key).map(|(_, how)| *how);
        match translation {
            Some(Translation::Rename(name)) => put(fields, name, setting.node.to_json()),
            Some(Translation::RedirectUri) => match setting.node.text().and_then(loopback_port) {
                Some(port) => put(fields, "callbackPort", json!(port)),
                None => fields.warn(&field, "not imported: callbacks arrive on a port of this machine here"),
            },
            Some(Translation::Audience) => {
                let audiences = texts(&setting.node).join(" ");
                put(fields, "authorizeParameters", json!({ "audience": audiences }));
            }
            Some(Translation::Reject(why)) => fields.warn(&field, why),
            Some(Translation::Ignore) => {}
            None => fields.warn(&field, NO_MEANING),
        }
    }
}

/// Sets a setting of the `oauth` block.
pub(crate) fn put(fields: &mut FieldTranslator, name: &str, value: Json) {
    let mut block = match fields.take_translated("oauth").map(|node| node.to_json()) {
        Some(Json::Object(block)) => block,
        _ => Map::new(),
    };
    block.insert(name.to_owned(), value);
    fields.put("oauth", &Json::Object(block));
}

/// Returns the port of a redirect URI on this machine.
fn loopback_port(uri: &str) -> Option<u16> {
    let rest = uri.strip_prefix("http://")?;
    let (host, port) = rest.split('/').next()?.rsplit_once(':')?;
    matches!(host, "127.0.0.1" | "localhost" | "[::1]").then(|| port.parse().ok()).flatten()
}

fn texts(node: &Node) -> Vec<&str> {
    match &node.value {
        Value::List(items) => items.iter().filter_map(Node::text).collect(),
        _ => node.text().into_iter().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_redirect_uris_of_this_machine_have_a_port() {
        assert_eq!(loopback_port("http://localhost:7777/oauth/callback"), Some(7777));
        assert_eq!(loopback_port("http://127.0.0.1:80"), Some(80));
        for other in ["https://localhost:1/", "http://example.com:80/", "http://localhost/", "x"] {
            assert_eq!(loopback_port(other), None, "{other}");
        }
    }
}
