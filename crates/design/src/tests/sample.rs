//! The design of the assistant service, for tests.

use serde_json::json;
use switchboard_protocol::{Role, ToolAnnotations};

use crate::ir::*;

/// Returns a valid design with items of every kind.
pub(crate) fn assistant() -> Design {
    Design::new("assistant-mcp", "1.0.0")
        .with_title("Assistant")
        .with_instructions("Ask me.")
        .with_protocols(["2026-07-28".to_owned(), "2025-06-18".into()])
        .with_rpc("/rpc")
        .with_tools(tools())
        .with_resources(resources())
        .with_prompts([
            PromptDef::new("code_review", "Simple code review prompt")
                .with_arguments([ParamDef::new("code", ParamKind::Text).with_required(true)])
                .with_body(PromptBody::Static {
                    messages: vec![PromptText::new(Role::User, "Review the code.")],
                }),
            PromptDef::new("contextual_prompts", "Generate prompts based on context")
                .with_rust_name("generate_prompts")
                .with_arguments([
                    ParamDef::new("context", ParamKind::Text)
                        .with_required(true)
                        .with_description("Where we are"),
                    ParamDef::new("task", ParamKind::Choice { values: vec!["write".into(), "fix".into()] }),
                ]),
        ])
        .with_watches([WatchDef::new("status", "watch_status")])
        .with_notifications([NotificationDef::new(
            "status_update",
            "Status update pushed to listeners",
            json!({"type": "object", "properties": {"type": {"type": "string"}}, "required": ["type"]}),
        )])
        .with_rpc_only([MethodDef::new("reindex").with_description("Rebuild the index")])
        .with_pooled_types()
}

fn tools() -> Vec<ToolDef> {
    let text = json!({
        "type": "object",
        "properties": {"text": {"type": "string", "minLength": 1, "description": "Input text to analyze"}},
        "required": ["text"],
    });
    let sentiment = json!({
        "type": "object",
        "properties": {"sentiment": {"type": "string"}, "score": {"type": "number", "format": "float"}},
        "required": ["sentiment", "score"],
    });
    let search = json!({
        "type": "object",
        "properties": {
            "query": {"type": "string"},
            "limit": {"type": ["integer", "null"], "minimum": 1, "default": 10},
            "filter": {"$ref": "#/$defs/Filter"},
        },
        "required": ["query"],
        "$defs": {"Filter": {
            "type": "object",
            "properties": {"all": {"type": "array", "items": {"$ref": "#/$defs/Filter"}}},
        }},
    });
    vec![
        ToolDef::new("analyze_sentiment", "Analyze sentiment of text")
            .with_args(ArgsDef::new(text).expect("an object"))
            .with_output(OutputDef::structured(sentiment))
            .with_annotations(ToolAnnotations::new().with_read_only_hint(true))
            .with_example(json!({"text": "I love this new feature!"})),
        ToolDef::new("search_knowledge", "Search the knowledge base")
            .with_rust_name("search")
            .with_args(ArgsDef::new(search).expect("an object").with_order(["query", "limit", "filter"]))
            .with_output(OutputDef::structured(json!({"type": "array", "items": {"type": "string"}}))),
        ToolDef::new("clear", "Forget everything").with_task(true),
    ]
}

fn resources() -> Vec<ResourceDef> {
    vec![
        ResourceDef::new("documents", "doc://list", "List available documents")
            .with_mime("application/json")
            .with_output(OutputDef::structured(json!({"type": "array", "items": {"type": "string"}})))
            .with_ttl_ms(30_000u64),
        ResourceDef::new("document", "doc://files/{id}", "Read one document")
            .with_mime("text/markdown")
            .with_params([ParamDef::new("id", ParamKind::Text).with_required(true)]),
        ResourceDef::new("conversation_history", "conversation://history", "Conversation history")
            .with_params([
                ParamDef::new("limit", ParamKind::Integer),
                ParamDef::new("flag", ParamKind::Boolean),
                ParamDef::new("nums", ParamKind::Number).with_repeated(true),
            ]),
        ResourceDef::new("status", "status://system", "System status").with_watch(true),
    ]
}
