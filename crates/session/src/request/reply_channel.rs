//! The reply channel of a request: notifications and requests to its client while it is being answered.

use std::any::{Any, TypeId};
use std::time::Duration;

use switchboard_protocol::{Raw, RpcError, ServerResult};

use crate::link::Exchange;
use crate::request::Caller;

/// The reply of a handler: a result or a JSON-RPC error.
pub type Reply = Result<ServerResult, RpcError>;

/// Sends notifications and requests to the client of a request while it is being answered. Implemented by a transport.
pub trait ReplyChannel: Send + Sync + 'static {
    /// Sends a notification that belongs to the request.
    fn note(&self, method: &str, params: Option<&Raw>);

    /// Sends a request to the client; `None` where the binding cannot.
    fn ask(&self, method: &str, params: &Raw) -> Option<Exchange>;

    /// Returns whether the client reads so slowly that more notifications should wait. None is dropped yet.
    fn is_behind(&self) -> bool {
        false
    }

    /// Closes the stream and lets the client reconnect for the rest, where the binding supports that; else does nothing.
    fn hang_up(&self, retry: Duration) {
        let _ = retry;
    }

    /// Returns the authenticated caller, where the binding knows it.
    fn caller(&self) -> Option<&Caller>;

    /// Returns a typed value that the binding attached to the request. For handlers only: nothing between the binding and
    /// the handler reads it.
    fn extension(&self, of: TypeId) -> Option<&(dyn Any + Send + Sync)> {
        let _ = of;
        None
    }
}
