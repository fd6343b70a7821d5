//! A service of a hundred tools. The build script writes them.

use schemars::JsonSchema;
use serde::Serialize;
use switchboard::service::Result;

/// Has a hundred tools.
pub struct Service;

include!(concat!(env!("OUT_DIR"), "/hundred.rs"));

/// Serves them.
pub fn server() -> std::sync::Arc<switchboard::Server> {
    HundredServer::builder(Service).build().expect("the design is sound")
}
