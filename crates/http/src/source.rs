//! Sources of errors, and lookup of an error type in a source chain.

use std::error::Error;
use std::sync::Arc;

/// The source of an error, shared so that errors can be cloned.
pub type ErrorSource = Arc<dyn Error + Send + Sync>;

/// Returns the first error of a type in a chain of sources.
pub(crate) fn find<'a, E: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a E> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref::<E>() {
            return Some(found);
        }
        // `io::Error::source` skips the error it wraps.
        let inner = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        next = inner.map(|inner| inner as &(dyn Error + 'static)).or_else(|| error.source());
    }
    None
}
