//! Listening to a server, in the way of its era.

use std::sync::{Arc, Weak};
use std::time::Duration;

use switchboard_protocol::{Acknowledged, FromRaw, ListenFilter, ListenParams, Raw, SubscribeParams};

use tokio::sync::broadcast;

use crate::client::call::Call;
use crate::client::change_stream::{Change, ChangeStream, Hold, LANE, Subscription};
use crate::client::live::Live;
use crate::client::spawn::spawn;
use crate::era::{Extras, Hearing};
use crate::link::{Ask, Event, Exchange, Life, Note};
use crate::request::{CallError, TimeoutKind};

/// Subscriptions that are taken back when this is dropped.
#[derive(Debug)]
pub(crate) struct Subscribed {
    live: Weak<Live>,
    uris: Vec<String>,
}

impl Live {
    /// Begins to listen.
    pub(crate) async fn listen(self: &Arc<Self>, filter: ListenFilter) -> Result<Subscription, CallError> {
        if !filter.resource_subscriptions.is_empty() && !self.offers_subscriptions() {
            return Err(CallError::Unsupported { what: "resource subscriptions" });
        }
        match self.dialect.hearing() {
            Hearing::Standing => {
                // Taken before anything is subscribed to, so that no change is missed.
                let changes = ChangeStream { lane: self.changes.subscribe() };
                let hold = Hold::Resources(self.subscribe(&filter.resource_subscriptions).await?);
                Ok(Subscription { changes, accepted: filter, hold })
            }
            Hearing::OnRequest => self.open_stream(filter).await,
        }
    }

    /// Subscribes to each resource. What was subscribed to before a failure is taken back.
    async fn subscribe(self: &Arc<Self>, uris: &[String]) -> Result<Subscribed, CallError> {
        let mut subscribed = Subscribed { live: Arc::downgrade(self), uris: Vec::new() };
        for uri in uris {
            // Counted, because the server keeps one subscription for a resource, however many listen.
            if !self.subscribed.lock().contains_key(uri) {
                let params = Raw::encode(&SubscribeParams::new(uri.as_str()))?;
                self.call(Call::new("resources/subscribe", params.as_str()).within(self.limits().read))
                    .await?;
            }
            *self.subscribed.lock().entry(uri.clone()).or_default() += 1;
            subscribed.uris.push(uri.clone());
        }
        Ok(subscribed)
    }

    /// Opens a listen stream, and hears it in a task of its own.
    async fn open_stream(self: &Arc<Self>, filter: ListenFilter) -> Result<Subscription, CallError> {
        let (exchange, accepted) = self.listen_once(&filter).await?;
        self.listened(&accepted, Tally::Up);
        // Made before the task, so that the count goes down even if the task never runs.
        let heard = Heard { live: Arc::downgrade(self), wanted: filter, accepted: accepted.clone() };
        let (sender, lane) = broadcast::channel(LANE);
        let task = spawn(Box::pin(hear_stream(heard, exchange, sender)));
        Ok(Subscription { changes: ChangeStream { lane }, accepted, hold: Hold::Exchange(task) })
    }

    /// Opens a listen stream and waits for its acknowledgement.
    async fn listen_once(&self, filter: &ListenFilter) -> Result<(Exchange, ListenFilter), CallError> {
        let body = Raw::encode(&ListenParams::new(filter.clone()))?;
        let mut params = body.as_str().to_owned();
        self.dialect.dress(&mut params, &Extras::default());
        let mirror = self.mirror(None, None);
        let ask = Ask {
            id: self.next_id(),
            method: "subscriptions/listen",
            params: &params,
            mirror,
            life: Life::Listen,
        };
        let mut exchange = self.link.open(ask);
        let within: Duration = self.limits().read;
        let acknowledged =
            tokio::time::timeout(within, acknowledged(&mut exchange)).await.map_err(|_| {
                CallError::TimedOut { phase: TimeoutKind::Idle, after: within, hint: self.link.hint() }
            })??;
        Ok((exchange, acknowledged.notifications))
    }

    /// One listener less; true when it was the last for this resource.
    fn unsubscribed(&self, uri: &str) -> bool {
        let mut subscribed = self.subscribed.lock();
        let Some(count) = subscribed.get_mut(uri) else { return false };
        *count -= 1;
        let was_last = *count == 0;
        if was_last {
            subscribed.remove(uri);
        }
        was_last
    }

    fn listened(&self, accepted: &ListenFilter, tally: Tally) {
        // What may have changed before anybody listened is not known, nor what will when nobody does any more.
        self.forget_lists();
        let mut heard = self.heard_lists.lock();
        heard.tools = tally.count(heard.tools, accepted.tools_list_changed);
        heard.prompts = tally.count(heard.prompts, accepted.prompts_list_changed);
        heard.resources = tally.count(heard.resources, accepted.resources_list_changed);
    }
}

/// How many streams tell of each list.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct HeardLists {
    pub(crate) tools: usize,
    pub(crate) prompts: usize,
    pub(crate) resources: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Tally {
    Up,
    Down,
}

impl Tally {
    fn count(self, count: usize, applies: bool) -> usize {
        match (applies, self) {
            (false, _) => count,
            (true, Self::Up) => count + 1,
            (true, Self::Down) => count.saturating_sub(1),
        }
    }
}

