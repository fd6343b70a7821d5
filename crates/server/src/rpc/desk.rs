//! Where a call of the plain endpoint is looked at before a method sees it: which method, whether this caller may, and
//! whether its arguments fit. Knows nothing of HTTP.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use serde_json::{Map, Value};
use switchboard_design::schema::misfits;
use switchboard_design::{Answer, Asked, Design, Error, ErrorPolicy, ErrorRules, InvalidParams, Issue};
use switchboard_protocol::{Raw, RpcError};

use super::method::Method;
use crate::{Call, Cx, Dispatch, EventSink, Working};

/// A call under way, until its result or what is told instead. Dropping it cancels it.
pub(crate) type Outcome = Pin<Box<dyn Future<Output = Result<Raw, RpcError>> + Send>>;

/// Takes calls.
pub(crate) struct Desk {
    service: Arc<dyn Dispatch>,
    rules: ErrorRules,
}

impl Desk {
    pub(crate) fn new(service: Arc<dyn Dispatch>) -> Self {
        Self { service, rules: ErrorRules::new(ErrorPolicy::Codes) }
    }

    pub(crate) fn design(&self) -> &Arc<Design> {
        self.service.design()
    }

    /// The name in Rust of a method that was named alone or after the service.
    pub(crate) fn plain_name<'a>(&self, method: &'a str) -> &'a str {
        let service = method.strip_prefix(self.design().name.as_str());
        service.and_then(|rest| rest.strip_prefix('.')).unwrap_or(method)
    }

    /// Whether the method sends events while it works.
    pub(crate) fn streams(&self, method: &str) -> bool {
        let found = Method::find(self.design(), self.plain_name(method));
        matches!(found, Some(Method::Tool(tool)) if tool.events.is_some())
    }

    /// Begins a call.
    pub(crate) fn call(&self, method: &str, params: Option<&Raw>, events: EventSink) -> Outcome {
        let rules = self.rules;
        match self.begin(method, params, events) {
            Ok(work) => Box::pin(async move { caught(work).await.map_err(|error| told(rules, error)) }),
            Err(error) => Box::pin(std::future::ready(Err(told(rules, error)))),
        }
    }

    fn begin(&self, method: &str, params: Option<&Raw>, events: EventSink) -> Result<Working<Raw>, Error> {
        let design = self.design();
        let unknown = || Error::MethodNotFound { method: method.to_owned() };
        let rust_name = self.plain_name(method);
        let found = Method::find(design, rust_name).ok_or_else(unknown)?;
        let args = arguments(found, design, params)?;
        let mut call = Call::new(Cx::call().build(), args.clone());
        call.events = events;
        let work = self.service.call_method(rust_name, call).ok_or_else(unknown)?;
        let service = Arc::clone(&self.service);
        let rust_name = rust_name.to_owned();
        Ok(Box::pin(async move {
            work.await.map_err(|error| match Method::find(service.design(), &rust_name) {
                Some(method) => explained(error, method, service.design(), &args),
                None => error,
            })
        }))
    }
}

/// The arguments as the method may see them.
fn arguments(method: Method<'_>, design: &Design, params: Option<&Raw>) -> Result<Raw, Error> {
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
    let value = Value::Object(given);
    let issues = issues(method, design, &value);
    if issues.is_empty() { Ok(Raw::from(value)) } else { Err(InvalidParams::from_issues(issues).into()) }
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

/// All that is wrong with arguments. What is null is left to the type, for which an optional argument that is null is one
/// that was not given.
fn issues(method: Method<'_>, design: &Design, value: &Value) -> Vec<Issue> {
    let mut issues = misfits(&method.schema(design), value);
    issues.retain(|issue| !value.pointer(&issue.pointer).is_some_and(Value::is_null));
    issues
}

/// An error about arguments says all that is wrong with them.
fn explained(error: Error, method: Method<'_>, design: &Design, args: &Raw) -> Error {
    match error {
        Error::InvalidParams(invalid) if invalid.issues.is_empty() => {
            let value: Value = args.decode().unwrap_or_default();
            let found = misfits(&method.schema(design), &value);
            if found.is_empty() {
                Error::InvalidParams(invalid)
            } else {
                InvalidParams::from_issues(found).into()
            }
        }
        other => other,
    }
}

/// What the caller is told.
fn told(rules: ErrorRules, error: Error) -> RpcError {
    if let Error::Internal(source) = &error {
        tracing::error!(error = %source, "a method failed");
    }
    match rules.answer(&error, Asked::Other) {
        Answer::Rpc(error) => error,
        // Every error is a code here.
        _ => RpcError::internal("Internal error"),
    }
}

/// The same work, whose panic is an error of ours and nobody else's.
async fn caught(mut work: Working<Raw>) -> Result<Raw, Error> {
    std::future::poll_fn(move |cx| match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(cx))) {
        Ok(polled) => polled,
        Err(_) => Poll::Ready(Err(Error::internal("the method panicked"))),
    })
    .await
}
