//! Resources: arguments in URIs, and access policies.

use serde_json::{Value, json};
use switchboard_protocol::{CacheHints, CacheScope};
use switchboard_session::CallError;

use crate::sessions::{ERAS, MODERN, NEWEST_LEGACY, REVISIONS, ask, session};
use crate::shop::Shop;

async fn read(session: &switchboard_session::ClientSession, uri: &str) -> Result<Value, (i32, String)> {
    ask(session, "resources/read", json!({"uri": uri})).await.map(|result| result["contents"].clone())
}

#[tokio::test]
async fn arguments_are_decoded_from_the_uri_by_type() {
    let server = Shop::builder().build().unwrap();
    for revision in REVISIONS {
        let session = session(&server, revision).await;
        assert_eq!(
            read(&session, "text://a%2Fb").await.unwrap(),
            json!([{"uri": "text://a%2Fb", "mimeType": "text/plain", "text": "a/b"}])
        );
        let contents =
            read(&session, "conversation://history?nums=1&nums=2.5&flag=true&limit=3&more=x").await;
        let contents = contents.unwrap();
        let held: Value = serde_json::from_str(contents[0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(held, json!({"limit": 3, "flag": true, "nums": [1.0, 2.5]}), "{revision}");
        assert_eq!(contents[0]["mimeType"], "application/json");
        // Absent arguments have the defaults of the service.
        let contents = read(&session, "conversation://history").await.unwrap();
        let held: Value = serde_json::from_str(contents[0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(held, json!({"limit": null, "flag": null, "nums": []}), "{revision}");
        assert_eq!(
            read(&session, "pic://logo").await.unwrap(),
            json!([{"uri": "pic://logo", "mimeType": "image/png", "blob": "aGk="}])
        );
        // A fixed URI takes precedence over a template.
        assert_eq!(read(&session, "text://fixed").await.unwrap()[0]["text"], "fixed");
    }
}

#[tokio::test]
async fn all_invalid_query_arguments_are_reported() {
    let server = Shop::builder().build().unwrap();
    let session = session(&server, MODERN).await;
    let (code, text) = read(&session, "conversation://history?limit=x&flag=maybe&nums=1").await.unwrap_err();
    assert_eq!(code, -32602);
    assert!(text.contains("`limit`") && text.contains("`flag`") && !text.contains("`nums`"), "{text}");
}

#[tokio::test]
async fn denied_resources_cannot_be_listed_read_or_subscribed_to() {
    let builder =
        Shop::builder().allow_resources(["text://**", "pic://**"]).deny_resources(["text://private/**"]);
    let server = builder.build().unwrap();
    for revision in REVISIONS {
        let session = session(&server, revision).await;
        let listed = session.list_resources().await.unwrap();
        let uris: Vec<&str> = listed.iter().map(|listed| listed.uri.as_str()).collect();
        assert_eq!(uris, ["pic://logo", "text://fixed"], "{revision}");
        let templates = session.list_resource_templates().await.unwrap();
        assert_eq!(templates.len(), 1, "{revision}");
        assert!(read(&session, "text://public").await.is_ok());
        for uri in [
            "conversation://history",
            "text://private",
            "TEXT://private",
            "text://%70rivate",
            "text://x/../../private",
            "text://private?a=b",
            "text://private#a",
        ] {
            let refused = read(&session, uri).await.unwrap_err();
            assert!([-32602, -32002].contains(&refused.0), "{uri} {revision}: {refused:?}");
            let code = match session.subscribe(uri).await {
                Err(CallError::Remote(error)) => error.code.0,
                other => panic!("{uri} {revision}: {other:?}"),
            };
            assert!([-32602, -32002].contains(&code), "{uri} {revision}");
        }
        assert_eq!(read(&session, "text://private").await.unwrap_err().0, -32602, "{revision}");
    }
}

#[tokio::test]
async fn only_watched_resources_can_be_subscribed_to() {
    let server = Shop::builder().build().unwrap();
    for revision in ERAS {
        let session = session(&server, revision).await;
        assert!(matches!(session.subscribe("pic://logo").await, Err(CallError::Remote(_))), "{revision}");
        assert!(session.subscribe("text://a").await.is_ok(), "{revision}");
    }
}

#[tokio::test]
async fn an_invalid_glob_is_a_build_error() {
    let error = Shop::builder().deny_resources(["no glob"]).build().unwrap_err();
    assert!(error.to_string().contains("no glob"), "{error}");
}

#[tokio::test]
async fn cache_hints_come_from_the_resource_or_the_server() {
    let hints = CacheHints::new(500, CacheScope::Public);
    let server = Shop::builder().cache_hints(hints).build().unwrap();
    let modern = session(&server, MODERN).await;
    let of = |result: Value| (result["ttlMs"].clone(), result["cacheScope"].clone());
    let own = ask(&modern, "resources/read", json!({"uri": "text://a"})).await.unwrap();
    assert_eq!(of(own), (json!(7000), json!("public")));
    let other = ask(&modern, "resources/read", json!({"uri": "pic://logo"})).await.unwrap();
    assert_eq!(of(other), (json!(500), json!("public")));
    let legacy = session(&server, NEWEST_LEGACY).await;
    let none = ask(&legacy, "resources/read", json!({"uri": "text://a"})).await.unwrap();
    assert_eq!(none.get("ttlMs"), None);
}
