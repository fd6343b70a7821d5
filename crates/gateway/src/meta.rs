//! `_meta` of relayed messages: the reserved namespace describes one hop, so it is removed on both. The sessions on either
//! side add their own.

use switchboard_protocol::{FromRaw, Meta, OrderedMap, Raw};

/// Begins every reserved key.
const RESERVED: &str = "io.modelcontextprotocol/";

/// Returns the members of `_meta` that pass the gateway.
pub(crate) fn relayed(meta: Option<Meta>) -> Option<Meta> {
    let passes = |key: &str| !key.starts_with(RESERVED) && key != Meta::PROGRESS_TOKEN;
    let meta = meta?;
    if meta.iter().all(|(key, _)| passes(key)) {
        return Some(meta).filter(|meta| !meta.is_empty());
    }
    let kept = meta.iter().filter(|(key, _)| passes(key));
    let kept: Meta = kept.map(|(key, value)| (key.to_owned(), value.clone())).collect();
    Some(kept).filter(|meta| !meta.is_empty())
}

/// Removes the members of a result that describe the hop it came over: `resultType` and the reserved part of `_meta`. All
/// others stay as the server wrote them.
pub(crate) fn clean_result(raw: Raw) -> Raw {
    let is_of_hop = |name: &str| matches!(name, "resultType" | "_meta");
    if raw.field_texts().all(|(name, _)| !is_of_hop(name.as_str())) {
        return raw;
    }
    let members = raw.fields().filter(|(name, _)| *name != "resultType");
    let mut members: OrderedMap<Raw> =
        members.map(|(name, value)| (name.as_str().to_owned(), value)).collect();
    let meta = members.remove("_meta").and_then(|meta| Meta::from_raw(&meta).ok());
    if let Some(Ok(meta)) = relayed(meta).map(|meta| Raw::encode(&meta)) {
        members.insert("_meta", meta);
    }
    // Members that were JSON can be written again.
    Raw::encode(&members).unwrap_or(raw)
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
