//! How a session opens over HTTP under each policy.

use switchboard_protocol::ErrorCode;
use switchboard_session::{OpeningPolicy, VersionPolicy};

use crate::door::{builder, initialize, knock, open, plain_call, server_with};

#[tokio::test]
async fn a_second_opening_is_another_session_unless_a_session_is_opened_once() {
    let (_, service) = server_with(builder());
    let id = open(&service, &[]).await;
    let reply = knock(&service, &[("mcp-session-id", &id)], &initialize("2025-11-25")).await;
    assert_ne!(reply.header("mcp-session-id").unwrap(), id);

    let (_, service) = server_with(builder().opening(OpeningPolicy::new().reject_repeated()));
    let id = open(&service, &[]).await;
    let reply = knock(&service, &[("mcp-session-id", &id)], &initialize("2025-11-25")).await;
    assert_eq!(reply.message()["error"]["code"], -32602);
    assert!(reply.text.contains("Already initialized"), "{}", reply.text);
    // The session is none the worse for it, and without its id another one opens.
    assert_eq!(knock(&service, &[("mcp-session-id", &id)], &plain_call("who")).await.status, 200);
    assert_ne!(open(&service, &[]).await, id);
}

#[tokio::test]
async fn an_exact_version_is_the_only_one_let_in() {
    let policy = OpeningPolicy::new().with_version(VersionPolicy::exact("2025-06-18").unwrap());
    let (_, service) = server_with(builder().opening(policy.with_too_early(ErrorCode::INVALID_REQUEST)));
    for version in ["2025-11-25", "1999-01-01", ""] {
        let reply = knock(&service, &[], &initialize(version)).await;
        let error = &reply.message()["error"];
        assert_eq!(
            (&error["code"], &error["data"]["supported"]),
            (&(-32602).into(), &["2025-06-18"][..].into())
        );
        assert_eq!(reply.header("mcp-session-id"), None);
    }
    let mut missing = initialize("");
    missing["params"].as_object_mut().unwrap().remove("protocolVersion");
    assert_eq!(knock(&service, &[], &missing).await.message()["error"]["code"], -32602);
    let reply = knock(&service, &[], &initialize("2025-06-18")).await;
    assert_eq!(reply.message()["result"]["protocolVersion"], "2025-06-18");
}

#[tokio::test]
async fn d3_a_ping_needs_no_session() {
    let (_, service) = server_with(builder());
    let ping = serde_json::json!({ "jsonrpc": "2.0", "id": 7, "method": "ping" });
    let reply = knock(&service, &[], &ping).await;
    assert_eq!((reply.status, &reply.message()["result"]), (200, &serde_json::json!({})));
    assert_eq!(reply.header("mcp-session-id"), None);
    let early = serde_json::json!({ "jsonrpc": "2.0", "id": 8, "method": "tools/list" });
    assert_eq!(knock(&service, &[], &early).await.status, 400);
    assert_eq!(knock(&service, &[("mcp-session-id", "unknown")], &ping).await.status, 404);
}
