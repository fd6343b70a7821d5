//! Items of a streaming tool on their way to the caller.
//!
//! A client that declared the extension, for its session or for this call, gets every item as a notification. For any
//! other client the items are kept, within limits, and become the first content items of the result; clients that asked
//! for progress are told how many there are so far.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use switchboard_design::Error;
use switchboard_protocol::{CallToolResult, Content, Meta, Raw};
use switchboard_session::server;

use crate::stream_json::held_text;
use crate::wire::{STREAM_EXTENSION, STREAM_NOTE, StreamNote};
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
    let (cx, kept, next) = (cx.clone(), Arc::clone(&buffer), AtomicU64::new(0));
    let behind = cx.clone();
    let send = move |items: Vec<Content>| {
        if cx.is_cancelled() || kept.is_taken() {
            return Err(Error::Cancelled);
        }
        // A call that became a task outlives its request: what it sends from then on can only travel in its result.
        if declared && !cx.is_over() {
            let seq = next.fetch_add(1, Ordering::Relaxed);
            let note = StreamNote { request_id: cx.request_id().clone(), seq, content: items };
            cx.notify_requested(STREAM_NOTE, &Raw::encode(&note)?);
        } else {
            let count = kept.push(items);
            if !declared {
                cx.progress_items(count);
            }
        }
        Ok(())
    };
    let sink = EventSink::new(send).slowed_by(move || behind.is_behind() && !behind.is_over());
    (sink, buffer)
}

/// Items of one call that wait for its result.
pub(crate) struct StreamBuffer {
    limits: StreamLimits,
    state: Mutex<BufferState>,
}

#[derive(Default)]
struct BufferState {
    content: Vec<Content>,
    bytes: usize,
    /// Items that were sent, kept or not.
    sent: u64,
    /// Items that did not fit. Once one does not fit, no later one is kept: what is kept has no gaps.
    omitted: u64,
    taken: bool,
}

impl StreamBuffer {
    fn new(limits: StreamLimits) -> Self {
        Self { limits, state: Mutex::default() }
    }

    /// Keeps the content of one item if it fits. Returns how many items were sent so far.
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

    fn is_taken(&self) -> bool {
        self.state.lock().taken
    }

    /// Moves the items in front of the content of the result, in the order in which they were sent. Nothing is accepted
    /// afterwards.
    pub(crate) fn move_into(&self, result: &mut CallToolResult) {
        let mut content = {
            let mut state = self.state.lock();
            state.taken = true;
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

    /// Refuses further items.
    pub(crate) fn close(&self) {
        self.state.lock().taken = true;
    }
}

/// About how many bytes a content item takes on the wire.
fn size(item: &Content) -> usize {
    match (item, held_text(item)) {
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
        result.content.iter().filter_map(held_text).map(str::to_owned).collect()
    }

    #[test]
    fn d2_what_exceeds_the_limits_is_omitted_and_counted() {
        let by_count = StreamBuffer::new(StreamLimits::default().items(2));
        let by_bytes = StreamBuffer::new(StreamLimits::default().bytes(5));
        for buffer in [by_count, by_bytes] {
            for text in ["one", "2", "three", "4"] {
                buffer.push(vec![Content::text(text)]);
            }
            assert_eq!(result_of(&buffer), ["one", "2", "[2 of 4 items omitted]", "done"]);
            assert!(buffer.is_taken());
        }
    }

    #[test]
    fn d2_a_result_without_items_is_left_alone() {
        assert_eq!(result_of(&StreamBuffer::new(StreamLimits::default())), ["done"]);
    }
}
