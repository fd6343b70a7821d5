//! The types and macros for writing a service: `use switchboard::service::prelude::*;`.
//!
//! ```
//! use switchboard::service::prelude::*;
//!
//! /// Says hello.
//! #[service(name = "hello", version = "1.0.0")]
//! pub trait Hello {
//!     /// Greets somebody by name.
//!     #[tool(read_only)]
//!     async fn greet(&self, name: String) -> Result<String>;
//! }
//!
//! struct Svc;
//!
//! impl Hello for Svc {
//!     async fn greet(&self, name: String) -> Result<String> {
//!         Ok(format!("Hello, {name}!"))
//!     }
//! }
//!
//! let server = HelloServer::builder(Svc).build()?;
//! # drop(server);
//! # Ok::<(), switchboard::service::BuildError>(())
//! ```

pub use serde_json::json;
pub use switchboard_macros::{Form, FormChoice, ServiceError, server, service};
pub use switchboard_service::rt::schemars::JsonSchema;
pub use switchboard_service::rt::serde::{Deserialize, Serialize};
pub use switchboard_service::{
    Bytes, Changes, Contents, Cx, ElicitOutcome, Error, Events, Form, MixedEvent, PromptMessages, Result,
    ServiceError, StreamJson, ToolError,
};