async fn acknowledged(exchange: &mut Exchange) -> Result<Acknowledged, CallError> {
    loop {
        match exchange.event().await? {
            Event::Note(Note { method, params })
                if &*method == "notifications/subscriptions/acknowledged" =>
            {
                return Acknowledged::from_raw(&params.unwrap_or_else(Raw::empty_object))
                    .map_err(|error| CallError::protocol("subscriptions/listen", error));
            }
            Event::Done(Err(error)) => return Err(CallError::Remote(error)),
            Event::Done(Ok(_)) => return Err(CallError::Closed),
            Event::Note(_) | Event::Upcall(_) => {}
        }
    }
}

/// Takes the count of a stream back when its task ends, however it ends.
struct Heard {
    live: Weak<Live>,
    wanted: ListenFilter,
    accepted: ListenFilter,
}

impl Drop for Heard {
    fn drop(&mut self) {
        if let Some(live) = self.live.upgrade() {
            live.listened(&self.accepted, Tally::Down);
        }
    }
}

/// How a stream ended.
enum End {
    /// The server is done with it; it may have said so in one of two ways, and the other may follow.
    Told,
    /// The server is done with it.
    Done,
    /// It broke off.
    Broken,
    /// The session is gone.
    Gone,
}

/// Hears a stream out; one that breaks while its connection lives is opened anew.
async fn hear_stream(heard: Heard, mut exchange: Exchange, own: broadcast::Sender<Change>) {
    loop {
        match hear_once(&heard, &mut exchange, &own).await {
            End::Gone => return,
            End::Done => break,
            End::Told => {
                let within = heard.live.upgrade().map(|live| live.limits().read).unwrap_or_default();
                drop(heard);
                let _ = own.send(Change::Ended);
                drop(own);
                // Leaving before the other word comes would cancel what is over already.
                let _ = tokio::time::timeout(within, exchange.done()).await;
                return;
            }
            End::Broken => match reopen(&heard).await {
                Some(again) => exchange = again,
                None => break,
            },
        }
        heard.missed(&own);
    }
    let _ = own.send(Change::Ended);
}

async fn hear_once(heard: &Heard, exchange: &mut Exchange, own: &broadcast::Sender<Change>) -> End {
    while let Ok(event) = exchange.event().await {
        let Some(live) = heard.live.upgrade() else { return End::Gone };
        match event {
            Event::Note(note) if &*note.method == "notifications/cancelled" => return End::Told,
            Event::Done(_) => return End::Done,
            Event::Note(note) => {
                if let Some(change) = live.heard(note) {
                    // Whoever listens may be gone already.
                    let _ = own.send(change);
                }
            }
            Event::Upcall(upcall) => live.refuse_upcall(&upcall),
        }
    }
    End::Broken
}

/// How often a broken stream is opened anew in a row, and how long is waited before the first time.
const REOPENS: u32 = 5;
const REOPEN_AFTER: Duration = Duration::from_millis(500);

async fn reopen(heard: &Heard) -> Option<Exchange> {
    for attempt in 0..REOPENS {
        if heard.live.upgrade()?.link.ended().is_some() {
            return None;
        }
        tokio::time::sleep(jittered(REOPEN_AFTER * 2u32.saturating_pow(attempt))).await;
        let live = heard.live.upgrade()?;
        match live.listen_once(&heard.wanted).await {
            Ok((exchange, _)) => return Some(exchange),
            Err(CallError::Remote(_) | CallError::Closed) => return None,
            Err(error) => tracing::debug!(%error, "a subscription could not be opened anew"),
        }
    }
    None
}

/// A little longer, so that many who lost the same server do not all come back at once.
fn jittered(wait: Duration) -> Duration {
    let mut byte = [0];
    let _ = getrandom::fill(&mut byte);
    wait + wait.mul_f64(f64::from(byte[0]) / 1024.0)
}

impl Heard {
    /// What changed while nobody heard is not known, so all of it may have.
    fn missed(&self, own: &broadcast::Sender<Change>) {
        let Some(live) = self.live.upgrade() else { return };
        live.forget_lists();
        let lists = [
            (self.accepted.tools_list_changed, Change::Tools),
            (self.accepted.prompts_list_changed, Change::Prompts),
            (self.accepted.resources_list_changed, Change::Resources),
        ];
        let resources = self.accepted.resource_subscriptions.iter();
        let resources = resources.map(|uri| (true, Change::Resource { uri: uri.clone() }));
        for (_, change) in lists.into_iter().chain(resources).filter(|(heard, _)| *heard) {
            live.changes.tell(change.clone());
            let _ = own.send(change);
        }
    }
}

impl Drop for Subscribed {
    fn drop(&mut self) {
        let Some(live) = self.live.upgrade() else { return };
        for uri in self.uris.drain(..) {
            if !live.unsubscribed(&uri) {
                continue;
            }
            let Ok(body) = Raw::encode(&SubscribeParams::new(uri)) else { continue };
            let mut params = body.as_str().to_owned();
            live.dialect.dress(&mut params, &Extras::default());
            let ask = Ask {
                id: live.next_id(),
                method: "resources/unsubscribe",
                params: &params,
                mirror: live.mirror(None, None),
                life: Life::Detached,
            };
            drop(live.link.open(ask));
        }
    }
}
