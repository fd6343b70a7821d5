//! The frames of one server, joined to exchanges: each request with the questions, notifications and answer that belong to it.
//!
//! The rounds of a request that was repeated with the answers to questions are one exchange, as if the server had asked
//! within it. So a conversation is the same in both eras.

use serde_json::{Map, Value};
use switchboard_protocol::{Meta, Raw, Revision, RpcError};

use crate::recording::{FrameDirection, FrameForm, RecordedFrame};

/// The conversation with one server.
#[derive(Debug, Default)]
pub(crate) struct Conversation {
    /// The revision in which the server answered.
    pub(crate) revision: Option<Revision>,
    /// The last result with which the server described itself.
    pub(crate) handshake: Option<Value>,
    /// The capabilities that the client declared last.
    pub(crate) client_capabilities: Option<Value>,
    pub(crate) exchanges: Vec<RecordedExchange>,
}

/// A request of the client, and what came of it.
#[derive(Debug)]
pub(crate) struct RecordedExchange {
    pub(crate) method: String,
    /// The parameters without what changes with every request; may have patterns.
    pub(crate) params: Value,
    /// Notifications and questions before the answer, in order.
    pub(crate) events: Vec<ServerEvent>,
    /// The answer; `None` if there was none.
    pub(crate) outcome: Option<ExchangeOutcome>,
    /// Notifications after the answer and before the next request.
    pub(crate) follow_ups: Vec<RecordedNotification>,
}

/// An answer, as text.
#[derive(Debug, Clone)]
pub(crate) struct ExchangeOutcome {
    pub(crate) result: Result<Raw, RpcError>,
    pub(crate) has_patterns: bool,
}

/// What a server sends before it answers.
#[derive(Debug)]
pub(crate) enum ServerEvent {
    Notification(RecordedNotification),
    /// Questions that were asked at once.
    Questions(Vec<RecordedQuestion>),
}

/// A notification of a server.
#[derive(Debug, Clone)]
pub(crate) struct RecordedNotification {
    pub(crate) method: String,
    pub(crate) params: Option<Value>,
}

/// A question of a server, and the answer of its client.
#[derive(Debug, Clone)]
pub(crate) struct RecordedQuestion {
    /// The name by which a modern server tells its questions apart.
    pub(crate) key: Option<String>,
    pub(crate) method: String,
    pub(crate) params: Option<Value>,
    pub(crate) answer: Option<Result<Value, RpcError>>,
}

impl Conversation {
    /// Joins the frames of one server. Frames that are no messages are left out.
    pub(crate) fn read<'a>(frames: impl Iterator<Item = &'a RecordedFrame>) -> Self {
        let mut reader = ConversationReader::default();
        for frame in frames {
            let Ok(raw) = Raw::parse(frame.text.clone()) else { continue };
            match raw.decode::<Vec<Raw>>() {
                // A batch of 2025-03-26.
                Ok(batch) => batch.iter().for_each(|raw| reader.read(frame, raw)),
                Err(_) => reader.read(frame, &raw),
            }
        }
        reader.conversation
    }
}

impl RecordedExchange {
    /// Returns whether the server asked anything.
    pub(crate) fn has_questions(&self) -> bool {
        self.events.iter().any(|event| matches!(event, ServerEvent::Questions(_)))
    }

    /// Returns what the request is about: `tools/call add {"a":1}`.
    pub(crate) fn summary(&self) -> String {
        request_summary(&self.method, &self.params)
    }
}

/// Returns a request on one line, as far as it fits.
pub(crate) fn request_summary(method: &str, params: &Value) -> String {
    const SHOWN: usize = 120;
    let mut members = params.as_object().cloned().unwrap_or_default();
    let subject = ["name", "uri", "taskId"].iter().find_map(|key| members.remove(*key));
    let mut summary = method.to_owned();
    if let Some(subject) = subject {
        summary += &format!(" {}", subject.as_str().map_or_else(|| subject.to_string(), str::to_owned));
    }
    let rest = match members.remove("arguments") {
        Some(arguments) if members.is_empty() => arguments,
        Some(arguments) => {
            members.insert("arguments".to_owned(), arguments);
            Value::Object(members)
        }
        None => Value::Object(members),
    };
    if rest.as_object().is_none_or(|rest| !rest.is_empty()) {
        summary += &format!(" {rest}");
    }
    if summary.len() > SHOWN {
        summary.truncate(summary.floor_char_boundary(SHOWN));
        summary.push('…');
    }
    summary
}

