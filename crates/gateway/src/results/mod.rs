//! Large results: kept by the gateway for a while, and read in parts by a handle.
//!
//! **Invariants.** A handle is read only by the principal and in the view that got it, under the policy of the tool that
//! returned the result. The kept bytes are bounded, in all and for each principal; the oldest results go first.
//!
//! `store.rs` keeps results, `shorten.rs` puts a handle in place of a text, `read.rs` is the tool that reads them.

mod read;
mod shorten;
mod store;

pub(crate) use read::{ReadRequest, read_result_tool};
pub(crate) use shorten::shorten;
pub use store::ResultLimits;
pub(crate) use store::{KeptResult, ResultOwner, ResultStore};
