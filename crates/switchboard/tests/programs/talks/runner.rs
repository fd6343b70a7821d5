//! Plays the other side of a talk and holds our side to it.

use serde_json::Value;
use switchboard::CallError;
use switchboard_recording::{
    Difference, ExpectedOutcome, PatternBindings, Talk, TalkLine, TalkMessage, TalkRole, TalkStep,
};
use switchboard_testkit::STEP_TIMEOUT;
use tokio::task::JoinHandle;

use crate::talks::binding::{Binding, Served, Stage};
use crate::talks::verbs::{Ours, describe};
use crate::talks::wire::Wire;

type Outcome = Result<Result<Value, CallError>, String>;

/// Runs one talk over one binding.
pub(crate) async fn run(talk: &Talk, binding: Binding) -> Result<(), String> {
    match talk.role {
        TalkRole::Client => run_client(talk, binding).await,
        TalkRole::Server => run_server(talk, binding).await,
    }
}

async fn run_client(talk: &Talk, binding: Binding) -> Result<(), String> {
    let mut stage = Stage::new(binding).map_err(|error| error.to_string())?;
    let ours = Ours::new(talk, stage.dial.clone())?;
    let mut play = Play::default();
    let mut doing: Vec<JoinHandle<Outcome>> = Vec::new();
    let mut steps = talk.steps.as_slice();
    while let Some((TalkStep { at, line }, rest)) = steps.split_first() {
        let told = |error: String| format!("{at}: {error}");
        steps = rest;
        match line {
            TalkLine::Verb(action) if action == "die" => play.wire = None,
            TalkLine::Verb(action) if action == "drop" => doing.pop().iter().for_each(JoinHandle::abort),
            TalkLine::Verb(action) => {
                let (ours, action) = (ours.clone(), action.clone());
                // When it first runs is not told: a talk waits for what the verb sends.
                doing.push(tokio::spawn(ours.act(action)));
            }
            TalkLine::Outcome(expected) => {
                let doing = doing.pop().ok_or_else(|| told("no verb is under way".into()))?;
                play.gives(expected, doing).await.map_err(told)?;
            }
            TalkLine::Server(message) => play.send(message, &mut stage).await.map_err(told)?,
            TalkLine::Client(message) => {
                let more = neighbours(message, rest, |line| match line {
                    TalkLine::Client(message) => Some(message),
                    _ => None,
                });
                steps = &rest[more.len() - 1..];
                play.hear(more, &mut stage).await.map_err(told)?;
            }
        }
    }
    if !doing.is_empty() {
        return Err(format!("{}: ends while a verb is under way", talk.name));
    }
    ours.leave().await;
    play.silence().await.map_err(|error| format!("{}: after the end: {error}", talk.name))
}

async fn run_server(talk: &Talk, binding: Binding) -> Result<(), String> {
    let offer = talk.settings.get("offer").unwrap_or("any");
    let mut served = Served::new(binding, offer).map_err(|error| error.to_string())?;
    let mut bound = PatternBindings::default();
    let mut steps = talk.steps.as_slice();
    while let Some((TalkStep { at, line }, rest)) = steps.split_first() {
        let told = |error: String| format!("{at}: {error}");
        steps = rest;
        match line {
            TalkLine::Client(message) => {
                served
                    .wire
                    .send(bound.fill(&message.json).map_err(|error| told(error.to_string()))?.to_string())
                    .map_err(told)?;
            }
            TalkLine::Server(message) => {
                let more = neighbours(message, rest, |line| match line {
                    TalkLine::Server(message) => Some(message),
                    _ => None,
                });
                steps = &rest[more.len() - 1..];
                hear(&mut served.wire, &mut bound, more).await.map_err(told)?;
            }
            TalkLine::Verb(_) | TalkLine::Outcome(_) => {
                return Err(told("a server's talk has no verbs".into()));
            }
        }
    }
    served.wire.finish();
    if let Some(line) = served.wire.line().await? {
        return Err(format!("{}: after the end the server said {line}", talk.name));
    }
    served.left().await
}

