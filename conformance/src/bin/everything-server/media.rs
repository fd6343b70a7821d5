//! The smallest picture and the smallest sound there are, as base64.

use switchboard::Content;

/// A picture of one red pixel.
pub(crate) const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

/// A sound with nothing to hear: a header and no samples.
pub(crate) const WAV: &str = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=";

/// The picture as a block of content.
pub(crate) fn picture() -> Content {
    Content::image(PNG, "image/png")
}

/// The sound as a block of content.
pub(crate) fn sound() -> Content {
    Content::audio(WAV, "audio/wav")
}
