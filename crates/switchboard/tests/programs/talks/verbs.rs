//! The verbs of a client's talk, on our own client.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use switchboard::client::{
    Change, ChangeStream, ClientSession, EraHint, Limits, RevisionPolicy, Subscription,
};
use switchboard::protocol::Level;
use switchboard::protocol::{CompleteParams, Root, TaskParams};
use switchboard::{CallError, Client, json};
use switchboard_recording::Talk;
use tokio::sync::Mutex;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::talks::answers::Fixed;
use crate::talks::binding::AnyDial;

/// Our client, and what its verbs leave behind.
#[derive(Clone)]
pub(crate) struct Ours {
    session: ClientSession,
    changes: Arc<Mutex<Option<ChangeStream>>>,
    listening: Arc<Mutex<Vec<Subscription>>>,
    told: UnboundedSender<Value>,
    progress: Arc<Mutex<UnboundedReceiver<Value>>>,
}

impl Ours {
    pub(crate) fn new(talk: &Talk, dial: AnyDial) -> Result<Self, String> {
        let mut limits = Limits::default();
        if let Some(probe) = talk.settings.get("probe") {
            limits.probe = Duration::from_millis(probe.parse().map_err(|error| format!("probe: {error}"))?);
        }
        let mut client = Client::new()
            .with_limits(limits)
            .with_revisions(offer(talk.settings.get("pin").unwrap_or("any"))?);
        if let Some((name, version)) = talk.settings.get("name").and_then(|name| name.split_once(' ')) {
            client = client.with_name(name, version);
        }
        if let Some(able) = talk.settings.get("answers") {
            client = client.with_answers(Fixed::able(able));
        }
        if let Some(capabilities) = talk.settings.get("capabilities") {
            client = client.with_capabilities(read(capabilities)?);
        }
        if talk.settings.get("tasks").is_some() {
            client = client.with_tasks();
        }
        client = match talk.settings.get("known") {
            Some("modern") => client.with_era_hint(EraHint::Modern),
            Some("legacy") => client.with_era_hint(EraHint::Legacy),
            _ => client,
        };
        let (told, progress) = unbounded_channel();
        Ok(Self {
            session: client.session(dial),
            changes: Arc::default(),
            listening: Arc::default(),
            told,
            progress: Arc::new(Mutex::new(progress)),
        })
    }

    /// Ends the session, and everything that would still speak.
    pub(crate) async fn leave(self) {
        self.session.close().await;
    }

    /// Carries out one verb.
    pub(crate) async fn act(self, action: String) -> Result<Result<Value, CallError>, String> {
        let (verb, rest) = action.split_once(' ').unwrap_or((&action, ""));
        let (word, json) = rest.split_once(' ').unwrap_or((rest, "{}"));
        let session = &self.session;
        Ok(match verb {
            "connect" => self.connect().await,
            "list_tools" => listed(session.list_tools().await.as_deref()),
            "list_resources" => listed(session.list_resources().await.as_deref()),
            "list_resource_templates" => listed(session.list_resource_templates().await.as_deref()),
            "list_prompts" => listed(session.list_prompts().await.as_deref()),
            "call_tool" => self.call_tool(word, read(json)?, None).await,
            "call_tool_as_task" => self.call_tool(word, read(json)?, Some(TaskParams::new())).await,
            "read_resource" => given(session.read_resource(word).await),
            "get_prompt" => {
                let arguments: serde_json::Map<String, Value> = read(json)?;
                let text = |value: Value| value.as_str().unwrap_or_default().to_owned();
                given(session.get_prompt(word, arguments.into_iter().map(|(k, v)| (k, text(v)))).await)
            }
            "complete" => given(session.complete(read::<CompleteParams>(rest)?).await),
            "request" => given(session.request_raw(word, read(json)?).await),
            "notify" => given(session.notify(word, Some(&read(json)?))),
            "ping" => given(session.ping().await),
            "set_log_level" => given(session.set_log_level(read::<Level>(rest)?).await),
            "set_roots" => given(session.set_roots(read::<Vec<Root>>(rest)?)),
            "listen" => self.keep(session.listen(read(rest)?).await).await,
            "subscribe" => self.keep(session.subscribe(rest).await).await,
            "unlisten" => Ok(self.listening.lock().await.pop().is_some().into()),
            "next_change" => Ok(self.next_change().await),
            "next_heard" => Ok(self.next_heard().await),
            "next_progress" => Ok(self.progress.lock().await.recv().await.unwrap_or_default()),
            "close" => {
                session.close().await;
                Ok(Value::Null)
            }
            other => return Err(format!("no verb is called {other:?}")),
        })
    }

