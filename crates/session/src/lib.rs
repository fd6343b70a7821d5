//! One live conversation between two MCP peers.
pub mod answering;
pub mod client;
mod era;
mod error;
pub mod link;
pub mod peer;
pub use client::{Client, ClientSession};
pub use era::{Offer, StateKeys, Terms, Verdict};
pub use error::{CallError, Phase};
pub use peer::{Peer, PeerLimits};
