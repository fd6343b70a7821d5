//! Token stores: where grants are kept between requests and between processes.
//!
//! | file | contents |
//! |---|---|
//! | `grant` | a grant: tokens, expiry, scopes, and all that a refresh needs |
//! | `token_store` | the trait: lookup, compare-and-set by generation, lock of one grant |
//! | `memory` | a store in memory |

mod grant;
mod memory;
mod token_store;

pub use grant::{Grant, GrantKey, GrantState, ServerAccount, StoredClient};
pub use memory::MemoryStore;
pub use token_store::{Generation, StoreLock, StoredGrant, SwapOutcome, TokenStore};
