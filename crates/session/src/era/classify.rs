//! Server: which era does this message belong to? Decided for each message, once, by what the message itself says.

use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use switchboard_protocol::jsonrpc::{Request, RequestMeta};
use switchboard_protocol::{
    ClientCapabilities, FromRaw, Implementation, Level, Meta, Raw, RequestId, Revision, RpcError,
};

/// The era of a request.
#[derive(Debug)]
pub(crate) enum Classified {
    /// It belongs to the session of its pipe.
    Legacy,
    /// It stands alone. The error names what it fails to say of itself.
    Modern(Result<Arc<Stated>, RpcError>),
}

/// A request, looked at once.
#[derive(Debug)]
pub(crate) struct Look {
    pub(crate) era: Classified,
    /// The token under which progress is to be reported, when there is a usable one.
    pub(crate) progress: Option<RequestId>,
}

/// What a request that stands alone says of itself.
#[derive(Debug)]
pub(crate) struct Stated {
    pub(crate) version: String,
    /// `None` when we do not know the version.
    pub(crate) revision: Option<Revision>,
    capabilities: Raw,
    client: Option<Raw>,
    pub(crate) log_level: Option<Level>,
    read: OnceLock<ClientCapabilities>,
}

impl Stated {
    /// What the client can do. What cannot be read counts as nothing.
    pub(crate) fn capabilities(&self) -> &ClientCapabilities {
        self.read.get_or_init(|| ClientCapabilities::from_raw(&self.capabilities).unwrap_or_default())
    }

    /// Who the client says it is.
    pub(crate) fn client(&self) -> Option<Implementation> {
        Implementation::from_raw(self.client.as_ref()?).ok()
    }
}

/// Looks at a request's `_meta` only: a version there makes the request modern, whatever its method.
pub(crate) fn look(request: &Request, last: &LastStated) -> Look {
    let found;
    let meta = match request.meta() {
        RequestMeta::None => return Look { era: Classified::Legacy, progress: None },
        RequestMeta::Text(meta) => meta,
        RequestMeta::Unknown => match request.field("_meta") {
            None => return Look { era: Classified::Legacy, progress: None },
            Some(field) => {
                found = field;
                found.as_str()
            }
        },
    };
    if let Some((stated, progress)) = last.recall(meta) {
        return Look { era: Classified::Modern(Ok(stated)), progress };
    }
    match request.field("_meta") {
        Some(meta) => classify(&meta, last),
        None => Look { era: Classified::Legacy, progress: None },
    }
}

fn classify(meta: &Raw, last: &LastStated) -> Look {
    let said = Said::read(meta);
    let progress = said.progress_token.as_ref().and_then(|token| RequestId::from_json(token.as_str()));
    if said.version.is_none() {
        return Look { era: Classified::Legacy, progress };
    }
    let token = said.progress_token.clone();
    let stated = said.state().map(Arc::new);
    if let Ok(stated) = &stated {
        last.keep(meta, token.as_ref(), stated);
    }
    Look { era: Classified::Modern(stated), progress }
}

/// The members of `_meta` that are asked for here. Of two with one name the last counts.
#[derive(Default)]
struct Said {
    version: Option<Raw>,
    capabilities: Option<Raw>,
    client: Option<Raw>,
    log_level: Option<Raw>,
    progress_token: Option<Raw>,
}

impl Said {
    fn read(meta: &Raw) -> Self {
        let mut said = Self::default();
        for (name, value) in meta.fields() {
            let slot = match name.as_str() {
                Meta::PROTOCOL_VERSION => &mut said.version,
                Meta::CLIENT_CAPABILITIES => &mut said.capabilities,
                Meta::CLIENT_INFO => &mut said.client,
                Meta::LOG_LEVEL => &mut said.log_level,
                Meta::PROGRESS_TOKEN => &mut said.progress_token,
                _ => continue,
            };
            *slot = Some(value).filter(|value| !value.is_null());
        }
        said
    }

    fn state(self) -> Result<Stated, RpcError> {
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
        Ok(Stated { version, revision, capabilities, client, log_level, read: OnceLock::new() })
    }
}

/// What the last few clients said of themselves: each says the same in every request, but for the number of its progress
/// token. Then nothing has to be read again.
#[derive(Debug, Default)]
pub(crate) struct LastStated {
    // Held for a few comparisons, never across an await.
    kept: Mutex<Cache>,
}

#[derive(Debug, Default)]
struct Cache {
    /// Found last comes first.
    entries: Vec<Kept>,
}

/// Clients that are known at a time.
const MOST_CLIENTS: usize = 8;

#[derive(Debug)]
struct Kept {
    /// The text of `_meta`, up to the number where there is one.
    before: String,
    /// What follows the number; `None` when there is none.
    after: Option<String>,
    stated: Arc<Stated>,
}

/// Texts beyond this are not kept.
const MOST_KEPT: usize = 4 * 1024;

impl LastStated {
    /// What was said, and the token, when `meta` is what is kept but for the number.
    fn recall(&self, meta: &str) -> Option<(Arc<Stated>, Option<RequestId>)> {
        // Whoever would have to wait reads for itself.
        let mut cache = self.kept.try_lock()?;
        let (at, found) =
            cache.entries.iter().enumerate().find_map(|(at, kept)| Some((at, kept.recall(meta)?)))?;
        if at > 0 {
            cache.entries.swap(0, at);
        }
        Some(found)
    }

