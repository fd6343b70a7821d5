//! Streamable HTTP: the binding of 2025-03-26 and later, for both eras.

pub mod header;
pub mod server;
