//! `switchboard read`: prints or saves the contents of a resource.

use switchboard::protocol::ReadResourceResult;
use switchboard::{CallError, json};

use crate::args::SaveArgs;
use crate::connect::CommandSession;
use crate::error::CommandError;
use crate::output::{encode, print_json, render_contents, resource_parts, save_all, save_one};

pub(crate) async fn run(connection: &CommandSession, uri: &str, save: &SaveArgs) -> Result<(), CommandError> {
    if connection.session_info()?.capabilities.resources.is_none() {
        return Err(CallError::Unsupported { what: "resources" }.into());
    }
    let answer = connection.session.request_raw("resources/read", encode(&json!({ "uri": uri }))?).await?;
    let (out, screen) = (&connection.out, &connection.screen);
    if connection.json {
        return print_json(out, &answer);
    }
    let protocol_error = |error| CallError::Protocol { method: "resources/read".to_owned(), error };
    let read: ReadResourceResult = answer.decode().map_err(protocol_error)?;
    if let Some(file) = &save.output {
        return save_one(&resource_parts(&read.contents)?, file, screen);
    }
    if let Some(folder) = &save.save_dir {
        return save_all(&resource_parts(&read.contents)?, folder, screen, |_| true);
    }
    if out.is_terminal {
        return Ok(out.print(&render_contents(&read.contents, out))?);
    }
    let parts = resource_parts(&read.contents)?;
    if parts.len() > 1 {
        screen.warn(&format!(
            "the resource has {} parts, which are concatenated; --save-dir DIR writes them to separate files",
            parts.len()
        ));
    }
    Ok(parts.iter().try_for_each(|part| out.print_bytes(&part.bytes))?)
}
