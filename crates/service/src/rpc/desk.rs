//! Where a call of the plain endpoint is looked at before a method sees it: which method, whether this caller may, and
//! whether its arguments fit. Knows nothing of HTTP.
//!
//! Invariant: what the server was told to deny, hide, log or map over MCP is denied, hidden, logged and mapped here too.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use serde_json::{Map, Value};
use switchboard_design::schema::validation_issues;
use switchboard_design::{
    Design, Error, ErrorPolicy, ErrorResponse, ErrorRules, GlobError, InvalidParams, Issue, NotificationDef,
    RequestKind, Route, UriPolicy,
};
use switchboard_protocol::{Raw, RpcError};
use switchboard_session::server::Publisher;

use super::method::Method;
use crate::adapter::DEFAULT_CAPACITY;
use crate::adapter::arguments::Arguments;
use crate::adapter::board::{Board, Listening};
use crate::adapter::logging::{About, Logged};
use crate::options::Options;
use crate::wire::{EVENTS_METHOD, NOTIFY_PREFIX};
use crate::{Call, Cx, Dispatch, EventFeed, EventSink, ServiceBuilder, Working};

/// A call under way, until its result or what is told instead. Dropping it cancels it.
pub(crate) type Outcome = Pin<Box<dyn Future<Output = Result<Raw, RpcError>> + Send>>;

/// Takes calls. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Desk {
    inner: Arc<Inner>,
}

struct Inner {
    service: Arc<dyn Dispatch>,
    options: Options,
    rules: ErrorRules,
    policy: UriPolicy,
    /// What the arguments of each method must be, by its name in Rust.
    arguments: HashMap<String, Arguments>,
    /// Where events of the service are put up.
    board: Arc<Board>,
}

/// Who calls.
#[derive(Debug, Clone)]
pub(crate) struct Visit {
    /// What the method knows of the call.
    pub(crate) cx: Cx,
}

impl Desk {
    /// # Errors
    /// When what is allowed or denied is no glob over URIs.
    pub(crate) fn new(builder: &ServiceBuilder) -> Result<Self, GlobError> {
        let (service, options) = builder.parts();
        let policy = UriPolicy::new(&options.allow, &options.deny)?;
        let design = service.design();
        let arguments = Method::all(design).map(|method| {
            let order: Vec<String> = method.names().into_iter().map(str::to_owned).collect();
            let arguments = Arguments::new(method.schema(design), &order, options.unknown);
            (method.rust_name().to_owned(), arguments)
        });
        let capacity = options.feeds.iter().map(EventFeed::capacity).max().unwrap_or(DEFAULT_CAPACITY);
        let board = Arc::new(Board::new(Publisher::default(), capacity));
        options.feeds.iter().for_each(|feed| feed.attach(&board));
        let inner = Inner {
            board,
            rules: ErrorRules::new(ErrorPolicy::Codes).with_details(options.rules.details),
            policy,
            arguments: arguments.collect(),
            service: Arc::clone(service),
            options: options.clone(),
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    pub(crate) fn design(&self) -> &Arc<Design> {
        self.inner.service.design()
    }

    /// The name in Rust of a method that was named alone or after the service.
    fn plain_name<'a>(&self, method: &'a str) -> &'a str {
        let service = method.strip_prefix(self.design().name.as_str());
        service.and_then(|rest| rest.strip_prefix('.')).unwrap_or(method)
    }

    /// Whether the service has a method of its own by this name.
    pub(crate) fn has(&self, method: &str) -> bool {
        Method::find(self.design(), self.plain_name(method)).is_some()
    }

    /// Whether the method sends events while it works.
    pub(crate) fn streams(&self, method: &str) -> bool {
        let found = Method::find(self.design(), self.plain_name(method));
        matches!(found, Some(Method::Tool(tool)) if tool.events.is_some())
    }

