//! Link decorator that reports every message to an observer. An HTTP link has no frames to tap, so this observes the
//! messages of the session, without headers, and the errors of exchanges.

use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use serde::Serialize;
use switchboard::protocol::{Raw, RequestId, RpcError};
use switchboard::transport::link::{
    Agreement, BoxFuture, CloseOutcome, Counters, DialStep, Exchange, ExchangeEvent, Inbound, InboundMessage,
    InboundNotification, Link, OneWayMessage, OutgoingRequest, OwnedExchange, PeerHint, Upcall,
};
use switchboard::transport::{Dial, Direction, LinkError};
use tokio::task::AbortHandle;

/// Buffer for server messages between the link and the session.
const RELAY_BUFFER: usize = 1024;

/// Callback for every message.
pub(crate) type MessageObserver = Arc<dyn Fn(Direction, &[u8]) + Send + Sync>;

/// Dialer whose links report their messages to an observer.
pub(crate) struct TappedDialer<D> {
    pub(crate) dial: D,
    pub(crate) observer: MessageObserver,
    pub(crate) scope: TapScope,
}

/// Messages that are observed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TapScope {
    /// Requests and their responses.
    Exchanges,
    /// Also messages initiated by the server, which costs a relay task.
    Everything,
}

impl<D: Dial> Dial for TappedDialer<D> {
    fn probe_may_kill_server(&self) -> bool {
        self.dial.probe_may_kill_server()
    }

    fn has_oldest(&self) -> bool {
        self.dial.has_oldest()
    }

    fn dial(
        &self,
        step: DialStep,
        previous: Option<Arc<dyn Link>>,
    ) -> BoxFuture<'_, Result<Arc<dyn Link>, LinkError>> {
        Box::pin(async move {
            let reused = previous.clone();
            let link = self
                .dial
                .dial(step, previous)
                .await
                .inspect_err(|error| observe_error(&self.observer, error))?;
            // A link that is returned again is already decorated.
            if reused.is_some_and(|reused| std::ptr::addr_eq(Arc::as_ptr(&reused), Arc::as_ptr(&link))) {
                return Ok(link);
            }
            let tapped: Arc<dyn Link> = Arc::new(TappedLink {
                link,
                observer: Arc::clone(&self.observer),
                scope: self.scope,
                relay: Mutex::default(),
            });
            Ok(tapped)
        })
    }
}

/// A link that shows every message to an observer.
struct TappedLink {
    link: Arc<dyn Link>,
    observer: MessageObserver,
    scope: TapScope,
    /// The relay task for messages of the server. A std mutex: held for a swap, never across an await.
    relay: Mutex<Option<AbortHandle>>,
}

impl Link for TappedLink {
    fn open(&self, ask: OutgoingRequest<'_>) -> Exchange {
        let id = ask.id.clone();
        let params = Raw::parse(ask.params.to_owned()).ok();
        observe(&self.observer, Direction::Out, &TracedMessage::call(Some(&id), ask.method, params.as_ref()));
        let exchange = self.link.open(ask);
        Exchange::Owned(Box::pin(TappedExchange {
            exchange,
            observer: Arc::clone(&self.observer),
            id,
            is_over: false,
        }))
    }

    fn post(&self, post: OneWayMessage<'_>) -> Result<(), LinkError> {
        match &post {
            OneWayMessage::Notification { method, params } => {
                let params = params.and_then(|params| Raw::parse(params.to_owned()).ok());
                observe(&self.observer, Direction::Out, &TracedMessage::call(None, method, params.as_ref()));
            }
            OneWayMessage::Response { id, outcome } => {
                observe(&self.observer, Direction::Out, &TracedMessage::answer(id, *outcome))
            }
        }
        self.link.post(post)
    }

    fn inbound(&self) -> Option<Inbound> {
        let mut inbound = self.link.inbound()?;
        if self.scope == TapScope::Exchanges {
            return Some(inbound);
        }
        let (sender, relayed) = Inbound::channel(RELAY_BUFFER);
        let observer = Arc::clone(&self.observer);
        let relay = tokio::spawn(async move {
            while let Some(inward) = inbound.next().await {
                match &inward {
                    InboundMessage::Notification(note) => observe_note(&observer, note),
                    InboundMessage::Upcall(upcall) => observe_upcall(&observer, upcall),
                }
                sender.send(inward);
            }
            sender.close();
        });
        if let Ok(mut kept) = self.relay.lock() {
            *kept = Some(relay.abort_handle());
        }
        Some(relayed)
    }

