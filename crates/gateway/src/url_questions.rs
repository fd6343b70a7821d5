//! Clients that were asked to visit a URL: each is notified when its server has what it needs, also after the call has ended
//! meanwhile, within a bounded time.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use switchboard_protocol::Raw;
use switchboard_session::server::RequestContext;
use tokio::time::Instant;

/// How long a client is remembered after its call.
const LIFETIME: Duration = Duration::from_secs(10 * 60);
/// Questions that are remembered.
const MAX_QUESTIONS: usize = 1_000;

/// The server that asked, the number of the session with it, and its id of the elicitation.
type QuestionKey = (Arc<str>, u64, String);

/// Clients by the question that they were asked.
#[derive(Default)]
pub(crate) struct UrlQuestions {
    // Held for a lookup or a change, never across an await.
    asked: Mutex<HashMap<QuestionKey, UrlQuestion>>,
}

struct UrlQuestion {
    client: RequestContext,
    /// When the call ended; `None` while it runs.
    ended: Option<Instant>,
}

impl UrlQuestions {
    /// Remembers which client was asked. Its call ends when the guard is dropped.
    pub(crate) fn register(
        self: &Arc<Self>,
        (server, session, id): (&Arc<str>, u64, &str),
        client: &RequestContext,
    ) -> UrlQuestionGuard {
        let key = (Arc::clone(server), session, id.to_owned());
        let mut asked = self.asked.lock();
        let now = Instant::now();
        asked.retain(|_, question| question.ended.is_none_or(|ended| ended + LIFETIME > now));
        if asked.len() >= MAX_QUESTIONS {
            let ended = asked.iter().filter_map(|(key, question)| Some((question.ended?, key)));
            let oldest = ended.min_by_key(|(ended, _)| *ended).map(|(_, key)| key.clone());
            oldest.inspect(|oldest| _ = asked.remove(oldest));
        }
        asked.insert(key.clone(), UrlQuestion { client: client.clone(), ended: None });
        drop(asked);
        UrlQuestionGuard { questions: Arc::clone(self), key }
    }

    /// Tells the client that was asked, once, that the server has what it needs.
    pub(crate) fn complete(&self, (server, session, id): (&Arc<str>, u64, &str)) {
        let question = self.asked.lock().remove(&(Arc::clone(server), session, id.to_owned()));
        let Some(UrlQuestion { client, ended }) = question else { return };
        if ended.is_some_and(|ended| ended + LIFETIME <= Instant::now()) {
            return;
        }
        const METHOD: &str = "notifications/elicitation/complete";
        let params = Raw::from(serde_json::json!({ "elicitationId": id }));
        if client.is_over() {
            client.notify_session(METHOD, params);
        } else {
            client.notify(METHOD, Some(&params));
        }
    }
}

/// Ends the call of a URL question on drop.
pub(crate) struct UrlQuestionGuard {
    questions: Arc<UrlQuestions>,
    key: QuestionKey,
}

impl Drop for UrlQuestionGuard {
    fn drop(&mut self) {
        if let Some(question) = self.questions.asked.lock().get_mut(&self.key) {
            question.ended = Some(Instant::now());
        }
    }
}
