//! Masks payloads before they are shown, and cuts them to a preview.

use std::borrow::Cow;
use std::sync::Arc;

use parking_lot::RwLock;
use switchboard_recording::SecretMask;

/// Payloads above this size are shown as a preview.
pub(crate) const PREVIEW_BYTES: usize = 64 * 1024;
/// What is masked beyond the end of a preview, so that a secret that it cuts is recognized.
const MASKED_BEYOND: usize = 64 * 1024;

/// Masks payloads: secret members by name, and known values.
#[derive(Debug, Default)]
pub(super) struct PayloadMask {
    // Held while a value is added, never while a payload is masked.
    mask: RwLock<Arc<SecretMask>>,
}

impl PayloadMask {
    /// Adds values that are secret wherever they are.
    pub(super) fn extend(&self, values: impl IntoIterator<Item = String>) {
        Arc::make_mut(&mut self.mask.write()).extend(values);
    }

    /// Returns the whole payload, masked.
    pub(super) fn full(&self, payload: &str) -> String {
        let mask = Arc::clone(&self.mask.read());
        mask.mask(payload).into_owned()
    }

    /// Returns the mask of the values that are known now.
    pub(super) fn values(&self) -> ValueMask {
        ValueMask(Arc::clone(&self.mask.read()))
    }

    /// Returns the beginning of a payload, masked, and whether more follows.
    pub(super) fn preview(&self, payload: &str) -> (String, bool) {
        if payload.len() <= PREVIEW_BYTES {
            return (self.full(payload), false);
        }
        let end = payload.floor_char_boundary(PREVIEW_BYTES + MASKED_BEYOND);
        let mut masked = self.full(&payload[..end]);
        masked.truncate(masked.floor_char_boundary(PREVIEW_BYTES));
        (masked, true)
    }
}

/// Masks the values that were known when it was made, whatever the names of members: for all texts of a response.
#[derive(Clone, Debug, Default)]
pub(crate) struct ValueMask(Arc<SecretMask>);

impl ValueMask {
    /// Returns the text, masked; the text itself if it has no value.
    pub(crate) fn mask(&self, text: String) -> String {
        // A borrowed text is the text itself, unchanged.
        let masked = match self.0.mask_values(&text) {
            Cow::Borrowed(_) => None,
            Cow::Owned(masked) => Some(masked),
        };
        masked.unwrap_or(text)
    }

    /// Returns the text, masked. Copies it only if it has a value.
    pub(crate) fn mask_str<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.0.mask_values(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_at_the_end_of_a_preview_is_masked() {
        let mask = PayloadMask::default();
        mask.extend(["sesame-open".to_owned()]);
        for before in PREVIEW_BYTES - 15..PREVIEW_BYTES + 3 {
            let payload = format!("{}sesame-open{}", "x".repeat(before), "y".repeat(PREVIEW_BYTES));
            let (preview, is_cut) = mask.preview(&payload);
            assert!(is_cut && preview.len() <= PREVIEW_BYTES);
            assert!(!preview.contains("sesa"), "{before}");
        }
        let (preview, is_cut) = mask.preview(r#"{"token":"abc"}"#);
        assert_eq!((preview.as_str(), is_cut), (r#"{"token":"•••"}"#, false));
    }
}
