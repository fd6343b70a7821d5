//! Recovery in a legacy session: resuming broken streams, keeping the listening stream open, and beginning a new session
//! after the server has dropped the old one.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, StatusCode};
use switchboard_protocol::RequestId;
use switchboard_session::link::{InboundMessage, InboundNotification, LinkError};

use crate::http::client::exchange::{NoteSender, Outcome};
use crate::http::client::failure::{jittered, read_rejection};
use crate::http::client::post::{EventStream, RetryPolicy};
use crate::http::client::stateful::{PendingCall, Session};
use crate::http::header::{LAST_EVENT_ID, SESSION_ID};
use crate::http::message::{note_text, request_text};

/// How often a broken stream is resumed without receiving a new event.
const RESUMES: u32 = 5;
/// The reconnection delay if the server does not set one.
const DEFAULT_RETRY: Duration = Duration::from_secs(1);
/// The longest backoff between two attempts.
const MAX_RETRY_WAIT: Duration = Duration::from_secs(30);
/// How long the first requests wait for the listening stream.
const FIRST_STREAM_WAIT: Duration = Duration::from_millis(500);

/// Where and how to resume the stream of one request.
#[derive(Default)]
struct ResumePoint {
    /// The session of the stream; it cannot be resumed in another one.
    session: Option<HeaderValue>,
    /// The id of the last event, over all connections.
    last: Option<String>,
    retry: Option<Duration>,
    /// Attempts since the last new event.
    attempts: u32,
}

impl ResumePoint {
    fn update(&mut self, events: &EventStream) {
        self.retry = events.retry().or(self.retry);
        let last = events.last_id();
        if last.is_some() && last != self.last {
            self.last = last;
            self.attempts = 0;
        }
    }
}

impl Session {
    /// Reads the stream of a request up to its response, resuming it when it breaks.
    pub(super) async fn follow(
        self: &Arc<Self>,
        call: &PendingCall,
        mut events: EventStream,
        notes: &NoteSender,
    ) -> Outcome {
        let mut resume_point =
            ResumePoint { session: self.state.lock().id.clone(), ..ResumePoint::default() };
        loop {
            let stream_error = match self.read(&mut events, Some(call), notes).await {
                Ok(Some(outcome)) => return Ok(outcome),
                Ok(None) => LinkError::lost("the stream ended without an answer"),
                Err(error @ (LinkError::TooLarge { .. } | LinkError::Malformed(_))) => return Err(error),
                Err(error) => error,
            };
            resume_point.update(&events);
            events = self.resume_stream(&mut resume_point, stream_error).await?;
        }
    }

    /// Resumes a broken stream with backoff. A stream without event ids cannot be resumed.
    async fn resume_stream(
        &self,
        resume_point: &mut ResumePoint,
        stream_error: LinkError,
    ) -> Result<EventStream, LinkError> {
        let Some(last) = resume_point.last.clone() else { return Err(stream_error) };
        let mut wait = resume_point.retry.unwrap_or(DEFAULT_RETRY);
        while resume_point.attempts < RESUMES {
            resume_point.attempts += 1;
            tokio::time::sleep(jittered(wait)).await;
            if self.state.lock().id != resume_point.session {
                return Err(LinkError::SessionExpired);
            }
            match self.get(Some(&last)).await {
                Ok(events) => return Ok(events),
                Err(LinkError::Refused { status: 404, .. }) if resume_point.session.is_some() => {
                    return Err(LinkError::SessionExpired);
                }
                Err(error @ (LinkError::Challenged(_) | LinkError::Refused { status: ..500, .. })) => {
                    return Err(error);
                }
                Err(_) => {}
            }
            wait = wait.saturating_mul(2).min(MAX_RETRY_WAIT);
        }
        // Not the error of the last attempt: what matters is that the request was sent and its outcome is unknown.
        Err(stream_error)
    }

    /// Opens the listening stream, or resumes a stream after the event `last`.
    async fn get(&self, last: Option<&str>) -> Result<EventStream, LinkError> {
        let mut request = self.sender.stream_request(&self.headers());
        if let Some(last) = last.and_then(|last| HeaderValue::from_str(last).ok()) {
            request.headers.insert(LAST_EVENT_ID, last);
        }
        let response = self.sender.send(request).await?;
        let status = response.status;
        let is_stream = response.headers.get(http::header::CONTENT_TYPE).is_some_and(|media| {
            media.to_str().unwrap_or_default().trim().to_ascii_lowercase().starts_with("text/event-stream")
        });
        if status == StatusCode::OK && is_stream {
            return Ok(EventStream::new(response.body, self.sender.limits.event_bytes));
        }
        Err(read_rejection(response, status.as_u16()).await)
    }