/// Returns parameters without what does not identify a request: `_meta`, the answers and the state of a further round, and
/// members that are as good as absent.
pub(crate) fn identifying_params(params: Option<&Value>) -> Value {
    let mut members = params.and_then(Value::as_object).cloned().unwrap_or_default();
    for member in ["_meta", "inputResponses", "requestState"] {
        members.remove(member);
    }
    members.retain(|name, value| {
        !(value.is_null() || name == "arguments" && *value == Value::Object(Map::new()))
    });
    Value::Object(members)
}

#[derive(Default)]
struct ConversationReader {
    conversation: Conversation,
    /// Requests of the client without an answer, oldest first.
    pending: Vec<PendingExchange>,
    /// Exchanges whose server waits for answers, by index.
    asking: Vec<usize>,
    /// Questions of the server without an answer: id, exchange, event, question.
    open_questions: Vec<(Value, usize, usize)>,
    /// What the server sent before the first request that a handler answers.
    early: Vec<ServerEvent>,
}

struct PendingExchange {
    id: Value,
    exchange: usize,
    progress_token: Option<Value>,
    version: Option<Revision>,
}

impl ConversationReader {
    fn read(&mut self, frame: &RecordedFrame, raw: &Raw) {
        let member = |name: &str| raw.fields().find(|(found, _)| *found == name).map(|(_, value)| value);
        let value =
            |name: &str| member(name).and_then(|raw| serde_json::from_str::<Value>(raw.as_str()).ok());
        let (id, params) = (value("id"), value("params"));
        let method = value("method").and_then(|method| method.as_str().map(str::to_owned));
        match (frame.direction, method, id) {
            (FrameDirection::ToServer, Some(method), Some(id)) => self.open(method, id, params.as_ref()),
            (FrameDirection::ToClient, Some(method), Some(id)) => self.ask(method, id, params),
            (FrameDirection::ToClient, Some(method), None) => self.note(method, params),
            (FrameDirection::ToServer, Some(_), None) | (_, None, None) => {}
            (direction, None, Some(id)) => {
                let result = match (member("result"), member("error")) {
                    (Some(result), _) => Ok(result),
                    (None, Some(error)) => match error.decode() {
                        Ok(error) => Err(error),
                        Err(_) => return,
                    },
                    (None, None) => return,
                };
                match direction {
                    FrameDirection::ToClient => {
                        let has_patterns = frame.form == FrameForm::Pattern;
                        self.close(&id, ExchangeOutcome { result, has_patterns });
                    }
                    FrameDirection::ToServer => self.answer(&id, result),
                }
            }
        }
    }

    fn open(&mut self, method: String, id: Value, params: Option<&Value>) {
        let meta = params.and_then(|params| params.get("_meta"));
        let member = |name: &str| params.and_then(|params| params.get(name));
        let version = meta.and_then(|meta| meta.get(Meta::PROTOCOL_VERSION)?.as_str()?.parse().ok());
        let declared = match method.as_str() {
            "initialize" => member("capabilities"),
            _ => meta.and_then(|meta| meta.get(Meta::CLIENT_CAPABILITIES)),
        };
        if let Some(declared) = declared {
            self.conversation.client_capabilities = Some(declared.clone());
        }
        let identity = identifying_params(params);
        let is_further_round = member("inputResponses").is_some() || member("requestState").is_some();
        let continued = self.asking.iter().position(|index| {
            let exchange = &self.conversation.exchanges[*index];
            is_further_round && exchange.method == method && exchange.params == identity
        });
        let exchange = match continued {
            Some(position) => {
                let index = self.asking.remove(position);
                let answers = member("inputResponses").and_then(Value::as_object);
                self.answer_round(index, answers);
                index
            }
            None => {
                let is_answered_by_handler = method != "initialize" && method != "server/discover";
                let events =
                    if is_answered_by_handler { std::mem::take(&mut self.early) } else { Vec::new() };
                let exchange = RecordedExchange {
                    method,
                    params: identity,
                    events,
                    outcome: None,
                    follow_ups: Vec::new(),
                };
                self.conversation.exchanges.push(exchange);
                self.conversation.exchanges.len() - 1
            }
        };
        let progress_token = meta.and_then(|meta| meta.get("progressToken")).cloned();
        self.pending.push(PendingExchange { id, exchange, progress_token, version });
    }

    fn answer_round(&mut self, exchange: usize, answers: Option<&Map<String, Value>>) {
        let last =
            self.conversation.exchanges[exchange].events.iter_mut().rev().find_map(|event| match event {
                ServerEvent::Questions(questions) => Some(questions),
                ServerEvent::Notification(_) => None,
            });
        for question in last.into_iter().flatten() {
            let answer = question.key.as_ref().and_then(|key| answers?.get(key));
            question.answer = answer.cloned().map(Ok);
        }
    }

