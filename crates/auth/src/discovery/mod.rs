//! Discovery: from the URL of an MCP server and its challenge to the metadata of its authorization server.
//!
//! | file | contents |
//! |---|---|
//! | `protected_resource` | metadata of the MCP server: header, path, root |
//! | `authorization_server` | metadata of the issuer: RFC 8414 and OpenID forms, comparison of issuers |
//! | `discover` | both in order, and the fallbacks of 2025-03-26 |

mod authorization_server;
mod discover;
mod protected_resource;

pub(crate) use authorization_server::{find_issuer, is_same_issuer};
pub use discover::Discovery;
pub(crate) use discover::{DiscoveryOverrides, discover};
