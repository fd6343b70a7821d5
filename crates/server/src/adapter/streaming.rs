//! Events of a streaming tool on their way to the caller: as progress for everybody who asked for that, whole for clients
//! that declared the extension.

use std::sync::atomic::{AtomicU64, Ordering};

use switchboard_design::Error;
use switchboard_protocol::{Content, Raw};
use switchboard_session::answering;

use crate::EventSink;
use crate::events::held_text;
use crate::wire::{STREAM_EXTENSION, STREAM_NOTE, StreamNote};

/// Where the events of the call of this request go.
pub(crate) fn sink(cx: &answering::Cx) -> EventSink {
    let whole = cx.capabilities().has_extension(STREAM_EXTENSION);
    let progress = cx.wants_progress();
    let (cx, next) = (cx.clone(), AtomicU64::new(0));
    let behind = cx.clone();
    let send = move |items: Vec<Content>| {
        if cx.is_over() {
            return Err(Error::Cancelled);
        }
        if progress {
            cx.progress_event(&shown(&items));
        }
        if whole {
            let seq = next.fetch_add(1, Ordering::Relaxed);
            let note = StreamNote { request_id: cx.request_id().clone(), seq, content: items };
            cx.notify(STREAM_NOTE, Some(&Raw::encode(&note)?));
        }
        Ok(())
    };
    EventSink::new(send).slowed_by(move || behind.is_behind() && !behind.is_over())
}

/// An event as one text.
fn shown(items: &[Content]) -> String {
    let shown = |item: &Content| match (held_text(item), item) {
        (Some(text), _) => text.to_owned(),
        (None, Content::Image(media) | Content::Audio(media)) => format!("[{}]", media.mime_type),
        (None, Content::Resource(embedded)) => format!("[{}]", embedded.resource.uri),
        (None, Content::ResourceLink(link)) => format!("[{}]", link.uri),
        (None, other) => {
            let text = Raw::encode(other)
                .ok()
                .and_then(|item| item.fields().find(|(name, _)| *name == "text").map(|(_, text)| text));
            text.and_then(|text| text.decode::<String>().ok()).unwrap_or_else(|| "[item]".to_owned())
        }
    };
    items.iter().map(shown).collect::<Vec<_>>().join("\n")
}
