//! Handles the messages that a server sends on its own initiative: answers its requests, applies its notifications.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use serde_core::Serialize;
use switchboard_protocol::{
    CreateMessageParams, ElicitParams, ErrorCode, FromRaw, InputRequest, ListRootsResult, Meta, Raw,
    RequestId, RpcError,
};
use tokio::task::AbortHandle;

use crate::client::change_stream::Change;
use crate::client::deadline::{CallClock, PauseGuard};
use crate::client::handler::{ClientHandler, HandlerError, ProgressReporter, RequestingServer};
use crate::client::live_session::LiveSession;
use crate::era::EarlyMessages;
use crate::link::{BoxFuture, Inbound, InboundMessage, InboundNotification, OneWayMessage, Upcall};
use crate::request::CallError;

/// Where an input request came from.
#[derive(Debug, Default)]
pub(crate) struct InputOrigin {
    /// The token for progress reports of its answer.
    pub(crate) token: Option<RequestId>,
    /// Its key among those of one result.
    pub(crate) key: Option<String>,
    /// Whether it is known to belong to the call whose handler is asked.
    pub(crate) names_call: bool,
    /// The clock of the call that it is known to belong to.
    pub(crate) clock: Option<Arc<CallClock>>,
}

/// The call on whose exchange a request of the server arrived.
pub(crate) struct AskingCall {
    /// The handler of the call; `None` for that of the session.
    pub(crate) handler: Option<Arc<dyn ClientHandler>>,
    pub(crate) clock: Arc<CallClock>,
}

/// Why an input request got no answer.
pub(crate) enum InputError {
    /// Its handler cannot answer it.
    Handler(HandlerError),
    Call(CallError),
}

impl From<InputError> for CallError {
    fn from(error: InputError) -> Self {
        match error {
            InputError::Handler(error) => Self::InputRefused(error.to_string()),
            InputError::Call(error) => error,
        }
    }
}

impl From<HandlerError> for InputError {
    fn from(error: HandlerError) -> Self {
        Self::Handler(error)
    }
}

impl From<CallError> for InputError {
    fn from(error: CallError) -> Self {
        Self::Call(error)
    }
}

impl From<InputError> for RpcError {
    /// Returns the error that a server gets in answer to its request.
    fn from(error: InputError) -> Self {
        let data = match &error {
            InputError::Handler(error) => error.data().cloned(),
            InputError::Call(_) => None,
        };
        let error = Self::new(ErrorCode::USER_REJECTED, CallError::from(error).to_string());
        match data {
            Some(data) => error.with_data(data),
            None => error,
        }
    }
}

/// The tasks that answer requests of the server, so that it can cancel them.
#[derive(Debug, Default)]
pub(crate) struct UpcallTasks {
    tasks: Mutex<HashMap<RequestId, AbortHandle>>,
}

/// Handles inbound messages until the link ends or the session is dropped.
pub(crate) async fn handle_inbound(live: Weak<LiveSession>, mut inbound: Inbound, early: EarlyMessages) {
    for inward in early.0 {
        let Some(live) = live.upgrade() else { return };
        handle_message(&live, inward);
    }
    while let Some(inward) = inbound.next().await {
        let Some(live) = live.upgrade() else { return };
        handle_message(&live, inward);
    }
    if let Some(live) = live.upgrade() {
        live.link_ended();
        live.upcall_tasks.abort_all();
    }
}

fn handle_message(live: &Arc<LiveSession>, inward: InboundMessage) {
    match inward {
        InboundMessage::Notification(note) => _ = live.apply_note(note),
        InboundMessage::Upcall(upcall) if !live.dialect.accepts_server_requests() => {
            // In this revision a server must not send requests, and we must not answer them.
            live.count(|counters| counters.forbidden_upcalls());
            tracing::debug!(method = %upcall.method, "ignored a request of the server, which its revision forbids");
        }
        InboundMessage::Upcall(upcall) => _ = start_answer(live, upcall, None),
    }
}

