//! Recorded results for a client of any revision.

use serde_json::Value;
use switchboard_protocol::{
    CallToolResult, CompleteResult, CreateTaskResult, FromRaw, GetPromptResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, Meta, Raw, ReadResourceResult,
    Revision, ServerResult,
};

/// Returns a recorded result as it was written, if the client speaks the recorded revision; otherwise as a value that the
/// session lowers or completes.
pub(super) fn replayed_result(
    method: &str,
    result: Raw,
    recorded: Option<Revision>,
    client: Revision,
) -> ServerResult {
    let is_task = result.fields().any(|(name, value)| {
        name == "resultType" && value.decode::<String>().is_ok_and(|kind| kind == "task")
    });
    if is_task {
        return read::<CreateTaskResult>(result);
    }
    if recorded == Some(client) {
        return ServerResult::Raw(result);
    }
    let result = without_server_info(result);
    match method {
        "tools/list" => read::<ListToolsResult>(result),
        "tools/call" => read::<CallToolResult>(result),
        "resources/list" => read::<ListResourcesResult>(result),
        "resources/templates/list" => read::<ListResourceTemplatesResult>(result),
        "resources/read" => read::<ReadResourceResult>(result),
        "prompts/list" => read::<ListPromptsResult>(result),
        "prompts/get" => read::<GetPromptResult>(result),
        "completion/complete" => read::<CompleteResult>(result),
        _ => ServerResult::Raw(result),
    }
}

fn read<T: FromRaw + Into<ServerResult>>(result: Raw) -> ServerResult {
    T::from_raw(&result).map_or(ServerResult::Raw(result), Into::into)
}

/// Removes what describes the server in each result of a modern server: the session adds it where it belongs.
fn without_server_info(result: Raw) -> Raw {
    if !result.as_str().contains(Meta::SERVER_INFO) {
        return result;
    }
    let Ok(mut value) = serde_json::from_str::<Value>(result.as_str()) else { return result };
    if let Some(members) = value.as_object_mut()
        && let Some(meta) = members.get_mut("_meta").and_then(Value::as_object_mut)
    {
        meta.remove(Meta::SERVER_INFO);
        if meta.is_empty() {
            members.remove("_meta");
        }
    }
    Raw::from(value)
}
