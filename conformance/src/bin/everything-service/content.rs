//! Tools that answer at once, each with another kind of content.

use serde_json::{Map, Value};
use switchboard::protocol::ResourceContents;
use switchboard::protocol::{Content, Raw};
use switchboard::service::prelude::*;

use crate::media;

/// Tools that answer at once.
#[switchboard::service]
pub(crate) trait Answers {
    /// Answers with a text.
    #[tool]
    async fn test_simple_text(&self) -> Result<String>;

    /// Answers with a picture.
    #[tool]
    async fn test_image_content(&self) -> Result<Contents>;

    /// Answers with a sound.
    #[tool]
    async fn test_audio_content(&self) -> Result<Contents>;

    /// Answers with a resource.
    #[tool]
    async fn test_embedded_resource(&self) -> Result<Contents>;

    /// Answers with blocks of three kinds.
    #[tool]
    async fn test_multiple_content_types(&self) -> Result<Contents>;

    /// Always fails.
    #[tool]
    async fn test_error_handling(&self) -> Result<String>;

    /// Has a schema with everything in it.
    #[tool(schema = include_str!("../everything-server/tools/schema_2020_12.json"))]
    async fn json_schema_2020_12_tool(&self, #[args] given: Map<String, Value>) -> Result<String>;

    /// Gives back a value that is mirrored in a header.
    #[tool]
    async fn test_custom_header(&self, #[header("Value")] value: String) -> Result<String>;

    /// Greets, and is never a task.
    #[tool]
    async fn greet(&self, name: String) -> Result<String>;
}

pub(crate) struct Fixture;

impl Answers for Fixture {
    async fn test_simple_text(&self) -> Result<String> {
        Ok("This is a simple text response for testing.".into())
    }

    async fn test_image_content(&self) -> Result<Contents> {
        Ok(media::picture().into())
    }

    async fn test_audio_content(&self) -> Result<Contents> {
        Ok(media::sound().into())
    }

    async fn test_embedded_resource(&self) -> Result<Contents> {
        let text = "This is an embedded resource content.";
        let embedded = ResourceContents::text("test://embedded-resource", text).with_mime_type("text/plain");
        Ok(Content::resource(embedded).into())
    }

    async fn test_multiple_content_types(&self) -> Result<Contents> {
        let text = r#"{"test":"data","value":123}"#;
        let embedded =
            ResourceContents::text("test://mixed-content-resource", text).with_mime_type("application/json");
        Ok(Contents::text("Multiple content types test:")
            .and(media::picture())
            .and(Content::resource(embedded)))
    }

    async fn test_error_handling(&self) -> Result<String> {
        Err(Error::tool("intended", "This tool intentionally returns an error for testing"))
    }

    async fn json_schema_2020_12_tool(&self, given: Map<String, Value>) -> Result<String> {
        Ok(format!("JSON Schema 2020-12 tool called with: {}", Raw::encode(&given)?.as_str()))
    }

    async fn test_custom_header(&self, value: String) -> Result<String> {
        Ok(value)
    }

    async fn greet(&self, name: String) -> Result<String> {
        Ok(format!("Hello, {name}!"))
    }
}
