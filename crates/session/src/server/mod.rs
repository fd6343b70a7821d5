//! The server's side of a session: one request in, one response out, in either era.

mod answer;
mod binding;
mod cached_result;
mod connection_id;
mod detach;
mod handler;
mod in_process;
pub mod layer;
mod listen;
mod observed_server;
mod publish;
mod relay;
mod request_context;
mod serve;
#[expect(clippy::module_inception, reason = "the type this folder is named for")]
mod server;
mod subscribe;

pub use crate::era::serving::TaskProtocol;
pub use crate::request::{
    AskError, Caller, CatchUnwind, CaughtPanic, Extensions, Reply, ReplyChannel, SubscriptionGrant,
    catch_panic,
};
pub use answer::{AnswerOutcome, Outcome, ResponseFuture};
pub use binding::{ChangeSubscription, MessageClass, ServerSession, is_self_contained};
pub use cached_result::CachedResult;
pub use connection_id::ConnectionId;
pub use detach::InputChannel;
pub use handler::{Handler, HandlerOutcome, ServerRequest};
pub use in_process::InProcess;
pub use layer::{IncomingRequest, Layer, Next};
pub use publish::Publisher;
pub use relay::RelayedAnswers;
pub use request_context::RequestContext;
pub use server::{Server, ServerBuilder, ServerLimits};
pub use subscribe::SubscriptionOutcome;
