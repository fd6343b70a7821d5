//! HTTP statuses of errors, as modern clients get them from the gateway.

use switchboard::json;
use switchboard::server::{HttpListener, HttpServerOptions, HttpService};
use switchboard_testkit::{trial_leaving_tasks, trials};

use crate::access::post;
use crate::cells::{Cell, Reach, Side};

trials! {
    trial_leaving_tasks:
        clients_that_end_their_session_at_an_error_status_get_200_if_they_are_named,
}

async fn clients_that_end_their_session_at_an_error_status_get_200_if_they_are_named() {
    let cell = Cell { client: Side::Modern, upstream: Side::Legacy, reach: Reach::InProcess };
    let bench = cell.open().await;
    let options = HttpServerOptions::default().with_ok_status_clients(["picky"]);
    let listener = HttpListener::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let address = listener.address().unwrap().to_string();
    let serving = tokio::spawn(listener.serve(HttpService::new(bench.gateway.server(), options)));
    for (client, method, revision, code, status) in [
        ("picky", "tools/call", "2026-07-28", -32021, 200),
        ("Picky", "tools/call", "2026-07-28", -32021, 400),
        ("other", "tools/call", "2026-07-28", -32021, 400),
        ("picky", "none/such", "2026-07-28", -32601, 200),
        ("other", "none/such", "2026-07-28", -32601, 404),
        // This status is how a client finds out which revisions a server has.
        ("picky", "tools/call", "2099-01-01", -32022, 400),
    ] {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": revision,
            "io.modelcontextprotocol/clientInfo": { "name": client, "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        // It asks a question, which this client cannot answer.
        let params = json!({ "name": "up__ask", "arguments": {}, "_meta": meta });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let headers =
            format!("mcp-protocol-version: {revision}\r\nmcp-method: {method}\r\nmcp-name: up__ask\r\n");
        let (head, answer) = post(&address, &headers, &body.to_string()).await;
        assert!(head.starts_with(&format!("HTTP/1.1 {status} ")), "{client} {method}: {head} {answer}");
        assert!(answer.contains(&format!("\"code\":{code}")), "{client} {method}: {answer}");
    }
    serving.abort();
    bench.close().await;
}
