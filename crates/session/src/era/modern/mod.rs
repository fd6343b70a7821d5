//! The modern era (from 2026-07-28): every request is self-contained; only the client sends requests.

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
pub(crate) use client::{ModernClient, ProbeOutcome, discover, interpret_probe};
#[cfg(feature = "server")]
pub(crate) use replay::{Driver, Questions, Replay};
#[cfg(feature = "server")]
pub use seal::StateKeys;
#[cfg(feature = "server")]
pub(crate) use seal::{StateBinding, open};
#[cfg(feature = "server")]
pub(crate) use server::{admit, encode_result, missing_capability, reply_of_run};
#[cfg(feature = "server")]
pub(crate) use used_states::UsedStates;
