//! The client's handler of requests from a server: input from the user, a completion from the application's model.
//!
//! The same for both eras: a handler does not know whether the server sent a request (legacy) or a result that requires input
//! (modern).

use std::error::Error;
use std::fmt;
use std::sync::{Arc, Weak};

use switchboard_protocol::{
    CreateMessageParams, CreateMessageResult, ElicitParams, ElicitResult, Implementation, ProgressParams,
    Raw, RequestId, Revision, Root,
};

use crate::link::{BoxFuture, Link, OneWayMessage};

/// Handles requests of a server: elicitation and sampling, and roots where they differ from call to call. Otherwise the roots
/// are set on the session.
///
/// ```
/// use switchboard::client::{ClientHandler, HandlerCapabilities, HandlerError, RequestingServer};
/// use switchboard::transport::link::BoxFuture;
/// use switchboard::protocol::{ElicitAction, ElicitParams, ElicitResult};
///
/// struct AlwaysDecline;
/// impl ClientHandler for AlwaysDecline {
///     fn capabilities(&self) -> HandlerCapabilities {
///         HandlerCapabilities::none().with_forms()
///     }
///     fn elicit<'a>(&'a self, _: ElicitParams, _: &'a RequestingServer) -> BoxFuture<'a, Result<ElicitResult, HandlerError>> {
///         Box::pin(async { Ok(ElicitResult::new(ElicitAction::Decline)) })
///     }
/// }
/// ```
pub trait ClientHandler: Send + Sync + 'static {
    /// Returns what this handler can do; declared to the server.
    fn capabilities(&self) -> HandlerCapabilities {
        HandlerCapabilities::none()
    }

    /// Returns the name that the user knows the server by, where this handler serves one server only. The server's own name
    /// for itself is an unverified claim and is never shown instead.
    fn server_name(&self) -> Option<&str> {
        None
    }

    /// Asks the user for input. Show which server asks; never open a URL without consent.
    fn elicit<'a>(
        &'a self,
        request: ElicitParams,
        asker: &'a RequestingServer,
    ) -> BoxFuture<'a, Result<ElicitResult, HandlerError>> {
        let _ = (request, asker);
        Box::pin(async { Err(HandlerError::new("nobody is here to ask")) })
    }

    /// Requests a completion from the client's model.
    fn sample<'a>(
        &'a self,
        request: CreateMessageParams,
        asker: &'a RequestingServer,
    ) -> BoxFuture<'a, Result<CreateMessageResult, HandlerError>> {
        let _ = (request, asker);
        Box::pin(async { Err(HandlerError::new("no model is here to ask")) })
    }

    /// Returns the roots for this request; `None` stands for the roots of the session. Called only where
    /// [`HandlerCapabilities::roots`] is declared.
    fn roots<'a>(
        &'a self,
        asker: &'a RequestingServer,
    ) -> BoxFuture<'a, Result<Option<Vec<Root>>, HandlerError>> {
        let _ = asker;
        Box::pin(async { Ok(None) })
    }
}

impl<A: ClientHandler + ?Sized> ClientHandler for Arc<A> {
    fn capabilities(&self) -> HandlerCapabilities {
        (**self).capabilities()
    }

    fn server_name(&self) -> Option<&str> {
        (**self).server_name()
    }

    fn elicit<'a>(
        &'a self,
        request: ElicitParams,
        asker: &'a RequestingServer,
    ) -> BoxFuture<'a, Result<ElicitResult, HandlerError>> {
        (**self).elicit(request, asker)
    }

    fn sample<'a>(
        &'a self,
        request: CreateMessageParams,
        asker: &'a RequestingServer,
    ) -> BoxFuture<'a, Result<CreateMessageResult, HandlerError>> {
        (**self).sample(request, asker)
    }

    fn roots<'a>(
        &'a self,
        asker: &'a RequestingServer,
    ) -> BoxFuture<'a, Result<Option<Vec<Root>>, HandlerError>> {
        (**self).roots(asker)
    }
}

/// Handles nothing, and declares no capabilities.
impl ClientHandler for () {}

/// The capabilities of a client handler.
///
/// ```
/// use switchboard::client::HandlerCapabilities;
///
/// let capabilities = HandlerCapabilities::none().with_forms().with_sampling();
/// assert!(capabilities.forms && capabilities.sampling && !capabilities.urls);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct HandlerCapabilities {
    /// The user fills in forms.
    pub forms: bool,
    /// The user visits URLs.
    pub urls: bool,
    /// A model completes messages.
    pub sampling: bool,
    /// The model may use tools that the server names.
    pub sampling_tools: bool,
    /// The handler knows the roots, which may differ from call to call.
    pub roots: bool,
}

