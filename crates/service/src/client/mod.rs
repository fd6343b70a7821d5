//! The typed client of a service: the same trait over any session.
//!
//! The macro writes the client; what it calls with is a [`Caller`], which also calls with arguments that a model wrote and
//! lets it repair them:
//!
//! ```no_run
//! use serde_json::{Value, json};
//! use switchboard::service::client::Caller;
//! use switchboard::service::Result;
//!
//! # async fn model(prompt: String) -> Result<Value> { Ok(json!({})) }
//! # async fn example(caller: Caller) -> Result<()> {
//! let first = json!({"query": 7});
//! let result = caller.with_repair(3, "search", first, async |repair| model(repair.prompt()).await).await?;
//! # let _ = result;
//! # Ok(()) }
//! ```

mod arguments;
mod caller;
mod declare;
mod failure;
mod held;
pub(crate) mod listening;
mod reading;
mod repair;
pub(crate) mod stream;
mod watching;

pub use arguments::Arguments;
pub use caller::Caller;
pub use declare::client;
#[doc(hidden)]
pub use held::{ResourceAnswer, ToolAnswer};
pub use listening::{ServiceEvent, ServiceEvents};
pub use repair::{
    call_with_repair, call_with_repair_mut, get_prompt_with_repair, get_prompt_with_repair_mut,
};
pub use stream::{CallStream, Item};
