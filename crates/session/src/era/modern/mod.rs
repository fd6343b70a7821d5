//! The modern era (from 2026-07-28): every request stands alone and describes itself; only the client asks.

mod client;
mod replay;
mod seal;
mod server;

pub(crate) use client::{Client, Probed, discover};
pub(crate) use replay::Asked;
pub use seal::StateKeys;
pub(crate) use seal::{Bound, Carried};
pub(crate) use server::{Admitted, admit, finish};