    fn keep(&self, meta: &Raw, token: Option<&Raw>, stated: &Arc<Stated>) {
        let text = meta.as_str();
        let (before, after) = match token {
            None => (text, None),
            Some(token) => {
                // The token is a slice of the text: where it stands is the difference of the two addresses.
                let start = (token.as_str().as_ptr() as usize).wrapping_sub(text.as_ptr() as usize);
                let end = start.saturating_add(token.len());
                let (Some(before), Some(after)) = (text.get(..start), text.get(end..)) else { return };
                if number(token.as_str()).is_none() {
                    return;
                }
                (before, Some(after))
            }
        };
        if text.len() <= MOST_KEPT {
            let (before, after) = (before.to_owned(), after.map(str::to_owned));
            let entries = &mut self.kept.lock().entries;
            entries.truncate(MOST_CLIENTS - 1);
            entries.insert(0, Kept { before, after, stated: Arc::clone(stated) });
        }
    }
}

impl Kept {
    /// What was said, and the token, when `meta` is what is kept but for the number.
    fn recall(&self, meta: &str) -> Option<(Arc<Stated>, Option<RequestId>)> {
        let rest = meta.strip_prefix(self.before.as_str())?;
        let token = match &self.after {
            Some(after) => Some(number(rest.strip_suffix(after.as_str())?)?),
            None if rest.is_empty() => None,
            None => return None,
        };
        Some((Arc::clone(&self.stated), token))
    }
}

/// A plain whole number: one takes the place of another without a change to anything around it.
fn number(text: &str) -> Option<RequestId> {
    let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_plain.then(|| RequestId::from_json(text)).flatten()
}

#[cfg(test)]
mod tests {
    use switchboard_protocol::jsonrpc::{self, Envelope, Message};

    use super::*;

    const META: &str = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"roots":{}},"progressToken":7,"x":1}"#;

    fn look(text: &str, last: &LastStated) -> Look {
        let frame = format!(r#"{{"id":1,"method":"x","params":{{"_meta":{text}}}}}"#);
        let Ok(Message::Single(Envelope::Request(request))) = jsonrpc::parse(frame.into()) else {
            panic!("{text} makes no request")
        };
        super::look(&request, last)
    }

    fn stated(look: Look) -> (Arc<Stated>, Option<RequestId>) {
        let Classified::Modern(Ok(stated)) = look.era else { panic!("{look:?}") };
        (stated, look.progress)
    }

    #[test]
    fn the_same_words_with_another_number_are_not_read_again() {
        let last = LastStated::default();
        let (first, _) = stated(look(META, &last));
        let (second, token) = stated(look(&META.replace(":7,", ":1234,"), &last));
        assert!(Arc::ptr_eq(&first, &second));
        assert_eq!(token, Some(RequestId::Number(1234)));
    }

    #[test]
    fn words_without_a_number_are_kept_too() {
        let last = LastStated::default();
        let text = META.replace(r#""progressToken":7,"#, "");
        let (first, _) = stated(look(&text, &last));
        let (second, token) = stated(look(&text, &last));
        assert!(Arc::ptr_eq(&first, &second));
        assert_eq!(token, None);
        let (third, _) = stated(look(META, &last));
        assert!(!Arc::ptr_eq(&first, &third));
    }

    #[test]
    fn other_words_are_read_for_themselves() {
        for text in [
            META.replace("\"roots\"", "\"sampling\""),
            META.replace(":7,", ":\"7\","),
            META.replace(":7,", ":7.5,"),
            META.replace(":7,", ":-7,"),
            META.replace(":7,", ":7,\"y\":1,"),
            META.replace("\"x\":1", "\"x\":2"),
        ] {
            let last = LastStated::default();
            let (first, _) = stated(look(META, &last));
            let (other, _) = stated(look(&text, &last));
            assert!(!Arc::ptr_eq(&first, &other), "{text}");
        }
    }

    #[test]
    fn what_is_missing_is_named() {
        let last = LastStated::default();
        let text = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#;
        let Classified::Modern(Err(error)) = look(text, &last).era else { panic!("not refused") };
        assert!(error.message.contains("clientCapabilities"), "{error}");
        assert!(matches!(look("{}", &last).era, Classified::Legacy));
    }

    #[test]
    fn s11_clients_that_take_turns_are_all_known() {
        let last = LastStated::default();
        let said = |client: usize, token: usize| {
            META.replace("\"x\":1", &format!("\"x\":{client}")).replace(":7,", &format!(":{token},"))
        };
        let stated = |client, token| stated(look(&said(client, token), &last)).0;
        let first: Vec<_> = (0..MOST_CLIENTS).map(|client| stated(client, 1)).collect();
        for round in 2..5 {
            for (client, first) in first.iter().enumerate() {
                assert!(Arc::ptr_eq(first, &stated(client, round)), "nothing is read again");
            }
        }
        assert!(last.kept.lock().entries.len() <= MOST_CLIENTS);
    }
}
