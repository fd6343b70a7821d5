//! Which messages the talks cover, against the protocol's own table: every method, in every revision that has it,
//! from every side that may send it, as seen by our client and by our server.

use std::collections::BTreeSet;

use serde_json::Value;
use switchboard::protocol::Revision;
use switchboard::protocol::surface::{self, Peer};

use switchboard_recording::{Talk, TalkLine, TalkRole};

type Spoken = (String, Revision, Peer, TalkRole);

/// Lists what no talk covers, as an error.
pub(crate) fn check(talks: &[Talk]) -> Result<usize, String> {
    let spoken: BTreeSet<Spoken> = talks.iter().flat_map(spoken).collect();
    let wanted: BTreeSet<Spoken> = surface::all()
        .flat_map(|(method, revision, side)| {
            [TalkRole::Client, TalkRole::Server].map(|role| (method.to_owned(), revision, side, role))
        })
        .collect();
    let missing: Vec<_> = wanted.difference(&spoken).map(show).collect();
    if missing.is_empty() {
        return Ok(wanted.len());
    }
    Err(format!("{} of {} have no talk:\n{}", missing.len(), wanted.len(), missing.join("\n")))
}

fn show((method, revision, side, role): &Spoken) -> String {
    let (ours, verb) = match (role, side) {
        (TalkRole::Client, Peer::Client) => ("our client", "sends"),
        (TalkRole::Client, Peer::Server) => ("our client", "hears"),
        (TalkRole::Server, Peer::Server) => ("our server", "sends"),
        (TalkRole::Server, Peer::Client) => ("our server", "hears"),
    };
    format!("  {revision}  {ours} {verb} {method}")
}

fn spoken(talk: &Talk) -> Vec<Spoken> {
    let mut methods = Vec::new();
    for step in &talk.steps {
        match &step.line {
            TalkLine::Client(message) => collect(&message.json, Peer::Client, &mut methods),
            TalkLine::Server(message) => collect(&message.json, Peer::Server, &mut methods),
            TalkLine::Verb(_) | TalkLine::Outcome(_) => {}
        }
    }
    methods.into_iter().map(|(method, side)| (method, talk.revision, side, talk.role)).collect()
}

/// The method of a message, and of what is asked inside a result.
fn collect(message: &Value, side: Peer, into: &mut Vec<(String, Peer)>) {
    if let Value::Array(elements) = message {
        return elements.iter().for_each(|element| collect(element, side, into));
    }
    let method = |value: &Value| value.get("method").and_then(Value::as_str).map(str::to_owned);
    into.extend(method(message).map(|method| (method, side)));
    let asked = message.pointer("/result/inputRequests").and_then(Value::as_object);
    into.extend(
        asked.into_iter().flat_map(|asked| asked.values()).filter_map(method).map(|method| (method, side)),
    );
}
