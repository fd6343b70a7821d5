//! An upstream server that misbehaves on the wire: written by hand, line by line, because the library would not.

use std::io::{BufRead, Write};

use serde_json::{Value, json};

/// The part of this program that it is.
pub(crate) const PART: &str = "hostile";

/// The number of a flood: notifications, progress reports, log messages.
pub(crate) const FLOOD: usize = 5_000;

/// Serves on stdin and stdout, in the legacy era.
pub(crate) fn play() {
    let mut out = std::io::stdout().lock();
    let mut send = |message: Value| {
        let _ = writeln!(out, "{message}");
        let _ = out.flush();
    };
    let mut cancelled_call = None;
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
        let (id, params) = (message["id"].clone(), &message["params"]);
        match message["method"].as_str() {
            Some("initialize") => send(result(
                &id,
                json!({
                    "protocolVersion": params["protocolVersion"],
                    "capabilities": { "tools": { "listChanged": true }, "logging": {}, "resources": { "subscribe": true } },
                    "serverInfo": { "name": "hostile", "version": "1" },
                }),
            )),
            Some("tools/list") => {
                let names = ["echo", "twice", "late", "progress", "logs", "updates", "foreign", "silent"];
                let tools = names.map(|name| json!({ "name": name, "inputSchema": { "type": "object" } }));
                send(result(&id, json!({ "tools": tools })));
            }
            Some("tools/call") => {
                let token = &params["_meta"]["progressToken"];
                let text = params["arguments"]["text"].as_str().unwrap_or_default();
                match params["name"].as_str().unwrap_or_default() {
                    // Never answered until it is cancelled; then answered.
                    "late" => cancelled_call = Some(id.clone()),
                    "silent" => {}
                    tool => {
                        flood(tool, token, &id, &mut send);
                        send(text_result(&id, text));
                    }
                }
            }
            Some("notifications/cancelled") => {
                if let Some(id) = cancelled_call.take() {
                    send(text_result(&id, "too late"));
                    send(text_result(&id, "too late again"));
                }
            }
            Some("resources/list") => send(result(&id, json!({ "resources": [] }))),
            Some(method) if !id.is_null() => {
                let error = json!({ "code": -32601, "message": format!("no {method}") });
                send(json!({ "jsonrpc": "2.0", "id": id, "error": error }));
            }
            _ => {}
        }
    }
}

/// What a tool sends before its own answer.
fn flood(tool: &str, token: &Value, id: &Value, send: &mut impl FnMut(Value)) {
    let notify =
        |method: &str, params: Value| json!({ "jsonrpc": "2.0", "method": method, "params": params });
    for number in 0..FLOOD {
        match tool {
            "progress" => {
                send(notify(
                    "notifications/progress",
                    json!({ "progressToken": token, "progress": number + 1 }),
                ));
                // One that nobody asked for.
                send(notify(
                    "notifications/progress",
                    json!({ "progressToken": "stolen", "progress": number }),
                ));
            }
            "logs" => {
                send(notify("notifications/message", json!({ "level": "info", "data": "x".repeat(200) })))
            }
            "updates" => {
                send(notify("notifications/resources/updated", json!({ "uri": format!("note://{number}") })));
                send(notify("notifications/tools/list_changed", json!({})));
            }
            // Answers to calls that were never made.
            "foreign" => send(text_result(&json!(1_000_000 + number), "nobody asked")),
            _ => {}
        }
    }
    if tool == "twice" {
        send(text_result(id, "first"));
    }
}

fn result(id: &Value, result: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

fn text_result(id: &Value, text: &str) -> Value {
    result(id, json!({ "content": [{ "type": "text", "text": text }] }))
}
