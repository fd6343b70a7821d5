//! `switchboard read`: what a resource holds.

use switchboard::{CallError, ReadResourceResult, json};

use crate::command::tools::encode;
use crate::connect::Connected;
use crate::failure::Failure;
use crate::output::{contents, show_json};

pub(crate) async fn run(connected: &Connected, uri: &str) -> Result<(), Failure> {
    if connected.terms()?.capabilities.resources.is_none() {
        return Err(CallError::Unsupported { what: "resources" }.into());
    }
    let answer = connected.session.request_raw("resources/read", encode(&json!({ "uri": uri }))?).await?;
    if connected.json {
        return show_json(&connected.paper, &answer);
    }
    let wrong = |error| CallError::Protocol { method: "resources/read".to_owned(), error };
    let read: ReadResourceResult = answer.decode().map_err(wrong)?;
    connected.paper.print(&contents(&read.contents, &connected.paper))
}
