//! The server half, tested through a client in both eras with a handwritten service.

#![allow(clippy::unwrap_used, missing_docs, unreachable_pub, reason = "tests")]

mod cancellation;
mod client;
mod composition;
mod elicitation;
mod errors;
mod events;
#[allow(dead_code, reason = "the contract has more than is used here")]
mod expansion;
mod lists;
mod logging;
mod prompts;
mod requests;
mod resources;
mod scopes;
#[cfg(all(feature = "http", feature = "stdio"))]
mod serving;
mod sessions;
mod shop;
mod streaming;
mod task_tools;
mod tasks;
mod tls;
mod tools;
mod watchers;
