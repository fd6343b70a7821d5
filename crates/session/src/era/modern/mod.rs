//! The modern era (from 2026-07-28): every request stands alone and describes itself; only the client asks.

#[cfg(feature = "client")]
mod client;
#[cfg(feature = "server")]
mod replay;
#[cfg(feature = "server")]
mod seal;
#[cfg(feature = "server")]
mod server;
#[cfg(feature = "server")]
mod used_states;

#[cfg(feature = "client")]
pub(crate) use client::{Client, Probed, discover, judge};
#[cfg(feature = "server")]
pub(crate) use replay::{Asked, Driver, Questions};
#[cfg(feature = "server")]
pub use seal::StateKeys;
#[cfg(feature = "server")]
pub(crate) use seal::{Bound, open};
#[cfg(feature = "server")]
pub(crate) use server::{admit, decorate, finish, missing_capability};
#[cfg(feature = "server")]
pub(crate) use used_states::UsedStates;
