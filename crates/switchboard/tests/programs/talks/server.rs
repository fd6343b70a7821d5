//! The server of the talks: a little of everything, and the same every time.

use std::sync::{Arc, OnceLock};

use serde_json::Value;
use switchboard::protocol::{
    CallToolParams, CallToolResult, Content, ErrorCode, Implementation, Level, Raw, RpcError,
};
use switchboard::protocol::{
    CreateMessageParams, CreateTaskResult, DetailedTask, ElicitAction, ElicitParams, FormField, FormSchema,
    SamplingMessage, ServerResult, Task, TaskStatus, TextField, UrlParams,
};
use switchboard::server::{
    AskError, Handler, HandlerOutcome, Publisher, Reply, RequestContext, ServerRequest,
};
use switchboard::{Server, json};

use crate::talks::verbs::offer;

mod lists;
mod tasks;

/// A server that speaks what `offered` names.
pub(crate) fn server(offered: &str) -> Arc<Server> {
    let capabilities = serde_json::from_value(json!({
        "tools": { "listChanged": true },
        "resources": { "subscribe": true, "listChanged": true },
        "prompts": { "listChanged": true },
        "completions": {},
        "logging": {},
        "tasks": { "list": {}, "cancel": {}, "requests": { "tools": { "call": {} } } },
        "extensions": { "io.modelcontextprotocol/tasks": {} },
    }));
    let handler = TalkServer::default();
    let publisher = Arc::clone(&handler.publisher);
    let server = Server::builder(
        Implementation::new("fixture", "1.0.0"),
        capabilities.expect("the capabilities are those of the specification"),
    )
    .instructions("Be brief.")
    .revisions(offer(offered).expect("a header names an offer"))
    .build(handler);
    let _ = publisher.set(server.publisher().clone());
    server
}

#[derive(Default, Clone)]
struct TalkServer {
    publisher: Arc<OnceLock<Publisher>>,
    tasks: tasks::Tasks,
}

impl Handler for TalkServer {
    fn handle(&self, request: ServerRequest, cx: RequestContext) -> HandlerOutcome {
        match request {
            ServerRequest::CallTool(params) => {
                let handler = self.clone();
                HandlerOutcome::later(async move { handler.call(params, cx).await })
            }
            ServerRequest::ReadResource(params) if params.uri == "note://secret" => {
                HandlerOutcome::later(async move {
                    let name = name(&cx).await?;
                    Ok(lists::note(&params.uri, &format!("for {name} only")))
                })
            }
            ServerRequest::GetPrompt(params) if params.name == "ask" => {
                HandlerOutcome::later(async move { lists::prompt(&[("name", &name(&cx).await?)]) })
            }
            listed => HandlerOutcome::Now(lists::answer(&self.tasks, listed, &cx)),
        }
    }

    fn may_subscribe(&self, uri: &str) -> Result<(), RpcError> {
        if uri.starts_with("note://") {
            Ok(())
        } else {
            Err(RpcError::invalid_params("only notes can change"))
        }
    }
}

impl TalkServer {
    fn publisher(&self) -> &Publisher {
        self.publisher.get().expect("set before the server is served")
    }

    async fn call(&self, params: CallToolParams, cx: RequestContext) -> Reply {
        let arguments: Value =
            params.arguments.as_ref().map_or(Value::Null, |raw| raw.decode().unwrap_or_default());
        let text = |key: &str| arguments[key].as_str().unwrap_or_default().to_owned();
        match params.name.as_str() {
            "echo" => said(text("text")),
            "add" => {
                let sum =
                    arguments["a"].as_i64().unwrap_or_default() + arguments["b"].as_i64().unwrap_or_default();
                let mut result = CallToolResult::new([Content::text(sum.to_string())]);
                result.structured_content = Some(json!({ "sum": sum }).into());
                Ok(result.into())
            }
            "whoami" => said(format!(
                "{} over {}",
                cx.client().map_or_else(String::new, |who| who.name),
                cx.revision()
            )),
            "fail" => Ok(CallToolResult::error("it did not work").into()),
            "refuse" => Err(RpcError::new(ErrorCode(1234), "not today")),
            // Without the hook, which would print.
            "panic" => std::panic::resume_unwind(Box::new("a tool may panic")),
            "slow" => std::future::pending().await,
            "progress" => {
                cx.progress(1.0, Some(2.0), Some("half"));
                cx.progress(2.0, Some(2.0), Some("done"));
                said("done")
            }
            "log" => {
                cx.log(Level::Debug, Some("fixture"), "a detail");
                cx.log(Level::Warning, Some("fixture"), json!({ "careful": true }));
                said("logged")
            }
            "touch" => {
                self.touch(&text("what"));
                said("touched")
            }
            "end" => {
                self.publisher().end_subscriptions();
                said("ended")
            }
            "ask" | "visit" | "sample" | "roots" | "trip" | "relay" => {
                ask(&params.name, &arguments, &cx).await
            }
            "job" => self.tasks.start(&params, &arguments, &cx),
            "tell" => {
                self.tasks.tell(&text("task"), &cx, self.publisher());
                said("told")
            }
            other => Err(RpcError::invalid_params(format!("Unknown tool: {other}"))),
        }
    }

