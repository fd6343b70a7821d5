//! What command lines for MCP need at a terminal. Shared by the command lines of services and by the `switchboard`
//! command.
//!
//! - [`sanitize`]: text of a server made safe to show.
//! - [`field`]: the fields of an elicitation form, parsed from what a person types.
//! - [`web_host`]: the host of a URL, with a warning where it can be mistaken for another.
//! - [`listing`]: the items of a service's design as text or JSON.
//!
//! Knows the forms of the protocol and the design of a service; no sessions, no hosts, no HTTP.

pub mod field;
pub mod listing;
pub mod sanitize;
pub mod web_host;
