//! What waits for a client of the binding of 2024 that does not read.

use std::pin::Pin;

use http::Request;
use http::header::RETRY_AFTER;
use serde_json::json;
use switchboard_protocol::{
    CallToolResult, Content, Implementation, ListCapability, RpcError, ServerCapabilities,
};
use switchboard_session::server::{Handler, HandlerOutcome, RequestContext, Server, ServerRequest};

use super::*;
use crate::http::server::options::{HttpServerOptions, LegacySse};
use crate::http::server::service::HttpService;

const SIZE: usize = 500 * 1024;

struct Echo;

impl Handler for Echo {
    fn handle(&self, request: ServerRequest, _: RequestContext) -> HandlerOutcome {
        match request {
            ServerRequest::CallTool(_) => {
                HandlerOutcome::now(CallToolResult::new([Content::text("x".repeat(SIZE))]))
            }
            other => HandlerOutcome::error(RpcError::method_not_found(other.method())),
        }
    }
}

fn post(id: &str, body: &serde_json::Value) -> Request<String> {
    let request = Request::post(format!("http://localhost/messages?sessionId={id}"));
    request.header("content-type", "application/json").body(body.to_string()).unwrap()
}

async fn next(body: &mut ReplyBody) -> Option<String> {
    let frame = std::future::poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx)).await?;
    Some(String::from_utf8(frame.unwrap().into_data().unwrap().to_vec()).unwrap())
}

#[tokio::test(start_paused = true)]
async fn s4_a_client_that_does_not_read_is_not_read_either() {
    let server = Server::builder(
        Implementation::new("test", "1"),
        ServerCapabilities::new().with_tools(ListCapability::new()),
    )
    .build(Echo);
    let options =
        HttpServerOptions { legacy_sse: Some(LegacySse::default()), ..HttpServerOptions::default() };
    let room = options.stream_bytes;
    let service = HttpService::new(&server, options);
    let stream = service.handle(Request::get("http://localhost/sse").body(String::new()).unwrap()).await;
    let mut stream = stream.into_body();
    let endpoint = next(&mut stream).await.unwrap();
    let id = endpoint.trim().rsplit_once('=').unwrap().1.to_owned();
    let params = json!({ "protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": { "name": "c", "version": "1" } });
    let begin = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
    assert_eq!(service.handle(post(&id, &begin)).await.status(), 202);
    let mut refused = 0;
    for number in 1..60 {
        // The messages are as large as their answers.
        let params = json!({ "name": "echo", "arguments": { "text": "x".repeat(SIZE) } });
        let call = json!({ "jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params });
        let reply = service.handle(post(&id, &call)).await;
        if reply.status() != 202 {
            assert_eq!((reply.status().as_u16(), reply.headers().contains_key(RETRY_AFTER)), (503, true));
            refused += 1;
            if refused > 3 {
                break;
            }
        }
        let held = service.inner.stream_budget.held();
        assert!(held <= room / 2 + SIZE + 1024, "{held} bytes wait to be read");
    }
    assert!(refused > 3, "nothing is taken from a client that does not read");
    // Who reads again is read again.
    let mut read = 0;
    while read < 2 * SIZE {
        read += next(&mut stream).await.unwrap().len();
    }
    let ping = json!({ "jsonrpc": "2.0", "id": "p", "method": "ping" });
    let (reply, _) = tokio::join!(service.handle(post(&id, &ping)), async {
        let mut text = String::new();
        while !text.contains("\"p\"") {
            text = next(&mut stream).await.unwrap();
        }
    });
    assert_eq!(reply.status(), 202);
}
