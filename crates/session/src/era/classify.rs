//! Server: classifies each request by era, once, by its own `_meta`.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use switchboard_protocol::jsonrpc::{Request, RequestMeta};
use switchboard_protocol::{
    ClientCapabilities, FromRaw, Implementation, Level, Meta, Raw, RequestId, Revision, RpcError,
};

/// The era of a request.
#[derive(Debug)]
pub(crate) enum MessageEra {
    /// The request belongs to the session of its pipe.
    Legacy,
    /// The request is self-contained. The error names the member of `_meta` that is missing or invalid.
    Modern(Result<Arc<ClientMeta>, RpcError>),
}

/// The era and the progress token of a request.
#[derive(Debug)]
pub(crate) struct ClassifiedRequest {
    pub(crate) era: MessageEra,
    /// The progress token, when there is a usable one.
    pub(crate) progress: Option<RequestId>,
}

/// The client's description of itself in the `_meta` of a modern request.
#[derive(Debug)]
pub(crate) struct ClientMeta {
    pub(crate) version: String,
    /// `None` when we do not know the version.
    pub(crate) revision: Option<Revision>,
    capabilities: Raw,
    client: Option<Raw>,
    pub(crate) log_level: Option<Level>,
    decoded: OnceLock<ClientCapabilities>,
}

impl ClientMeta {
    /// Returns the capabilities of the client; none when they cannot be decoded.
    pub(crate) fn capabilities(&self) -> &ClientCapabilities {
        self.decoded.get_or_init(|| ClientCapabilities::from_raw(&self.capabilities).unwrap_or_default())
    }

    /// Returns the name and version of the client.
    pub(crate) fn client(&self) -> Option<Implementation> {
        Implementation::from_raw(self.client.as_ref()?).ok()
    }
}

/// Classifies a request by its `_meta` alone: a version there makes it modern, whatever its method.
pub(crate) fn classify(request: &Request, cache: &ClientMetaCache) -> ClassifiedRequest {
    let found;
    let meta = match request.meta() {
        RequestMeta::None => return ClassifiedRequest { era: MessageEra::Legacy, progress: None },
        RequestMeta::Text(meta) => meta,
        RequestMeta::Unknown => match request.field("_meta") {
            None => return ClassifiedRequest { era: MessageEra::Legacy, progress: None },
            Some(field) => {
                found = field;
                found.as_str()
            }
        },
    };
    if let Some((client_meta, progress)) = cache.lookup(meta) {
        return ClassifiedRequest { era: MessageEra::Modern(Ok(client_meta)), progress };
    }
    match request.field("_meta") {
        Some(meta) => decode_meta(&meta, cache),
        None => ClassifiedRequest { era: MessageEra::Legacy, progress: None },
    }
}

fn decode_meta(meta: &Raw, cache: &ClientMetaCache) -> ClassifiedRequest {
    let fields = MetaFields::read(meta);
    let token = fields.progress_token.clone();
    let progress = token.clone().and_then(|span| RequestId::from_json(&meta.as_str()[span]));
    if fields.version.is_none() {
        return ClassifiedRequest { era: MessageEra::Legacy, progress };
    }
    let client_meta = fields.into_client_meta().map(Arc::new);
    if let Ok(client_meta) = &client_meta {
        cache.insert(meta.as_str(), token, client_meta);
    }
    ClassifiedRequest { era: MessageEra::Modern(client_meta), progress }
}

/// The members of `_meta` that classification needs. Of two members with one name the last counts.
#[derive(Default)]
struct MetaFields {
    version: Option<Raw>,
    capabilities: Option<Raw>,
    client: Option<Raw>,
    log_level: Option<Raw>,
    /// The span of its value.
    progress_token: Option<Range<usize>>,
}

