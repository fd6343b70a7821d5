//! Any request, to be set up and awaited: for extensions, and for what has no verb of its own.

use std::future::IntoFuture;
use std::time::Duration;

use switchboard_protocol::{FromRaw, Meta, OrderedMap, Raw};

use crate::client::call::{ClientCall, OnNote};
use crate::client::session::ClientSession;
use crate::link::BoxFuture;
use crate::request::CallError;

/// Any request. Awaiting it makes it; dropping it while it runs cancels it.
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

    /// How long it may take in all. A request that is answered only at its end, such as one that listens, wants a long
    /// time.
    #[must_use]
    pub fn timeout(mut self, total: Duration) -> Self {
        self.total = Some(total);
        self
    }

    /// Is told what an extension says about this request, by the name of the notification, in order, before the result
    /// comes.
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
        // What the request is about, for bindings that say it outside the message too.
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

    // Inline: most clients make none, and those that do have its code.
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
