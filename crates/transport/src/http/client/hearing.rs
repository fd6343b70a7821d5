//! Hearing a server out in a session: streams that are gone back to when they break, what the server starts by itself,
//! and another session when it has forgotten ours.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::ACCEPT;
use http::{HeaderValue, Method, StatusCode};
use switchboard_http::Timeouts;
use switchboard_protocol::RequestId;
use switchboard_session::link::{Inward, LinkError, Note};

use crate::http::client::failure::{jittered, refusal};
use crate::http::client::flow::{Emit, Outcome};
use crate::http::client::post::{Again, EVENTS, Events};
use crate::http::client::stateful::{Call, Session};
use crate::http::header::{LAST_EVENT_ID, SESSION_ID};
use crate::http::message::{note_text, request_text};

/// How often a broken stream is gone back to without anything new.
const RESUMES: u32 = 5;
/// When to come back if the server does not say.
const COME_BACK: Duration = Duration::from_secs(1);
/// The longest wait between two tries.
const LONGEST: Duration = Duration::from_secs(30);
/// How long the first requests wait for the stream of what the server starts.
const FIRST_STREAM: Duration = Duration::from_millis(500);

/// How to go back to the stream of one request.
#[derive(Default)]
struct WayBack {
    /// The session it belongs to: another one knows nothing of it.
    session: Option<HeaderValue>,
    /// The last event that came, on whichever connection.
    last: Option<String>,
    retry: Option<Duration>,
    /// How often it was gone back to since something new came.
    fruitless: u32,
}

impl WayBack {
    fn learn(&mut self, events: &Events) {
        self.retry = events.retry().or(self.retry);
        let last = events.last_id();
        if last.is_some() && last != self.last {
            self.last = last;
            self.fruitless = 0;
        }
    }
}

impl Session {
    /// Reads the stream of a request to its answer, going back to it when it breaks.
    pub(super) async fn follow(self: &Arc<Self>, call: &Call, mut events: Events, emit: &Emit) -> Outcome {
        let mut way = WayBack { session: self.state.lock().id.clone(), ..WayBack::default() };
        loop {
            let broken = match self.read(&mut events, Some(call), emit).await {
                Ok(Some(outcome)) => return Ok(outcome),
                Ok(None) => LinkError::lost("the stream ended without an answer"),
                Err(error @ (LinkError::TooLarge { .. } | LinkError::Malformed(_))) => return Err(error),
                Err(error) => error,
            };
            way.learn(&events);
            events = self.come_back(&mut way, broken).await?;
        }
    }

    /// Goes back to a stream that broke. Without an id there is no way back.
    async fn come_back(&self, way: &mut WayBack, broken: LinkError) -> Result<Events, LinkError> {
        let Some(last) = way.last.clone() else { return Err(broken) };
        let mut wait = way.retry.unwrap_or(COME_BACK);
        while way.fruitless < RESUMES {
            way.fruitless += 1;
            tokio::time::sleep(jittered(wait)).await;
            if self.state.lock().id != way.session {
                return Err(LinkError::SessionExpired);
            }
            match self.get(Some(&last)).await {
                Ok(events) => return Ok(events),
                Err(LinkError::Refused { status: 404, .. }) if way.session.is_some() => {
                    return Err(LinkError::SessionExpired);
                }
                Err(error @ (LinkError::Challenged(_) | LinkError::Refused { status: ..500, .. })) => {
                    return Err(error);
                }
                Err(_) => {}
            }
            wait = wait.saturating_mul(2).min(LONGEST);
        }
        // Not why there is no way back: the request was sent, and what became of it is not known.
        Err(broken)
    }

    /// Opens a stream: the one that belongs to no request, or the rest of one that broke.
    async fn get(&self, last: Option<&str>) -> Result<Events, LinkError> {
        let mut request = self.wire.request(Method::GET, &self.headers());
        request.headers.insert(ACCEPT, EVENTS);
        if let Some(last) = last.and_then(|last| HeaderValue::from_str(last).ok()) {
            request.headers.insert(LAST_EVENT_ID, last);
        }
        request.timeouts =
            Timeouts::default().with_headers(Some(self.wire.limits.stream_start)).with_idle(None);
        let response = self.wire.send(request).await?;
        let status = response.status;
        let is_stream = response.headers.get(http::header::CONTENT_TYPE).is_some_and(|media| {
            media.to_str().unwrap_or_default().trim().to_ascii_lowercase().starts_with("text/event-stream")
        });
        if status == StatusCode::OK && is_stream {
            return Ok(Events::new(response.body, self.wire.limits.event_bytes));
        }
        match refusal(response).await {
            Ok(error) => Err(LinkError::Refused { status: status.as_u16(), text: error.message }),
            Err(error) => Err(error),
        }
    }

