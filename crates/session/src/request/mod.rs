//! The parts of a request that are common to both eras: caller, reply channel, cancellation, panics, errors, limits.
//!
//! Knows links; knows no era, no session and no handler.

#[cfg(feature = "server")]
mod ask_error;
mod call_error;
#[cfg(feature = "server")]
mod caller;
#[cfg(feature = "server")]
mod cancel;
#[cfg(feature = "server")]
mod extensions;
#[cfg(feature = "client")]
mod limits;
#[cfg(feature = "server")]
mod panic;
#[cfg(feature = "server")]
mod reply_channel;
#[cfg(feature = "server")]
mod subscription_grant;

#[cfg(feature = "server")]
pub use ask_error::AskError;
pub use call_error::{CallError, TimeoutKind};
#[cfg(feature = "server")]
pub use caller::Caller;
#[cfg(feature = "server")]
pub(crate) use cancel::Cancel;
#[cfg(feature = "server")]
pub use extensions::Extensions;
#[cfg(feature = "client")]
pub use limits::Limits;
#[cfg(feature = "server")]
pub use panic::{CatchUnwind, CaughtPanic, catch_panic};
#[cfg(feature = "server")]
pub use reply_channel::{Reply, ReplyChannel};
#[cfg(feature = "server")]
pub use subscription_grant::SubscriptionGrant;
