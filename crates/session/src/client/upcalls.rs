//! What a server starts by itself: its questions are answered, its news is passed on.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use switchboard_protocol::{
    CreateMessageParams, ElicitParams, ErrorCode, FromRaw, InputRequest, ListRootsResult, Meta, Raw,
    RequestId, RpcError,
};
use tokio::task::AbortHandle;

use crate::client::change_stream::Change;
use crate::client::handler::{ClientHandler, Report, RequestingServer};
use crate::client::live::Live;
use crate::client::spawn::spawn;
use crate::era::Stash;
use crate::link::{BoxFuture, Inbound, Inward, Note, Post, Upcall};
use crate::request::CallError;

/// Questions of the server that are being answered, so that it can take them back.
#[derive(Debug, Default)]
pub(crate) struct Answering {
    tasks: Mutex<HashMap<RequestId, AbortHandle>>,
}

/// Hears the server out until the link ends or the session is gone.
pub(crate) async fn attend(live: Weak<Live>, mut inbound: Inbound, stash: Stash) {
    for inward in stash.0 {
        let Some(live) = live.upgrade() else { return };
        hear(&live, inward);
    }
    while let Some(inward) = inbound.next().await {
        let Some(live) = live.upgrade() else { return };
        hear(&live, inward);
    }
    if let Some(live) = live.upgrade() {
        live.link_ended();
        live.answering.give_up();
    }
}

fn hear(live: &Arc<Live>, inward: Inward) {
    match inward {
        Inward::Note(note) => _ = live.heard(note),
        Inward::Upcall(upcall) if !live.dialect.may_be_asked() => {
            // The revision forbids the server to ask, and forbids us to answer.
            live.count(|counters| counters.forbidden_upcalls());
            tracing::debug!(method = %upcall.method, "a request of the server was ignored: its revision has none");
        }
        Inward::Upcall(upcall) => answer(live, upcall),
    }
}

fn answer(live: &Arc<Live>, upcall: Upcall) {
    let id = upcall.id.clone();
    let mut tasks = live.answering.tasks.lock();
    if tasks.len() >= live.limits().upcalls {
        let busy = RpcError::internal("too many requests are being answered already");
        let _ = live.link.post(Post::Answer { id: &id, outcome: Err(&busy) });
        return;
    }
    let answering = Arc::clone(live);
    let task = spawn(Box::pin(async move {
        let outcome = respond(&answering, &upcall).await;
        answering.answering.tasks.lock().remove(&upcall.id);
        let _ = answering.link.post(Post::Answer { id: &upcall.id, outcome: outcome.as_ref() });
    }));
    tasks.insert(id, task);
}

async fn respond(live: &Live, upcall: &Upcall) -> Result<Raw, RpcError> {
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
    live.input(request, progress_token(upcall), &*live.answers).await.map_err(|error| match error {
        CallError::Unsupported { what } => {
            RpcError::new(unsupported_code(&upcall.method), format!("this client does not offer {what}"))
        }
        other => RpcError::new(ErrorCode::USER_REJECTED, other.to_string()),
    })
}

/// Where the server wants to hear of progress, if it does.
fn progress_token(upcall: &Upcall) -> Option<RequestId> {
    let meta = upcall.param("_meta")?;
    let (_, token) = meta.glance().find(|(name, _)| *name == Meta::PROGRESS_TOKEN)?;
    RequestId::from_json(token)
}

/// An undeclared mode of a declared capability is a matter of parameters, an undeclared capability of the method.
fn unsupported_code(method: &str) -> ErrorCode {
    match method {
        "elicitation/create" => ErrorCode::INVALID_PARAMS,
        _ => ErrorCode::METHOD_NOT_FOUND,
    }
}