    fn close(&mut self, id: &Value, outcome: ExchangeOutcome) {
        // The latest: a server may be connected to more than once.
        let Some(position) = self.pending.iter().rposition(|pending| pending.id == *id) else { return };
        let PendingExchange { exchange: index, version, .. } = self.pending.remove(position);
        let exchange = &mut self.conversation.exchanges[index];
        if let Ok(result) = &outcome.result {
            let value: Value = serde_json::from_str(result.as_str()).unwrap_or_default();
            let is_handshake = exchange.method == "initialize" || exchange.method == "server/discover";
            let named = value.get("protocolVersion").and_then(|version| version.as_str()?.parse().ok());
            if let Some(revision) = version.or(named.filter(|_| is_handshake)) {
                self.conversation.revision = Some(revision);
            }
            if value.get("resultType").is_some_and(|kind| kind == "input_required") {
                let asked = value.get("inputRequests").and_then(Value::as_object).into_iter().flatten();
                let questions: Vec<_> = asked.filter_map(|(key, asked)| read_question(key, asked)).collect();
                // Without questions the server only wants to be asked again.
                if !questions.is_empty() {
                    exchange.events.push(ServerEvent::Questions(questions));
                }
                self.asking.push(index);
                return;
            }
            if is_handshake {
                self.conversation.handshake = Some(value);
            }
        }
        exchange.outcome = Some(outcome);
    }

    fn ask(&mut self, method: String, id: Value, params: Option<Value>) {
        if method == "ping" {
            return;
        }
        let question = RecordedQuestion { key: None, method, params, answer: None };
        let event = ServerEvent::Questions(vec![question]);
        match self.pending.last() {
            Some(pending) => {
                let events = &mut self.conversation.exchanges[pending.exchange].events;
                events.push(event);
                self.open_questions.push((id, pending.exchange, events.len() - 1));
            }
            // It belongs to no request: it is asked again within the next one.
            None => self.early.push(event),
        }
    }

    fn answer(&mut self, id: &Value, result: Result<Raw, RpcError>) {
        let Some(position) = self.open_questions.iter().rposition(|(asked, ..)| asked == id) else { return };
        let (_, exchange, event) = self.open_questions.remove(position);
        if let ServerEvent::Questions(questions) = &mut self.conversation.exchanges[exchange].events[event]
            && let Some(question) = questions.first_mut()
        {
            let value = |raw: Raw| serde_json::from_str(raw.as_str()).unwrap_or_default();
            question.answer = Some(result.map(value));
        }
    }

    fn note(&mut self, method: String, params: Option<Value>) {
        let token = params.as_ref().and_then(|params| params.get("progressToken"));
        let by_token = self
            .pending
            .iter()
            .rev()
            .find(|pending| token.is_some() && pending.progress_token.as_ref() == token);
        let subscription = params.as_ref().and_then(|params| params.get("_meta")?.get(Meta::SUBSCRIPTION_ID));
        let by_subscription = self.pending.iter().rev().find(|pending| Some(&pending.id) == subscription);
        let notification = RecordedNotification { method, params };
        let may_notify = |pending: &&PendingExchange| {
            self.conversation.exchanges[pending.exchange].method != "subscriptions/listen"
        };
        if let Some(pending) = by_subscription {
            self.conversation.exchanges[pending.exchange].follow_ups.push(notification);
        } else if let Some(pending) = by_token.or_else(|| self.pending.iter().rev().find(may_notify)) {
            let exchange = &mut self.conversation.exchanges[pending.exchange];
            exchange.events.push(ServerEvent::Notification(notification));
        } else {
            match self.conversation.exchanges.last_mut() {
                Some(exchange) => exchange.follow_ups.push(notification),
                None => self.early.push(ServerEvent::Notification(notification)),
            }
        }
    }
}

fn read_question(key: &str, asked: &Value) -> Option<RecordedQuestion> {
    Some(RecordedQuestion {
        key: Some(key.to_owned()),
        method: asked.get("method")?.as_str()?.to_owned(),
        params: asked.get("params").cloned(),
        answer: None,
    })
}

/// Returns an answer as JSON: `{"result": …}` or `{"error": …}`.
pub(crate) fn outcome_value(outcome: &Result<Raw, RpcError>) -> Value {
    let (name, raw) = match outcome {
        Ok(result) => ("result", Ok(result.clone())),
        Err(error) => ("error", Raw::encode(error)),
    };
    let value = raw.ok().and_then(|raw| serde_json::from_str(raw.as_str()).ok()).unwrap_or_default();
    Value::Object(Map::from_iter([(name.to_owned(), value)]))
}
