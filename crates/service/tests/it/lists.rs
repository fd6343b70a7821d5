//! Lists: their order, their pages, and their visibility.

use serde_json::{Value, json};
use switchboard_protocol::{CacheHints, CacheScope};

use crate::sessions::{MODERN, NEWEST_LEGACY, REVISIONS, ask, outcome, session};
use crate::shop::Shop;

const TOOLS: [&str; 12] =
    ["add", "count", "echo", "nothing", "picture", "fail", "pick", "spell", "agree", "hang", "own", "maybe"];

fn names(result: &Value, list: &str) -> Vec<String> {
    result[list].as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn pages_contain_the_whole_list_in_order() {
    let server = Shop::builder().page_size(5).build().unwrap();
    for revision in REVISIONS {
        let session = session(&server, revision).await;
        let (mut seen, mut cursor, mut pages) = (Vec::new(), None::<String>, 0);
        loop {
            let params = cursor.map_or(json!({}), |cursor| json!({"cursor": cursor}));
            let page = ask(&session, "tools/list", params).await.unwrap();
            seen.extend(names(&page, "tools"));
            pages += 1;
            cursor = page["nextCursor"].as_str().map(str::to_owned);
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!((seen.iter().map(String::as_str).collect::<Vec<_>>().as_slice(), pages), (&TOOLS[..], 3));
        for wrong in ["", "5", "no", "0000000000000000"] {
            for method in ["tools/list", "resources/list", "resources/templates/list", "prompts/list"] {
                let (code, text) = ask(&session, method, json!({"cursor": wrong})).await.unwrap_err();
                assert_eq!(code, -32602, "{method} {wrong:?} {text}");
            }
        }
        // A cursor of one list is invalid for another.
        let page = ask(&session, "tools/list", json!({})).await.unwrap();
        let of_tools = json!({"cursor": page["nextCursor"]});
        assert_eq!(ask(&session, "prompts/list", of_tools).await.unwrap_err().0, -32602);
        // Our client reads all pages.
        assert_eq!(session.list_tools().await.unwrap().len(), TOOLS.len());
    }
}

#[tokio::test]
async fn items_are_hidden_and_unreachable_without_their_scopes() {
    let server = Shop::builder().build().unwrap();
    for revision in REVISIONS {
        let session = session(&server, revision).await;
        let tools = ask(&session, "tools/list", json!({})).await.unwrap();
        assert_eq!(names(&tools, "tools"), TOOLS, "{revision}");
        let resources = ask(&session, "resources/list", json!({})).await.unwrap();
        assert!(!names(&resources, "resources").contains(&"vault".to_owned()));
        let prompts = ask(&session, "prompts/list", json!({})).await.unwrap();
        assert_eq!(names(&prompts, "prompts"), ["review", "advise"]);
        let (code, text) = outcome(&session, "secret", json!({})).await;
        assert_eq!((code.as_str(), text.as_str()), ("-32602", "Unknown tool: secret"));
        let error = ask(&session, "resources/read", json!({"uri": "vault://door"})).await.unwrap_err();
        assert_eq!(error.1, "Unknown resource: vault://door");
        let error = ask(&session, "prompts/get", json!({"name": "whisper"})).await.unwrap_err();
        assert_eq!(error.1, "Unknown prompt: whisper");
    }
}

#[tokio::test]
async fn scopes_can_be_granted_to_anonymous_callers_or_revealed() {
    let granted = Shop::builder().anonymous_scopes(["admin"]).build().unwrap();
    let revealed = Shop::builder().reveal_scopes(true).build().unwrap();
    for revision in REVISIONS {
        let may = session(&granted, revision).await;
        let tools = ask(&may, "tools/list", json!({})).await.unwrap();
        assert!(names(&tools, "tools").contains(&"secret".to_owned()), "{revision}");
        assert_eq!(outcome(&may, "secret", json!({})).await.1, "hush");
        let revealing = session(&revealed, revision).await;
        let tools = ask(&revealing, "tools/list", json!({})).await.unwrap();
        assert!(names(&tools, "tools").contains(&"secret".to_owned()), "{revision}");
        let (code, text) = outcome(&revealing, "secret", json!({})).await;
        let expected = match code.as_str() {
            "insufficient_scope" => "admin",
            code => {
                assert_eq!(code, "-32600", "{revision}");
                "needs the scopes admin"
            }
        };
        assert_eq!(text, expected, "{revision}");
    }
}

#[tokio::test]
async fn a_list_that_depends_on_scopes_is_cached_privately() {
    let server = Shop::builder().cache_hints(CacheHints::new(60_000, CacheScope::Public)).build().unwrap();
    let session = session(&server, MODERN).await;
    let tools = ask(&session, "tools/list", json!({})).await.unwrap();
    assert_eq!((&tools["ttlMs"], &tools["cacheScope"]), (&json!(60_000), &json!("private")));
    let templates = ask(&session, "resources/templates/list", json!({})).await.unwrap();
    assert_eq!(templates["cacheScope"], "public");
}

#[tokio::test]
async fn capabilities_follow_the_design_and_the_options() {
    let offers =
        |server: &switchboard_session::server::Server| serde_json::to_value(server.capabilities()).unwrap();
    let plain = offers(&Shop::builder().build().unwrap());
    assert_eq!(plain["resources"], json!({"subscribe": true}));
    assert_eq!((&plain["tools"], &plain["completions"]), (&json!({}), &json!({})));
    let changing = offers(&Shop::builder().list_changed(true).build().unwrap());
    assert_eq!(changing["tools"], json!({"listChanged": true}));
    assert_eq!(changing["prompts"], json!({"listChanged": true}));
    assert_eq!(changing["resources"], json!({"subscribe": true, "listChanged": true}));
    let server =
        Shop::builder().instructions("Or not.").protocol_version_override("2025-11-25").build().unwrap();
    assert_eq!(server.instructions().as_deref(), Some("Or not."));
    assert!(
        server.supports_version(NEWEST_LEGACY.revision.as_str())
            && !server.supports_version(MODERN.revision.as_str())
    );
    let error = Shop::builder().protocol_version_override("2025-11-26").build().unwrap_err();
    assert!(error.to_string().contains("2025-11-26"), "{error}");
}