impl MetaFields {
    fn read(meta: &Raw) -> Self {
        let mut fields = Self::default();
        for (name, span) in meta.field_spans() {
            let span = Some(span).filter(|span| &meta.as_str()[span.clone()] != "null");
            let slot = match name.as_str() {
                Meta::PROTOCOL_VERSION => &mut fields.version,
                Meta::CLIENT_CAPABILITIES => &mut fields.capabilities,
                Meta::CLIENT_INFO => &mut fields.client,
                Meta::LOG_LEVEL => &mut fields.log_level,
                Meta::PROGRESS_TOKEN => {
                    fields.progress_token = span;
                    continue;
                }
                _ => continue,
            };
            *slot = span.map(|span| meta.part(span));
        }
        fields
    }

    fn into_client_meta(self) -> Result<ClientMeta, RpcError> {
        let missing =
            |key: &str| RpcError::invalid_params(format!("_meta lacks {key:?}, or it has the wrong type"));
        let version: String = self
            .version
            .and_then(|raw| String::from_raw(&raw).ok())
            .ok_or_else(|| missing(Meta::PROTOCOL_VERSION))?;
        let capabilities =
            self.capabilities.filter(Raw::is_object).ok_or_else(|| missing(Meta::CLIENT_CAPABILITIES))?;
        let log_level = match self.log_level {
            None => None,
            Some(level) => Some(Level::from_raw(&level).map_err(|_| missing(Meta::LOG_LEVEL))?),
        };
        let revision = version.parse().ok();
        let client = self.client;
        Ok(ClientMeta { version, revision, capabilities, client, log_level, decoded: OnceLock::new() })
    }
}

/// A cache of the decoded `_meta` of the last few clients. A client sends the same `_meta` with every request, except for
/// the number of the progress token, so it is decoded only once.
#[derive(Debug, Default)]
pub(crate) struct ClientMetaCache {
    // Most recently found first. Held for a few comparisons, never across an await.
    entries: Mutex<Vec<CachedMeta>>,
}

/// Clients in the cache.
const MAX_CLIENTS: usize = 8;

/// One cached `_meta`: its text around the progress token, and what it decodes to.
#[derive(Debug)]
struct CachedMeta {
    /// The text before the number of the progress token, or all of it.
    before: String,
    /// The text after the number; `None` without a progress token.
    after: Option<String>,
    client_meta: Arc<ClientMeta>,
}

/// Longer texts are not cached.
const MAX_META_BYTES: usize = 4 * 1024;

impl ClientMetaCache {
    /// Returns the decoded `_meta` and the progress token, when `meta` equals a cached text except for the number.
    fn lookup(&self, meta: &str) -> Option<(Arc<ClientMeta>, Option<RequestId>)> {
        // Under contention decoding is faster than waiting.
        let mut entries = self.entries.try_lock()?;
        let (at, found) =
            entries.iter().enumerate().find_map(|(at, entry)| Some((at, entry.lookup(meta)?)))?;
        if at > 0 {
            entries.swap(0, at);
        }
        Some(found)
    }

    /// Caches the decoded `_meta`; `token` is the span of the progress token.
    fn insert(&self, text: &str, token: Option<Range<usize>>, client_meta: &Arc<ClientMeta>) {
        let (before, after) = match token {
            None => (text, None),
            Some(token) if plain_number(&text[token.clone()]).is_none() => return,
            Some(token) => (&text[..token.start], Some(&text[token.end..])),
        };
        if text.len() <= MAX_META_BYTES {
            let (before, after) = (before.to_owned(), after.map(str::to_owned));
            let mut entries = self.entries.lock();
            entries.truncate(MAX_CLIENTS - 1);
            entries.insert(0, CachedMeta { before, after, client_meta: Arc::clone(client_meta) });
        }
    }
}

impl CachedMeta {
    /// Returns the decoded `_meta` and the progress token, when `meta` equals this text except for the number.
    fn lookup(&self, meta: &str) -> Option<(Arc<ClientMeta>, Option<RequestId>)> {
        let rest = meta.strip_prefix(self.before.as_str())?;
        let token = match &self.after {
            Some(after) => Some(plain_number(rest.strip_suffix(after.as_str())?)?),
            None if rest.is_empty() => None,
            None => return None,
        };
        Some((Arc::clone(&self.client_meta), token))
    }
}

