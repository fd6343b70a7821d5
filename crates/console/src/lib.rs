//! The web console of a host or gateway: its page, and the API that the page uses.
//!
//! ```text
//!   browser ─▶ http (Host, Origin, key, limits) ─▶ api (one module for each area) ─▶ host, providers
//!      ▲                                             │
//!      └──────────── event stream ◀──── events ◀─────┘
//! ```
//!
//! The page is built from `page/` into `assets/`, which is committed so that a build needs no Node. The API is described in
//! `page/API.md`; its types are in [`contract`], from which `page/src/api/types.ts` is generated.

mod api;
mod console;
#[allow(
    missing_docs,
    reason = "a member without a comment is what its name says; the page's types have the same comments"
)]
pub mod contract;
mod events;
mod http;
pub mod providers;
mod traffic;

pub use api::ConsoleHandler;
pub use console::{BoundConsole, Console, ConsoleBindError, ConsoleBuilder, ConsoleLinks};
pub use traffic::{ClientTraffic, TrafficLog};
