//! Delivery of the items of a streaming tool.
//!
//! A client that declared the extension, for its session or for this call, gets each item as a notification. For
//! other clients the items are buffered, within limits, and precede the content of the result; a client that
//! requested progress gets the number of items so far.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use switchboard_design::Error;
use switchboard_protocol::{CallToolResult, Content, Meta, Raw};
use switchboard_session::server;

use crate::stream_json::item_text;
use crate::wire::{STREAM_EXTENSION, STREAM_NOTIFICATION, StreamNotification};
use crate::{EventSink, StreamLimits};

/// Returns the sink for the items of one call, and the buffer that the result takes its items from.
pub(crate) fn sink(
    cx: &server::RequestContext,
    meta: Option<&Meta>,
    limits: StreamLimits,
) -> (EventSink, Arc<StreamBuffer>) {
    let for_session = cx.capabilities().has_extension(STREAM_EXTENSION);
    let declared = for_session || meta.is_some_and(|meta| meta.get(STREAM_EXTENSION).is_some());
    let buffer = Arc::new(StreamBuffer::new(limits));
    let (cx, buffered, next) = (cx.clone(), Arc::clone(&buffer), AtomicU64::new(0));
    let behind = cx.clone();
    let send = move |items: Vec<Content>| {
        if cx.is_cancelled() || buffered.is_closed() {
            return Err(Error::Cancelled);
        }
        // After the call became a task its request is over, so further items can only be part of the result.
        if declared && !cx.is_over() {
            let seq = next.fetch_add(1, Ordering::Relaxed);
            let note = StreamNotification { request_id: cx.request_id().clone(), seq, content: items };
            cx.notify_requested(STREAM_NOTIFICATION, &Raw::encode(&note)?);
        } else {
            let count = buffered.push(items);
            if !declared {
                cx.progress_items(count);
            }
        }
        Ok(())
    };
    let sink = EventSink::new(send).with_backpressure(move || behind.is_behind() && !behind.is_over());
    (sink, buffer)
}

/// Buffered items of one call.
pub(crate) struct StreamBuffer {
    limits: StreamLimits,
    state: Mutex<StreamBufferState>,
}

#[derive(Default)]
struct StreamBufferState {
    content: Vec<Content>,
    bytes: usize,
    /// Items sent, buffered or not.
    sent: u64,
    /// Items that did not fit. After the first of them no item is buffered, so that there are no gaps.
    omitted: u64,
    closed: bool,
}

impl StreamBuffer {
    fn new(limits: StreamLimits) -> Self {
        Self { limits, state: Mutex::default() }
    }

    /// Buffers the content of one item if it fits. Returns the number of items sent so far.
    fn push(&self, content: Vec<Content>) -> u64 {
        let mut state = self.state.lock();
        state.sent += 1;
        let bytes = content.iter().map(size).fold(state.bytes, usize::saturating_add);
        let count = state.content.len().saturating_add(content.len());
        if state.omitted > 0 || count > self.limits.items || bytes > self.limits.bytes {
            state.omitted += 1;
        } else {
            state.bytes = bytes;
            state.content.extend(content);
        }
        state.sent
    }

    fn is_closed(&self) -> bool {
        self.state.lock().closed
    }

    /// Moves the items in front of the content of the result, in order. Rejects further items.
    pub(crate) fn move_into(&self, result: &mut CallToolResult) {
        let mut content = {
            let mut state = self.state.lock();
            state.closed = true;
            let mut content = std::mem::take(&mut state.content);
            if state.omitted > 0 {
                content.push(Content::text(format!("[{} of {} items omitted]", state.omitted, state.sent)));
                tracing::warn!(
                    omitted = state.omitted,
                    sent = state.sent,
                    "a result cannot hold all items of its stream; raise `stream_limits`, or call with a client that \
                     declares `{STREAM_EXTENSION}`"
                );
            }
            content
        };
        if !content.is_empty() {
            content.append(&mut result.content);
            result.content = content;
        }
    }

    /// Rejects further items.
    pub(crate) fn close(&self) {
        self.state.lock().closed = true;
    }
}

/// Returns the approximate encoded size of a content item.
fn size(item: &Content) -> usize {
    match (item, item_text(item)) {
        (Content::Text(_), Some(text)) => text.len(),
        _ => Raw::encode(item).map_or(usize::MAX, |json| json.as_str().len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result_of(buffer: &StreamBuffer) -> Vec<String> {
        let mut result = CallToolResult::new([Content::text("done")]);
        buffer.move_into(&mut result);
        result.content.iter().filter_map(item_text).map(str::to_owned).collect()
    }

    #[test]
    fn d2_items_beyond_the_limits_are_omitted_and_counted() {
        let by_count = StreamBuffer::new(StreamLimits::default().items(2));
        let by_bytes = StreamBuffer::new(StreamLimits::default().bytes(5));
        for buffer in [by_count, by_bytes] {
            for text in ["one", "2", "three", "4"] {
                buffer.push(vec![Content::text(text)]);
            }
            assert_eq!(result_of(&buffer), ["one", "2", "[2 of 4 items omitted]", "done"]);
            assert!(buffer.is_closed());
        }
    }

    #[test]
    fn d2_a_result_without_items_is_unchanged() {
        assert_eq!(result_of(&StreamBuffer::new(StreamLimits::default())), ["done"]);
    }
}