/// A message with those after it that may change places with it.
fn neighbours<'a>(
    first: &'a TalkMessage,
    rest: &'a [TalkStep],
    same: impl Fn(&TalkLine) -> Option<&TalkMessage>,
) -> Vec<&'a TalkMessage> {
    let mut found = vec![first];
    if first.any_order {
        found.extend(rest.iter().map_while(|step| same(&step.line).filter(|message| message.any_order)));
    }
    found
}

/// Hears as many lines as are expected, in any order.
async fn hear(
    wire: &mut Wire,
    bound: &mut PatternBindings,
    mut expected: Vec<&TalkMessage>,
) -> Result<(), String> {
    while !expected.is_empty() {
        let wanted =
            || expected.iter().map(|message| message.json.to_string()).collect::<Vec<_>>().join("\n     or ");
        let line = wire.line().await.map_err(|error| format!("{error}\n  wanted {}", wanted()))?;
        let line = line.ok_or_else(|| format!("the connection ended\n  wanted {}", wanted()))?;
        let got: Value = serde_json::from_str(&line).map_err(|error| format!("{error} in {line}"))?;
        let mut differences = Vec::new();
        let found = expected.iter().position(|message| match bound.compare(&message.json, &got) {
            Ok(()) => true,
            Err(difference) => {
                differences.push(difference.to_string());
                false
            }
        });
        let Some(found) = found else {
            return Err(format!("{}\n  wanted {}\n     got {got}", differences.join("\n  "), wanted()));
        };
        expected.remove(found);
    }
    Ok(())
}

/// What the runner holds while it plays a server.
#[derive(Default)]
struct Play {
    wire: Option<Wire>,
    bound: PatternBindings,
}

impl Play {
    /// The connection in use; after the server has died, the next one.
    async fn wire(&mut self, stage: &mut Stage) -> Result<&mut Wire, String> {
        let wire = match self.wire.take() {
            Some(wire) => wire,
            None => {
                let next = tokio::time::timeout(STEP_TIMEOUT, stage.wires.recv()).await;
                next.ok().flatten().ok_or("our client did not connect")?
            }
        };
        Ok(self.wire.insert(wire))
    }

    async fn send(&mut self, message: &TalkMessage, stage: &mut Stage) -> Result<(), String> {
        let line = self.bound.fill(&message.json).map_err(|error| error.to_string())?.to_string();
        self.wire(stage).await?.send(line)
    }

    async fn hear(&mut self, expected: Vec<&TalkMessage>, stage: &mut Stage) -> Result<(), String> {
        let mut bound = self.bound.clone();
        hear(self.wire(stage).await?, &mut bound, expected).await?;
        self.bound = bound;
        Ok(())
    }

    async fn gives(&mut self, expected: &ExpectedOutcome, doing: JoinHandle<Outcome>) -> Result<(), String> {
        let outcome = tokio::time::timeout(STEP_TIMEOUT, doing).await.map_err(|_| "the verb does not end")?;
        let outcome = outcome.map_err(|error| error.to_string())??;
        match (expected, outcome) {
            (ExpectedOutcome::Value(expected), Ok(got)) => {
                let shown =
                    |difference: Difference| format!("{difference}\n  wanted {expected}\n     got {got}");
                self.bound.compare(expected, &got).map_err(shown)
            }
            (ExpectedOutcome::Error { kind, detail }, Err(error)) => {
                let (got_kind, got) = describe(&error);
                if kind != got_kind {
                    return Err(format!("expected the error {kind}, got {got_kind}: {error}"));
                }
                let detail = detail.as_ref().map_or(Ok(()), |detail| self.bound.compare(detail, &got));
                detail.map_err(|difference| difference.to_string())
            }
            (ExpectedOutcome::Value(expected), Err(error)) => {
                Err(format!("expected {expected}, got the error: {error}"))
            }
            (ExpectedOutcome::Error { kind, .. }, Ok(got)) => {
                Err(format!("expected the error {kind}, got {got}"))
            }
        }
    }

    /// Nothing more may come than the end.
    async fn silence(&mut self) -> Result<(), String> {
        let Some(wire) = &mut self.wire else { return Ok(()) };
        match wire.line().await? {
            Some(line) => Err(format!("our client said {line}")),
            None => Ok(()),
        }
    }
}
