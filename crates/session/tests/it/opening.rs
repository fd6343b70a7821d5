//! Opening a session under each policy, and the behavior of the negotiated revision.

use std::sync::Arc;

use serde_json::{Value, json};
use switchboard_protocol::jsonrpc::{self, Envelope, Message};
use switchboard_protocol::{
    CallToolResult, Content, ErrorCode, Implementation, ListCapability, Raw, Revision, RpcError,
    ServerCapabilities,
};
use switchboard_session::link::Exchange;
use switchboard_session::server::{
    AnswerOutcome, Caller, Handler, HandlerOutcome, InProcess, ReplyChannel, RequestContext, Server,
    ServerBuilder, ServerRequest, ServerSession,
};
use switchboard_session::{Client, OpeningPolicy, RevisionPolicy, VersionPolicy};

/// A tool that returns the properties of the request's revision.
struct RevisionTool;

impl Handler for RevisionTool {
    fn handle(&self, request: ServerRequest, cx: RequestContext) -> HandlerOutcome {
        let ServerRequest::CallTool(_) = request else {
            return HandlerOutcome::error(RpcError::method_not_found(request.method()));
        };
        let properties = [
            cx.has_output_schemas(),
            cx.reports_invalid_arguments_in_results(),
            cx.allows_any_structured_content(),
        ];
        let said = properties.map(|has| if has { "yes" } else { "no" }).join(" ");
        HandlerOutcome::now(CallToolResult::new([Content::text(said)]))
    }
}

fn builder() -> ServerBuilder {
    let offers = ServerCapabilities::new().with_tools(ListCapability::new());
    Server::builder(Implementation::new("verbs", "1.0.0"), offers)
}

/// A reply channel that drops everything.
struct NullChannel;

impl ReplyChannel for NullChannel {
    fn note(&self, _: &str, _: Option<&Raw>) {}

    fn ask(&self, _: &str, _: &Raw) -> Option<Exchange> {
        None
    }

    fn caller(&self) -> Option<&Caller> {
        None
    }
}

/// A connection whose requests are answered one by one.
struct TestConnection {
    server: Arc<Server>,
    session: Arc<ServerSession>,
}

impl TestConnection {
    fn with(builder: ServerBuilder) -> Self {
        Self { server: builder.build(RevisionTool), session: Arc::default() }
    }

    fn request(&self, method: &str, params: Value) -> Result<Value, RpcError> {
        let frame = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let Ok(Message::Single(Envelope::Request(request))) = jsonrpc::parse(frame.to_string().into()) else {
            panic!("{frame} is not a request")
        };
        let class = self.server.classify(&request);
        match self.server.answer(&self.session, request, class, Arc::new(NullChannel)) {
            AnswerOutcome::Now(outcome) => Ok(outcome?.decode().unwrap()),
            AnswerOutcome::Refused(error) => Err(error),
            AnswerOutcome::Later(_) => panic!("{method} is answered at once"),
        }
    }

    /// Returns the negotiated version when the client names this one.
    fn initialize(&self, version: &str) -> Result<String, RpcError> {
        let who = json!({ "name": "c", "version": "1" });
        let params = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": who });
        Ok(self.request("initialize", params)?["protocolVersion"].as_str().unwrap().to_owned())
    }
}

#[test]
fn by_default_the_version_is_negotiated() {
    assert_eq!(TestConnection::with(builder()).initialize("2025-03-26").unwrap(), "2025-03-26");
    assert_eq!(TestConnection::with(builder()).initialize("1999-01-01").unwrap(), "2025-11-25");
}

#[test]
fn the_first_listed_version_is_offered_to_a_client_that_names_another() {
    let offer = RevisionPolicy::from_names(["2026-07-28", "2025-06-18", "2025-11-25", "2025-06-18"]).unwrap();
    let connection = || TestConnection::with(builder().revisions(offer));
    assert_eq!(connection().initialize("2025-11-25").unwrap(), "2025-11-25");
    for other in ["2025-03-26", "2026-07-28", "x"] {
        assert_eq!(connection().initialize(other).unwrap(), "2025-06-18", "{other}");
    }
    let names: Vec<_> = offer.all().iter().map(|revision| revision.as_str()).collect();
    assert_eq!(names, ["2026-07-28", "2025-06-18", "2025-11-25"]);
    assert!(RevisionPolicy::from_names(["2025-06-18", "x"]).unwrap_err().to_string().contains("\"x\""));
    assert_eq!(RevisionPolicy::from_names([""; 0]).unwrap(), RevisionPolicy::Any);
}

