//! Content that is not data: text, pictures, sounds, links, bytes.

use switchboard_protocol::{Content, Resource, ResourceContents};

/// What a tool answers or a resource holds when it is not data of a type: blocks in order.
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
    /// The blocks.
    pub blocks: Vec<Content>,
}

impl Contents {
    /// These blocks.
    pub fn new(blocks: impl Into<Vec<Content>>) -> Self {
        Self { blocks: blocks.into() }
    }

    /// One block of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new([Content::text(text)])
    }

    /// The same and a block more.
    #[must_use]
    pub fn and(mut self, block: impl Into<Content>) -> Self {
        self.blocks.push(block.into());
        self
    }

    /// The same and a picture, as base64.
    #[must_use]
    pub fn image(self, base64: impl Into<String>, mime: impl Into<String>) -> Self {
        self.and(Content::image(base64, mime))
    }

    /// The same and a sound, as base64.
    #[must_use]
    pub fn audio(self, base64: impl Into<String>, mime: impl Into<String>) -> Self {
        self.and(Content::audio(base64, mime))
    }

    /// The same and bytes, as base64, that belong to a URI.
    #[must_use]
    pub fn blob(self, uri: impl Into<String>, base64: impl Into<String>, mime: impl Into<String>) -> Self {
        self.and(Content::resource(ResourceContents::blob(uri, base64).with_mime_type(mime.into())))
    }

    /// The same and a link to a resource.
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
