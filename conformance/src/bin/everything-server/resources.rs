//! The resources of the fixture, and the one template.

use switchboard::json;
use switchboard::protocol::{ErrorCode, Resource, ResourceTemplate, RpcError};
use switchboard::protocol::{ReadResourceResult, ResourceContents};
use switchboard::server::HandlerOutcome;

use crate::media;

const TEXT: &str = "test://static-text";
const BINARY: &str = "test://static-binary";
const WATCHED: &str = "test://watched-resource";
const TEMPLATE_START: &str = "test://template/";
const TEMPLATE_END: &str = "/data";

/// The resources, in a fixed order. The first can be read.
pub(crate) fn list() -> Vec<Resource> {
    let resource = |uri: &str, name: &str, description: &str, mime: &str| {
        Resource::new(uri, name).with_description(description).with_mime_type(mime)
    };
    vec![
        resource(TEXT, "Static text", "A text that never changes.", "text/plain"),
        resource(BINARY, "Static picture", "A picture that never changes.", "image/png"),
        resource(WATCHED, "Watched resource", "A text that can be subscribed to.", "text/plain"),
    ]
}

/// The one template.
pub(crate) fn templates() -> Vec<ResourceTemplate> {
    let template = ResourceTemplate::new(format!("{TEMPLATE_START}{{id}}{TEMPLATE_END}"), "Data by id");
    vec![template.with_description("The data of an id.").with_mime_type("application/json")]
}

/// Whether there is such a resource.
pub(crate) fn exists(uri: &str) -> bool {
    contents(uri).is_some()
}

/// Reads a resource.
pub(crate) fn read(uri: &str) -> HandlerOutcome {
    match contents(uri) {
        Some(contents) => HandlerOutcome::now(ReadResourceResult::new([contents])),
        None => HandlerOutcome::error(unknown(uri)),
    }
}

/// Returns the error for a missing resource.
pub(crate) fn unknown(uri: &str) -> RpcError {
    RpcError::new(ErrorCode::RESOURCE_NOT_FOUND, "Resource not found").with_data(json!({ "uri": uri }))
}

fn contents(uri: &str) -> Option<ResourceContents> {
    let text = |text: &str| ResourceContents::text(uri, text).with_mime_type("text/plain");
    match uri {
        TEXT => Some(text("This is the content of the static text resource.")),
        WATCHED => Some(text("This is the content of the watched resource.")),
        BINARY => Some(ResourceContents::blob(uri, media::PNG).with_mime_type("image/png")),
        _ => {
            let id = uri.strip_prefix(TEMPLATE_START)?.strip_suffix(TEMPLATE_END)?;
            let data = json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") });
            Some(ResourceContents::text(uri, data.to_string()).with_mime_type("application/json"))
        }
    }
}
