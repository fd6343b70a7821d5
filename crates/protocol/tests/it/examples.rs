//! The examples of the specification itself, when a checkout of it is at hand.
//!
//! Set `MCP_SPEC_DIR` to one; examples are looked for in `schema/<revision>/examples/<Type>/*.json`.

use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use switchboard_protocol::*;

type Check = fn(&Value) -> Result<Value, String>;

fn again<T: Serialize + DeserializeOwned>(value: &Value) -> Result<Value, String> {
    let read: T = Raw::from(value.clone()).decode().map_err(|error| error.to_string())?;
    serde_json::to_value(&read).map_err(|error| error.to_string())
}

/// The types of the schema that we have, under the names it gives them.
fn check_for(name: &str) -> Option<Check> {
    let check: Check = match name {
        "Annotations" => again::<Annotations>,
        "Implementation" => again::<Implementation>,
        "ClientCapabilities" => again::<ClientCapabilities>,
        "ServerCapabilities" => again::<ServerCapabilities>,
        "InitializeRequestParams" => again::<InitializeParams>,
        "InitializeResult" => again::<InitializeResult>,
        "DiscoverResult" => again::<DiscoverResult>,
        "TextContent" | "ImageContent" | "AudioContent" | "ResourceLink" | "EmbeddedResource"
        | "ToolUseContent" | "ToolResultContent" | "ContentBlock" => again::<Content>,
        "Tool" => again::<Tool>,
        "ListToolsResult" => again::<ListToolsResult>,
        "CallToolRequestParams" => again::<CallToolParams>,
        "CallToolResult" => again::<CallToolResult>,
        "Resource" => again::<Resource>,
        "ResourceTemplate" => again::<ResourceTemplate>,
        "TextResourceContents" | "BlobResourceContents" => again::<ResourceContents>,
        "ListResourcesResult" => again::<ListResourcesResult>,
        "ListResourceTemplatesResult" => again::<ListResourceTemplatesResult>,
        "ReadResourceRequestParams" => again::<ReadResourceParams>,
        "ReadResourceResult" => again::<ReadResourceResult>,
        "Prompt" => again::<Prompt>,
        "ListPromptsResult" => again::<ListPromptsResult>,
        "GetPromptRequestParams" => again::<GetPromptParams>,
        "GetPromptResult" => again::<GetPromptResult>,
        "CompleteRequestParams" => again::<CompleteParams>,
        "CompleteResult" => again::<CompleteResult>,
        "ElicitRequestFormParams" | "ElicitRequestURLParams" | "ElicitRequestParams" => again::<ElicitParams>,
        "ElicitResult" => again::<ElicitResult>,
        "StringSchema"
        | "NumberSchema"
        | "BooleanSchema"
        | "UntitledSingleSelectEnumSchema"
        | "TitledSingleSelectEnumSchema"
        | "UntitledMultiSelectEnumSchema"
        | "TitledMultiSelectEnumSchema"
        | "LegacyTitledEnumSchema" => again::<FormField>,
        "CreateMessageRequestParams" => again::<CreateMessageParams>,
        "CreateMessageResult" => again::<CreateMessageResult>,
        "SamplingMessage" => again::<SamplingMessage>,
        "ModelPreferences" => again::<ModelPreferences>,
        "Root" => again::<Root>,
        "ListRootsResult" => again::<ListRootsResult>,
        "SetLevelRequestParams" => again::<SetLevelParams>,
        "LoggingMessageNotificationParams" => again::<LogMessage>,
        "ProgressNotificationParams" => again::<ProgressParams>,
        "CancelledNotificationParams" => again::<CancelledParams>,
        "PaginatedRequestParams" => again::<PageParams>,
        "ResourceUpdatedNotificationParams" => again::<ResourceUpdated>,
        "SubscribeRequestParams" | "UnsubscribeRequestParams" => again::<SubscribeParams>,
        "InputRequiredResult" => again::<InputRequired>,
        "InputRequest" => again::<InputRequest>,
        "InputRequests" => again::<InputRequests>,
        "InputResponses" => again::<InputResponses>,
        "SubscriptionFilter" => again::<ListenFilter>,
        "SubscriptionsListenRequestParams" => again::<ListenParams>,
        "SubscriptionsAcknowledgedNotificationParams" => again::<Acknowledged>,
        _ => return None,
    };
    Some(check)
}

/// What we write differently on purpose: `complete` is stamped on elsewhere, a list of one block is written as one.
fn normal(value: &mut Value) {
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
        fields.values_mut().for_each(normal);
    } else if let Value::Array(items) = value {
        items.iter_mut().for_each(normal);
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
                        normal(&mut value);
                        normal(&mut written);
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
