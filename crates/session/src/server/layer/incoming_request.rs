//! A request on its way through the layers: admitted or not, not yet decoded.

use std::any::TypeId;
use std::fmt;
use std::sync::Arc;

use switchboard_protocol::jsonrpc::Request;
use switchboard_protocol::{FromRaw, Implementation, InitializeParams, Raw, RequestId, Revision, RpcError};

use crate::era::serving::{Admission, RequestEra};
use crate::request::{Caller, Cancel, ReplyChannel};

/// A request before it is dispatched, for a [`Layer`](crate::server::Layer).
pub struct IncomingRequest {
    pub(crate) request: Request,
    /// The era, or the error with which the request is rejected.
    pub(crate) admission: Result<Admission, RpcError>,
    pub(crate) channel: Arc<dyn ReplyChannel>,
    pub(crate) cancel: Arc<Cancel>,
    pub(crate) is_long_lived: bool,
}

impl IncomingRequest {
    /// Returns the id.
    pub fn id(&self) -> &RequestId {
        &self.request.id
    }

    /// Returns the method.
    pub fn method(&self) -> &str {
        &self.request.method
    }

    /// Returns the parameters, as sent.
    pub fn params(&self) -> Option<&Raw> {
        self.request.params.as_ref()
    }

    /// Returns one of the parameters, such as the `name` of a tool.
    pub fn param(&self, name: &str) -> Option<Raw> {
        self.params()?.fields().find(|(found, _)| *found == name).map(|(_, value)| value)
    }

    /// Returns a text of the `_meta` object, such as `traceparent`.
    pub fn meta_text(&self, key: &str) -> Option<String> {
        let meta = self.param("_meta")?;
        meta.fields().find(|(found, _)| *found == key)?.1.decode().ok()
    }

    /// Returns the authenticated caller, where the binding knows it.
    pub fn caller(&self) -> Option<&Caller> {
        self.channel.caller()
    }

    /// Returns the client's own name and version. For display only.
    pub fn client(&self) -> Option<Implementation> {
        let known = self.era().and_then(RequestEra::client);
        known.or_else(|| {
            let params = self.params().filter(|_| self.method() == "initialize")?;
            Some(InitializeParams::from_raw(params).ok()?.client_info)
        })
    }

    /// Returns a key of the session of a legacy client, for records, as
    /// [`RequestContext::session_key`](crate::server::RequestContext::session_key) does; `None` before `initialize` is answered.
    pub fn session_key(&self) -> Option<String> {
        self.era().and_then(RequestEra::session_key)
    }

    /// Returns the revision; `None` for a request that is rejected because of its revision or its session.
    pub fn revision(&self) -> Option<Revision> {
        self.era().map(RequestEra::revision)
    }

    /// Returns a typed value that the binding attached to the request.
    pub fn extension<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.channel.extension(TypeId::of::<T>())?.downcast_ref()
    }

    /// Returns whether the request is a stream of notifications that lasts until the client or the server ends it.
    pub fn is_long_lived(&self) -> bool {
        self.is_long_lived
    }

    fn era(&self) -> Option<&RequestEra> {
        self.admission.as_ref().ok().map(|admission| &admission.era)
    }
}

impl fmt::Debug for IncomingRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IncomingRequest")
            .field("id", self.id())
            .field("method", &self.method())
            .field("caller", &self.caller())
            .finish_non_exhaustive()
    }
}
