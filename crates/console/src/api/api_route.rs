//! Routes: a method, a path, what it may do, and its handler.

use std::fmt;
use std::sync::Arc;

use http::Method;

use crate::api::{ApiRequest, ApiResponse, ConsoleState};
use crate::contract::ApiError;
use crate::providers::BoxFuture;

/// Whether a route changes something. A read-only console refuses routes with [`RouteAccess::Write`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RouteAccess {
    /// Changes nothing outside the console.
    Read,
    /// Changes a server, a configuration, or a login.
    Write,
}

/// What the body of a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyKind {
    /// `application/json`, at most 4 MB. A GET request has no body.
    Json,
    /// `application/octet-stream`, at most 64 MB.
    Recording,
}

type Handler =
    dyn Fn(Arc<ConsoleState>, ApiRequest) -> BoxFuture<'static, Result<ApiResponse, ApiError>> + Send + Sync;

/// A route of the API.
#[derive(Clone)]
pub(crate) struct ApiRoute {
    pub(crate) method: Method,
    /// Segments in braces are parameters: `/api/servers/{name}/reconnect`.
    pub(crate) path: &'static str,
    pub(crate) access: RouteAccess,
    pub(crate) body: BodyKind,
    handler: Arc<Handler>,
}

impl ApiRoute {
    /// Creates a route that returns something.
    pub(crate) fn get<H, F>(path: &'static str, handler: H) -> Self
    where
        H: Fn(Arc<ConsoleState>, ApiRequest) -> F + Send + Sync + 'static,
        F: Future<Output = Result<ApiResponse, ApiError>> + Send + 'static,
    {
        Self::new(Method::GET, path, RouteAccess::Read, handler)
    }

    /// Creates a route with a body that changes nothing outside the console.
    pub(crate) fn post<H, F>(path: &'static str, handler: H) -> Self
    where
        H: Fn(Arc<ConsoleState>, ApiRequest) -> F + Send + Sync + 'static,
        F: Future<Output = Result<ApiResponse, ApiError>> + Send + 'static,
    {
        Self::new(Method::POST, path, RouteAccess::Read, handler)
    }

    /// Creates a route that changes something: a **W** of the API.
    pub(crate) fn write<H, F>(path: &'static str, handler: H) -> Self
    where
        H: Fn(Arc<ConsoleState>, ApiRequest) -> F + Send + Sync + 'static,
        F: Future<Output = Result<ApiResponse, ApiError>> + Send + 'static,
    {
        Self::new(Method::POST, path, RouteAccess::Write, handler)
    }

    fn new<H, F>(method: Method, path: &'static str, access: RouteAccess, handler: H) -> Self
    where
        H: Fn(Arc<ConsoleState>, ApiRequest) -> F + Send + Sync + 'static,
        F: Future<Output = Result<ApiResponse, ApiError>> + Send + 'static,
    {
        let handler = Arc::new(move |state: Arc<ConsoleState>, request: ApiRequest| {
            Box::pin(handler(state, request)) as BoxFuture<'static, _>
        });
        Self { method, path, access, body: BodyKind::Json, handler }
    }

    /// Sets what the body is.
    #[must_use]
    pub(crate) fn with_body(mut self, body: BodyKind) -> Self {
        self.body = body;
        self
    }

    /// Runs the handler.
    pub(crate) fn handle(
        &self,
        state: Arc<ConsoleState>,
        request: ApiRequest,
    ) -> BoxFuture<'static, Result<ApiResponse, ApiError>> {
        (self.handler)(state, request)
    }
}

impl fmt::Debug for ApiRoute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApiRoute")
            .field("method", &self.method)
            .field("path", &self.path)
            .field("access", &self.access)
            .finish_non_exhaustive()
    }
}
