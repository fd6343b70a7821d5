//! `_meta` of relayed messages: the reserved namespace describes one hop, so it is removed on both. The sessions on either
//! side add their own.

use switchboard_protocol::{FromRaw, Meta, Raw};

/// Begins every reserved key.
const RESERVED: &str = "io.modelcontextprotocol/";

/// Returns the members of `_meta` that pass the gateway.
pub(crate) fn relayed(meta: Option<Meta>) -> Option<Meta> {
    let passes = |key: &str| !key.starts_with(RESERVED) && key != Meta::PROGRESS_TOKEN;
    meta.map(|meta| meta.filtered(passes)).filter(|meta| !meta.is_empty())
}

/// Removes the members of a result that describe the hop it came over: `resultType` and the reserved part of `_meta`. All
/// others are copied as the server wrote them.
pub(crate) fn clean_result(raw: Raw) -> Raw {
    let is_of_hop = |name: &[u8]| matches!(name, b"resultType" | b"_meta");
    if raw.field_spans().all(|(name, _)| !is_of_hop(name.as_bytes())) {
        return raw;
    }
    let text = raw.as_str();
    let mut kept = String::with_capacity(text.len());
    let mut end_of_last = 0;
    for (name, span) in raw.field_spans() {
        // What lies between two values is the comma, the key and the colon.
        let key = end_of_last + text[end_of_last..span.start].find('"').unwrap_or_default();
        end_of_last = span.end;
        let relayed_meta = match name.as_bytes() {
            b"resultType" => continue,
            b"_meta" => match relayed(Meta::from_raw(&raw.part(span.clone())).ok()) {
                Some(meta) => Raw::encode(&meta).ok(),
                None => continue,
            },
            _ => None,
        };
        kept.push(if kept.is_empty() { '{' } else { ',' });
        kept.push_str(&text[key..span.start]);
        kept.push_str(relayed_meta.as_ref().map_or(&text[span], Raw::as_str));
    }
    kept.push_str(if kept.is_empty() { "{}" } else { "}" });
    // Members of an object that was checked, with a comma between them.
    Raw::from_checked(kept.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cleaned(text: &str) -> String {
        clean_result(Raw::parse(text.to_owned()).unwrap()).as_str().to_owned()
    }

    #[test]
    fn members_of_the_hop_are_removed_and_others_stay_byte_for_byte() {
        let plain = r#"{ "content":[ 1.0 ],"x-own": {"a":1} }"#;
        assert_eq!(cleaned(plain), plain);
        let stamped = r#"{"resultType":"complete","content":[ 1.0 ],"_meta":{"io.modelcontextprotocol/serverInfo":{},"com.example/x":{"n": 1.0 }}}"#;
        assert_eq!(cleaned(stamped), r#"{"content":[ 1.0 ],"_meta":{"com.example/x":{"n": 1.0 }}}"#);
        assert_eq!(
            cleaned(r#"{"content":[],"_meta":{"io.modelcontextprotocol/serverInfo":{}}}"#),
            r#"{"content":[]}"#
        );
        let spaced =
            " { \"resultType\" : \"complete\" , \"x\\\"y\" : [ \",\" ] ,\n\"_meta\" : {} , \"z\":1 } ";
        assert_eq!(cleaned(spaced), "{\"x\\\"y\" : [ \",\" ],\"z\":1}");
        assert_eq!(cleaned(r#"{"resultType":"complete","_meta":{"progressToken":1}}"#), "{}");
        // A key that is written with escapes is the same key.
        assert_eq!(
            cleaned(r#"{"\u005fmeta":{"a":1,"io.modelcontextprotocol/x":2},"n":1}"#),
            r#"{"\u005fmeta":{"a":1},"n":1}"#
        );
    }

    #[test]
    fn reserved_keys_and_the_progress_token_of_a_request_do_not_pass() {
        let meta = Meta::new()
            .with(Meta::PROTOCOL_VERSION, "2026-07-28")
            .and_then(|meta| meta.with(Meta::PROGRESS_TOKEN, &7))
            .and_then(|meta| meta.with("io.modelcontextprotocol/anything", &7))
            .and_then(|meta| meta.with(Meta::TRACEPARENT, "00-0-0-00"))
            .unwrap();
        let kept = relayed(Some(meta)).unwrap();
        assert_eq!(kept.iter().map(|(key, _)| key).collect::<Vec<_>>(), [Meta::TRACEPARENT]);
        assert_eq!(relayed(Some(Meta::new().with(Meta::PROGRESS_TOKEN, &7).unwrap())), None);
        assert_eq!(relayed(None), None);
    }
}
