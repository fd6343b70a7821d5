//! Streamable HTTP, for both eras: the headers both sides share, the client, the server.

#[cfg(feature = "http-client")]
pub mod client;
pub mod header;
mod message;
#[cfg(feature = "http-server")]
pub mod server;
