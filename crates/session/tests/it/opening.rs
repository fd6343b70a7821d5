//! The first words of a session, under each policy, and what the revision that comes of them changes.

use std::sync::Arc;

use serde_json::{Value, json};
use switchboard_protocol::jsonrpc::{self, Envelope, Message};
use switchboard_protocol::{
    CallToolResult, Content, ErrorCode, Implementation, ListCapability, Raw, Revision, RpcError,
    ServerCapabilities,
};
use switchboard_session::link::Exchange;
use switchboard_session::server::{
    Answered, Caller, Handler, HandlerOutcome, InProcess, ReplyChannel, RequestContext, Server,
    ServerBuilder, ServerRequest, ServerSession,
};
use switchboard_session::{Client, OpeningPolicy, RevisionPolicy, VersionPolicy};

/// Says what the revision of the request changes.
struct Verbs;

impl Handler for Verbs {
    fn handle(&self, request: ServerRequest, cx: RequestContext) -> HandlerOutcome {
        let ServerRequest::CallTool(_) = request else {
            return HandlerOutcome::error(RpcError::method_not_found(request.method()));
        };
        let verbs = [cx.has_output_schemas(), cx.tells_misfits_in_results(), cx.any_structured()];
        let said = verbs.map(|verb| if verb { "yes" } else { "no" }).join(" ");
        HandlerOutcome::now(CallToolResult::new([Content::text(said)]))
    }
}

fn builder() -> ServerBuilder {
    let offers = ServerCapabilities::new().with_tools(ListCapability::new());
    Server::builder(Implementation::new("verbs", "1.0.0"), offers)
}

struct Nowhere;

impl ReplyChannel for Nowhere {
    fn note(&self, _: &str, _: Option<&Raw>) {}

    fn ask(&self, _: &str, _: &Raw) -> Option<Exchange> {
        None
    }

    fn caller(&self) -> Option<&Caller> {
        None
    }
}

/// A connection whose requests are answered one by one.
struct Talk {
    server: Arc<Server>,
    session: Arc<ServerSession>,
}

impl Talk {
    fn with(builder: ServerBuilder) -> Self {
        Self { server: builder.build(Verbs), session: Arc::default() }
    }

    fn ask(&self, method: &str, params: Value) -> Result<Value, RpcError> {
        let frame = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let Ok(Message::Single(Envelope::Request(request))) = jsonrpc::parse(frame.to_string().into()) else {
            panic!("{frame} is no request")
        };
        let class = self.server.classify(&request);
        match self.server.answer(&self.session, request, class, Arc::new(Nowhere)) {
            Answered::Now(outcome) => Ok(outcome?.decode().unwrap()),
            Answered::Refused(error) => Err(error),
            Answered::Later(_) => panic!("{method} is answered at once"),
        }
    }

    /// The version that is agreed on when the client names this one.
    fn initialize(&self, version: &str) -> Result<String, RpcError> {
        let who = json!({ "name": "c", "version": "1" });
        let params = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": who });
        Ok(self.ask("initialize", params)?["protocolVersion"].as_str().unwrap().to_owned())
    }
}

#[test]
fn unless_set_a_version_is_negotiated() {
    assert_eq!(Talk::with(builder()).initialize("2025-03-26").unwrap(), "2025-03-26");
    assert_eq!(Talk::with(builder()).initialize("1999-01-01").unwrap(), "2025-11-25");
}

#[test]
fn of_listed_versions_the_first_is_offered_to_who_names_none_of_them() {
    let offer = RevisionPolicy::from_names(["2026-07-28", "2025-06-18", "2025-11-25", "2025-06-18"]).unwrap();
    let talk = || Talk::with(builder().revisions(offer));
    assert_eq!(talk().initialize("2025-11-25").unwrap(), "2025-11-25");
    for other in ["2025-03-26", "2026-07-28", "x"] {
        assert_eq!(talk().initialize(other).unwrap(), "2025-06-18", "{other}");
    }
    let names: Vec<_> = offer.all().iter().map(|revision| revision.as_str()).collect();
    assert_eq!(names, ["2026-07-28", "2025-06-18", "2025-11-25"]);
    assert!(RevisionPolicy::from_names(["2025-06-18", "x"]).unwrap_err().to_string().contains("\"x\""));
    assert_eq!(RevisionPolicy::from_names([""; 0]).unwrap(), RevisionPolicy::Any);
}

