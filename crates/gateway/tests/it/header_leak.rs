//! Over HTTP, the check of mirrored arguments must not tell that a denied tool exists.

use switchboard::gateway::policy::Policy;
use switchboard::gateway::{Gateway, GatewayOptions};
use switchboard::protocol::{
    CallToolResult, Content, Implementation, ListCapability, ListToolsResult, RpcError, ServerCapabilities,
    Tool,
};
use switchboard::server::{
    Handler, HandlerOutcome, HttpListener, HttpServerOptions, HttpService, RequestContext, ServerRequest,
};
use switchboard::{InProcess, Server, json};
use switchboard_testkit::{trial_leaving_tasks, trials};
use tokio::task::JoinSet;

use crate::access::post;

trials! {
    trial_leaving_tasks:
        a_header_mismatch_does_not_tell_that_a_denied_tool_exists,
}

/// A server whose tools mirror an argument.
struct Mirroring;

impl Handler for Mirroring {
    fn handle(&self, request: ServerRequest, _: RequestContext) -> HandlerOutcome {
        match request {
            ServerRequest::ListTools(_) => {
                let schema = json!({
                    "type": "object",
                    "properties": { "region": { "type": "string", "x-mcp-header": "Region" } },
                });
                HandlerOutcome::now(ListToolsResult::new(
                    ["open", "hidden"].map(|name| Tool::new(name, schema.clone())),
                ))
            }
            ServerRequest::CallTool(call) => {
                HandlerOutcome::now(CallToolResult::new([Content::text(call.name)]))
            }
            other => HandlerOutcome::error(RpcError::method_not_found(other.method())),
        }
    }
}

async fn a_header_mismatch_does_not_tell_that_a_denied_tool_exists() {
    let offers = ServerCapabilities::new().with_tools(ListCapability::new());
    let server = Server::builder(Implementation::new("mirroring", "1"), offers).build(Mirroring);
    let host = Gateway::host_builder().build();
    host.connect("up", InProcess::new(&server)).await.unwrap();
    let policy = "default = \"allow\"\n[[rule]]\neffect = \"deny\"\ntool = \"hidden\"\n";
    let options = GatewayOptions::default().with_policy(Policy::parse(policy).unwrap());
    let gateway = Gateway::new(host, options);
    let listener = HttpListener::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let address = listener.address().unwrap().to_string();
    let mut tasks = JoinSet::new();
    tasks.spawn(listener.serve(HttpService::new(gateway.server(), HttpServerOptions::default())));

    let call = async |tool: &str, header: &str| {
        let meta = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"raw","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}"#;
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{tool}","arguments":{{"region":"eu"}},"_meta":{meta}}}}}"#
        );
        let headers = format!(
            "mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: {tool}\r\n{header}"
        );
        let (head, body) = post(&address, &headers, &body).await;
        (head.lines().next().unwrap().to_owned(), body.replace(tool, "NAME"))
    };
    let (_, mismatch) = call("up__open", "").await;
    assert!(mismatch.contains("-32020"), "an allowed tool is checked: {mismatch}");
    let (status, open) = call("up__open", "mcp-param-region: eu\r\n").await;
    assert!(status.contains("200") && open.contains("open"), "{status} {open}");
    for header in ["", "mcp-param-region: us\r\n", "mcp-param-region: eu\r\n"] {
        let (denied, unknown) = (call("up__hidden", header).await, call("up__nothing", header).await);
        assert_eq!(denied, unknown, "{header}");
        assert!(denied.1.contains("Unknown tool: NAME"), "{}", denied.1);
    }
    gateway.host().close().await;
}
