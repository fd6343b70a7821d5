//! A request with any method: for extensions, and for methods without a typed function.

use std::future::IntoFuture;

use switchboard_protocol::{FromRaw, Meta, OrderedMap, Raw};

use crate::call_option_setters;
use crate::client::CallOptions;
use crate::client::call::ClientCall;
use crate::client::session::ClientSession;
use crate::link::BoxFuture;
use crate::request::CallError;

/// A request with any method. Awaiting it sends it; dropping it while it runs cancels it.
///
/// ```
/// use switchboard::protocol::Raw;
/// use switchboard::{Client, InProcess, json};
///
/// # mod demo { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/doc_examples.rs")); }
/// # demo::run(async {
/// # let session = Client::new().connect(InProcess::new(&demo::server())).await?;
/// let params = Raw::from(json!({ "name": "add", "arguments": { "a": 1, "b": 2 } }));
/// let result = session.raw_call("tools/call", params).await?;
/// assert!(result.as_str().contains(r#""text":"3""#));
/// # demo::done() });
/// ```
#[must_use = "a call does nothing until it is awaited"]
pub struct RawCall {
    session: ClientSession,
    method: String,
    params: Raw,
    options: CallOptions,
}

impl RawCall {
    pub(crate) fn new(session: ClientSession, method: String, params: Raw) -> Self {
        Self { session, method, params, options: CallOptions::default() }
    }

    call_option_setters!(
        options,
        timeout,
        idle_timeout,
        handler,
        on_progress,
        on_notification,
        on_log,
        number
    );

    /// Sends the request. Its `_meta` is a member of the parameters.
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
            name: subject.as_deref(),
            requests_progress: self.options.wants_progress(),
            options: CallOptions { meta: meta.or(self.options.meta), ..self.options },
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
