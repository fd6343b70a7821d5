//! The API: one module for each area. A handler gets the state of the console and a request that was admitted.
//!
//! Invariant: HTTP, keys and origins are checked before a handler runs; a handler sees no header.

mod add;
mod api_route;
mod areas;
mod calls;
mod catalog;
mod clock;
mod doctor;
mod gateway;
mod host_failure;
mod live_state;
mod logins;
mod policy;
mod questions;
mod request;
mod response;
mod servers;
mod settings;
mod snapshot;
mod state;
mod subscriptions;
mod task_set;
mod tasks;
mod traffic;

pub(crate) use api_route::{ApiRoute, BodyKind, RouteAccess};
pub(crate) use areas::{background, routes};
pub use questions::ConsoleHandler;
pub(crate) use request::ApiRequest;
pub(crate) use response::ApiResponse;
pub(crate) use settings::ConsoleSettings;
pub(crate) use state::ConsoleState;
