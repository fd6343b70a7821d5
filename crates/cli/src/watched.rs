//! Links whose messages are seen as they go by. Over HTTP there are no frames to look at, so this looks at what the
//! session says and hears: every message, none of the headers, and why an exchange failed.

use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use serde::Serialize;
use switchboard::protocol::RequestId;
use switchboard::session::link::{
    Agreement, BoxFuture, CloseOutcome, Counters, DialStep, Exchange, ExchangeEvent, Inbound, InboundMessage,
    InboundNotification, Link, OneWayMessage, OutgoingRequest, OwnedExchange, PeerHint, Upcall,
};
use switchboard::{Dial, Direction, LinkError, Raw, RpcError};
use tokio::task::AbortHandle;

/// Notes of the server that may wait between being seen and being heard.
const LANE: usize = 1024;

/// Is shown every message.
pub(crate) type See = Arc<dyn Fn(Direction, &[u8]) + Send + Sync>;

/// Opens links and looks at what they carry.
pub(crate) struct Watched<D> {
    dial: D,
    see: See,
    scope: Scope,
}

/// How much is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// What is asked and answered.
    Exchanges,
    /// What the server says by itself as well, at the price of a task between it and its hearer.
    Everything,
}

impl<D: Dial> Watched<D> {
    pub(crate) fn new(dial: D, see: See, scope: Scope) -> Self {
        Self { dial, see, scope }
    }
}

impl<D: Dial> Dial for Watched<D> {
    fn probe_may_kill_server(&self) -> bool {
        self.dial.probe_may_kill_server()
    }

    fn has_oldest(&self) -> bool {
        self.dial.has_oldest()
    }

    fn dial(
        &self,
        rung: DialStep,
        previous: Option<Arc<dyn Link>>,
    ) -> BoxFuture<'_, Result<Arc<dyn Link>, LinkError>> {
        Box::pin(async move {
            let given = previous.clone();
            let link = self.dial.dial(rung, previous).await.inspect_err(|error| tell(&self.see, error))?;
            // One that is handed back is watched already.
            if given.is_some_and(|given| std::ptr::addr_eq(Arc::as_ptr(&given), Arc::as_ptr(&link))) {
                return Ok(link);
            }
            let watched: Arc<dyn Link> = Arc::new(Watching {
                link,
                see: Arc::clone(&self.see),
                scope: self.scope,
                relay: Mutex::default(),
            });
            Ok(watched)
        })
    }
}

struct Watching {
    link: Arc<dyn Link>,
    see: See,
    scope: Scope,
    /// The task between the server and who hears it. A std mutex: held for a swap, never across an await.
    relay: Mutex<Option<AbortHandle>>,
}

impl Link for Watching {
    fn open(&self, ask: OutgoingRequest<'_>) -> Exchange {
        let id = ask.id.clone();
        let params = Raw::parse(ask.params.to_owned()).ok();
        show(&self.see, Direction::Out, &Message::call(Some(&id), ask.method, params.as_ref()));
        let exchange = self.link.open(ask);
        Exchange::Owned(Box::pin(Seen { exchange, see: Arc::clone(&self.see), id, is_over: false }))
    }

    fn post(&self, post: OneWayMessage<'_>) -> Result<(), LinkError> {
        match &post {
            OneWayMessage::Notification { method, params } => {
                let params = params.and_then(|params| Raw::parse(params.to_owned()).ok());
                show(&self.see, Direction::Out, &Message::call(None, method, params.as_ref()));
            }
            OneWayMessage::Response { id, outcome } => {
                show(&self.see, Direction::Out, &Message::answer(id, *outcome))
            }
        }
        self.link.post(post)
    }

    fn inbound(&self) -> Option<Inbound> {
        let mut inbound = self.link.inbound()?;
        if self.scope == Scope::Exchanges {
            return Some(inbound);
        }
        let (sender, seen) = Inbound::channel(LANE);
        let see = Arc::clone(&self.see);
        let relay = tokio::spawn(async move {
            while let Some(inward) = inbound.next().await {
                match &inward {
                    InboundMessage::Notification(note) => show_note(&see, note),
                    InboundMessage::Upcall(upcall) => show_upcall(&see, upcall),
                }
                sender.send(inward);
            }
            sender.close();
        });
        if let Ok(mut kept) = self.relay.lock() {
            *kept = Some(relay.abort_handle());
        }
        Some(seen)
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

impl Drop for Watching {
    fn drop(&mut self) {
        if let Some(relay) = self.relay.get_mut().ok().and_then(Option::take) {
            relay.abort();
        }
    }
}

/// An exchange that is looked at.
struct Seen {
    exchange: Exchange,
    see: See,
    id: RequestId,
    is_over: bool,
}

impl OwnedExchange for Seen {
    fn poll_event(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<ExchangeEvent, LinkError>> {
        let this = self.get_mut();
        let polled = this.exchange.poll_event(cx);
        match &polled {
            Poll::Pending => {}
            Poll::Ready(Ok(ExchangeEvent::Notification(note))) => show_note(&this.see, note),
            Poll::Ready(Ok(ExchangeEvent::Upcall(upcall))) => show_upcall(&this.see, upcall),
            Poll::Ready(Ok(ExchangeEvent::Done(outcome))) => {
                this.is_over = true;
                show(&this.see, Direction::In, &Message::answer(&this.id, outcome.as_ref()));
            }
            Poll::Ready(Err(error)) => {
                this.is_over = true;
                tell(&this.see, error);
            }
        }
        polled
    }
}

impl Drop for Seen {
    fn drop(&mut self) {
        if !self.is_over {
            (self.see)(Direction::Out, format!("(request {} is given up)", self.id).as_bytes());
        }
    }
}

/// A message as it is written.
#[derive(Serialize)]
struct Message<'a> {
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

impl<'a> Message<'a> {
    const EMPTY: Self =
        Self { jsonrpc: "2.0", id: None, method: None, params: None, result: None, error: None };

    fn call(id: Option<&'a RequestId>, method: &'a str, params: Option<&'a Raw>) -> Self {
        Self { id, method: Some(method), params, ..Self::EMPTY }
    }

    fn answer(id: &'a RequestId, outcome: Result<&'a Raw, &'a RpcError>) -> Self {
        Self { id: Some(id), result: outcome.ok(), error: outcome.err(), ..Self::EMPTY }
    }
}

fn show(see: &See, way: Direction, message: &Message<'_>) {
    if let Ok(text) = serde_json::to_vec(message) {
        see(way, &text);
    }
}

fn show_note(see: &See, note: &InboundNotification) {
    show(see, Direction::In, &Message::call(None, &note.method, note.params.as_ref()));
}

fn show_upcall(see: &See, upcall: &Upcall) {
    show(see, Direction::In, &Message::call(Some(&upcall.id), &upcall.method, upcall.params.as_ref()));
}

/// What is no message: why there is none.
fn tell(see: &See, error: &LinkError) {
    see(Direction::In, format!("({error})").as_bytes());
}
