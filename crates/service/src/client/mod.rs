//! The typed client of a service: implements the trait over any session.
//!
//! The macro generates the client on top of a [`ServiceCaller`], which can also call with arguments that a model
//! wrote, and let the model repair them:
//!
//! ```no_run
//! use serde_json::{Value, json};
//! use switchboard::service::client::ServiceCaller;
//! use switchboard::service::Result;
//!
//! # async fn model(prompt: String) -> Result<Value> { Ok(json!({})) }
//! # async fn example(caller: ServiceCaller) -> Result<()> {
//! let first = json!({"query": 7});
//! let result = caller.with_repair(3, "search", first, async |repair| model(repair.prompt()).await).await?;
//! # let _ = result;
//! # Ok(()) }
//! ```

mod arguments;
mod caller;
mod decode;
mod error;
mod extensions;
mod repair;
mod requests;
pub(crate) mod service_events;
pub(crate) mod stream;
mod watch;

pub use arguments::CallArguments;
pub use caller::ServiceCaller;
#[doc(hidden)]
pub use decode::{ResourceOutput, ToolOutput};
pub use extensions::client;
pub use repair::{
    call_with_repair, call_with_repair_mut, get_prompt_with_repair, get_prompt_with_repair_mut,
};
pub use service_events::{ServiceEvent, ServiceEvents};
pub use stream::{CallStream, StreamItem};