impl Live {
    /// Answers one question of the server, however it was asked. The clocks of the session stand still meanwhile.
    /// Boxed here, so that it is made once.
    pub(crate) fn input<'a>(
        &'a self,
        request: InputRequest,
        token: Option<RequestId>,
        answers: &'a dyn ClientHandler,
    ) -> BoxFuture<'a, Result<Raw, CallError>> {
        Box::pin(self.answered(request, token, answers))
    }

    async fn answered(
        &self,
        request: InputRequest,
        token: Option<RequestId>,
        answers: &dyn ClientHandler,
    ) -> Result<Raw, CallError> {
        // What was declared is what may be asked, whoever answers.
        let abilities = self.answers.abilities();
        let report =
            |token| Report { token, link: Arc::downgrade(&self.link), revision: self.terms.revision };
        let asker = RequestingServer {
            // Of the session's answers: they belong to one server, those of a call need not.
            name: self.answers.server_name().map(str::to_owned),
            server: self.terms.server.clone(),
            report: token.map(report),
        };
        let refused = |refusal: crate::client::HandlerError| CallError::InputRefused(refusal.to_string());
        match request {
            InputRequest::Roots(_) => {
                let roots = self.roots.lock().clone();
                Ok(Raw::encode(&ListRootsResult::new(roots))?)
            }
            InputRequest::Elicit(params) => {
                let offered = match &*params {
                    ElicitParams::Url(_) => abilities.urls,
                    _ => abilities.forms,
                };
                if !offered {
                    return Err(CallError::Unsupported { what: "this kind of elicitation" });
                }
                if let ElicitParams::Url(asked) = &*params
                    && !is_web_address(&asked.url)
                {
                    let why =
                        "the server asks for a page to be visited whose address is neither http nor https";
                    return Err(CallError::InputRefused(why.to_owned()));
                }
                let _stopped = self.clock.stop();
                let answer = answers.elicit(*params, &asker).await.map_err(refused)?;
                Ok(Raw::encode(&answer)?)
            }
            InputRequest::Sample(params) => {
                if !abilities.sampling || (params.tools.is_some() && !abilities.sampling_tools) {
                    return Err(CallError::Unsupported { what: "this kind of sampling" });
                }
                let _stopped = self.clock.stop();
                let answer = answers.sample(*params, &asker).await.map_err(refused)?;
                Ok(Raw::encode(&answer)?)
            }
            _ => Err(CallError::Unsupported { what: "this kind of input" }),
        }
    }

    /// A request on a stream of ours that has no such direction.
    pub(crate) fn refuse_upcall(&self, upcall: &Upcall) {
        let error = RpcError::method_not_found(&upcall.method);
        let _ = self.link.post(Post::Answer { id: &upcall.id, outcome: Err(&error) });
    }

    /// Takes in news: forgets what it makes stale, then passes it on.
    pub(crate) fn heard(&self, note: Note) -> Option<Change> {
        if &*note.method == "notifications/cancelled" {
            self.take_back(&note);
            return None;
        }
        let change = Change::read(note);
        match &change {
            Change::Tools => self.tools.forget(),
            Change::Prompts => self.prompts.forget(),
            Change::Resources => {
                self.resources.forget();
                self.templates.forget();
                self.cache.forget(&["resources/read"]);
            }
            Change::Resource { .. } => self.cache.forget(&["resources/read"]),
            _ => {}
        }
        self.changes.tell(change.clone());
        Some(change)
    }

    /// The server no longer wants an answer.
    fn take_back(&self, note: &Note) {
        let id = note.param("requestId").and_then(|id| RequestId::from_json(id.as_str()));
        match id.and_then(|id| self.answering.tasks.lock().remove(&id)) {
            Some(task) => task.abort(),
            None => self.count(|counters| counters.stray_notes()),
        }
    }
}

impl Answering {
    /// Stops answering: nobody is there to hear it. Each task holds the session, so this is what lets it go.
    pub(crate) fn give_up(&self) {
        self.tasks.lock().drain().for_each(|(_, task)| task.abort());
    }
}

/// Returns whether a browser would fetch this from a web server: `http` or `https`, with a host that is a name and nothing else.
/// `javascript:`, `data:` and `file:` would run in, or read from, whatever opens them.
pub fn is_web_address(url: &str) -> bool {
    let Some((scheme, rest)) = url.split_once("://") else { return false };
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let is_odd = |char: char| char.is_control() || char.is_whitespace() || char == '%';
    ["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known))
        && !host.is_empty()
        && !host.contains(is_odd)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s8_only_web_addresses_are_asked_about() {
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