#[test]
fn an_exact_version_must_be_named() {
    let exact = || OpeningPolicy::new().with_version(VersionPolicy::exact("2025-06-18").unwrap());
    let connection = TestConnection::with(builder().opening(exact()));
    for other in ["2025-11-25", "2026-07-28", ""] {
        let refused = connection.initialize(other).unwrap_err();
        assert_eq!(refused.code, ErrorCode::INVALID_PARAMS);
        assert!(refused.message.starts_with("Unsupported protocol version"), "{}", refused.message);
        let data: Value = refused.data.unwrap().decode().unwrap();
        assert_eq!(data, json!({ "supported": ["2025-06-18"], "requested": other }));
    }
    assert_eq!(connection.request("initialize", json!({})).unwrap_err().code, ErrorCode::INVALID_PARAMS);
    assert_eq!(connection.initialize("2025-06-18").unwrap(), "2025-06-18");
    // An exact version outside the accepted revisions rejects every client.
    let none = TestConnection::with(builder().revisions(RevisionPolicy::ModernOnly).opening(exact()));
    assert_eq!(none.initialize("2025-06-18").unwrap_err().code, ErrorCode::INVALID_PARAMS);
    assert!(VersionPolicy::exact("2025").is_err());
}

#[test]
fn an_unsupported_modern_version_is_rejected_with_the_supported_ones() {
    let connection = TestConnection::with(builder().opening(OpeningPolicy::new().reject_repeated()));
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2099-01-01",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let refused = connection.request("tools/list", json!({ "_meta": meta })).unwrap_err();
    assert_eq!(refused.code, ErrorCode::UNSUPPORTED_PROTOCOL_VERSION);
    let data: Value = refused.data.unwrap().decode().unwrap();
    assert_eq!(data["supported"][0], "2026-07-28");
}

#[test]
fn a_second_initialize_changes_nothing_and_is_rejected_by_policy() {
    for (policy, code, text) in [
        (OpeningPolicy::new(), ErrorCode::INVALID_REQUEST, "initialized already"),
        (OpeningPolicy::new().reject_repeated(), ErrorCode::INVALID_PARAMS, "Already initialized"),
    ] {
        let connection = TestConnection::with(builder().opening(policy));
        connection.initialize("2025-06-18").unwrap();
        let refused = connection.initialize("2025-11-25").unwrap_err();
        assert_eq!(refused.code, code);
        assert!(refused.message.contains(text), "{}", refused.message);
        let said = connection.request("tools/call", json!({ "name": "x" })).unwrap();
        assert_eq!(said["content"][0]["text"], "yes no no");
    }
}

#[test]
fn a_request_before_initialize_is_rejected_by_policy_except_ping() {
    for (policy, code) in [
        (OpeningPolicy::new(), ErrorCode::INVALID_PARAMS),
        (OpeningPolicy::new().with_too_early(ErrorCode(-32002)), ErrorCode(-32002)),
    ] {
        let connection = TestConnection::with(builder().opening(policy));
        let refused = connection.request("tools/call", json!({ "name": "x" })).unwrap_err();
        assert_eq!(refused.code, code);
        assert!(refused.message.starts_with("Not initialized"), "{}", refused.message);
        connection.request("ping", json!({})).unwrap();
    }
}

#[tokio::test]
async fn the_client_finds_the_exact_version_by_itself() {
    let policy = OpeningPolicy::new().with_version(VersionPolicy::Exact(Revision::V2025_06_18));
    let server = builder().revisions(RevisionPolicy::LegacyOnly).opening(policy).build(RevisionTool);
    let session = Client::new().connect(InProcess::new(&server)).await.unwrap();
    assert_eq!(session.info().unwrap().revision, Revision::V2025_06_18);
}

#[tokio::test]
async fn a_handler_sees_the_properties_of_its_revision() {
    let server = builder().build(RevisionTool);
    for (revision, said) in [
        (Revision::V2024_11_05, "no no no"),
        (Revision::V2025_03_26, "no no no"),
        (Revision::V2025_06_18, "yes no no"),
        (Revision::V2025_11_25, "yes yes no"),
        (Revision::V2026_07_28, "yes yes yes"),
    ] {
        let client = Client::new().with_revisions(RevisionPolicy::Only(revision));
        let session = client.connect(InProcess::new(&server)).await.unwrap();
        assert_eq!(session.call_tool("x", ()).await.unwrap().text(), said, "{revision}");
    }
}

#[tokio::test]
async fn a5_connecting_can_be_spawned() {
    let server = builder().build(RevisionTool);
    // Neither the client nor the dialer outlives this statement.
    let opening = tokio::spawn(Client::new().connect(InProcess::new(&server)));
    assert_eq!(opening.await.unwrap().unwrap().info().unwrap().revision, Revision::LATEST);
}
