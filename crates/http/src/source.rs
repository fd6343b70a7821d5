//! Foreign errors, kept as the source of ours and searched by type.

use std::error::Error;
use std::sync::Arc;

/// The error underneath.
pub type Source = Arc<dyn Error + Send + Sync>;

/// The first error of this type in a chain of sources.
pub(crate) fn find<'a, E: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a E> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref::<E>() {
            return Some(found);
        }
        // An io::Error hides the error it was made from when it is asked for its source.
        let inner = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        next = inner.map(|inner| inner as &(dyn Error + 'static)).or_else(|| error.source());
    }
    None
}
