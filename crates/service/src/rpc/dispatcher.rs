//! Dispatches calls of the plain JSON-RPC endpoint: finds the method, checks scopes and arguments, calls it.
//! Independent of HTTP.
//!
//! Invariant: the options that deny, hide, log or map over MCP have the same effect here.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;

use serde_json::{Map, Value};
use switchboard_design::{
    Design, Error, ErrorPolicy, ErrorResponse, ErrorRules, GlobError, InvalidParams, Issue, NotificationDef,
    RequestKind, Route, UriPolicy,
};
use switchboard_protocol::{Raw, RpcError};
use switchboard_session::server::layer::AccessEvent;
use switchboard_session::server::{CatchUnwind, Publisher};

use super::method::RpcMethod;
use crate::adapter::access::Access;
use crate::adapter::argument_validator::ArgumentValidator;
use crate::adapter::broadcaster::{Broadcaster, EventListener};
use crate::adapter::service_events;
use crate::options::BuilderOptions;
use crate::{Call, CallFuture, Cx, Dispatch, EventSink, ServiceBuilder};

/// A running call, until its result or error. Dropping it cancels the call.
pub(crate) type RpcCallFuture = Pin<Box<dyn Future<Output = Result<Raw, RpcError>> + Send>>;

/// Dispatches calls of the plain endpoint. Cheap to clone.
#[derive(Clone)]
pub(crate) struct RpcDispatcher {
    inner: Arc<DispatcherInner>,
}

struct DispatcherInner {
    service: Arc<dyn Dispatch>,
    options: BuilderOptions,
    rules: ErrorRules,
    policy: UriPolicy,
    /// Argument validators by Rust name of the method.
    validators: HashMap<String, ArgumentValidator>,
    /// Delivers events of the service to listeners.
    broadcaster: Arc<Broadcaster>,
}

impl RpcDispatcher {
    /// # Errors
    /// When an allowed or denied pattern is not a valid URI glob.
    pub(crate) fn new(builder: &ServiceBuilder) -> Result<Self, GlobError> {
        let (service, options) = builder.parts();
        let policy = UriPolicy::new(&options.allow, &options.deny)?;
        let design = service.design();
        let validators = RpcMethod::all(design).map(|method| {
            let order: Vec<String> = method.names().into_iter().map(str::to_owned).collect();
            let validator = ArgumentValidator::new(method.schema(design), &order, options.unknown);
            (method.rust_name().to_owned(), validator)
        });
        let inner = DispatcherInner {
            broadcaster: Broadcaster::attached_to(&options.feeds, Publisher::default()),
            rules: ErrorRules::new(ErrorPolicy::Codes).with_details(options.rules.details),
            policy,
            validators: validators.collect(),
            service: Arc::clone(service),
            options: options.clone(),
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    pub(crate) fn design(&self) -> &Arc<Design> {
        self.inner.service.design()
    }

    /// Strips the optional service name from a method name.
    fn rust_name<'a>(&self, method: &'a str) -> &'a str {
        let service = method.strip_prefix(self.design().name.as_str());
        service.and_then(|rest| rest.strip_prefix('.')).unwrap_or(method)
    }

    /// Returns whether the service has a method of this name.
    pub(crate) fn has(&self, method: &str) -> bool {
        RpcMethod::find(self.design(), self.rust_name(method)).is_some()
    }

    /// Returns whether the method is a streaming tool.
    pub(crate) fn streams(&self, method: &str) -> bool {
        let found = RpcMethod::find(self.design(), self.rust_name(method));
        matches!(found, Some(RpcMethod::Tool(tool)) if tool.events.is_some())
    }

    /// Returns whether the method subscribes to the service's events, and something can publish them.
    pub(crate) fn streams_events(&self, method: &str) -> bool {
        service_events::streams_events(self.design(), &self.inner.options, self.rust_name(method))
    }

    /// Registers a listener for the service's events.
    pub(crate) fn listen(&self) -> EventListener {
        self.inner.broadcaster.listen()
    }

    /// Validates and publishes an event from a caller.
    fn publish(&self, event: &NotificationDef, params: Option<&Raw>) -> Result<CallFuture<Raw>, Error> {
        let data = params.cloned().unwrap_or_else(Raw::empty_object);
        let value: Value = data.decode().map_err(decode_error)?;
        service_events::validate_event(self.design(), event, &value)?;
        service_events::publish_event(&self.inner.options, &self.inner.broadcaster, event, &data);
        Ok(Box::pin(std::future::ready(Ok(Raw::empty_object()))))
    }

    /// Starts a call; its method gets `cx`.
    pub(crate) fn call(
        &self,
        cx: Cx,
        method: &str,
        params: Option<&Raw>,
        events: EventSink,
    ) -> RpcCallFuture {
        let log = self.inner.options.access_log().map(|log| {
            let mut event = AccessEvent::request("rpc");
            (event.name, event.caller) = (Some(self.rust_name(method).to_owned()), cx.caller().cloned());
            event.payload = params.cloned();
            log.begin(event)
        });
        let begun = self.begin(cx, method, params, events);
        let dispatcher = self.clone();
        Box::pin(async move {
            let outcome = match begun {
                Ok(work) => CatchUnwind::new(dispatcher.with_call_timeout(work))
                    .await
                    .unwrap_or_else(|_| Err(Error::internal("the method panicked"))),
                Err(error) => Err(error),
            };
            let outcome = outcome.map_err(|error| dispatcher.error_response(error));
            if let Some(log) = log {
                log.end_raw(outcome.as_ref());
            }
            outcome
        })
    }

