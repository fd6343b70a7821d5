//! Token stores: where grants are kept between requests and between processes.
//!
//! | file | contents |
//! |---|---|
//! | `grant` | a grant: tokens, expiry, scopes, and all that a refresh needs |
//! | `token_store` | the trait: lookup, compare-and-set by generation, lock of one grant |
//! | `contents` | grants and clients, and their form as JSON |
//! | `memory` | a store in memory |
//! | `private_directory` | files that only their owner can reach: checks, atomic replacement, locks |
//! | `file` | a store in such a directory, shared by processes |

mod contents;
mod file;
mod grant;
mod memory;
mod private_directory;
mod token_store;

pub use file::FileStore;
pub use grant::{Grant, GrantKey, GrantState, ServerAccount, StoredClient};
pub use memory::MemoryStore;
pub use token_store::{Generation, StoreLock, StoredGrant, SwapOutcome, TokenStore};
