//! A minimal image and a minimal audio clip, as base64.

use switchboard::protocol::Content;

/// PNG image of one red pixel.
pub(crate) const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

/// WAV file without samples.
pub(crate) const WAV: &str = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=";

/// Returns the image as a content block.
pub(crate) fn picture() -> Content {
    Content::image(PNG, "image/png")
}

/// Returns the audio clip as a content block.
pub(crate) fn sound() -> Content {
    Content::audio(WAV, "audio/wav")
}
