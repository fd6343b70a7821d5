//! Calls the methods of a service over its plain endpoint, by their names in Rust.
//!
//! A call is one POST. Nothing is sent twice, every wait ends and every answer has a largest size. Only what the service
//! says of arguments may be repaired; what happens on the way is never a matter of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue};
use serde::Serialize;
use serde::de::DeserializeOwned;
use switchboard_design::{Design, Error, ServiceError};
use switchboard_http::{
    Address, Authorizer, Body, HttpClient, HttpClientOptions, HttpError, PlainHttp, Request, Response,
    Timeouts,
};
use switchboard_protocol::jsonrpc::{self, Envelope, Message};
use switchboard_protocol::{DecodeError, ErrorCode, Raw, RequestId, RpcError};
use switchboard_transport::sse::{Decoder, SseItem};

use super::method::Method;
use super::refusal::Refused;
use crate::client::{Arguments, CallStream, ServiceEvent, ServiceEvents, listening, stream};
use crate::lane::lane;
use crate::wire::{EVENTS_METHOD, EventNote};
use crate::{Cx, EventReceiver, EventSink, FromOutput};

/// Hears what is said before an answer.
type Hears = Box<dyn FnMut(&str, Raw) + Send>;

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const EVENTS_TOO: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");
/// How much of an answer that makes no sense is told.
const SHOWN: usize = 512;

/// Calls the methods of a service over its plain endpoint. Cheap to clone; clones share connections.
#[derive(Clone)]
pub struct RpcCaller {
    design: Arc<Design>,
    http: HttpClient,
    address: Address,
    headers: HeaderMap,
    authorizer: Option<Arc<dyn Authorizer>>,
    timeout: Duration,
    most_bytes: usize,
    ids: Arc<AtomicI64>,
}

impl RpcCaller {
    /// Calls the service at this address. Plain http is used on this machine only; [`Self::at`] takes others.
    ///
    /// # Errors
    /// When the address is no good; it says what to write instead.
    pub fn new(url: &str, design: Arc<Design>) -> Result<Self, Error> {
        let address = Address::parse(url, PlainHttp::LoopbackOnly)?;
        Ok(Self::at(address, HttpClient::new(HttpClientOptions::from_environment())?, design))
    }

    /// Calls the service at this address through this client, which has the certificates, proxies and connections.
    pub fn at(address: Address, http: HttpClient, design: Arc<Design>) -> Self {
        Self {
            design,
            http,
            address,
            headers: HeaderMap::new(),
            authorizer: None,
            timeout: Duration::from_secs(60),
            most_bytes: 16 * 1024 * 1024,
            ids: Arc::new(AtomicI64::new(1)),
        }
    }

    /// Sends this header with every call.
    #[must_use]
    pub fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    /// Asks this for credentials.
    #[must_use]
    pub fn with_authorizer(mut self, authorizer: Arc<dyn Authorizer>) -> Self {
        self.authorizer = Some(authorizer);
        self
    }

    /// How long a call may take in all, unless it says otherwise itself: 60 seconds unless set.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// How large an answer may be, and each event before it: 16 MiB unless set.
    #[must_use]
    pub fn with_most_bytes(mut self, most_bytes: usize) -> Self {
        self.most_bytes = most_bytes;
        self
    }

    /// What the service is.
    pub fn design(&self) -> &Arc<Design> {
        &self.design
    }

    /// Calls a method.
    ///
    /// # Errors
    /// What the service or the connection says.
    ///
    /// # Cancellation
    /// Dropping the future hangs up, which cancels the call.
    pub async fn method<T: FromOutput, E: ServiceError>(
        &self,
        rust_name: &str,
        args: Arguments,
        cx: Option<&Cx>,
    ) -> Result<T, E> {
        let finish =
            |json: Result<Raw, Error>| json.and_then(|json| T::from_json(&json)).map_err(E::from_error);
        self.method_with(rust_name, args, cx, finish).await
    }

    /// Calls a method and converts its answer with `finish`. For generated code, which checks the bounds of an author's
    /// types in `rt::method_types` and nowhere else.
    #[doc(hidden)]
    pub async fn method_with<T, E>(
        &self,
        rust_name: &str,
        args: Arguments,
        cx: Option<&Cx>,
        finish: impl FnOnce(Result<Raw, Error>) -> Result<T, E>,
    ) -> Result<T, E> {
        finish(self.call(rust_name, args, cx, None).await)
    }

    /// Calls a streaming tool, whose events go to the sink.
    ///
    /// # Errors
    /// As [`Self::method`].
    pub async fn streaming<T: FromOutput, E: ServiceError>(
        &self,
        rust_name: &str,
        args: Arguments,
        cx: Option<&Cx>,
        events: EventSink,
    ) -> Result<T, E> {
        let finish =
            |json: Result<Raw, Error>| json.and_then(|json| T::from_json(&json)).map_err(E::from_error);
        self.streaming_with(rust_name, args, cx, events, finish).await
    }

