//! Events that are written as calls.

use switchboard::service::prelude::*;

/// A service with mistakes, all of which are told at once.
#[service]
trait Mistakes {
    /// Has a receiver.
    #[notification]
    fn received(&self, payload: String);

    /// Has nothing to tell.
    #[notification]
    fn empty();

    /// Has too much to tell.
    #[notification]
    fn full(one: String, other: String);

    /// Waits for an answer.
    #[notification]
    async fn answered(payload: String) -> Result<u32>;

    /// Knows of a call.
    #[notification]
    fn knowing(cx: &Cx, payload: String);
}

fn main() {}
