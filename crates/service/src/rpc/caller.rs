//! Client of the plain JSON-RPC endpoint: calls methods by their Rust names.
//!
//! A call is one POST. Nothing is retried, every wait has a timeout and every response a size limit. Only an error of
//! the service about arguments carries a repair, never a transport error.

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

use super::http_status_error::HttpStatusError;
use super::method::RpcMethod;
use crate::client::{CallArguments, CallStream, ServiceEvent, ServiceEvents, service_events, stream};
use crate::lossy_channel::lossy_channel;
use crate::wire::{EVENTS_METHOD, EventNotification};
use crate::{Cx, EventReceiver, EventSink, FromOutput};

/// Receives notifications before the response.
type NotificationHandler = Box<dyn FnMut(&str, Raw) + Send>;

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const JSON_OR_EVENTS: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");
/// How much of an unexpected response body an error quotes.
const QUOTED_BYTES: usize = 512;

/// Calls the methods of a service over its plain JSON-RPC endpoint. Cheap to clone; clones share connections.
#[derive(Clone)]
pub struct RpcCaller {
    design: Arc<Design>,
    http: HttpClient,
    address: Address,
    headers: HeaderMap,
    authorizer: Option<Arc<dyn Authorizer>>,
    timeout: Duration,
    max_bytes: usize,
    ids: Arc<AtomicI64>,
}

impl RpcCaller {
    /// Creates a caller for the service at `url`. Plain http is allowed on loopback only; see [`Self::at`] for
    /// others.
    ///
    /// # Errors
    /// When the URL is invalid.
    pub fn new(url: &str, design: Arc<Design>) -> Result<Self, Error> {
        let address = Address::parse(url, PlainHttp::LoopbackOnly)?;
        Ok(Self::at(address, HttpClient::new(HttpClientOptions::from_environment())?, design))
    }

    /// Creates a caller with a configured HTTP client, which has the TLS roots, proxies and connection pool.
    pub fn at(address: Address, http: HttpClient, design: Arc<Design>) -> Self {
        Self {
            design,
            http,
            address,
            headers: HeaderMap::new(),
            authorizer: None,
            timeout: Duration::from_secs(60),
            max_bytes: 16 * 1024 * 1024,
            ids: Arc::new(AtomicI64::new(1)),
        }
    }

    /// Sends this header with every call.
    #[must_use]
    pub fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    /// Sets the source of credentials.
    #[must_use]
    pub fn with_authorizer(mut self, authorizer: Arc<dyn Authorizer>) -> Self {
        self.authorizer = Some(authorizer);
        self
    }

    /// Sets the default timeout of a call: 60 seconds unless set.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets the maximum size of a response, and of each event before it: 16 MiB unless set.
    #[must_use]
    pub fn with_max_bytes(mut self, max_bytes: usize) -> Self {
        self.max_bytes = max_bytes;
        self
    }

    /// Returns the design of the service.
    pub fn design(&self) -> &Arc<Design> {
        &self.design
    }

    /// Calls a method.
    ///
    /// # Errors
    /// An error of the service or the connection.
    ///
    /// # Cancellation
    /// Dropping the future closes the connection, which cancels the call.
    pub async fn method<T: FromOutput, E: ServiceError>(
        &self,
        rust_name: &str,
        args: CallArguments,
        cx: Option<&Cx>,
    ) -> Result<T, E> {
        let finish =
            |json: Result<Raw, Error>| json.and_then(|json| T::from_json(&json)).map_err(E::from_error);
        self.method_with(rust_name, args, cx, finish).await
    }

    /// Calls a method and converts its result with `finish`. For generated code, which checks the bounds of the
    /// author's types in `rt::method_types` only.
    #[doc(hidden)]
    pub async fn method_with<T, E>(
        &self,
        rust_name: &str,
        args: CallArguments,
        cx: Option<&Cx>,
        finish: impl FnOnce(Result<Raw, Error>) -> Result<T, E>,
    ) -> Result<T, E> {
        finish(self.call(rust_name, args, cx, None).await)
    }