    /// Whether the method is the stream of the service's events, and something can publish any.
    pub(crate) fn streams_events(&self, method: &str) -> bool {
        self.plain_name(method) == EVENTS_METHOD
            && !self.design().notifications.is_empty()
            && self.inner.options.publishes_events()
    }

    /// Listens for the service's events.
    pub(crate) fn listen(&self) -> Listening {
        self.inner.board.listen()
    }

    /// Publishes what a caller sent, where that is accepted.
    fn publish(&self, event: &NotificationDef, params: Option<&Raw>) -> Result<Working<Raw>, Error> {
        let data = params.cloned().unwrap_or_else(Raw::empty_object);
        let value: Value = data.decode().map_err(unreadable)?;
        let issues = validation_issues(&self.design().types.bundle(&event.payload), &value);
        if !issues.is_empty() {
            return Err(InvalidParams::from_issues(issues).into());
        }
        // Our board hears every feed; others hear at least one.
        match self.inner.options.feeds.first() {
            Some(feed) => feed.publish(&event.name, &data),
            None => self.inner.board.publish(&event.name, &data),
        }
        Ok(Box::pin(std::future::ready(Ok(Raw::empty_object()))))
    }

    /// The event that a caller may publish under this name.
    fn accepted(&self, rust_name: &str) -> Option<&NotificationDef> {
        let event =
            rust_name.strip_prefix(NOTIFY_PREFIX).filter(|_| self.inner.options.accept_notifications)?;
        self.design().notifications.iter().find(|known| known.name == event)
    }

    /// Begins a call.
    pub(crate) fn call(
        &self,
        visit: Visit,
        method: &str,
        params: Option<&Raw>,
        events: EventSink,
    ) -> Outcome {
        let about = About::named("rpc", self.plain_name(method)).for_caller(visit.cx.caller());
        let log = Logged::begin(&self.inner.options, about, params);
        let begun = self.begin(visit, method, params, events);
        let desk = self.clone();
        Box::pin(async move {
            let outcome = match begun {
                Ok(work) => caught(desk.limited(work)).await,
                Err(error) => Err(error),
            };
            let outcome = outcome.map_err(|error| desk.told(error));
            if let Some(log) = log {
                log.end_plain(&outcome);
            }
            outcome
        })
    }

    fn begin(
        &self,
        visit: Visit,
        method: &str,
        params: Option<&Raw>,
        events: EventSink,
    ) -> Result<Working<Raw>, Error> {
        let unknown = || Error::MethodNotFound { method: method.to_owned() };
        let rust_name = self.plain_name(method);
        if let Some(event) = self.accepted(rust_name) {
            return self.publish(event, params);
        }
        let found = Method::find(self.design(), rust_name).ok_or_else(unknown)?;
        self.admit(&visit, found, &unknown)?;
        let args = self.admit_arguments(found, params)?;
        let mut call = Call::new(visit.cx.within(self.inner.options.timeout), args.clone());
        (call.events, call.stream_json) = (events, self.inner.options.stream_json);
        let work = self.inner.service.call_method(rust_name, call).ok_or_else(unknown)?;
        let (desk, rust_name) = (self.clone(), rust_name.to_owned());
        Ok(Box::pin(async move { work.await.map_err(|error| desk.explained(error, &rust_name, &args)) }))
    }

    /// Lets a caller through to what needs scopes.
    fn admit(&self, visit: &Visit, method: Method<'_>, unknown: &dyn Fn() -> Error) -> Result<(), Error> {
        let options = &self.inner.options;
        let scopes = method.scopes();
        let granted = |scope: &String| match visit.cx.caller() {
            Some(caller) => caller.has_scope(scope),
            None => options.anonymous_scopes.contains(scope),
        };
        if scopes.iter().all(granted) {
            return Ok(());
        }
        Err(if options.reveal_scopes { Error::Unauthorized { scopes: scopes.to_vec() } } else { unknown() })
    }

