//! `switchboard read`: the contents of a resource.

use switchboard::{CallError, ReadResourceResult, json};

use crate::args::Save;
use crate::command::tools::encode;
use crate::connect::Connected;
use crate::failure::Failure;
use crate::output::{contents, parts_of, save_all, save_one, show_json};

pub(crate) async fn run(connected: &Connected, uri: &str, save: &Save) -> Result<(), Failure> {
    if connected.terms()?.capabilities.resources.is_none() {
        return Err(CallError::Unsupported { what: "resources" }.into());
    }
    let answer = connected.session.request_raw("resources/read", encode(&json!({ "uri": uri }))?).await?;
    let (paper, screen) = (&connected.paper, &connected.screen);
    if connected.json {
        return show_json(paper, &answer);
    }
    let wrong = |error| CallError::Protocol { method: "resources/read".to_owned(), error };
    let read: ReadResourceResult = answer.decode().map_err(wrong)?;
    if let Some(file) = &save.output {
        return save_one(&parts_of(&read.contents)?, file, screen);
    }
    if let Some(folder) = &save.save_dir {
        return save_all(&parts_of(&read.contents)?, folder, screen, |_| true);
    }
    if paper.is_terminal {
        return Ok(paper.print(&contents(&read.contents, paper))?);
    }
    let parts = parts_of(&read.contents)?;
    if parts.len() > 1 {
        screen.warn(&format!(
            "the resource has {} parts, written one behind the other; --save-dir DIR keeps them apart",
            parts.len()
        ));
    }
    Ok(parts.iter().try_for_each(|part| paper.print_bytes(&part.bytes))?)
}
