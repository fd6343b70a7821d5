//! One live conversation between two MCP peers.
pub mod era;
pub mod link;
pub mod peer;
pub use peer::{Peer, PeerLimits};
