//! The reply channel of a request: notifications and questions to its client while it is being answered.

use std::any::{Any, TypeId};
use std::time::Duration;

use switchboard_protocol::{Raw, RpcError, ServerResult};

use crate::link::Exchange;
use crate::request::Caller;

/// What a handler says: a result, or an error for the protocol.
pub type Reply = Result<ServerResult, RpcError>;

/// Sends notifications and questions to the client of a request while it is being answered. A transport provides it.
pub trait ReplyChannel: Send + Sync + 'static {
    /// Sends a notification that belongs to the request.
    fn note(&self, method: &str, params: Option<&Raw>);

    /// Asks the client something; `None` where there is no such direction.
    fn ask(&self, method: &str, params: &Raw) -> Option<Exchange>;

    /// Whether the client has so much to read that more should wait. Nothing is lost yet.
    fn is_behind(&self) -> bool {
        false
    }

    /// Hangs up and lets the client come back for the rest, where the binding has a way to; else nothing happens.
    fn hang_up(&self, retry: Duration) {
        let _ = retry;
    }

    /// On whose behalf the request is made, where the binding found that out.
    fn caller(&self) -> Option<&Caller>;

    /// What the binding knows of the request beside its message, by its type. It is for handlers: nothing between the
    /// binding and the handler reads it.
    fn extension(&self, of: TypeId) -> Option<&(dyn Any + Send + Sync)> {
        let _ = of;
        None
    }
}
