//! A client that sends requests as they are written, in either era, in this process or over streamable HTTP.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use switchboard::protocol::surface::TASKS_EXTENSION;
use switchboard::protocol::{FromRaw, InputRequired, Meta, Raw, RequestId, Revision, RpcError};
use switchboard::transport::link::{
    Agreement, Dial, DialStep, ExchangeEvent, ExchangeKind, Link, LinkError, Mirror, OneWayMessage,
    OutgoingRequest,
};
use switchboard_testkit::STEP_TIMEOUT;

use crate::cells::Side;

/// The client.
pub(crate) struct AttackClient {
    link: Arc<dyn Link>,
    era: Side,
    next: AtomicI64,
}

/// The answer to a request.
pub(crate) enum Answer {
    Result(Raw),
    Error(RpcError),
    /// It has no JSON-RPC response.
    Rejected(LinkError),
    /// A stream of notifications began, with this one.
    Stream(Raw),
    Timeout,
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Result(result) => write!(f, "result {}", result.as_str()),
            Self::Error(error) => write!(f, "error {error:?}"),
            Self::Rejected(error) => write!(f, "rejected: {error}"),
            Self::Stream(first) => write!(f, "stream {}", first.as_str()),
            Self::Timeout => f.write_str("no answer"),
        }
    }
}

/// What a client got before the policy was set.
pub(crate) struct Loot {
    pub(crate) era: Side,
    /// The ids of its tasks, and of those of another principal.
    pub(crate) tasks: Vec<String>,
    pub(crate) tasks_of_others: Vec<String>,
    /// The handles of its large results, and of those of another principal.
    pub(crate) handles: Vec<String>,
    pub(crate) handles_of_others: Vec<String>,
    /// The key of a question, and the state of its call.
    pub(crate) question: Option<(String, String)>,
    pub(crate) question_of_another: Option<(String, String)>,
}

impl AttackClient {
    pub(crate) async fn connect(dial: impl Dial, era: Side) -> Self {
        let step = if era == Side::Legacy { DialStep::Legacy } else { DialStep::Modern };
        let client = Self { link: dial.dial(step, None).await.unwrap(), era, next: AtomicI64::new(1) };
        if era == Side::Legacy {
            let revision = Revision::LATEST_LEGACY.as_str();
            let params = format!(
                r#""protocolVersion":"{revision}","capabilities":{{}},"clientInfo":{{"name":"raw","version":"1"}}"#
            );
            let initialized = client.send("initialize", &params, ExchangeKind::Handshake).await;
            assert!(matches!(initialized, Answer::Result(_)), "{initialized}");
            client.link.agreed(Agreement { batches: false, revision });
            let note = OneWayMessage::Notification { method: "notifications/initialized", params: None };
            client.link.post(note).unwrap();
        }
        client
    }

    /// Sends a request; `members` are those of its parameters besides `_meta`, as text.
    pub(crate) async fn request(&self, method: &str, members: &str) -> Answer {
        let is_stream = method == "subscriptions/listen";
        self.send(method, members, if is_stream { ExchangeKind::Listen } else { ExchangeKind::Call }).await
    }

    async fn send(&self, method: &str, members: &str, kind: ExchangeKind) -> Answer {
        let params = self.params(members);
        let name = subject(&params);
        let revision = (self.era == Side::Modern).then(|| Revision::LATEST.as_str());
        let mut exchange = self.link.open(OutgoingRequest {
            id: RequestId::Number(self.next.fetch_add(1, Ordering::Relaxed)),
            method,
            params: &params,
            mirror: Mirror { revision, name: name.as_deref(), marked: None },
            kind,
            call: None,
        });
        let first = async {
            loop {
                match exchange.event().await {
                    Ok(ExchangeEvent::Done(Ok(result))) => return Answer::Result(result),
                    Ok(ExchangeEvent::Done(Err(error))) => return Answer::Error(error),
                    Ok(ExchangeEvent::Notification(note)) if kind == ExchangeKind::Listen => {
                        return Answer::Stream(note.params.unwrap_or_else(Raw::empty_object));
                    }
                    Ok(_) => {}
                    Err(error) => return Answer::Rejected(error),
                }
            }
        };
        tokio::time::timeout(STEP_TIMEOUT, first).await.unwrap_or(Answer::Timeout)
    }

    fn params(&self, members: &str) -> String {
        if self.era == Side::Legacy {
            return format!("{{{members}}}");
        }
        let meta = serde_json::json!({
            Meta::PROTOCOL_VERSION: Revision::LATEST.as_str(),
            Meta::CLIENT_INFO: { "name": "raw", "version": "1" },
            Meta::CLIENT_CAPABILITIES: {
                "elicitation": { "form": {} },
                "extensions": { TASKS_EXTENSION: {} },
            },
        });
        let comma = if members.is_empty() { "" } else { "," };
        format!(r#"{{"_meta":{meta}{comma}{members}}}"#)
    }

    /// Sends a request that succeeds.
    pub(crate) async fn expect(&self, method: &str, members: &str) -> Raw {
        match self.request(method, members).await {
            Answer::Result(result) => result,
            other => panic!("{method} {members}: {other}"),
        }
    }

    /// Starts a task and returns its id.
    pub(crate) async fn start_task(&self, tool: &str) -> String {
        let created = self.expect("tools/call", &format!(r#""name":"{tool}","task":{{}}"#)).await;
        let created: serde_json::Value = created.decode().unwrap();
        let task = if self.era == Side::Legacy { &created["task"] } else { &created };
        task["taskId"].as_str().unwrap().to_owned()
    }

    /// Calls a tool with a large result and returns its handle.
    pub(crate) async fn keep_result(&self, tool: &str) -> String {
        let result = self.expect("tools/call", &format!(r#""name":"{tool}""#)).await;
        let result: serde_json::Value = result.decode().unwrap();
        let text = result["content"].as_array().unwrap().iter().filter_map(|block| block["text"].as_str());
        let text: String = text.collect();
        let (_, rest) = text.split_once("handle \"").unwrap();
        rest.split_once('"').unwrap().0.to_owned()
    }

    /// Calls a tool that asks, and returns the key and the state of its question; `None` in the legacy era.
    pub(crate) async fn question(&self, tool: &str) -> Option<(String, String)> {
        if self.era == Side::Legacy {
            return None;
        }
        let result = self.expect("tools/call", &format!(r#""name":"{tool}""#)).await;
        let input = InputRequired::from_raw(&result).unwrap();
        let key = input.input_requests.unwrap().keys().next().unwrap().to_owned();
        Some((key, input.request_state.unwrap()))
    }
}

/// Returns the name that a binding repeats outside of the message.
fn subject(params: &str) -> Option<String> {
    let params = Raw::parse(params.to_owned()).ok()?;
    let named = params.fields().find(|(name, _)| ["name", "uri", "taskId"].contains(&name.as_str()));
    named.and_then(|(_, value)| value.decode().ok())
}