    /// Calls a streaming tool and converts its answer with `finish`. For generated code, as [`Self::method_with`].
    #[doc(hidden)]
    pub async fn streaming_with<T, E>(
        &self,
        rust_name: &str,
        args: Arguments,
        cx: Option<&Cx>,
        events: EventSink,
        finish: impl FnOnce(Result<Raw, Error>) -> Result<T, E>,
    ) -> Result<T, E> {
        finish(self.call(rust_name, args, cx, Some(Box::new(stream::hearing(events)))).await)
    }

    /// What a method answers that no plain endpoint serves: subscriptions, completions and what is internal.
    ///
    /// # Errors
    /// Always.
    pub async fn unmapped<T, E: ServiceError>(&self, rust_name: &str) -> Result<T, E> {
        self.unmapped_with(rust_name, E::from_error).await
    }

    /// Fails with an error that `from_error` converts. For generated code, as [`Self::method_with`].
    #[doc(hidden)]
    pub async fn unmapped_with<T, E>(
        &self,
        rust_name: &str,
        from_error: impl FnOnce(Error) -> E,
    ) -> Result<T, E> {
        Err(from_error(Error::Unmapped { method: rust_name.to_owned() }))
    }

    /// Calls a method with arguments that are JSON.
    ///
    /// # Errors
    /// As [`Self::method`].
    pub async fn call_raw(&self, rust_name: &str, args: serde_json::Value) -> Result<Raw, Error> {
        self.ask(rust_name, &Raw::from(args), None, None).await
    }

