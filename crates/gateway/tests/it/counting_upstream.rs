//! An upstream server with tasks (2025-11-25) that it numbers from one: two processes of it give the same ids.

use std::io::{BufRead, Write};

use serde_json::{Value, json};

/// The part of this program that it is.
pub(crate) const PART: &str = "counting";

/// A task.
struct CountedTask {
    status: &'static str,
    /// The request for its result, which waits for an answer.
    waiting: Option<Value>,
    answer: Option<String>,
}

/// Serves on stdin and stdout, in the legacy era.
pub(crate) fn play() {
    let mut tasks: Vec<CountedTask> = Vec::new();
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
        let (id, params) = (message["id"].clone(), &message["params"]);
        let number = params["taskId"].as_str().and_then(|id| id.parse::<usize>().ok());
        let known = number.filter(|number| (1..=tasks.len()).contains(number));
        match (message["method"].as_str(), known) {
            (Some("initialize"), _) => send_result(
                &id,
                &json!({
                    "protocolVersion": params["protocolVersion"],
                    "capabilities": {
                        "tools": {},
                        "tasks": { "list": {}, "cancel": {}, "requests": { "tools": { "call": {} } } },
                    },
                    "serverInfo": { "name": "counting", "version": "1" },
                }),
            ),
            (Some("tools/list"), _) => {
                let tool = |name, support| json!({ "name": name, "inputSchema": { "type": "object" }, "execution": { "taskSupport": support } });
                let tools =
                    [("ask", "optional"), ("job", "optional"), ("pid", "forbidden"), ("finish", "forbidden")];
                send_result(&id, &json!({ "tools": tools.map(|(name, support)| tool(name, support)) }));
            }
            (Some("tools/call"), _) => call(&mut tasks, &id, params["name"].as_str().unwrap_or_default()),
            (Some("tasks/get"), Some(number)) => send_result(&id, &state(&tasks, number)),
            (Some("tasks/result"), Some(number)) => match &tasks[number - 1] {
                CountedTask { status: "input_required", .. } => {
                    tasks[number - 1].waiting = Some(id);
                    let text = format!("Which color, {}?", std::process::id());
                    let schema = json!({ "type": "object", "properties": {} });
                    send(&json!({
                        "jsonrpc": "2.0", "id": number, "method": "elicitation/create",
                        "params": { "message": text, "requestedSchema": schema },
                    }));
                }
                task => send_text(&id, task.answer.as_deref().unwrap_or("done")),
            },
            // The answer to a question.
            (None, _) => {
                let index = id.as_u64().and_then(|number| usize::try_from(number).ok()?.checked_sub(1));
                let Some(task) = index.and_then(|index| tasks.get_mut(index)) else { continue };
                task.status = "completed";
                let answer = message["result"]["content"]["color"].as_str().unwrap_or("none").to_owned();
                task.waiting.take().inspect(|waiting| send_text(waiting, &answer));
                task.answer = Some(answer);
            }
            (Some(method), _) if !id.is_null() => {
                let error = json!({ "code": -32602, "message": format!("no {method}") });
                send(&json!({ "jsonrpc": "2.0", "id": id, "error": error }));
            }
            _ => {}
        }
    }
}

fn call(tasks: &mut Vec<CountedTask>, id: &Value, tool: &str) {
    match tool {
        "pid" => send_text(id, &std::process::id().to_string()),
        "finish" => {
            for number in 1..=tasks.len() {
                tasks[number - 1].status = "completed";
                let params = state(tasks, number);
                send(&json!({ "jsonrpc": "2.0", "method": "notifications/tasks/status", "params": params }));
            }
            send_text(id, "finished");
        }
        tool => {
            let status = if tool == "ask" { "input_required" } else { "working" };
            tasks.push(CountedTask { status, waiting: None, answer: None });
            send_result(id, &json!({ "task": state(tasks, tasks.len()) }));
        }
    }
}

fn state(tasks: &[CountedTask], number: usize) -> Value {
    json!({
        "taskId": number.to_string(),
        "status": tasks[number - 1].status,
        "statusMessage": std::process::id().to_string(),
        "createdAt": "2025-11-25T10:30:00Z",
        "lastUpdatedAt": "2025-11-25T10:30:00Z",
        "ttl": 600_000,
        "pollInterval": 20,
    })
}

fn send(message: &Value) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{message}");
    let _ = out.flush();
}

fn send_result(id: &Value, result: &Value) {
    send(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
}

fn send_text(id: &Value, text: &str) {
    send_result(id, &json!({ "content": [{ "type": "text", "text": text }] }));
}
