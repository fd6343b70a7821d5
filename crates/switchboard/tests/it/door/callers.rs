//! On whose behalf a request is made: found out at the door, known to handlers, and the owner of what it leaves behind.

use http::request::Parts;
use serde_json::json;
use switchboard_session::server::Caller;
use switchboard_transport::http::server::{AuthRejection, HttpServerOptions, LegacySse};

use crate::door::{Tenant, alone, call, knock, open, plain_call, service};

/// Lets in whoever names themself; a guest is nobody in particular.
fn by_name(head: &Parts) -> Result<Option<Caller>, AuthRejection> {
    let token = head.headers.get("authorization").and_then(|token| token.to_str().ok());
    match token.map(|token| token.strip_prefix("Bearer ")) {
        None => Err(AuthRejection::no_token().with_scopes(["notes"])),
        Some(None) => Err(AuthRejection::malformed()),
        Some(Some("guest")) => Ok(None),
        Some(Some("expired")) => Err(AuthRejection::invalid_token()),
        Some(Some("reader")) => Err(AuthRejection::insufficient_scope(["notes", "write"])),
        Some(Some(name)) => Ok(Some(Caller::new(name).with_issuer("https://issuer"))),
    }
}

fn options() -> HttpServerOptions {
    HttpServerOptions::default().with_authenticate(by_name).with_resource_metadata("https://h/meta")
}

const ADA: (&str, &str) = ("authorization", "Bearer ada");
const BOB: (&str, &str) = ("authorization", "Bearer bob");
const GUEST: (&str, &str) = ("authorization", "Bearer guest");

#[tokio::test]
async fn who_is_refused_is_told_what_to_do_about_it() {
    let service = service(options());
    for (token, status, challenge) in [
        (None, 401, r#"Bearer resource_metadata="https://h/meta", scope="notes""#),
        (Some("Bearer expired"), 401, r#"Bearer resource_metadata="https://h/meta", error="invalid_token""#),
        (
            Some("Bearer reader"),
            403,
            r#"Bearer resource_metadata="https://h/meta", error="insufficient_scope", scope="notes write""#,
        ),
        (Some("Basic x"), 400, r#"Bearer resource_metadata="https://h/meta", error="invalid_request""#),
    ] {
        let headers: Vec<_> = token.map(|token| ("authorization", token)).into_iter().collect();
        for reply in [
            knock(&service, &alone("who", &headers), &call("who")).await,
            knock(&service, &headers, &crate::door::initialize("2025-11-25")).await,
        ] {
            assert_eq!((reply.status, reply.header("www-authenticate")), (status, Some(challenge)));
            assert!(reply.message()["error"]["message"].is_string());
        }
    }
}

#[tokio::test]
async fn a_handler_knows_its_caller_the_head_of_the_request_and_what_layers_put_there() {
    let service = service(options().with_extension::<Tenant>());
    let colour = ("x-colour", "red");
    let reply = knock(&service, &alone("who", &[ADA, colour]), &call("who")).await;
    // The token was for this server, and goes no further.
    let expected =
        json!({ "caller": "ada", "colour": "red", "token": null, "tenant": "math", "among all": "math" });
    assert_eq!(reply.said(), expected);
    let id = open(&service, &[ADA]).await;
    let reply = knock(&service, &[ADA, colour, ("mcp-session-id", &id)], &plain_call("who")).await;
    assert_eq!(reply.said(), expected);
    let reply = knock(&service, &alone("who", &[GUEST]), &call("who")).await;
    assert_eq!(reply.said()["caller"], json!(null));
}

#[tokio::test]
async fn where_nobody_is_told_apart_everybody_is_let_in_and_types_are_handed_on_by_name_only() {
    let service = service(HttpServerOptions::default());
    let reply = knock(&service, &alone("who", &[("authorization", "Bearer x")]), &call("who")).await;
    let expected = json!({
        "caller": null, "colour": null, "token": "Bearer x", "tenant": null, "among all": "math",
    });
    assert_eq!(reply.said(), expected);
}

#[tokio::test]
async fn a_state_sealed_for_one_caller_is_refused_for_another_over_http() {
    let service = service(options());
    let asked = knock(&service, &alone("ask", &[ADA]), &call("ask")).await.message();
    let mut again = call("ask");
    again["params"]["requestState"] = asked["result"]["requestState"].clone();
    again["params"]["inputResponses"] = json!({ "name": { "action": "accept", "content": { "name": "x" } } });
    for other in [BOB, GUEST] {
        let refused = knock(&service, &alone("ask", &[other]), &again).await.message();
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
    }
    let reply = knock(&service, &alone("ask", &[ADA]), &again).await;
    assert_eq!(reply.said()["caller"], "ada");
}

#[tokio::test]
async fn a_session_of_another_caller_is_as_if_it_were_not_there() {
    let first = service(options());
    // The second instance knows the session from the store alone.
    let shared = options();
    let first_shared = service(shared.clone());
    let second_shared = service(shared);
    for (opens, serves) in [(&first, &first), (&first_shared, &second_shared)] {
        for (owner, others) in [(ADA, [BOB, GUEST]), (GUEST, [ADA, BOB])] {
            let id = open(opens, &[owner]).await;
            let id = ("mcp-session-id", id.as_str());
            let unknown = ("mcp-session-id", "unknown");
            let nothing = knock(serves, &[owner, unknown], &plain_call("who")).await;
            for other in others {
                let reply = knock(serves, &[other, id], &plain_call("who")).await;
                assert_eq!((reply.status, &reply.text), (404, &nothing.text), "{owner:?} {other:?}");
            }
            let reply = knock(serves, &[owner, id], &plain_call("who")).await;
            assert_eq!(reply.status, 200, "{}", reply.text);
        }
    }
}

#[tokio::test]
async fn the_streams_of_2024_are_bound_to_their_caller_too() {
    let mut options = options();
    options.legacy_sse = Some(LegacySse::default());
    let service = service(options);
    let get = http::Request::get("http://localhost/sse").header(ADA.0, ADA.1);
    let opened = service.handle(get.body(String::new()).unwrap()).await;
    let mut body = Box::pin(opened.into_body());
    let first = std::future::poll_fn(|cx| http_body::Body::poll_frame(body.as_mut(), cx)).await;
    let first = String::from_utf8(first.unwrap().unwrap().into_data().unwrap().to_vec()).unwrap();
    let path = first.lines().find_map(|line| line.strip_prefix("data: ")).unwrap();
    for (who, status) in [(BOB, 404), (GUEST, 404), (ADA, 202)] {
        let post = http::Request::post(format!("http://localhost{path}"))
            .header(who.0, who.1)
            .header("content-type", "application/json");
        let reply =
            service.handle(post.body(crate::door::initialize("2024-11-05").to_string()).unwrap()).await;
        assert_eq!(reply.status(), status, "{who:?}");
    }
}