    fn begin(
        &self,
        cx: Cx,
        method: &str,
        params: Option<&Raw>,
        events: EventSink,
    ) -> Result<CallFuture<Raw>, Error> {
        let unknown = || Error::MethodNotFound { method: method.to_owned() };
        let rust_name = self.rust_name(method);
        if let Some(event) = service_events::publishable_event(self.design(), &self.inner.options, rust_name)
        {
            return self.publish(event, params);
        }
        let found = RpcMethod::find(self.design(), rust_name).ok_or_else(unknown)?;
        let access = Access::new(&self.inner.options, cx.caller());
        access.check(found.scopes(), unknown)?;
        let args = self.validate_arguments(found, params)?;
        let mut call = Call::new(cx.with_timeout(self.inner.options.timeout), args.clone());
        (call.events, call.stream_json) = (events, self.inner.options.stream_json);
        let work = self.inner.service.call_method(rust_name, call).ok_or_else(unknown)?;
        let (dispatcher, rust_name) = (self.clone(), rust_name.to_owned());
        Ok(Box::pin(async move { work.await.map_err(|error| dispatcher.explain(error, &rust_name, &args)) }))
    }

    /// Returns the validated arguments to pass to the method.
    fn validate_arguments(&self, method: RpcMethod<'_>, params: Option<&Raw>) -> Result<Raw, Error> {
        let mut args: Map<String, Value> = match params {
            None => Map::new(),
            Some(params) if params.is_object() => params.decode().map_err(decode_error)?,
            Some(params) if params.is_array() => positional_arguments(method, params)?,
            Some(_) => {
                let issue = Issue::new("", "the parameters must be an object or an array");
                return Err(InvalidParams::from_issues(vec![issue]).into());
            }
        };
        method.fill_defaults(&mut args);
        if let RpcMethod::Resource(resource) = method {
            self.check_policy(&Route::new(resource)?, &args)?;
        }
        let args = Raw::from(Value::Object(args));
        match self.inner.validators.get(method.rust_name()) {
            Some(validator) => validator
                .validate(args.clone())
                .map_err(|error| self.explain(error, method.rust_name(), &args)),
            None => Ok(args),
        }
    }

    /// Checks the URI policy for a resource, with the URI it would have over MCP.
    fn check_policy(&self, route: &Route, args: &Map<String, Value>) -> Result<(), Error> {
        if self.inner.policy == UriPolicy::default() {
            return Ok(());
        }
        match route.encode(args) {
            Ok(uri) if uri.parse().is_ok_and(|uri| self.inner.policy.allows(&uri)) => Ok(()),
            Ok(uri) => Err(Error::Denied { uri }),
            // Arguments without a URI cannot be allowed by a policy.
            Err(_) => Err(Error::Denied { uri: route.pattern().to_string() }),
        }
    }

    /// Adds all issues to an invalid-arguments error.
    fn explain(&self, error: Error, rust_name: &str, args: &Raw) -> Error {
        match (error, self.inner.validators.get(rust_name)) {
            (Error::InvalidParams(invalid), Some(validator)) => validator.explain(invalid, args, None).into(),
            (other, _) => other,
        }
    }

    /// Applies the call timeout.
    fn with_call_timeout(&self, work: CallFuture<Raw>) -> CallFuture<Raw> {
        let Some(within) = self.inner.options.timeout else { return work };
        Box::pin(async move { tokio::time::timeout(within, work).await.map_err(|_| Error::Timeout)? })
    }

    /// Converts an error to its response.
    fn error_response(&self, error: Error) -> RpcError {
        // The error mapper applies to errors of the service only.
        let error = match (&self.inner.options.mapper, error) {
            (Some(mapper), error @ (Error::Tool(_) | Error::InvalidParams(_) | Error::Internal(_))) => {
                mapper(error)
            }
            (_, error) => error,
        };
        if let Error::Internal(source) = &error {
            tracing::error!(error = %source, "method failed");
        }
        match self.inner.rules.respond(&error, RequestKind::Other) {
            ErrorResponse::Rpc(error) => error,
            // These rules map every error to a code.
            _ => RpcError::internal("Internal error"),
        }
    }
}

fn decode_error(error: switchboard_protocol::DecodeError) -> Error {
    Error::invalid_params(error.to_string())
}

/// Assigns positional arguments to names, in declaration order.
fn positional_arguments(method: RpcMethod<'_>, params: &Raw) -> Result<Map<String, Value>, Error> {
    let values: Vec<Value> = params.decode().map_err(decode_error)?;
    let names = method.names();
    if values.len() > names.len() {
        let message = format!("{} arguments, but the method takes {}", values.len(), names.len());
        return Err(InvalidParams::from_issues(vec![Issue::new("", message)]).into());
    }
    Ok(names.into_iter().map(str::to_owned).zip(values).collect())
}
