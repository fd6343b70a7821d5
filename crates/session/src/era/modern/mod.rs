//! The modern era (from 2026-07-28): every request stands alone and describes itself; only the client asks.

mod client;
mod replay;
mod seal;
mod server;

pub(crate) use client::{Client, Probed, discover, judge, may_ask};
pub(crate) use replay::{Asked, Driver, Questions};
pub use seal::StateKeys;
pub(crate) use seal::{Bound, open};
pub(crate) use server::{admit, decorate, finish, missing_capability};