    /// Keeps the listening stream open, also in a renewed session. A server that stays unreachable ends the link, so that
    /// listeners do not wait forever.
    pub(super) async fn listen(self: Arc<Self>) {
        let mut renewals = self.renewals.subscribe();
        let mut listen_state = ListenState::default();
        loop {
            let renewal = *renewals.borrow_and_update();
            let opened = self.get(listen_state.last.as_deref()).await;
            self.listened.send_replace(Some(renewal));
            let wait = match opened {
                Ok(events) => {
                    let mut events = events.with_idle(self.sender.limits.stream_idle);
                    let ignored = NoteSender::default();
                    tokio::select! {
                        _ = self.read(&mut events, None, &ignored) => {}
                        _ = renewals.changed() => {
                            listen_state = ListenState::default();
                            continue;
                        }
                    }
                    listen_state.record(&events);
                    if listen_state.last.is_none() {
                        // Notifications that were missed are not repeated.
                        self.invalidate_lists();
                    }
                    Some(events.retry().unwrap_or(DEFAULT_RETRY))
                }
                // The stream existed before, or the server was away: it has dropped the session.
                Err(LinkError::Refused { status: 404, .. }) if listen_state.is_retry() && self.has_id() => {
                    if let Err(error) = self.renew(renewal).await {
                        return self.mark_lost(error);
                    }
                    Some(Duration::ZERO)
                }
                // Many servers have no listening stream and answer with 405 or 404.
                Err(LinkError::Refused { .. } | LinkError::Challenged(_) | LinkError::SessionExpired) => None,
                Err(error) if listen_state.failures == RESUMES => return self.mark_lost(error),
                Err(_) => {
                    listen_state.failures += 1;
                    Some((DEFAULT_RETRY * 2u32.saturating_pow(listen_state.failures)).min(MAX_RETRY_WAIT))
                }
            };
            if self.state.lock().closed {
                return;
            }
            let retry_delay = async {
                match wait {
                    Some(wait) => tokio::time::sleep(jittered(wait)).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = retry_delay => {}
                _ = renewals.changed() => listen_state = ListenState::default(),
            }
        }
    }

    /// Marks the link as lost.
    fn mark_lost(&self, error: LinkError) {
        self.state.lock().lost = Some(error);
        self.inbound_sender.close();
    }

    /// Waits briefly until the listening stream was opened or refused.
    pub(super) async fn wait_for_listen_stream(&self, renewal: u64) {
        let mut listened = self.listened.subscribe();
        let _ =
            tokio::time::timeout(FIRST_STREAM_WAIT, listened.wait_for(|listened| *listened >= Some(renewal)))
                .await;
    }

    /// Begins a new session after the server has dropped the old one. Subscriptions are lost and lists become stale.
    pub(super) async fn renew(self: &Arc<Self>, seen: u64) -> Result<(), LinkError> {
        let _renewing = self.renewing.lock().await;
        let params = {
            let mut state = self.state.lock();
            if state.renewed != seen {
                return Ok(()); // another task has done it
            }
            state.id = None;
            state.initialize.clone().ok_or(LinkError::SessionExpired)?
        };
        let id = RequestId::from(&*format!("renew-{seen}"));
        let body = Bytes::from(request_text(&id, "initialize", &params));
        let (headers, answer) = self.sender.post(body, &[], RetryPolicy::ReadOnly).await?;
        let call =
            PendingCall { id, is_handshake: true, retry_policy: RetryPolicy::ReadOnly, body: Bytes::new() };
        Box::pin(self.read_reply(&call, answer, &NoteSender::default()))
            .await?
            .map_err(|_| LinkError::SessionExpired)?;
        let renewal = {
            let mut state = self.state.lock();
            state.id = headers.get(SESSION_ID).cloned();
            state.renewed += 1;
            state.renewed
        };
        let initialized = note_text("notifications/initialized", None);
        self.sender.post(initialized.into(), &self.headers(), RetryPolicy::Never).await?;
        self.renewals.send_replace(renewal);
        self.invalidate_lists();
        Ok(())
    }

    /// Reports all lists as changed, so that the session fetches them again.
    fn invalidate_lists(&self) {
        for changed in ["tools", "prompts", "resources"] {
            let method = format!("notifications/{changed}/list_changed").into();
            self.inbound_sender
                .send(InboundMessage::Notification(InboundNotification { method, params: None }));
        }
    }
}

/// The state of the listening stream over its connections.
#[derive(Default)]
struct ListenState {
    last: Option<String>,
    failures: u32,
    was_open: bool,
}

impl ListenState {
    fn record(&mut self, events: &EventStream) {
        self.was_open = true;
        self.failures = 0;
        self.last = events.last_id().or(self.last.take());
    }

    /// Returns whether this is not the first attempt: the stream was open before, or the server was unreachable.
    fn is_retry(&self) -> bool {
        self.was_open || self.failures > 0
    }
}