    fn close(&self, within: Duration) -> BoxFuture<'_, CloseOutcome> {
        self.link.close(within)
    }

    fn close_detached(&self, within: Duration) -> BoxFuture<'_, CloseOutcome> {
        self.link.close_detached(within)
    }

    fn agreed(&self, agreement: Agreement) {
        self.link.agreed(agreement);
    }

    fn hint(&self) -> Option<PeerHint> {
        self.link.hint()
    }

    fn check_schema(&self, schema: &Raw) -> Result<(), String> {
        self.link.check_schema(schema)
    }

    fn ended(&self) -> Option<LinkError> {
        self.link.ended()
    }

    fn counters(&self) -> Option<Arc<Counters>> {
        self.link.counters()
    }
}

impl Drop for TappedLink {
    fn drop(&mut self) {
        if let Some(relay) = self.relay.get_mut().ok().and_then(Option::take) {
            relay.abort();
        }
    }
}

/// Exchange that reports its events to the observer.
struct TappedExchange {
    exchange: Exchange,
    observer: MessageObserver,
    id: RequestId,
    is_over: bool,
}

impl OwnedExchange for TappedExchange {
    fn poll_event(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<ExchangeEvent, LinkError>> {
        let this = self.get_mut();
        let polled = this.exchange.poll_event(cx);
        match &polled {
            Poll::Pending => {}
            Poll::Ready(Ok(ExchangeEvent::Notification(note))) => observe_note(&this.observer, note),
            Poll::Ready(Ok(ExchangeEvent::Upcall(upcall))) => observe_upcall(&this.observer, upcall),
            // The session gets it too, and is observed there.
            Poll::Ready(Ok(ExchangeEvent::Observed(_) | ExchangeEvent::ObservedByAll(_))) => {}
            Poll::Ready(Ok(ExchangeEvent::Done(outcome))) => {
                this.is_over = true;
                observe(&this.observer, Direction::In, &TracedMessage::answer(&this.id, outcome.as_ref()));
            }
            Poll::Ready(Err(error)) => {
                this.is_over = true;
                observe_error(&this.observer, error);
            }
        }
        polled
    }
}

impl Drop for TappedExchange {
    fn drop(&mut self) {
        if !self.is_over {
            (self.observer)(Direction::Out, format!("(request {} was cancelled)", self.id).as_bytes());
        }
    }
}

/// JSON-RPC message, as written to the trace.
#[derive(Serialize)]
struct TracedMessage<'a> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a RequestId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    params: Option<&'a Raw>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a Raw>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a RpcError>,
}

impl<'a> TracedMessage<'a> {
    const EMPTY: Self =
        Self { jsonrpc: "2.0", id: None, method: None, params: None, result: None, error: None };

    fn call(id: Option<&'a RequestId>, method: &'a str, params: Option<&'a Raw>) -> Self {
        Self { id, method: Some(method), params, ..Self::EMPTY }
    }

    fn answer(id: &'a RequestId, outcome: Result<&'a Raw, &'a RpcError>) -> Self {
        Self { id: Some(id), result: outcome.ok(), error: outcome.err(), ..Self::EMPTY }
    }
}

fn observe(observer: &MessageObserver, direction: Direction, message: &TracedMessage<'_>) {
    if let Ok(text) = serde_json::to_vec(message) {
        observer(direction, &text);
    }
}

fn observe_note(observer: &MessageObserver, note: &InboundNotification) {
    observe(observer, Direction::In, &TracedMessage::call(None, &note.method, note.params.as_ref()));
}

fn observe_upcall(observer: &MessageObserver, upcall: &Upcall) {
    observe(
        observer,
        Direction::In,
        &TracedMessage::call(Some(&upcall.id), &upcall.method, upcall.params.as_ref()),
    );
}

/// Reports an error in place of a message.
fn observe_error(observer: &MessageObserver, error: &LinkError) {
    observer(Direction::In, format!("({error})").as_bytes());
}