    /// Calls a streaming tool; its events go to the sink.
    ///
    /// # Errors
    /// As [`Self::method`].
    pub async fn streaming<T: FromOutput, E: ServiceError>(
        &self,
        rust_name: &str,
        args: CallArguments,
        cx: Option<&Cx>,
        events: EventSink,
    ) -> Result<T, E> {
        let finish =
            |json: Result<Raw, Error>| json.and_then(|json| T::from_json(&json)).map_err(E::from_error);
        self.streaming_with(rust_name, args, cx, events, finish).await
    }

    /// Calls a streaming tool and converts its result with `finish`. For generated code, as [`Self::method_with`].
    #[doc(hidden)]
    pub async fn streaming_with<T, E>(
        &self,
        rust_name: &str,
        args: CallArguments,
        cx: Option<&Cx>,
        events: EventSink,
        finish: impl FnOnce(Result<Raw, Error>) -> Result<T, E>,
    ) -> Result<T, E> {
        finish(self.call(rust_name, args, cx, Some(Box::new(stream::notification_handler(events)))).await)
    }

    /// Fails: the plain endpoint does not serve subscriptions, completions and internal methods.
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

    /// Calls a method with JSON arguments.
    ///
    /// # Errors
    /// As [`Self::method`].
    pub async fn call_raw(&self, rust_name: &str, args: serde_json::Value) -> Result<Raw, Error> {
        self.call_json(rust_name, &Raw::from(args), None, None).await
    }