/// Parses a number of digits only: replacing one by another changes nothing around it.
fn plain_number(text: &str) -> Option<RequestId> {
    let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_plain.then(|| RequestId::from_json(text)).flatten()
}

#[cfg(test)]
mod tests {
    use switchboard_protocol::jsonrpc::{self, Envelope, Message};

    use super::*;

    const META: &str = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"roots":{}},"progressToken":7,"x":1}"#;

    fn classify(text: &str, cache: &ClientMetaCache) -> ClassifiedRequest {
        let frame = format!(r#"{{"id":1,"method":"x","params":{{"_meta":{text}}}}}"#);
        let Ok(Message::Single(Envelope::Request(request))) = jsonrpc::parse(frame.into()) else {
            panic!("{text} makes no request")
        };
        super::classify(&request, cache)
    }

    fn client_meta(request: ClassifiedRequest) -> (Arc<ClientMeta>, Option<RequestId>) {
        let MessageEra::Modern(Ok(client_meta)) = request.era else { panic!("{request:?}") };
        (client_meta, request.progress)
    }

    #[test]
    fn the_same_meta_with_another_progress_token_is_not_decoded_again() {
        let cache = ClientMetaCache::default();
        let (first, _) = client_meta(classify(META, &cache));
        let (second, token) = client_meta(classify(&META.replace(":7,", ":1234,"), &cache));
        assert!(Arc::ptr_eq(&first, &second));
        assert_eq!(token, Some(RequestId::Number(1234)));
    }

    #[test]
    fn meta_without_a_progress_token_is_cached_too() {
        let cache = ClientMetaCache::default();
        let text = META.replace(r#""progressToken":7,"#, "");
        let (first, _) = client_meta(classify(&text, &cache));
        let (second, token) = client_meta(classify(&text, &cache));
        assert!(Arc::ptr_eq(&first, &second));
        assert_eq!(token, None);
        let (third, _) = client_meta(classify(META, &cache));
        assert!(!Arc::ptr_eq(&first, &third));
    }

    #[test]
    fn different_meta_is_decoded_anew() {
        for text in [
            META.replace("\"roots\"", "\"sampling\""),
            META.replace(":7,", ":\"7\","),
            META.replace(":7,", ":7.5,"),
            META.replace(":7,", ":-7,"),
            META.replace(":7,", ":7,\"y\":1,"),
            META.replace("\"x\":1", "\"x\":2"),
        ] {
            let cache = ClientMetaCache::default();
            let (first, _) = client_meta(classify(META, &cache));
            let (other, _) = client_meta(classify(&text, &cache));
            assert!(!Arc::ptr_eq(&first, &other), "{text}");
        }
    }

    #[test]
    fn a_missing_member_is_named_in_the_error() {
        let cache = ClientMetaCache::default();
        let text = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#;
        let MessageEra::Modern(Err(error)) = classify(text, &cache).era else { panic!("not refused") };
        assert!(error.message.contains("clientCapabilities"), "{error}");
        assert!(matches!(classify("{}", &cache).era, MessageEra::Legacy));
    }

    #[test]
    fn s11_alternating_clients_are_all_cached() {
        let cache = ClientMetaCache::default();
        let meta = |client: usize, token: usize| {
            META.replace("\"x\":1", &format!("\"x\":{client}")).replace(":7,", &format!(":{token},"))
        };
        let decode = |client, token| client_meta(classify(&meta(client, token), &cache)).0;
        let first: Vec<_> = (0..MAX_CLIENTS).map(|client| decode(client, 1)).collect();
        for round in 2..5 {
            for (client, first) in first.iter().enumerate() {
                assert!(Arc::ptr_eq(first, &decode(client, round)), "nothing is decoded again");
            }
        }
        assert!(cache.entries.lock().len() <= MAX_CLIENTS);
    }
}