    /// Listens for one of the service's events, by its name in the design, until it is dropped. The events arrive while
    /// they are received.
    ///
    /// # Errors
    /// When the design has no such event.
    pub async fn events<T: DeserializeOwned + Send + 'static>(
        &self,
        name: &str,
    ) -> Result<ServiceEvents<T>, Error> {
        listening::check_known(&self.design, name)?;
        Ok(self.listen(listening::only(name)).await)
    }

    /// Listens for all of the service's events.
    pub async fn listen_events(&self) -> ServiceEvents<ServiceEvent> {
        self.listen(listening::any).await
    }

    async fn listen<T: Send + 'static>(
        &self,
        read: impl FnMut(EventNote) -> Option<Result<T, Error>> + Send + 'static,
    ) -> ServiceEvents<T> {
        let (sender, receiver) = lane(stream::WAITING);
        let (caller, hears) = (self.clone(), Box::new(listening::hearing(sender, read)));
        let work = Box::pin(async move {
            let none = Raw::empty_object();
            let ended = caller.exchange(EVENTS_METHOD, &none, Some(hears)).await?;
            ended.map(drop).map_err(|error| caller.told(EVENTS_METHOD, &none, error))
        });
        let mut stream = CallStream::of(EventReceiver::of(receiver), work);
        stream.begin().await;
        ServiceEvents::new(stream)
    }

    /// Publishes one of the service's events to all who listen, where the server accepts that from callers.
    ///
    /// # Errors
    /// When the server does not, or the event does not fit.
    pub async fn notify(&self, name: &str, payload: &(impl Serialize + ?Sized)) -> Result<(), Error> {
        let (method, params) = listening::published(&self.design, name, payload)?;
        self.ask(&method, &params, None, None).await.map(drop)
    }

    async fn call(
        &self,
        rust_name: &str,
        args: Arguments,
        cx: Option<&Cx>,
        hears: Option<Hears>,
    ) -> Result<Raw, Error> {
        let method = Method::find(&self.design, rust_name);
        let args = args.into_raw_with(|name| method.is_some_and(|method| method.requires(name)))?;
        self.ask(rust_name, &args, cx, hears).await
    }

    async fn ask(
        &self,
        rust_name: &str,
        args: &Raw,
        cx: Option<&Cx>,
        hears: Option<Hears>,
    ) -> Result<Raw, Error> {
        let within = cx.and_then(Cx::options).and_then(|options| options.timeout).unwrap_or(self.timeout);
        let asked = tokio::time::timeout(within, self.exchange(rust_name, args, hears));
        match asked.await.map_err(|_| Error::Timeout)?? {
            Ok(result) => Ok(result),
            Err(error) => Err(self.told(rust_name, args, error)),
        }
    }

    /// What an error of the service means.
    fn told(&self, rust_name: &str, args: &Raw, error: RpcError) -> Error {
        let repair = |message: &str| {
            let repair = Method::find(&self.design, rust_name)?.repair(&self.design, message);
            Some(match args.decode::<serde_json::Value>() {
                Ok(prior) => repair.with_prior(prior),
                Err(_) => repair,
            })
        };
        match Error::from_rpc(error, repair) {
            Error::Rpc(error) if error.code == ErrorCode::METHOD_NOT_FOUND => {
                Error::MethodNotFound { method: rust_name.to_owned() }
            }
            other => other,
        }
    }

    /// One POST and its answer.
    async fn exchange(
        &self,
        rust_name: &str,
        args: &Raw,
        hears: Option<Hears>,
    ) -> Result<Result<Raw, RpcError>, Error> {
        let id = RequestId::Number(self.ids.fetch_add(1, Ordering::Relaxed));
        let method = format!("{}.{rust_name}", self.design.name);
        let accept = if hears.is_some() { EVENTS_TOO } else { JSON };
        let request = self.request(&id, &method, args, accept)?;
        let sent = match &self.authorizer {
            Some(authorizer) => self.http.send_authorized(request, &**authorizer).await,
            None => self.http.send(request).await,
        };
        let response = sent.map_err(broken)?;
        if is_events(&response) {
            return self.hear(response.body, &id, hears).await;
        }
        let status = response.status;
        let body = response.body.collect(self.most_bytes).await.map_err(broken)?;
        match jsonrpc::parse(body.clone()) {
            Ok(Message::Single(Envelope::Response(answer)))
                if answer.id.as_ref().is_none_or(|known| *known == id) =>
            {
                match answer.outcome {
                    // Turned away at the door, which knows no method.
                    Err(error) if !status.is_success() && answer.id.is_none() => {
                        Err(Error::Transport(Box::new(Refused::new(status.as_u16(), error.message))))
                    }
                    outcome => Ok(outcome),
                }
            }
            _ if !status.is_success() => {
                let text = String::from_utf8_lossy(&body[..body.len().min(SHOWN)]).into_owned();
                Err(Error::Transport(Box::new(Refused::new(status.as_u16(), text))))
            }
            Ok(_) => Err(malformed("it is no answer to this call")),
            Err(error) => Err(malformed(error.to_string())),
        }
    }

    fn request(
        &self,
        id: &RequestId,
        method: &str,
        params: &Raw,
        accept: HeaderValue,
    ) -> Result<Request, Error> {
        #[derive(serde::Serialize)]
        struct Asked<'a> {
            jsonrpc: &'static str,
            id: &'a RequestId,
            method: &'a str,
            params: &'a Raw,
        }
        let body = Raw::encode(&Asked { jsonrpc: "2.0", id, method, params })?;
        // The whole call has a time; what it waits for does not matter.
        let timeouts = Timeouts::default().with_headers(None).with_idle(None);
        let mut request = Request::new(http::Method::POST, self.address.clone())
            .with_body(body.as_bytes().clone())
            .with_timeouts(timeouts);
        request.headers.clone_from(&self.headers);
        request.headers.insert(CONTENT_TYPE, JSON);
        request.headers.insert(ACCEPT, accept);
        Ok(request)
    }

    /// Hears events until the answer comes.
    async fn hear(
        &self,
        mut body: Body,
        id: &RequestId,
        mut hears: Option<Hears>,
    ) -> Result<Result<Raw, RpcError>, Error> {
        let mut decoder = Decoder::new().with_limit(self.most_bytes);
        loop {
            while let Some(item) = decoder.next_item() {
                let SseItem::Event(event) = item else { return Err(malformed("an event is too large")) };
                if event.name != "message" || event.data.is_empty() {
                    continue;
                }
                match jsonrpc::parse(event.data) {
                    Ok(Message::Single(Envelope::Response(answer)))
                        if answer.id.as_ref().is_none_or(|known| known == id) =>
                    {
                        return Ok(answer.outcome);
                    }
                    Ok(Message::Single(Envelope::Notification(note))) => {
                        if let (Some(hears), Some(params)) = (&mut hears, note.params) {
                            hears(&note.method, params);
                        }
                    }
                    Ok(_) => {}
                    Err(error) => return Err(malformed(error.to_string())),
                }
            }
            match body.chunk().await {
                Some(chunk) => decoder.push(chunk.map_err(broken)?),
                None => return Err(Error::Transport(Box::new(Refused::new(200, "the stream broke off")))),
            }
        }
    }
}

fn is_events(response: &Response) -> bool {
    let media = response.headers.get(CONTENT_TYPE).and_then(|media| media.to_str().ok()).unwrap_or_default();
    media.split(';').next().is_some_and(|media| media.trim().eq_ignore_ascii_case("text/event-stream"))
}

fn broken(error: HttpError) -> Error {
    match error {
        HttpError::Timeout { .. } => Error::Timeout,
        other => Error::Transport(Box::new(other)),
    }
}

fn malformed(reason: impl Into<String>) -> Error {
    Error::Malformed(DecodeError::mismatch("", reason))
}

impl std::fmt::Debug for RpcCaller {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RpcCaller").field("address", &self.address).finish_non_exhaustive()
    }
}