    /// Subscribes to one event of the service by its name in the design, until the stream is dropped. Events are read
    /// from the connection while they are received.
    ///
    /// # Errors
    /// When the design has no such event.
    pub async fn events<T: DeserializeOwned + Send + 'static>(
        &self,
        name: &str,
    ) -> Result<ServiceEvents<T>, Error> {
        service_events::check_event_exists(&self.design, name)?;
        Ok(self.listen(service_events::decode_named(name)).await)
    }

    /// Subscribes to all events of the service.
    pub async fn listen_events(&self) -> ServiceEvents<ServiceEvent> {
        self.listen(service_events::decode_any).await
    }

    async fn listen<T: Send + 'static>(
        &self,
        decode: impl FnMut(EventNotification) -> Option<Result<T, Error>> + Send + 'static,
    ) -> ServiceEvents<T> {
        let (sender, receiver) = lossy_channel(stream::EVENT_BUFFER);
        let (caller, on_notification) =
            (self.clone(), Box::new(service_events::notification_handler(sender, decode)));
        let work = Box::pin(async move {
            let no_args = Raw::empty_object();
            let ended = caller.exchange(EVENTS_METHOD, &no_args, Some(on_notification)).await?;
            ended.map(drop).map_err(|error| caller.convert_error(EVENTS_METHOD, &no_args, error))
        });
        let mut stream = CallStream::new(EventReceiver::new(receiver), work);
        stream.poll_once().await;
        ServiceEvents::new(stream)
    }

    /// Publishes an event of the service to all listeners, where the server accepts that from clients.
    ///
    /// # Errors
    /// When the server rejects it, or the payload is invalid.
    pub async fn notify(&self, name: &str, payload: &(impl Serialize + ?Sized)) -> Result<(), Error> {
        let (method, params) = service_events::publish_request(&self.design, name, payload)?;
        self.call_json(&method, &params, None, None).await.map(drop)
    }

    async fn call(
        &self,
        rust_name: &str,
        args: CallArguments,
        cx: Option<&Cx>,
        on_notification: Option<NotificationHandler>,
    ) -> Result<Raw, Error> {
        let method = RpcMethod::find(&self.design, rust_name);
        let args = args.into_raw_with(|name| method.is_some_and(|method| method.requires(name)))?;
        self.call_json(rust_name, &args, cx, on_notification).await
    }

    async fn call_json(
        &self,
        rust_name: &str,
        args: &Raw,
        cx: Option<&Cx>,
        on_notification: Option<NotificationHandler>,
    ) -> Result<Raw, Error> {
        let timeout = cx.and_then(Cx::options).and_then(|options| options.timeout).unwrap_or(self.timeout);
        let response = tokio::time::timeout(timeout, self.exchange(rust_name, args, on_notification));
        match response.await.map_err(|_| Error::Timeout)?? {
            Ok(result) => Ok(result),
            Err(error) => Err(self.convert_error(rust_name, args, error)),
        }
    }

    /// Converts an error response. An invalid-arguments error gets a repair.
    fn convert_error(&self, rust_name: &str, args: &Raw, error: RpcError) -> Error {
        let repair = |message: &str| {
            let repair = RpcMethod::find(&self.design, rust_name)?.repair(&self.design, message);
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

    /// Sends one POST and reads its response.
    async fn exchange(
        &self,
        rust_name: &str,
        args: &Raw,
        on_notification: Option<NotificationHandler>,
    ) -> Result<Result<Raw, RpcError>, Error> {
        let id = RequestId::Number(self.ids.fetch_add(1, Ordering::Relaxed));
        let method = format!("{}.{rust_name}", self.design.name);
        let accept = if on_notification.is_some() { JSON_OR_EVENTS } else { JSON };
        let request = self.request(&id, &method, args, accept)?;
        let sent = match &self.authorizer {
            Some(authorizer) => self.http.send_authorized(request, &**authorizer).await,
            None => self.http.send(request).await,
        };
        let response = sent.map_err(transport_error)?;
        if is_events(&response) {
            return self.read_event_stream(response.body, &id, on_notification).await;
        }
        let status = response.status;
        let body = response.body.collect(self.max_bytes).await.map_err(transport_error)?;
        match jsonrpc::parse(body.clone()) {
            Ok(Message::Single(Envelope::Response(answer)))
                if answer.id.as_ref().is_none_or(|known| *known == id) =>
            {
                match answer.outcome {
                    // Rejected by the HTTP layer, which does not know the method.
                    Err(error) if !status.is_success() && answer.id.is_none() => {
                        Err(Error::Transport(Box::new(HttpStatusError::new(status.as_u16(), error.message))))
                    }
                    outcome => Ok(outcome),
                }
            }
            _ if !status.is_success() => {
                let text = String::from_utf8_lossy(&body[..body.len().min(QUOTED_BYTES)]).into_owned();
                Err(Error::Transport(Box::new(HttpStatusError::new(status.as_u16(), text))))
            }
            Ok(_) => Err(malformed("not a response to this call")),
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
        struct JsonRpcRequest<'a> {
            jsonrpc: &'static str,
            id: &'a RequestId,
            method: &'a str,
            params: &'a Raw,
        }
        let body = Raw::encode(&JsonRpcRequest { jsonrpc: "2.0", id, method, params })?;
        // The timeout of the whole call applies instead.
        let timeouts = Timeouts::default().with_headers(None).with_idle(None);
        let mut request = Request::new(http::Method::POST, self.address.clone())
            .with_body(body.as_bytes().clone())
            .with_timeouts(timeouts);
        request.headers.clone_from(&self.headers);
        request.headers.insert(CONTENT_TYPE, JSON);
        request.headers.insert(ACCEPT, accept);
        Ok(request)
    }

    /// Reads an event stream until the response arrives.
    async fn read_event_stream(
        &self,
        mut body: Body,
        id: &RequestId,
        mut on_notification: Option<NotificationHandler>,
    ) -> Result<Result<Raw, RpcError>, Error> {
        let mut decoder = Decoder::new().with_limit(self.max_bytes);
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
                        if let (Some(on_notification), Some(params)) = (&mut on_notification, note.params) {
                            on_notification(&note.method, params);
                        }
                    }
                    Ok(_) => {}
                    Err(error) => return Err(malformed(error.to_string())),
                }
            }
            match body.chunk().await {
                Some(chunk) => decoder.push(chunk.map_err(transport_error)?),
                None => {
                    return Err(Error::Transport(Box::new(HttpStatusError::new(
                        200,
                        "the stream ended before the response",
                    ))));
                }
            }
        }
    }
}

fn is_events(response: &Response) -> bool {
    let media = response.headers.get(CONTENT_TYPE).and_then(|media| media.to_str().ok()).unwrap_or_default();
    media.split(';').next().is_some_and(|media| media.trim().eq_ignore_ascii_case("text/event-stream"))
}

fn transport_error(error: HttpError) -> Error {
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