impl HandlerCapabilities {
    /// No capabilities.
    pub const fn none() -> Self {
        Self { forms: false, urls: false, sampling: false, sampling_tools: false, roots: false }
    }

    /// Adds forms.
    #[must_use]
    pub const fn with_forms(mut self) -> Self {
        self.forms = true;
        self
    }

    /// Adds URLs.
    #[must_use]
    pub const fn with_urls(mut self) -> Self {
        self.urls = true;
        self
    }

    /// Adds sampling.
    #[must_use]
    pub const fn with_sampling(mut self) -> Self {
        self.sampling = true;
        self
    }

    /// Adds sampling with tools.
    #[must_use]
    pub const fn with_sampling_tools(mut self) -> Self {
        self.sampling = true;
        self.sampling_tools = true;
        self
    }

    /// Adds roots.
    #[must_use]
    pub const fn with_roots(mut self) -> Self {
        self.roots = true;
        self
    }
}

/// The server that sent a request. Displays as the name that the user knows the server by, else "the server".
///
/// ```
/// use switchboard::client::RequestingServer;
///
/// assert_eq!(RequestingServer::new(None).with_name("github").to_string(), "github");
/// assert_eq!(RequestingServer::new(None).to_string(), "the server");
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RequestingServer {
    /// The name that the user knows the server by: that of its configuration.
    pub name: Option<String>,
    /// The server's own name for itself: an unverified claim.
    pub server: Option<Implementation>,
    /// The key of the request among those that one result asks for (modern era); `None` for a request of its own.
    pub key: Option<String>,
    pub(crate) names_call: bool,
    pub(crate) report: Option<ProgressReporter>,
}

/// Reports progress to a server that requested it.
#[derive(Clone)]
pub(crate) struct ProgressReporter {
    pub(crate) token: RequestId,
    // Weak: holding a `RequestingServer` does not keep the server alive.
    pub(crate) link: Weak<dyn Link>,
    pub(crate) revision: Revision,
}

impl fmt::Debug for ProgressReporter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ProgressReporter").field(&self.token).finish()
    }
}

impl RequestingServer {
    /// Creates a requesting server; for tests of [`ClientHandler`].
    pub fn new(server: Option<Implementation>) -> Self {
        Self { name: None, server, key: None, names_call: false, report: None }
    }

    /// Sets the name that the user knows the server by.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Returns whether the request is known to belong to the call whose handler is asked: it came with the result of the call,
    /// or on its response stream. Over a pipe, requests of legacy servers name no call.
    pub fn names_call(&self) -> bool {
        self.names_call
    }

    /// Reports progress to the server. Does nothing when it did not request that.
    pub fn progress(&self, progress: f64, total: Option<f64>, message: Option<&str>) {
        let Some(ProgressReporter { token, link, revision }) = &self.report else { return };
        let Some(link) = link.upgrade() else { return };
        let mut params = ProgressParams::new(token.clone(), progress);
        params.total = total;
        params.message = message.map(str::to_owned);
        params.lower(*revision);
        if let Ok(params) = Raw::encode(&params) {
            // The link may be gone; then there is no peer to notify.
            let _ = link.post(OneWayMessage::Notification {
                method: "notifications/progress",
                params: Some(params.as_str()),
            });
        }
    }
}

impl fmt::Display for RequestingServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name.as_deref().unwrap_or("the server"))
    }
}

/// The error of a client handler that cannot answer. A user who declines has answered: that is a result, not an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandlerError {
    reason: String,
    data: Option<Raw>,
}

impl HandlerError {
    /// Creates an error with this reason.
    pub fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), data: None }
    }

    /// Creates the error for a request that may belong to any of several callers: its `data.reason` is `ambiguous_caller`.
    pub fn ambiguous_caller(reason: impl Into<String>) -> Self {
        Self::new(reason).with_data(Raw::from(serde_json::json!({ "reason": "ambiguous_caller" })))
    }

    /// Sets the data for programs: a server that sent the request gets them with the error.
    #[must_use]
    pub fn with_data(mut self, data: Raw) -> Self {
        self.data = Some(data);
        self
    }

    /// Returns the data for programs.
    pub fn data(&self) -> Option<&Raw> {
        self.data.as_ref()
    }
}

impl fmt::Display for HandlerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl Error for HandlerError {}
