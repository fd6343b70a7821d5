//! A test of a server against a recording.

use std::sync::Arc;

use serde_json::{Map, Value};
use switchboard_protocol::{Raw, Revision};
use switchboard_session::client::{ClientHandler, ClientSession, HandlerCapabilities};

use crate::conversation::{Conversation, RecordedExchange, ServerEvent, outcome_value};
use crate::difference::Difference;
use crate::pattern::PatternBindings;
use crate::recording::Recording;
use crate::replay::ReplayError;
use crate::testing::comparison::compare_answers;
use crate::testing::ignored_path::IgnoredPath;
use crate::testing::recorded_answers::{AnswerHandler, RecordedAnswers};

/// Methods that a session sends by itself.
const BY_SESSION: [&str; 3] = ["initialize", "server/discover", "ping"];
/// Methods whose answers only start something.
const NOT_TESTED: [&str; 4] =
    ["subscriptions/listen", "resources/subscribe", "resources/unsubscribe", "logging/setLevel"];

/// Sends the requests of a recording to a server, one after the other, and compares the answers.
///
/// Open the session with [`handler`](Self::handler) and in the [`revision`](Self::revision) of the recording.
#[derive(Debug)]
pub struct ServerTest {
    conversation: Conversation,
    ignored: Vec<IgnoredPath>,
    answers: Arc<RecordedAnswers>,
}

/// The outcome of a test.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TestReport {
    /// How the server describes itself, then the requests in their order.
    pub steps: Vec<TestStep>,
}

/// The outcome of one request.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TestStep {
    /// The request on one line, like `tools/call add {"a":1}`.
    pub request: String,
    /// How its answer compares.
    pub outcome: TestStepOutcome,
}

/// How an answer compares with the recorded one.
#[derive(Debug, Clone, PartialEq)]
pub enum TestStepOutcome {
    /// It is the same.
    Same,
    /// It differs.
    Different(Vec<Difference>),
    /// The server did not answer: the connection failed, or the time was over.
    Failed(String),
    /// The recording has no answer to compare with.
    Skipped,
}

impl TestReport {
    /// Returns whether every answer was the same.
    pub fn is_success(&self) -> bool {
        self.failures().next().is_none()
    }

    /// Returns the steps that differ or failed.
    pub fn failures(&self) -> impl Iterator<Item = &TestStep> {
        let failed =
            |step: &&TestStep| !matches!(step.outcome, TestStepOutcome::Same | TestStepOutcome::Skipped);
        self.steps.iter().filter(failed)
    }
}

impl ServerTest {
    /// Reads what one server of a recording was asked: the one with this name, or the only one.
    ///
    /// # Errors
    /// Returns an error if it is not clear which server is meant, or it was asked nothing.
    pub fn new(recording: &Recording, server: Option<&str>) -> Result<Self, ReplayError> {
        let name = recording.choose_server(server)?;
        let mut conversation = Conversation::read(recording.frames_of(&name));
        if conversation.exchanges.is_empty() {
            return Err(ReplayError::NoRequests { name: name.to_string() });
        }
        conversation.revision = recording.revision_of(&name);
        Ok(Self { conversation, ignored: Vec::new(), answers: Arc::default() })
    }

    /// Leaves these paths out of every comparison.
    #[must_use]
    pub fn ignoring(mut self, paths: impl IntoIterator<Item = IgnoredPath>) -> Self {
        self.ignored.extend(paths);
        self
    }

    /// Returns the revision of the recording.
    pub fn revision(&self) -> Option<Revision> {
        self.conversation.revision
    }

    /// Returns the names of the tools that the recording calls.
    pub fn tools(&self) -> impl Iterator<Item = &str> {
        let calls = self.conversation.exchanges.iter().filter(|exchange| exchange.method == "tools/call");
        calls.filter_map(|exchange| exchange.params.get("name")?.as_str())
    }

    /// Returns the handler for the session: it gives the recorded answers to questions, and declares what the recorded client
    /// declared.
    pub fn handler(&self) -> Arc<dyn ClientHandler> {
        let capabilities = handler_capabilities(self.conversation.client_capabilities.as_ref());
        Arc::new(AnswerHandler { answers: Arc::clone(&self.answers), capabilities })
    }

    /// Runs the test over a session. `handshake` is the result with which the server described itself.
    ///
    /// # Cancellation
    /// Dropping the future cancels the request under way.
    pub async fn run(&self, session: &ClientSession, handshake: Option<&Raw>) -> TestReport {
        let mut bindings = PatternBindings::default();
        let mut steps = Vec::new();
        if let (Some(recorded), Some(actual)) = (&self.conversation.handshake, handshake) {
            let actual = serde_json::from_str(actual.as_str()).unwrap_or_default();
            let (recorded, actual) = (described(recorded), described(&actual));
            let differences = compare_answers(&mut bindings, &recorded, &actual, &self.ignored);
            steps.push(TestStep { request: "handshake".to_owned(), outcome: outcome(differences) });
        }
        for exchange in &self.conversation.exchanges {
            if BY_SESSION.contains(&exchange.method.as_str()) {
                continue;
            }
            let outcome = self.run_exchange(session, exchange, &mut bindings).await;
            let has_failed = matches!(outcome, TestStepOutcome::Failed(_));
            steps.push(TestStep { request: exchange.summary(), outcome });
            if has_failed && session.info().is_err() {
                break;
            }
        }
        TestReport { steps }
    }