    fn touch(&self, what: &str) {
        match what {
            "tools" => self.publisher().tools_changed(),
            "prompts" => self.publisher().prompts_changed(),
            "resources" => self.publisher().resources_changed(),
            uri => self.publisher().resource_updated(uri),
        }
    }
}

pub(crate) fn said(text: impl Into<String>) -> Reply {
    Ok(CallToolResult::new([Content::text(text)]).into())
}

/// Asks for a name, and gives what was answered.
async fn name(cx: &RequestContext) -> Result<String, RpcError> {
    let schema = FormSchema::new().with_required("name", FormField::Text(TextField::new()));
    let answer = cx.elicit("name", ElicitParams::form("What is your name?", schema)).await?;
    Ok(match answer.action {
        ElicitAction::Accept => {
            let name = answer.content.as_ref().and_then(|content| content.get("name")?.decode().ok());
            name.unwrap_or_default()
        }
        _ => "nobody".to_owned(),
    })
}

/// The tools that ask the client. What it cannot be asked is for the model to know.
async fn ask(tool: &str, arguments: &Value, cx: &RequestContext) -> Reply {
    let asked = match tool {
        "ask" => match name(cx).await {
            Ok(name) => Ok(format!("hello {name}")),
            Err(error) => return Ok(CallToolResult::error(error.message).into()),
        },
        "visit" => {
            let page =
                UrlParams::new("Sign in", "https://example.com/sign-in").with_elicitation_id("visit-1");
            let answer = cx.elicit("visit", ElicitParams::Url(page)).await;
            cx.notify(
                "notifications/elicitation/complete",
                Some(&json!({ "elicitationId": "visit-1" }).into()),
            );
            answer.map(|answer| format!("{:?}", answer.action))
        }
        "sample" => {
            let question = SamplingMessage::new(switchboard::protocol::Role::User, [Content::text("hi")]);
            let answer = cx.sample("model", CreateMessageParams::new([question], 10)).await;
            answer.map(|answer| {
                answer.content.first().and_then(Content::as_text).unwrap_or_default().to_owned()
            })
        }
        "roots" => cx
            .roots("roots")
            .await
            .map(|roots| roots.iter().map(|root| root.uri.as_str()).collect::<Vec<_>>().join(" ")),
        "trip" => trip(cx).await,
        _ => {
            let params: Raw = arguments["params"].clone().into();
            let method = arguments["method"].as_str().unwrap_or_default();
            cx.request(method, &params).await.map(|answer| answer.as_str().to_owned())
        }
    };
    match asked {
        Ok(text) => said(text),
        Err(error) => Ok(CallToolResult::error(error.to_string()).into()),
    }
}

/// Two questions, one after the other, with a step between that is taken once.
async fn trip(cx: &RequestContext) -> Result<String, AskError> {
    let schema = FormSchema::new().with_required("name", FormField::Text(TextField::new()));
    let answer = cx.elicit("first", ElicitParams::form("Where from?", schema.clone())).await?;
    let from: String =
        answer.content.as_ref().and_then(|it| it.get("name")?.decode().ok()).unwrap_or_default();
    let ticket = cx.step("ticket", async || Ok::<_, RpcError>(format!("ticket from {from}"))).await?;
    cx.elicit("second", ElicitParams::form("Where to?", schema)).await?;
    Ok(ticket.unwrap_or_default())
}

fn detailed(id: &str, status: TaskStatus) -> DetailedTask {
    let task = Task::new(id, "2026-01-01T00:00:00Z")
        .with_status(status)
        .with_ttl_ms(60_000u64)
        .with_poll_interval_ms(20u64);
    DetailedTask::new(task)
}

fn created(id: &str) -> ServerResult {
    CreateTaskResult::new(detailed(id, TaskStatus::Working).task).into()
}
