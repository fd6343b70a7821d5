//! Answers requests with the recorded exchanges.

use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use parking_lot::Mutex;
use serde_json::{Value, json};
use switchboard_protocol::{InputRequest, Level, Raw, Revision, RpcError, ServerResult};
use switchboard_session::link::BoxFuture;
use switchboard_session::server::{
    AskError, Handler, HandlerOutcome, Publisher, RequestContext, ServerRequest,
};

use crate::conversation::{
    Conversation, RecordedExchange, RecordedNotification, RecordedQuestion, ServerEvent, identifying_params,
    request_summary,
};
use crate::pattern::PatternBindings;
use crate::replay::follow_ups::publish;
use crate::replay::result::replayed_result;

/// More recorded requests than these are not listed in an error.
const MAX_LISTED: usize = 12;

/// Handler with the answers of a recording.
pub(super) struct ReplayHandler(Arc<RecordedReplies>);

struct RecordedReplies {
    exchanges: Vec<RecordedExchange>,
    revision: Option<Revision>,
    publisher: Publisher,
    /// How often a request was answered, by the index of its first exchange.
    // Held for an increment, never across an await.
    turns: Mutex<HashMap<usize, usize>>,
}

impl ReplayHandler {
    pub(super) fn new(conversation: Conversation, publisher: Publisher) -> Self {
        let Conversation { exchanges, revision, .. } = conversation;
        Self(Arc::new(RecordedReplies { exchanges, revision, publisher, turns: Mutex::default() }))
    }
}

impl Handler for ReplayHandler {
    fn handle(&self, request: ServerRequest, cx: RequestContext) -> HandlerOutcome {
        let state = Arc::clone(&self.0);
        HandlerOutcome::later(async move { state.replay(&request, &cx).await })
    }
}

/// The exchanges that answer a request, in order, and what their patterns bound.
struct Candidates {
    exchanges: Vec<usize>,
    bindings: PatternBindings,
}

impl RecordedReplies {
    async fn replay(&self, request: &ServerRequest, cx: &RequestContext) -> Result<ServerResult, RpcError> {
        let (method, params) = (request.method(), request_params(request));
        let candidates = self.find(method, &params).ok_or_else(|| self.unknown_request(method, &params))?;
        let turn = match candidates.exchanges.iter().any(|index| self.exchanges[*index].has_questions()) {
            // The handler runs again after a question, and must answer from the same exchange.
            true => cx.step("replay", async || Ok::<_, RpcError>(self.next_turn(&candidates))).await??,
            false => self.next_turn(&candidates),
        };
        let exchange = &self.exchanges[turn];
        for (number, event) in exchange.events.iter().enumerate() {
            match event {
                ServerEvent::Questions(questions) => ask_all(cx, number, questions).await?,
                ServerEvent::Notification(notification) if exchange.has_questions() => {
                    let key = format!("notification {number}");
                    let notify = async || {
                        self.notify(cx, notification);
                        Ok::<_, RpcError>(true)
                    };
                    cx.step(&key, notify).await??;
                }
                ServerEvent::Notification(notification) => self.notify(cx, notification),
            }
        }
        for notification in &exchange.follow_ups {
            publish(&self.publisher, notification);
        }
        let Some(outcome) = &exchange.outcome else {
            return Err(RpcError::internal(format!(
                "the recorded server did not answer {}: the request was cancelled, or the recording ended",
                exchange.summary()
            )));
        };
        let mut result = outcome.result.clone()?;
        if outcome.has_patterns
            && let Ok(pattern) = serde_json::from_str(result.as_str())
            && let Ok(filled) = candidates.bindings.fill(&pattern)
        {
            result = Raw::from(filled);
        }
        Ok(replayed_result(method, result, self.revision, cx.revision()))
    }

    /// Finds the exchanges with these parameters; if nothing matches exactly, those with matching patterns.
    fn find(&self, method: &str, params: &Value) -> Option<Candidates> {
        let of_method =
            || self.exchanges.iter().enumerate().filter(|(_, exchange)| exchange.method == method);
        let exact = of_method().find(|(_, exchange)| exchange.params == *params).map(|(index, _)| index);
        let matches = |exchange: &RecordedExchange| {
            let mut bindings = PatternBindings::default();
            bindings.compare(&exchange.params, params).is_ok().then_some(bindings)
        };
        let first = match exact {
            Some(index) => index,
            None => of_method().find(|(_, exchange)| matches(exchange).is_some())?.0,
        };
        let same = |exchange: &RecordedExchange| exchange.params == self.exchanges[first].params;
        let mut exchanges: Vec<usize> =
            of_method().filter(|(_, exchange)| same(exchange)).map(|(index, _)| index).collect();
        if exchanges.iter().any(|index| self.exchanges[*index].outcome.is_some()) {
            // One that was cancelled says nothing about the others.
            exchanges.retain(|index| self.exchanges[*index].outcome.is_some());
        }
        let bindings = matches(&self.exchanges[first]).unwrap_or_default();
        Some(Candidates { exchanges, bindings })
    }

