//! The caller's scopes determine which items exist.

use serde_json::json;
use switchboard_session::server::{Caller, InProcess};
use switchboard_session::{CallError, Client, ClientSession, RevisionPolicy};

use crate::sessions::{REVISIONS, ask, outcome};
use crate::shop::Shop;

fn names(listed: &serde_json::Value, list: &str) -> Vec<String> {
    listed[list].as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_caller_can_list_and_use_what_its_scopes_allow() {
    let server = Shop::builder().page_size(4).anonymous_scopes(["admin"]).build().unwrap();
    for revision in REVISIONS {
        let of = async |scopes: &[&str]| -> ClientSession {
            let caller = Caller::new("ada").with_scopes(scopes.iter().copied());
            let to = InProcess::new(&server).with_caller(caller);
            Client::new().with_revisions(RevisionPolicy::Only(revision.revision)).connect(to).await.unwrap()
        };
        // Scopes of anonymous callers do not apply to authenticated ones.
        let (plain, admin) = (of(&["other"]).await, of(&["admin", "other"]).await);
        let listed = |session: &ClientSession| {
            let session = session.clone();
            async move { session.list_tools().await.unwrap().by_name("secret").is_some() }
        };
        assert_eq!((listed(&plain).await, listed(&admin).await), (false, true), "{revision}");
        assert_eq!(outcome(&plain, "secret", json!({})).await.1, "Unknown tool: secret", "{revision}");
        assert_eq!(outcome(&admin, "secret", json!({})).await.1, "hush", "{revision}");
        let prompts = ask(&admin, "prompts/list", json!({})).await.unwrap();
        assert_eq!(names(&prompts, "prompts"), ["review", "advise", "whisper"], "{revision}");
        assert!(ask(&plain, "prompts/get", json!({"name": "whisper"})).await.is_err());
        assert!(ask(&admin, "prompts/get", json!({"name": "whisper"})).await.is_ok());
        assert!(ask(&plain, "resources/read", json!({"uri": "vault://door"})).await.is_err());
        assert!(ask(&admin, "resources/read", json!({"uri": "vault://door"})).await.is_ok());
        // It cannot be subscribed to; only callers that can see it learn why.
        let subscribe_error = async |session: &ClientSession| match session.subscribe("vault://door").await {
            Err(CallError::Remote(error)) => error.message,
            other => panic!("{other:?}"),
        };
        assert_eq!(subscribe_error(&plain).await, "Unknown resource: vault://door", "{revision}");
        assert_eq!(
            subscribe_error(&admin).await,
            "Resource cannot be subscribed to: vault://door",
            "{revision}"
        );
    }
}