/// Starts the task that answers a request of the server, with the handler of its call or else of the session. Returns `None`
/// when too many are being answered.
fn start_answer(live: &Arc<LiveSession>, upcall: Upcall, call: Option<AskingCall>) -> Option<AbortHandle> {
    let id = upcall.id.clone();
    let mut tasks = live.upcall_tasks.tasks.lock();
    if tasks.len() >= live.limits().upcalls {
        let busy = RpcError::internal("too many requests are being answered already");
        let _ = live.link.post(OneWayMessage::Response { id: &id, outcome: Err(&busy) });
        return None;
    }
    let session = Arc::clone(live);
    let task = tokio::spawn(async move {
        let outcome = answer_upcall(&session, &upcall, call).await;
        session.upcall_tasks.tasks.lock().remove(&upcall.id);
        let _ = session.link.post(OneWayMessage::Response { id: &upcall.id, outcome: outcome.as_ref() });
    });
    tasks.insert(id, task.abort_handle());
    Some(task.abort_handle())
}

async fn answer_upcall(
    live: &LiveSession,
    upcall: &Upcall,
    call: Option<AskingCall>,
) -> Result<Raw, RpcError> {
    let params = upcall.params.clone().unwrap_or_else(Raw::empty_object);
    let invalid = |error: switchboard_protocol::DecodeError| RpcError::invalid_params(error.to_string());
    let request = match &*upcall.method {
        "ping" => return Ok(Raw::empty_object()),
        "roots/list" => InputRequest::Roots(Default::default()),
        "elicitation/create" => {
            InputRequest::Elicit(Box::new(ElicitParams::from_raw(&params).map_err(invalid)?))
        }
        "sampling/createMessage" => {
            InputRequest::Sample(Box::new(CreateMessageParams::from_raw(&params).map_err(invalid)?))
        }
        other => return Err(RpcError::method_not_found(other)),
    };
    let (handler, clock) = match call {
        Some(AskingCall { handler, clock }) => (handler, Some(clock)),
        None => (None, None),
    };
    let names_call = handler.is_some();
    let handler = handler.unwrap_or_else(|| Arc::clone(&live.handler));
    let origin = InputOrigin { token: progress_token(upcall), key: None, names_call, clock };
    live.answer_input(request, origin, &*handler).await.map_err(|error| match error {
        InputError::Call(CallError::Unsupported { what }) => {
            RpcError::new(unsupported_code(&upcall.method), format!("this client does not offer {what}"))
        }
        other => other.into(),
    })
}

/// Returns the progress token of a request.
fn progress_token(upcall: &Upcall) -> Option<RequestId> {
    let meta = upcall.param("_meta")?;
    let (_, token) = meta.field_texts().find(|(name, _)| *name == Meta::PROGRESS_TOKEN)?;
    RequestId::from_json(token)
}

/// Returns the error code: invalid parameters for an undeclared mode of elicitation, method not found otherwise.
fn unsupported_code(method: &str) -> ErrorCode {
    match method {
        "elicitation/create" => ErrorCode::INVALID_PARAMS,
        _ => ErrorCode::METHOD_NOT_FOUND,
    }
}

