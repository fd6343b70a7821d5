//! The type of futures in traits that are used as `dyn`.

use std::pin::Pin;

/// A future behind a pointer, so that its trait can be a `dyn`.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