    /// The arguments as the method may see them.
    fn admit_arguments(&self, method: Method<'_>, params: Option<&Raw>) -> Result<Raw, Error> {
        let mut given: Map<String, Value> = match params {
            None => Map::new(),
            Some(params) if params.is_object() => params.decode().map_err(unreadable)?,
            Some(params) if params.is_array() => by_position(method, params)?,
            Some(_) => {
                let issue = Issue::new("", "the parameters are neither an object nor an array");
                return Err(InvalidParams::from_issues(vec![issue]).into());
            }
        };
        method.fill_in(&mut given);
        if let Method::Resource(resource) = method {
            self.permit(&Route::new(resource)?, &given)?;
        }
        let args = Raw::from(Value::Object(given));
        match self.inner.arguments.get(method.rust_name()) {
            Some(arguments) => arguments
                .admit(args.clone())
                .map_err(|error| self.explained(error, method.rust_name(), &args)),
            None => Ok(args),
        }
    }

    /// Whether the policy lets a resource be read, by the URI it would have over MCP.
    fn permit(&self, route: &Route, given: &Map<String, Value>) -> Result<(), Error> {
        if self.inner.policy == UriPolicy::default() {
            return Ok(());
        }
        match route.encode(given) {
            Ok(uri) if uri.parse().is_ok_and(|uri| self.inner.policy.allows(&uri)) => Ok(()),
            Ok(uri) => Err(Error::Denied { uri }),
            // What no URI can carry cannot be allowed either.
            Err(_) => Err(Error::Denied { uri: route.pattern().to_string() }),
        }
    }

    /// An error about arguments says all that is wrong with them.
    fn explained(&self, error: Error, rust_name: &str, args: &Raw) -> Error {
        match (error, self.inner.arguments.get(rust_name)) {
            (Error::InvalidParams(invalid), Some(arguments)) => arguments.explain(invalid, args, None).into(),
            (other, _) => other,
        }
    }

    /// The same work, for as long as a call may take.
    fn limited(&self, work: Working<Raw>) -> Working<Raw> {
        let Some(within) = self.inner.options.timeout else { return work };
        Box::pin(async move { tokio::time::timeout(within, work).await.map_err(|_| Error::Timeout)? })
    }

    /// What the caller is told.
    fn told(&self, error: Error) -> RpcError {
        // What a mapper is for is the service's own errors.
        let error = match (&self.inner.options.mapper, error) {
            (Some(mapper), error @ (Error::Tool(_) | Error::InvalidParams(_) | Error::Internal(_))) => {
                mapper(error)
            }
            (_, error) => error,
        };
        if let Error::Internal(source) = &error {
            tracing::error!(error = %source, "a method failed");
        }
        match self.inner.rules.respond(&error, RequestKind::Other) {
            ErrorResponse::Rpc(error) => error,
            // Every error is a code here.
            _ => RpcError::internal("Internal error"),
        }
    }
}

fn unreadable(error: switchboard_protocol::DecodeError) -> Error {
    Error::invalid_params(error.to_string())
}

/// Arguments that are given without their names, in order of declaration.
fn by_position(method: Method<'_>, params: &Raw) -> Result<Map<String, Value>, Error> {
    let values: Vec<Value> = params.decode().map_err(unreadable)?;
    let names = method.names();
    if values.len() > names.len() {
        let message = format!("there are {} arguments, and the method takes {}", values.len(), names.len());
        return Err(InvalidParams::from_issues(vec![Issue::new("", message)]).into());
    }
    Ok(names.into_iter().map(str::to_owned).zip(values).collect())
}

/// The same work, whose panic is an error of ours and nobody else's.
async fn caught(mut work: Working<Raw>) -> Result<Raw, Error> {
    std::future::poll_fn(move |cx| match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(cx))) {
        Ok(polled) => polled,
        Err(_) => Poll::Ready(Err(Error::internal("the method panicked"))),
    })
    .await
}
