//! HTTP client bindings: one kind of link per step of the connection ladder.
//!
//! ```text
//!   Http ─ dial ─▶ Modern: stateless   no session; closing the connection cancels
//!                  Legacy: stateful    session id, listening stream, resumption
//!                  Oldest: sse_2024    the two endpoints of 2024
//! ```

mod endpoint;
mod exchange;
mod failure;
#[cfg(feature = "stdio")]
mod header_helper;
mod post;
mod resume;
mod sse_2024;
mod stateful;
mod stateless;

pub use endpoint::{EndpointError, Http, HttpBinding, HttpLimits};
pub use failure::login_requirement;
#[cfg(feature = "stdio")]
pub use header_helper::{HeaderHelper, HeaderHelperAuthorizer, HeaderHelperError, is_reserved_header};