#[test]
fn an_exact_version_must_be_named() {
    let exact = || OpeningPolicy::new().with_version(VersionPolicy::exact("2025-06-18").unwrap());
    let talk = Talk::with(builder().opening(exact()));
    for other in ["2025-11-25", "2026-07-28", ""] {
        let refused = talk.initialize(other).unwrap_err();
        assert_eq!(refused.code, ErrorCode::INVALID_PARAMS);
        assert!(refused.message.starts_with("Unsupported protocol version"), "{}", refused.message);
        let data: Value = refused.data.unwrap().decode().unwrap();
        assert_eq!(data, json!({ "supported": ["2025-06-18"], "requested": other }));
    }
    assert_eq!(talk.ask("initialize", json!({})).unwrap_err().code, ErrorCode::INVALID_PARAMS);
    assert_eq!(talk.initialize("2025-06-18").unwrap(), "2025-06-18");
    // A version that the server does not speak at all lets nobody in.
    let none = Talk::with(builder().revisions(RevisionPolicy::ModernOnly).opening(exact()));
    assert_eq!(none.initialize("2025-06-18").unwrap_err().code, ErrorCode::INVALID_PARAMS);
    assert!(VersionPolicy::exact("2025").is_err());
}

#[test]
fn what_stands_alone_is_told_the_versions_that_are_served() {
    let talk = Talk::with(builder().opening(OpeningPolicy::new().once()));
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2099-01-01",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let refused = talk.ask("tools/list", json!({ "_meta": meta })).unwrap_err();
    assert_eq!(refused.code, ErrorCode::UNSUPPORTED_PROTOCOL_VERSION);
    let data: Value = refused.data.unwrap().decode().unwrap();
    assert_eq!(data["supported"][0], "2026-07-28");
}

#[test]
fn a_second_opening_changes_nothing_and_is_refused_as_set() {
    for (policy, code, text) in [
        (OpeningPolicy::new(), ErrorCode::INVALID_REQUEST, "initialized already"),
        (OpeningPolicy::new().once(), ErrorCode::INVALID_PARAMS, "Already initialized"),
    ] {
        let talk = Talk::with(builder().opening(policy));
        talk.initialize("2025-06-18").unwrap();
        let refused = talk.initialize("2025-11-25").unwrap_err();
        assert_eq!(refused.code, code);
        assert!(refused.message.contains(text), "{}", refused.message);
        let said = talk.ask("tools/call", json!({ "name": "x" })).unwrap();
        assert_eq!(said["content"][0]["text"], "yes no no");
    }
}

#[test]
fn what_comes_too_early_is_refused_as_set_but_for_a_ping() {
    for (policy, code) in [
        (OpeningPolicy::new(), ErrorCode::INVALID_PARAMS),
        (OpeningPolicy::new().with_too_early(ErrorCode(-32002)), ErrorCode(-32002)),
    ] {
        let talk = Talk::with(builder().opening(policy));
        let refused = talk.ask("tools/call", json!({ "name": "x" })).unwrap_err();
        assert_eq!(refused.code, code);
        assert!(refused.message.starts_with("Not initialized"), "{}", refused.message);
        talk.ask("ping", json!({})).unwrap();
    }
}

#[tokio::test]
async fn our_client_finds_the_exact_version_by_itself() {
    let policy = OpeningPolicy::new().with_version(VersionPolicy::Exact(Revision::V2025_06_18));
    let server = builder().revisions(RevisionPolicy::LegacyOnly).opening(policy).build(Verbs);
    let session = Client::new().connect(InProcess::new(&server)).await.unwrap();
    assert_eq!(session.terms().unwrap().revision, Revision::V2025_06_18);
}

#[tokio::test]
async fn a_handler_is_told_what_its_revision_changes() {
    let server = builder().build(Verbs);
    for (revision, said) in [
        (Revision::V2024_11_05, "no no no"),
        (Revision::V2025_03_26, "no no no"),
        (Revision::V2025_06_18, "yes no no"),
        (Revision::V2025_11_25, "yes yes no"),
        (Revision::V2026_07_28, "yes yes yes"),
    ] {
        let client = Client::new().with_offer(RevisionPolicy::Only(revision));
        let session = client.connect(InProcess::new(&server)).await.unwrap();
        assert_eq!(session.call_tool("x", ()).await.unwrap().text(), said, "{revision}");
    }
}

#[tokio::test]
async fn a5_connecting_can_be_spawned() {
    let server = builder().build(Verbs);
    // Neither the client nor what it dials outlives this statement.
    let opening = tokio::spawn(Client::new().connect(InProcess::new(&server)));
    assert_eq!(opening.await.unwrap().unwrap().terms().unwrap().revision, Revision::LATEST);
}
