//! Tools that answer at once, each with another kind of content.

use switchboard::protocol::ResourceContents;
use switchboard::protocol::{CallToolResult, Content};
use switchboard::server::HandlerOutcome;

use super::{Call, Text, said};
use crate::media;

pub(super) fn text(_: Call) -> HandlerOutcome {
    HandlerOutcome::now(said("This is a simple text response for testing."))
}

pub(super) fn picture(_: Call) -> HandlerOutcome {
    HandlerOutcome::now(CallToolResult::new([media::picture()]))
}

pub(super) fn sound(_: Call) -> HandlerOutcome {
    HandlerOutcome::now(CallToolResult::new([media::sound()]))
}

pub(super) fn resource(_: Call) -> HandlerOutcome {
    let text = "This is an embedded resource content.";
    let embedded = ResourceContents::text("test://embedded-resource", text).with_mime_type("text/plain");
    HandlerOutcome::now(CallToolResult::new([Content::resource(embedded)]))
}

pub(super) fn mixed(_: Call) -> HandlerOutcome {
    let text = r#"{"test":"data","value":123}"#;
    let embedded =
        ResourceContents::text("test://mixed-content-resource", text).with_mime_type("application/json");
    let text = Content::text("Multiple content types test:");
    HandlerOutcome::now(CallToolResult::new([text, media::picture(), Content::resource(embedded)]))
}

pub(super) fn failure(_: Call) -> HandlerOutcome {
    HandlerOutcome::now(CallToolResult::error("This tool intentionally returns an error for testing"))
}

pub(super) fn schema(call: Call) -> HandlerOutcome {
    HandlerOutcome::now(said(format!("JSON Schema 2020-12 tool called with: {}", call.arguments.as_str())))
}

pub(super) fn mirrored(call: Call) -> HandlerOutcome {
    match call.read() {
        Ok(Text { text }) => HandlerOutcome::now(said(text)),
        Err(error) => HandlerOutcome::error(error),
    }
}
