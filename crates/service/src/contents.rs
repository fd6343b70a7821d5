//! Content blocks: text, images, audio, links, binary data.

use switchboard_protocol::{Content, Resource, ResourceContents};

/// Content of a tool result or resource that is not structured data: content blocks in order.
///
/// ```
/// use switchboard::service::Contents;
///
/// let contents = Contents::text("Two pictures:").image("aGk=", "image/png").image("aG8=", "image/png");
/// assert_eq!(contents.blocks.len(), 3);
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Contents {
    /// The content blocks.
    pub blocks: Vec<Content>,
}

impl Contents {
    /// Creates contents from blocks.
    pub fn new(blocks: impl Into<Vec<Content>>) -> Self {
        Self { blocks: blocks.into() }
    }

    /// Creates contents with one text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new([Content::text(text)])
    }

    /// Appends a block.
    #[must_use]
    pub fn and(mut self, block: impl Into<Content>) -> Self {
        self.blocks.push(block.into());
        self
    }

    /// Appends an image, encoded as base64.
    #[must_use]
    pub fn image(self, base64: impl Into<String>, mime: impl Into<String>) -> Self {
        self.and(Content::image(base64, mime))
    }

    /// Appends audio, encoded as base64.
    #[must_use]
    pub fn audio(self, base64: impl Into<String>, mime: impl Into<String>) -> Self {
        self.and(Content::audio(base64, mime))
    }

    /// Appends binary data with a URI, encoded as base64.
    #[must_use]
    pub fn blob(self, uri: impl Into<String>, base64: impl Into<String>, mime: impl Into<String>) -> Self {
        self.and(Content::resource(ResourceContents::blob(uri, base64).with_mime_type(mime.into())))
    }

    /// Appends a link to a resource.
    #[must_use]
    pub fn link(self, resource: Resource) -> Self {
        self.and(Content::link(resource))
    }
}

impl From<Content> for Contents {
    fn from(block: Content) -> Self {
        Self::new([block])
    }
}