    /// Returns the exchange whose turn it is: each once, then the last one again.
    fn next_turn(&self, candidates: &Candidates) -> usize {
        let first = candidates.exchanges.first().copied().unwrap_or_default();
        let mut turns = self.turns.lock();
        let turn = turns.entry(first).or_default();
        let index = candidates.exchanges.get(*turn).or(candidates.exchanges.last()).copied();
        *turn = turn.saturating_add(1);
        index.unwrap_or(first)
    }

    fn unknown_request(&self, method: &str, params: &Value) -> RpcError {
        let list = |exchanges: &mut dyn Iterator<Item = &RecordedExchange>| {
            let mut summaries: Vec<String> = Vec::new();
            for summary in exchanges.map(RecordedExchange::summary) {
                if !summaries.contains(&summary) {
                    summaries.push(summary);
                }
            }
            let more = summaries.len().saturating_sub(MAX_LISTED);
            summaries.truncate(MAX_LISTED);
            let tail = if more > 0 { format!("; and {more} more") } else { String::new() };
            (summaries.join("; ") + &tail, summaries)
        };
        let asked = request_summary(method, params);
        let mut of_method = self.exchanges.iter().filter(|exchange| exchange.method == method);
        let (mut known, mut listed) = list(&mut of_method);
        if known.is_empty() {
            (known, listed) = list(&mut self.exchanges.iter());
        }
        let message = format!("the recording has no answer to {asked}; it has answers to: {known}");
        RpcError::invalid_params(message).with_data(json!({ "recorded": listed }))
    }

    fn notify(&self, cx: &RequestContext, notification: &RecordedNotification) {
        let member = |name: &str| notification.params.as_ref().and_then(|params| params.get(name));
        let text = |name: &str| member(name).and_then(Value::as_str);
        match notification.method.as_str() {
            "notifications/progress" => {
                let progress = member("progress").and_then(Value::as_f64).unwrap_or_default();
                cx.progress(progress, member("total").and_then(Value::as_f64), text("message"));
            }
            "notifications/message" => {
                let level = text("level").and_then(|level| level.parse().ok()).unwrap_or(Level::Info);
                cx.log(level, text("logger"), member("data").unwrap_or(&Value::Null));
            }
            _ if publish(&self.publisher, notification) => {}
            other => cx.notify(other, notification.params.clone().map(Raw::from).as_ref()),
        }
    }
}

/// Asks recorded questions at once, as they were asked. A client that cannot be asked is answered without.
async fn ask_all(cx: &RequestContext, number: usize, questions: &[RecordedQuestion]) -> Result<(), AskError> {
    let asking = questions.iter().enumerate().filter_map(|(index, question)| {
        let mut request = serde_json::Map::new();
        request.insert("method".to_owned(), question.method.clone().into());
        if let Some(params) = &question.params {
            request.insert("params".to_owned(), without_meta(params));
        }
        let request: InputRequest = Raw::from(Value::Object(request)).decode().ok()?;
        cx.check_question(&request).ok()?;
        let key = question.key.clone().unwrap_or_else(|| format!("question {number}.{index}"));
        Some(Box::pin(async move { cx.ask_raw(&key, request).await }))
    });
    let mut asking: Vec<BoxFuture<'_, Result<Raw, AskError>>> = asking.map(|asked| asked as _).collect();
    let mut suspended = Ok(());
    poll_fn(|task| {
        asking.retain_mut(|asked| match asked.as_mut().poll(task) {
            Poll::Pending => true,
            Poll::Ready(answer) => {
                if let Err(error @ (AskError::Suspended | AskError::Gone)) = answer {
                    suspended = Err(error);
                }
                false
            }
        });
        if asking.is_empty() { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    suspended
}

fn without_meta(params: &Value) -> Value {
    let mut params = params.clone();
    if let Some(members) = params.as_object_mut() {
        members.remove("_meta");
    }
    params
}

macro_rules! typed_params {
    ($request:expr; $($variant:ident)*) => {
        match $request {
            $(ServerRequest::$variant(params) => Raw::encode(params).ok(),)*
            ServerRequest::Other { params, .. } => params.clone(),
            _ => None,
        }
    };
}

/// Returns the parameters that identify a request.
fn request_params(request: &ServerRequest) -> Value {
    let raw = typed_params!(request; ListTools CallTool ListResources ListResourceTemplates ReadResource ListPrompts
        GetPrompt Complete GetTask TaskResult CancelTask ListTasks UpdateTask);
    let params: Option<Value> = raw.and_then(|raw| serde_json::from_str(raw.as_str()).ok());
    identifying_params(params.as_ref())
}