    /// Hears what the server starts by itself, for as long as it lets us, and anew in another session. A server that is
    /// gone for good is the end of the link, so that whoever listens is not left waiting.
    pub(super) async fn listen(self: Arc<Self>) {
        let mut renewals = self.renewals.subscribe();
        let mut hearing = Hearing::default();
        loop {
            let renewal = *renewals.borrow_and_update();
            let opened = self.get(hearing.last.as_deref()).await;
            self.heard.send_replace(Some(renewal));
            let wait = match opened {
                Ok(events) => {
                    let mut events = events.with_idle(self.wire.limits.stream_idle);
                    let quiet = Emit::default();
                    tokio::select! {
                        _ = self.read(&mut events, None, &quiet) => {}
                        _ = renewals.changed() => {
                            hearing = Hearing::default();
                            continue;
                        }
                    }
                    hearing.heard(&events);
                    if hearing.last.is_none() {
                        // What was said meanwhile is not said again.
                        self.forget_lists();
                    }
                    Some(events.retry().unwrap_or(COME_BACK))
                }
                // There was such a stream, or the server was gone meanwhile: the session is no longer known.
                Err(LinkError::Refused { status: 404, .. }) if hearing.was_there() && self.has_id() => {
                    if let Err(error) = self.renew(renewal).await {
                        return self.give_up(error);
                    }
                    Some(Duration::ZERO)
                }
                // Many servers have no such stream, and say so with 405 or 404: that is no trouble.
                Err(LinkError::Refused { .. } | LinkError::Challenged(_) | LinkError::SessionExpired) => None,
                Err(error) if hearing.failures == RESUMES => return self.give_up(error),
                Err(_) => {
                    hearing.failures += 1;
                    Some((COME_BACK * 2u32.saturating_pow(hearing.failures)).min(LONGEST))
                }
            };
            if self.state.lock().closed {
                return;
            }
            let coming_back = async {
                match wait {
                    Some(wait) => tokio::time::sleep(jittered(wait)).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = coming_back => {}
                _ = renewals.changed() => hearing = Hearing::default(),
            }
        }
    }

    /// The server is gone: nothing more will be heard.
    fn give_up(&self, error: LinkError) {
        self.state.lock().lost = Some(error);
        self.lane.close();
    }

    /// Waits until the stream of what the server starts is there, but not for long: many servers have none.
    pub(super) async fn wait_to_hear(&self, renewal: u64) {
        let mut heard = self.heard.subscribe();
        let _ = tokio::time::timeout(FIRST_STREAM, heard.wait_for(|heard| *heard >= Some(renewal))).await;
    }

    /// Opens another session after the server forgot ours. What was subscribed to or listed is no longer known.
    pub(super) async fn renew(self: &Arc<Self>, seen: u64) -> Result<(), LinkError> {
        let _renewing = self.renewing.lock().await;
        let params = {
            let mut state = self.state.lock();
            if state.renewed != seen {
                return Ok(()); // somebody else has done it
            }
            state.id = None;
            state.initialize.clone().ok_or(LinkError::SessionExpired)?
        };
        let id = RequestId::from(&*format!("renew-{seen}"));
        let body = Bytes::from(request_text(&id, "initialize", &params));
        let (headers, answer) = self.wire.post(body, &[], Again::Reads).await?;
        let call = Call { id, is_handshake: true, again: Again::Reads, body: Bytes::new() };
        Box::pin(self.settle(&call, answer, &Emit::default()))
            .await?
            .map_err(|_| LinkError::SessionExpired)?;
        let renewal = {
            let mut state = self.state.lock();
            state.id = headers.get(SESSION_ID).cloned();
            state.renewed += 1;
            state.renewed
        };
        let told = note_text("notifications/initialized", None);
        self.wire.post(told.into(), &self.headers(), Again::Never).await?;
        self.renewals.send_replace(renewal);
        self.forget_lists();
        Ok(())
    }

    /// Lets the session ask again for what it has listed.
    fn forget_lists(&self) {
        for changed in ["tools", "prompts", "resources"] {
            let method = format!("notifications/{changed}/list_changed").into();
            self.lane.send(Inward::Note(Note { method, params: None }));
        }
    }
}

/// How hearing a server goes.
#[derive(Default)]
struct Hearing {
    last: Option<String>,
    failures: u32,
    was_open: bool,
}

impl Hearing {
    fn heard(&mut self, events: &Events) {
        self.was_open = true;
        self.failures = 0;
        self.last = events.last_id().or(self.last.take());
    }

    /// Whether the server had such a stream, or was gone for a while.
    fn was_there(&self) -> bool {
        self.was_open || self.failures > 0
    }
}