impl LiveSession {
    /// Answers one input request of the server, in either era. Pauses the timeouts of its call meanwhile, or those of all calls
    /// if its call is not known. Boxed, so that its code is generated once.
    pub(crate) fn answer_input<'a>(
        &'a self,
        request: InputRequest,
        origin: InputOrigin,
        handler: &'a dyn ClientHandler,
    ) -> BoxFuture<'a, Result<Raw, InputError>> {
        Box::pin(self.run_handler(request, origin, handler))
    }

    async fn run_handler(
        &self,
        request: InputRequest,
        InputOrigin { token, key, names_call, clock }: InputOrigin,
        handler: &dyn ClientHandler,
    ) -> Result<Raw, InputError> {
        // The declared capabilities count, also when a handler of the call answers.
        let capabilities = self.handler.capabilities();
        let report = |token| ProgressReporter {
            token,
            link: Arc::downgrade(&self.link),
            revision: self.info.revision,
        };
        let asker = RequestingServer {
            // From the session's handler: it belongs to one server, the handler of a call may not.
            name: self.handler.server_name().map(str::to_owned),
            server: self.info.server.clone(),
            key,
            names_call,
            report: token.map(report),
        };
        match request {
            InputRequest::Roots(_) => {
                let known = match capabilities.roots {
                    true => handler.roots(&asker).await?,
                    false => None,
                };
                let roots = known.unwrap_or_else(|| self.roots.lock().clone());
                encode(&ListRootsResult::new(roots))
            }
            InputRequest::Elicit(params) => {
                let offered = match &*params {
                    ElicitParams::Url(_) => capabilities.urls,
                    _ => capabilities.forms,
                };
                if !offered {
                    return Err(unsupported("this kind of elicitation"));
                }
                if let ElicitParams::Url(url_request) = &*params
                    && !is_web_address(&url_request.url)
                {
                    let why =
                        "the server asks for a page to be visited whose address is neither http nor https";
                    return Err(HandlerError::new(why).into());
                }
                let _pause = PauseGuard::new(&self.clock, clock.as_deref());
                let answer = handler.elicit(*params, &asker).await?;
                encode(&answer)
            }
            InputRequest::Sample(params) => {
                if !capabilities.sampling || (params.tools.is_some() && !capabilities.sampling_tools) {
                    return Err(unsupported("this kind of sampling"));
                }
                let _pause = PauseGuard::new(&self.clock, clock.as_deref());
                let answer = handler.sample(*params, &asker).await?;
                encode(&answer)
            }
            _ => Err(unsupported("this kind of input")),
        }
    }

    /// Answers a request that arrived on the exchange of a call, with the handler of that call. Returns the task, to be aborted
    /// with the call.
    pub(crate) fn answer_on_exchange(&self, upcall: Upcall, call: AskingCall) -> Option<AbortHandle> {
        if !self.dialect.accepts_server_requests() {
            self.count(|counters| counters.forbidden_upcalls());
            return None;
        }
        start_answer(&self.me.upgrade()?, upcall, Some(call))
    }

    /// Rejects a request that arrived on a listen stream.
    pub(crate) fn refuse_upcall(&self, upcall: &Upcall) {
        let error = RpcError::method_not_found(&upcall.method);
        let _ = self.link.post(OneWayMessage::Response { id: &upcall.id, outcome: Err(&error) });
    }

    /// Applies a notification: invalidates the caches it affects, then publishes it.
    pub(crate) fn apply_note(&self, note: InboundNotification) -> Option<Change> {
        if &*note.method == "notifications/cancelled" {
            self.cancel_upcall(&note);
            return None;
        }
        let change = Change::read(note);
        match &change {
            Change::Tools => self.tools.invalidate(),
            Change::Prompts => self.prompts.invalidate(),
            Change::Resources => {
                self.resources.invalidate();
                self.templates.invalidate();
                self.cache.invalidate(&["resources/read"]);
            }
            Change::Resource { .. } => self.cache.invalidate(&["resources/read"]),
            _ => {}
        }
        self.changes.publish(change.clone());
        Some(change)
    }

    /// Aborts the answer to a request that the server has cancelled.
    fn cancel_upcall(&self, note: &InboundNotification) {
        let id = note.param("requestId").and_then(|id| RequestId::from_json(id.as_str()));
        match id.and_then(|id| self.upcall_tasks.tasks.lock().remove(&id)) {
            Some(task) => task.abort(),
            None => self.count(|counters| counters.stray_notes()),
        }
    }
}

impl UpcallTasks {
    /// Aborts all answers. Each task holds the session, so this also releases the session.
    pub(crate) fn abort_all(&self) {
        self.tasks.lock().drain().for_each(|(_, task)| task.abort());
    }
}

fn unsupported(what: &'static str) -> InputError {
    CallError::Unsupported { what }.into()
}

fn encode(answer: &impl Serialize) -> Result<Raw, InputError> {
    Raw::encode(answer).map_err(|error| CallError::from(error).into())
}

/// Returns whether a URL is a web address: `http` or `https`, with a plain host.
///
/// `javascript:`, `data:` and `file:` would run code or read files in the program that opens them.
pub fn is_web_address(url: &str) -> bool {
    let Some((scheme, rest)) = url.split_once("://") else { return false };
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let is_forbidden = |char: char| char.is_control() || char.is_whitespace() || char == '%';
    ["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known))
        && !host.is_empty()
        && !host.contains(is_forbidden)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s8_only_web_addresses_are_passed_to_the_handler() {
        for url in
            ["https://example.com", "HTTP://example.com:80/x?y#z", "https://bücher.example/", "http://[::1]/"]
        {
            assert!(is_web_address(url), "{url}");
        }
        for url in [
            "javascript:alert(1)",
            "javascript://example.com/%0aalert(1)",
            "data:text/html,x",
            "file:///etc/passwd",
            "ftp://example.com/",
            " https://example.com",
            "https:example.com",
            "https://",
            "https://ex%61mple.com/",
            "https://ex ample.com/",
            "",
        ] {
            assert!(!is_web_address(url), "{url}");
        }
    }
}
