//! A request with any method: for extensions, and for methods without a typed function.

use std::future::IntoFuture;
use std::time::Duration;

use switchboard_protocol::{FromRaw, Meta, OrderedMap, Raw};

use crate::client::call::{ClientCall, OnNote};
use crate::client::session::ClientSession;
use crate::link::BoxFuture;
use crate::request::CallError;

/// A request with any method. Awaiting it sends it; dropping it while it runs cancels it.
pub struct RawCall {
    session: ClientSession,
    method: String,
    params: Raw,
    total: Option<Duration>,
    on_note: Option<OnNote>,
}

impl RawCall {
    pub(crate) fn new(session: ClientSession, method: String, params: Raw) -> Self {
        Self { session, method, params, total: None, on_note: None }
    }

    /// Sets the total timeout. A long-lived request, such as one that listens, needs a long one.
    #[must_use]
    pub fn timeout(mut self, total: Duration) -> Self {
        self.total = Some(total);
        self
    }

    /// Sets the callback for notifications of extensions that belong to this request: method and parameters, in order, before
    /// the result.
    #[must_use]
    pub fn on_note(mut self, callback: impl FnMut(&str, Raw) + Send + 'static) -> Self {
        self.on_note = Some(Box::new(callback));
        self
    }

    async fn run(self) -> Result<Raw, CallError> {
        let live = self.session.live()?;
        let mut members = OrderedMap::<Raw>::from_raw(&self.params)
            .map_err(|error| CallError::Parameters(error.to_string()))?;
        let meta = members.remove("_meta").as_ref().map(Meta::from_raw).transpose();
        let meta = meta.map_err(|error| CallError::Parameters(error.to_string()))?;
        // The subject of the request, for bindings that repeat it outside the message.
        let subject =
            ["name", "uri", "taskId"].iter().find_map(|key| String::from_raw(members.get(key)?).ok());
        let body = Raw::encode(&members)?;
        let call = ClientCall {
            meta: meta.as_ref(),
            name: subject.as_deref(),
            idle: self.total,
            total: self.total,
            on_note: self.on_note,
            ..ClientCall::new(&self.method, body.as_str())
        };
        live.call(call).await
    }
}

impl IntoFuture for RawCall {
    type Output = Result<Raw, CallError>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    // Inline: its code is generated only in crates that use it.
    #[inline]
    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl std::fmt::Debug for RawCall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RawCall").field("method", &self.method).finish_non_exhaustive()
    }
}