    async fn run_exchange(
        &self,
        session: &ClientSession,
        exchange: &RecordedExchange,
        bindings: &mut PatternBindings,
    ) -> TestStepOutcome {
        let Some(recorded) = &exchange.outcome else { return TestStepOutcome::Skipped };
        if NOT_TESTED.contains(&exchange.method.as_str()) {
            return TestStepOutcome::Skipped;
        }
        let params = match bindings.fill(&exchange.params) {
            Ok(params) => params,
            Err(error) => return TestStepOutcome::Failed(error.to_string()),
        };
        let questions = exchange.events.iter().filter_map(|event| match event {
            ServerEvent::Questions(questions) => Some(questions.iter().cloned()),
            ServerEvent::Notification(_) => None,
        });
        self.answers.start(questions.flatten().collect());
        let call = session.raw_call(exchange.method.clone(), Raw::from(params)).handler(self.handler());
        let answered = call.await;
        let (missing, unexpected) = self.answers.finish();
        let missing = missing.iter().map(|question| Difference::missing("question", question));
        let unexpected = unexpected.iter().map(|question| Difference::unexpected("question", question));
        let questions: Vec<Difference> = missing.chain(unexpected).collect();
        let answer = match answered {
            Ok(result) => Ok(result),
            Err(error) => match error.remote() {
                Some(error) => Err(error.clone()),
                None if questions.is_empty() => return TestStepOutcome::Failed(error.to_string()),
                // A question without an answer ends the call of a modern server.
                None => return TestStepOutcome::Different(questions),
            },
        };
        let (recorded, actual) = (outcome_value(&recorded.result), outcome_value(&answer));
        let mut differences = compare_answers(bindings, &recorded, &actual, &self.ignored);
        differences.extend(questions);
        outcome(differences)
    }
}

/// Returns what a client declared; everything if that is not known. A server may offer less to a client that can do less.
fn handler_capabilities(declared: Option<&Value>) -> HandlerCapabilities {
    let all = HandlerCapabilities::none()
        .with_forms()
        .with_urls()
        .with_sampling()
        .with_sampling_tools()
        .with_roots();
    let Some(declared) = declared else { return all };
    let elicitation = declared.get("elicitation");
    let has = |of: Option<&Value>, name: &str| of.is_some_and(|of| of.get(name).is_some());
    let sampling = declared.get("sampling");
    let mut capabilities = HandlerCapabilities::none();
    capabilities.urls = has(elicitation, "url");
    // Without details, as older revisions declare it, elicitation is by forms.
    capabilities.forms = has(elicitation, "form") || elicitation.is_some() && !capabilities.urls;
    capabilities.sampling = sampling.is_some();
    capabilities.sampling_tools = has(sampling, "tools");
    capabilities.roots = declared.get("roots").is_some();
    capabilities
}

fn outcome(differences: Vec<Difference>) -> TestStepOutcome {
    if differences.is_empty() { TestStepOutcome::Same } else { TestStepOutcome::Different(differences) }
}

/// Returns what a server says of itself, without its version, which every release changes.
fn described(handshake: &Value) -> Value {
    let kept = ["capabilities", "instructions", "protocolVersion", "supportedVersions"];
    let members = handshake.as_object().cloned().unwrap_or_default();
    let mut described: Map<String, Value> =
        members.into_iter().filter(|(name, _)| kept.contains(&name.as_str())).collect();
    if let Some(name) = handshake.get("serverInfo").and_then(|info| info.get("name")) {
        described.insert("serverInfo".to_owned(), serde_json::json!({ "name": name }));
    }
    Value::Object(Map::from_iter([("result".to_owned(), Value::Object(described))]))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_test_declares_what_the_recorded_client_declared() {
        let none = HandlerCapabilities::none();
        for (params, expected) in [
            (json!({"capabilities": {"elicitation": {}}}), none.with_forms()),
            (
                json!({"capabilities": {"elicitation": {"url": {}}, "roots": {}}}),
                none.with_urls().with_roots(),
            ),
            (
                json!({"capabilities": {"sampling": {"tools": {}}}}),
                none.with_sampling().with_sampling_tools(),
            ),
            (json!({"capabilities": {}}), none),
        ] {
            let request = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
            let recording = Recording::parse(format!("> {request}\n").as_bytes()).expect("a recording");
            let test = ServerTest::new(&recording, None).expect("a test");
            assert_eq!(test.handler().capabilities(), expected, "{request}");
        }
    }
}
