//! Plays a scenario against a server, as a client that knows nothing but JSON.

use serde_json::{Map, Value, json};

use crate::scenarios::scenario::{Scenario, Step, has};
use crate::scenarios::wire::Wire;

/// In which way a scenario is played.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Way {
    pub(crate) revision: &'static str,
    pub(crate) policy: &'static str,
    pub(crate) over: &'static str,
}

impl Way {
    pub(crate) fn is_modern(self) -> bool {
        self.revision == "2026-07-28"
    }

    pub(crate) fn era(self) -> &'static str {
        if self.is_modern() { "modern" } else { "legacy" }
    }

    fn holds(self, tag: &str) -> bool {
        let carrier = if self.revision >= "2025-11-25" { "results" } else { "codes" };
        [self.revision, self.policy, self.over, self.era(), carrier].contains(&tag)
    }
}

/// What the client can do: answer questions, and hear events of streaming tools.
fn capabilities() -> Value {
    json!({"elicitation": {}, "extensions": {"dev.switchboard/stream": {}}})
}

/// Plays a scenario; the error says which line did not hold.
pub(crate) async fn play(scenario: &Scenario, way: Way, mut wire: Wire) -> Result<(), String> {
    let mut client = Client { way, next: 1, last: None };
    if scenario.opened && !way.is_modern() {
        let hello = json!({"protocolVersion": way.revision, "capabilities": capabilities(),
            "clientInfo": {"name": "scenarios", "version": "1"}});
        let answer = client.ask(&mut wire, "initialize", hello, &[], None).await?;
        has(&json!({"result": {"protocolVersion": way.revision}}), &answer, way.revision)?;
        wire.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    }
    let mut steps = scenario.steps.iter().peekable();
    while let Some(step) = steps.next() {
        match step {
            Step::Tell(method, params) => wire.send(&client.message(None, method, params.clone())),
            Step::Ask(method, params) => {
                let (mut notes, mut says) = (Vec::new(), None);
                while let Some(step) =
                    steps.next_if(|step| matches!(step, Step::Noted(_) | Step::UserSays(_)))
                {
                    match step {
                        Step::Noted(note) => notes.push(note),
                        Step::UserSays(answer) => says = Some(answer),
                        _ => {}
                    }
                }
                let answer = client.ask(&mut wire, method, params.clone(), &notes, says).await?;
                client.last = Some(answer);
            }
            Step::Answered(tags, wanted) => {
                if tags.iter().all(|tag| way.holds(tag)) {
                    let got = client.last.as_ref().ok_or("an answer without a request")?;
                    has(wanted, got, way.revision)
                        .map_err(|error| format!("{error}\n  wanted {wanted}\n     got {got}"))?;
                }
            }
            Step::Noted(_) | Step::UserSays(_) => return Err("these follow a request".into()),
        }
    }
    Ok(())
}

struct Client {
    way: Way,
    next: u64,
    last: Option<Value>,
}

impl Client {
    fn message(&self, id: Option<&str>, method: &str, mut params: Value) -> Value {
        if params["protocolVersion"] == "$revision" {
            params["protocolVersion"] = json!(self.way.revision);
        }
        if self.way.is_modern() {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": self.way.revision,
                "io.modelcontextprotocol/clientInfo": {"name": "scenarios", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": capabilities(),
            });
        }
        let mut message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        if let Some(id) = id {
            message["id"] = json!(id);
        }
        message
    }

    /// Asks, hears what comes before, says what the user says, and gives the answer.
    async fn ask(
        &mut self,
        wire: &mut Wire,
        method: &str,
        params: Value,
        notes: &[&Value],
        says: Option<&Value>,
    ) -> Result<Value, String> {
        let mut id = self.send(wire, method, params.clone());
        let mut notes = notes.iter();
        let mut wanted = notes.next();
        loop {
            let got = wire.next().await?;
            if got["id"] == json!(id) && got.get("method").is_none() {
                if got["result"]["resultType"] == "input_required" {
                    let says = says.ok_or_else(|| format!("the user is asked: {got}"))?;
                    id = self.send(wire, method, answered(&params, &got["result"], says));
                    continue;
                }
                return match wanted {
                    Some(note) => Err(format!("the answer came before {note}")),
                    None => Ok(got),
                };
            }
            if let Some(asked) = got.get("id").filter(|_| got.get("method").is_some()) {
                let says = says.ok_or_else(|| format!("the user is asked: {got}"))?;
                wire.send(&json!({"jsonrpc": "2.0", "id": asked, "result": says}));
            } else if let Some(note) = wanted {
                has(note, &got, self.way.revision).map_err(|error| format!("{error}\n  got {got}"))?;
                wanted = notes.next();
            }
        }
    }

    fn send(&mut self, wire: &Wire, method: &str, params: Value) -> String {
        let id = format!("scenario-{}", self.next);
        self.next += 1;
        wire.send(&self.message(Some(&id), method, params));
        id
    }
}

/// The same request with what the user says to everything that was asked.
fn answered(params: &Value, asking: &Value, says: &Value) -> Value {
    let asked = asking["inputRequests"].as_object().cloned().unwrap_or_default();
    let responses: Map<String, Value> = asked.into_iter().map(|(key, _)| (key, says.clone())).collect();
    let mut params = params.clone();
    params["inputResponses"] = responses.into();
    params["requestState"] = asking["requestState"].clone();
    params
}