    async fn connect(&self) -> Result<Value, CallError> {
        self.session.initialize().await?;
        let terms = self.session.info()?;
        *self.changes.lock().await = Some(self.session.changes()?);
        let server = terms.server.as_ref().map(|server| server.name.clone());
        Ok(json!({ "revision": terms.revision.as_str(), "server": server }))
    }

    async fn call_tool(
        &self,
        name: &str,
        arguments: Value,
        task: Option<TaskParams>,
    ) -> Result<Value, CallError> {
        let told = self.told.clone();
        let mut call = self.session.call_tool(name, arguments).on_progress(move |progress| {
            let shown = json!({
                "progress": progress.progress, "total": progress.total, "message": progress.message
            });
            let _ = told.send(shown);
        });
        if let Some(task) = task {
            call = call.as_task(task);
        }
        given(call.await)
    }

    async fn keep(&self, listening: Result<Subscription, CallError>) -> Result<Value, CallError> {
        let listening = listening?;
        let accepted = serde_json::to_value(listening.accepted()).unwrap_or_default();
        self.listening.lock().await.push(listening);
        Ok(accepted)
    }

    /// What the session as a whole is told next.
    async fn next_change(&self) -> Value {
        let mut changes = self.changes.lock().await;
        let Some(changes) = changes.as_mut() else { return Value::Null };
        told(changes.next().await)
    }

    /// What the newest subscription is told next.
    async fn next_heard(&self) -> Value {
        let mut listening = self.listening.lock().await;
        let Some(newest) = listening.last_mut() else { return Value::Null };
        told(newest.next().await)
    }
}

fn told(change: Option<Change>) -> Value {
    match change {
        Some(Change::Tools) => json!("tools"),
        Some(Change::Prompts) => json!("prompts"),
        Some(Change::Resources) => json!("resources"),
        Some(Change::Resource { uri }) => json!({ "resource": uri }),
        Some(Change::Log(message)) => json!({ "log": message }),
        Some(Change::Task(task)) => json!({ "task": task }),
        Some(Change::ElicitationDone { id }) => json!({ "elicitation": id }),
        Some(Change::Ended) => json!("ended"),
        Some(other) => json!(format!("{other:?}")),
        None => Value::Null,
    }
}

/// An offer by its name in a header.
pub(crate) fn offer(name: &str) -> Result<RevisionPolicy, String> {
    Ok(match name {
        "any" => RevisionPolicy::Any,
        "modern" => RevisionPolicy::ModernOnly,
        "legacy" => RevisionPolicy::LegacyOnly,
        revision => RevisionPolicy::Only(revision.parse().map_err(|error| format!("{revision}: {error}"))?),
    })
}

/// What kind of error this is, and what it says.
pub(crate) fn describe(error: &CallError) -> (&'static str, Value) {
    match error {
        CallError::Remote(error) => ("Remote", serde_json::to_value(error).unwrap_or_default()),
        CallError::Link(_) => ("Link", Value::Null),
        CallError::TimedOut { .. } => ("TimedOut", Value::Null),
        CallError::Cancelled => ("Cancelled", Value::Null),
        CallError::NotInitialized => ("NotInitialized", Value::Null),
        CallError::Closed => ("Closed", Value::Null),
        CallError::Unsupported { what } => ("Unsupported", json!(what)),
        CallError::Protocol { method, .. } => ("Protocol", json!(method)),
        CallError::NoCommonRevision { ours, theirs, .. } => {
            let ours: Vec<_> = ours.iter().map(|revision| revision.as_str()).collect();
            ("NoCommonRevision", json!({ "ours": ours, "theirs": theirs }))
        }
        CallError::InputRefused(reason) => ("InputRefused", json!(reason)),
        CallError::TooManyRounds { rounds } => ("TooManyRounds", json!(rounds)),
        _ => ("Other", json!(error.to_string())),
    }
}

fn read<T: serde::de::DeserializeOwned>(json: &str) -> Result<T, String> {
    serde_json::from_str(json).map_err(|error| format!("{error}: {json}"))
}

fn given<T: serde::Serialize>(outcome: Result<T, CallError>) -> Result<Value, CallError> {
    outcome.map(|value| serde_json::to_value(value).unwrap_or_default())
}

fn listed<T: serde::Serialize>(
    outcome: Result<&switchboard::client::List<T>, &CallError>,
) -> Result<Value, CallError> {
    outcome.map_err(Clone::clone).map(|listing| json!(listing.iter().collect::<Vec<_>>()))
}
