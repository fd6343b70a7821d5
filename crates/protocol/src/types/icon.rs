//! Icons of servers, tools, resources and prompts (from 2025-11-25).
//!
//! The application that displays an icon must check its origin.

use crate::wire::wire;

/// An icon of a server, tool, resource or prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Icon {
    /// An `https:` or `data:` URI.
    pub src: String,
    /// The media type.
    pub mime_type: Option<String>,
    /// Sizes like `48x48`, or `any`.
    pub sizes: Option<Vec<String>>,
    /// `light` or `dark`: the background it is drawn for.
    pub theme: Option<String>,
}

wire!(Icon:
    required src "src";
    optional mime_type "mimeType", with_mime_type(String);
    optional sizes "sizes", with_sizes(Vec<String>);
    optional theme "theme", with_theme(String);
);

impl Icon {
    /// Creates an icon with a URI.
    pub fn new(src: impl Into<String>) -> Self {
        Self { src: src.into(), mime_type: None, sizes: None, theme: None }
    }
}
