//! Round trips of the examples of the specification.
//!
//! Set `MCP_SPEC_DIR` to a checkout of the specification; examples are searched in
//! `schema/<revision>/examples/<Type>/*.json`.

use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use switchboard_protocol::*;

type Check = fn(&Value) -> Result<Value, String>;

fn round_trip<T: Serialize + DeserializeOwned>(value: &Value) -> Result<Value, String> {
    let read: T = Raw::from(value.clone()).decode().map_err(|error| error.to_string())?;
    serde_json::to_value(&read).map_err(|error| error.to_string())
}

/// Returns the round-trip check of a schema type by its name in the schema.
fn check_for(name: &str) -> Option<Check> {
    let check: Check = match name {
        "Annotations" => round_trip::<Annotations>,
        "Implementation" => round_trip::<Implementation>,
        "ClientCapabilities" => round_trip::<ClientCapabilities>,
        "ServerCapabilities" => round_trip::<ServerCapabilities>,
        "InitializeRequestParams" => round_trip::<InitializeParams>,
        "InitializeResult" => round_trip::<InitializeResult>,
        "DiscoverResult" => round_trip::<DiscoverResult>,
        "TextContent" | "ImageContent" | "AudioContent" | "ResourceLink" | "EmbeddedResource"
        | "ToolUseContent" | "ToolResultContent" | "ContentBlock" => round_trip::<Content>,
        "Tool" => round_trip::<Tool>,
        "ListToolsResult" => round_trip::<ListToolsResult>,
        "CallToolRequestParams" => round_trip::<CallToolParams>,
        "CallToolResult" => round_trip::<CallToolResult>,
        "Resource" => round_trip::<Resource>,
        "ResourceTemplate" => round_trip::<ResourceTemplate>,
        "TextResourceContents" | "BlobResourceContents" => round_trip::<ResourceContents>,
        "ListResourcesResult" => round_trip::<ListResourcesResult>,
        "ListResourceTemplatesResult" => round_trip::<ListResourceTemplatesResult>,
        "ReadResourceRequestParams" => round_trip::<ReadResourceParams>,
        "ReadResourceResult" => round_trip::<ReadResourceResult>,
        "Prompt" => round_trip::<Prompt>,
        "ListPromptsResult" => round_trip::<ListPromptsResult>,
        "GetPromptRequestParams" => round_trip::<GetPromptParams>,
        "GetPromptResult" => round_trip::<GetPromptResult>,
        "CompleteRequestParams" => round_trip::<CompleteParams>,
        "CompleteResult" => round_trip::<CompleteResult>,
        "ElicitRequestFormParams" | "ElicitRequestURLParams" | "ElicitRequestParams" => {
            round_trip::<ElicitParams>
        }
        "ElicitResult" => round_trip::<ElicitResult>,
        "StringSchema"
        | "NumberSchema"
        | "BooleanSchema"
        | "UntitledSingleSelectEnumSchema"
        | "TitledSingleSelectEnumSchema"
        | "UntitledMultiSelectEnumSchema"
        | "TitledMultiSelectEnumSchema"
        | "LegacyTitledEnumSchema" => round_trip::<FormField>,
        "CreateMessageRequestParams" => round_trip::<CreateMessageParams>,
        "CreateMessageResult" => round_trip::<CreateMessageResult>,
        "SamplingMessage" => round_trip::<SamplingMessage>,
        "ModelPreferences" => round_trip::<ModelPreferences>,
        "Root" => round_trip::<Root>,
        "ListRootsResult" => round_trip::<ListRootsResult>,
        "SetLevelRequestParams" => round_trip::<SetLevelParams>,
        "LoggingMessageNotificationParams" => round_trip::<LogMessage>,
        "ProgressNotificationParams" => round_trip::<ProgressParams>,
        "CancelledNotificationParams" => round_trip::<CancelledParams>,
        "PaginatedRequestParams" => round_trip::<PageParams>,
        "ResourceUpdatedNotificationParams" => round_trip::<ResourceUpdated>,
        "SubscribeRequestParams" | "UnsubscribeRequestParams" => round_trip::<SubscribeParams>,
        "InputRequiredResult" => round_trip::<InputRequired>,
        "InputRequest" => round_trip::<InputRequest>,
        "InputRequests" => round_trip::<InputRequests>,
        "InputResponses" => round_trip::<InputResponses>,
        "SubscriptionFilter" => round_trip::<ListenFilter>,
        "SubscriptionsListenRequestParams" => round_trip::<ListenParams>,
        "SubscriptionsAcknowledgedNotificationParams" => round_trip::<Acknowledged>,
        _ => return None,
    };
    Some(check)
}

/// Normalizes intended differences: `complete` is added by the session, a list of one block is encoded as a block.
fn normalize(value: &mut Value) {
    if let Value::Object(fields) = value {
        if fields.get("resultType").is_some_and(|kind| kind == "complete") {
            fields.remove("resultType");
        }
        if fields.get("isError") == Some(&Value::Bool(false)) {
            fields.remove("isError");
        }
        let speaks = fields.contains_key("role");
        if let Some(Value::Array(blocks)) = fields.get_mut("content")
            && speaks
            && blocks.len() == 1
        {
            let block = blocks.remove(0);
            fields.insert("content".into(), block);
        }
        fields.values_mut().for_each(normalize);
    } else if let Value::Array(items) = value {
        items.iter_mut().for_each(normalize);
    }
}

fn folders(path: &Path) -> Vec<std::path::PathBuf> {
    let Ok(entries) = std::fs::read_dir(path) else { return Vec::new() };
    entries.filter_map(|entry| Some(entry.ok()?.path())).collect()
}

#[test]
fn official_examples_survive_a_round_trip() {
    let Ok(spec) = std::env::var("MCP_SPEC_DIR") else {
        println!("not run: MCP_SPEC_DIR is not set");
        return;
    };
    let mut failures = Vec::new();
    let mut count = 0;
    for revision in Revision::ALL {
        for folder in folders(&Path::new(&spec).join("schema").join(revision.as_str()).join("examples")) {
            let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
            let Some(check) = check_for(&name) else { continue };
            for file in folders(&folder) {
                let mut value: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
                count += 1;
                match check(&value) {
                    Ok(mut written) => {
                        normalize(&mut value);
                        normalize(&mut written);
                        if value != written {
                            failures.push(format!("{}:\n  read  {value}\n  wrote {written}", file.display()));
                        }
                    }
                    Err(error) => failures.push(format!("{}: {error}", file.display())),
                }
            }
        }
    }
    println!("{count} examples of {spec}");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
