//! Authenticated callers: handlers see them, and a state sealed for one caller is rejected for another.

use std::sync::Arc;

use switchboard_protocol::jsonrpc::{self, Envelope, Message};
use switchboard_protocol::{
    CallToolResult, Content, ElicitParams, FormField, FormSchema, Implementation, ListCapability, Raw,
    RpcError, ServerCapabilities, TextField,
};
use switchboard_session::link::{Exchange, SingleLink, pair};
use switchboard_session::server::{
    AnswerOutcome, Caller, Extensions, Handler, HandlerOutcome, InProcess, ReplyChannel, RequestContext,
    Server, ServerRequest,
};
use switchboard_session::{Client, ConnectionLimits, MuxLink, RevisionPolicy};

/// A tool that returns its caller, and one that asks for input first.
struct CallerTool;

struct Tenant(&'static str);

impl Handler for CallerTool {
    fn handle(&self, request: ServerRequest, cx: RequestContext) -> HandlerOutcome {
        let ServerRequest::CallTool(call) = request else {
            return HandlerOutcome::error(RpcError::method_not_found("?"));
        };
        HandlerOutcome::later(async move {
            if call.name.as_str() == "ask" {
                let form = FormSchema::new().with_required("name", FormField::Text(TextField::new()));
                cx.elicit("name", ElicitParams::form("Who are you?", form)).await?;
            }
            let caller = cx.caller().map_or("nobody", |caller| &caller.subject);
            let tenant = cx.extension::<Tenant>().map_or("nowhere", |tenant| tenant.0);
            Ok(CallToolResult::new([Content::text(format!("{caller} of {tenant}"))]).into())
        })
    }
}

fn server() -> Arc<Server> {
    let offers = ServerCapabilities::new().with_tools(ListCapability::new());
    Server::builder(Implementation::new("knows", "1.0.0"), offers).build(CallerTool)
}

const BOTH: [RevisionPolicy; 2] = [RevisionPolicy::ModernOnly, RevisionPolicy::LegacyOnly];

#[tokio::test]
async fn a_handler_sees_its_caller_in_process_and_over_a_pipe() {
    for offer in BOTH {
        let (client, server) = (Client::new().with_revisions(offer), server());
        let to = InProcess::new(&server).with_caller(Caller::new("ada")).with_extension(Tenant("math"));
        let session = client.connect(to).await.unwrap();
        assert_eq!(session.call_tool("who", ()).await.unwrap().text(), "ada of math");

        let (near, far) = pair();
        let serving = Arc::clone(&server);
        tokio::spawn(async move { serving.serve_as(far, Caller::new("bob")).await });
        let session =
            client.connect(SingleLink::new(MuxLink::start(near, ConnectionLimits::default()))).await.unwrap();
        assert_eq!(session.call_tool("who", ()).await.unwrap().text(), "bob of nowhere");

        let session = client.connect(InProcess::new(&server)).await.unwrap();
        assert_eq!(session.call_tool("who", ()).await.unwrap().text(), "nobody of nowhere");
    }
}

/// The reply channel of one caller's requests.
struct CallerChannel(Extensions);

impl ReplyChannel for CallerChannel {
    fn note(&self, _: &str, _: Option<&Raw>) {}

    fn ask(&self, _: &str, _: &Raw) -> Option<Exchange> {
        None
    }

    fn caller(&self) -> Option<&Caller> {
        self.0.get()
    }

    fn extension(&self, of: std::any::TypeId) -> Option<&(dyn std::any::Any + Send + Sync)> {
        self.0.find(of)
    }
}

/// Calls the tool that asks for input, as this caller; with the state of an earlier round and an answer.
async fn ask(server: &Arc<Server>, caller: Option<&Caller>, state: Option<&str>) -> Result<Raw, RpcError> {
    let mut params = serde_json::json!({ "name": "ask", "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {} } },
    }});
    if let Some(state) = state {
        params["requestState"] = state.into();
        params["inputResponses"] =
            serde_json::json!({ "name": { "action": "accept", "content": { "name": "x" } } });
    }
    let frame = serde_json::json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let Ok(Message::Single(Envelope::Request(request))) = jsonrpc::parse(frame.to_string().into()) else {
        panic!("{frame} is not a request")
    };
    let class = server.classify(&request);
    let extensions = caller.map_or_else(Extensions::new, |caller| Extensions::new().with(caller.clone()));
    match server.answer(&Arc::default(), request, class, Arc::new(CallerChannel(extensions))) {
        AnswerOutcome::Later(response) => response.await,
        AnswerOutcome::Now(outcome) => outcome,
        AnswerOutcome::Refused(error) => Err(error),
    }
}

#[tokio::test]
async fn a_state_sealed_for_one_caller_is_refused_for_another() {
    let server = server();
    let ada = Caller::new("ada").with_issuer("https://a");
    let others = [
        None,
        Some(Caller::new("bob").with_issuer("https://a")),
        Some(Caller::new("ada").with_issuer("https://b")),
        Some(Caller::new("ada")),
    ];
    let state = |asked: Raw| -> String {
        let asked: serde_json::Value = asked.decode().unwrap();
        asked["requestState"].as_str().unwrap().to_owned()
    };
    let of_ada = state(ask(&server, Some(&ada), None).await.unwrap());
    for other in &others {
        let refused = ask(&server, other.as_ref(), Some(&of_ada)).await.unwrap_err();
        assert_eq!(refused.code.0, -32602, "{other:?}");
        let of_other = state(ask(&server, other.as_ref(), None).await.unwrap());
        assert!(ask(&server, Some(&ada), Some(&of_other)).await.is_err(), "{other:?}");
        ask(&server, other.as_ref(), Some(&of_other)).await.unwrap();
    }
    // Scopes and claims may change between two rounds; the principal may not.
    let ada = ada.with_scopes(["more"]);
    let said = ask(&server, Some(&ada), Some(&of_ada)).await.unwrap();
    assert!(said.as_str().contains("ada of nowhere"), "{}", said.as_str());
}
