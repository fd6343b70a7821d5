//! Tools: arguments and results, in every revision.

use serde_json::{Value, json};
use switchboard_design::OutputSchemaPolicy;
use switchboard_protocol::Revision;
use switchboard_service::UnknownArguments;

use crate::sessions::{MODERN, NEWEST_LEGACY, OLDER, REVISIONS, Setup, ask, outcome, raw, session};
use crate::shop::Shop;

#[tokio::test]
async fn an_object_is_structured_content_and_text() {
    let server = Shop::builder().build().unwrap();
    for revision in REVISIONS {
        let session = session(&server, revision).await;
        let result = session.call_tool_raw("add", raw(json!({"a": 1, "b": 2}))).await.unwrap();
        assert_eq!(result.text(), r#"{"sum":3}"#, "{revision}");
        assert_eq!(result.structured::<Value>().unwrap(), Some(json!({"sum": 3})), "{revision}");
    }
    let oldest = session(&server, Setup::new(Revision::V2025_03_26)).await;
    let result = oldest.call_tool_raw("add", raw(json!({"a": 1, "b": 2}))).await.unwrap();
    assert_eq!((result.text().as_str(), result.structured_content), (r#"{"sum":3}"#, None));
}

#[tokio::test]
async fn non_objects_are_structured_where_the_revision_allows() {
    let server = Shop::builder().build().unwrap();
    for revision in REVISIONS {
        let session = session(&server, revision).await;
        let modern = revision == MODERN;
        for (tool, args, text, data) in [
            ("count", json!({"up_to": 3}), "[0,1,2]", json!([0, 1, 2])),
            ("pick", json!({}), r#""green""#, json!("green")),
        ] {
            let result = session.call_tool_raw(tool, raw(args)).await.unwrap();
            assert_eq!(result.text(), text, "{tool} {revision}");
            let expected = modern.then_some(data);
            let found = result.structured_content.map(|data| data.decode::<Value>().unwrap());
            assert_eq!(found, expected, "{tool} {revision}");
        }
        // Our client reads `null` as absent; on the wire it is present.
        let maybe = ask(&session, "tools/call", json!({"name": "maybe", "arguments": {}})).await.unwrap();
        assert_eq!(maybe.get("structuredContent"), modern.then_some(&json!(null)), "{revision}");
        assert_eq!(maybe["content"][0]["text"], "null", "{revision}");
        let listed = session.list_tools().await.unwrap();
        let has_schema = |name: &str| listed.by_name(name).unwrap().output_schema.is_some();
        assert!(has_schema("add"), "{revision}");
        assert_eq!((has_schema("count"), has_schema("pick")), (modern, modern), "{revision}");
        assert!(!has_schema("echo") && !has_schema("nothing") && !has_schema("picture"), "{revision}");
    }
}

#[tokio::test]
async fn non_objects_are_wrapped_on_request() {
    let server = Shop::builder().output_rule(OutputSchemaPolicy::Wrapped).build().unwrap();
    for revision in REVISIONS {
        let session = session(&server, revision).await;
        let result = session.call_tool_raw("count", raw(json!({"up_to": 2}))).await.unwrap();
        assert_eq!(result.structured::<Value>().unwrap(), Some(json!({"result": [0, 1]})), "{revision}");
        let listed = session.list_tools().await.unwrap();
        let schema = listed.by_name("count").unwrap().output_schema.clone().unwrap();
        assert_eq!(schema.decode::<Value>().unwrap()["required"], json!(["result"]), "{revision}");
        // Objects are unchanged.
        let result = session.call_tool_raw("add", raw(json!({"a": 1, "b": 1}))).await.unwrap();
        assert_eq!(result.structured::<Value>().unwrap(), Some(json!({"sum": 2})), "{revision}");
    }
    let texts = Shop::builder().output_rule(OutputSchemaPolicy::ObjectsOnly).build().unwrap();
    let session = session(&texts, MODERN).await;
    let result = session.call_tool_raw("count", raw(json!({"up_to": 2}))).await.unwrap();
    assert_eq!((result.text().as_str(), result.structured_content), ("[0,1]", None));
}

#[tokio::test]
async fn text_unit_and_contents_are_content() {
    let server = Shop::builder().build().unwrap();
    for revision in REVISIONS {
        let session = session(&server, revision).await;
        let said = session.call_tool_raw("echo", raw(json!({"text": "\"quoted\""}))).await.unwrap();
        assert_eq!((said.text().as_str(), said.structured_content), ("\"quoted\"", None), "{revision}");
        let nothing = session.call_tool("nothing", ()).await.unwrap();
        assert_eq!(nothing.text(), r#"{"status":"success"}"#, "{revision}");
        assert_eq!(nothing.structured_content, None, "{revision}");
        let picture = session.call_tool("picture", ()).await.unwrap();
        let picture = serde_json::to_value(&picture.content).unwrap();
        assert_eq!(picture[1], json!({"type": "image", "data": "aGk=", "mimeType": "image/png"}));
    }
}

#[tokio::test]
async fn all_argument_issues_are_reported_with_pointers() {
    let server = Shop::builder().build().unwrap();
    for revision in REVISIONS {
        let session = session(&server, revision).await;
        let (how, text) = outcome(&session, "add", json!({"b": 10, "unit": "KG", "c": 1})).await;
        assert_eq!(how, if revision == OLDER { "-32602" } else { "failed" }, "{revision}");
        for pointer in
            ["`a` is required", "`b` must be ", "`c` is not a known property", "`unit` must be a string that"]
        {
            assert!(text.contains(pointer), "{revision}: {pointer} in {text}");
        }
    }
}

#[tokio::test]
async fn issues_are_data_of_both_errors_and_results() {
    let server = Shop::builder().build().unwrap();
    let new = session(&server, NEWEST_LEGACY).await;
    let result = new.call_tool_raw("add", raw(json!({"a": "x", "b": 2}))).await.unwrap();
    let meta = result.meta.unwrap();
    let issues: Value = meta.decode("dev.switchboard/invalidParams").unwrap().unwrap();
    assert_eq!(issues["issues"][0]["pointer"], "/a");
    let old = session(&server, OLDER).await;
    match old.call_tool_raw("add", raw(json!({"a": "x", "b": 2}))).await {
        Err(switchboard_session::CallError::Remote(error)) => {
            let data: Value = error.data.unwrap().decode().unwrap();
            assert_eq!(data["issues"][0]["pointer"], "/a");
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn an_optional_argument_may_be_null() {
    let server = Shop::builder().build().unwrap();
    let session = session(&server, MODERN).await;
    let (how, _) = outcome(&session, "add", json!({"a": 1, "b": 2, "unit": null})).await;
    assert_eq!(how, "fine");
}

#[tokio::test]
async fn unknown_arguments_are_rejected_by_default_and_ignored_by_option() {
    let (refusing, ignoring) = (
        Shop::builder().build().unwrap(),
        Shop::builder().unknown_arguments(UnknownArguments::Ignore).build().unwrap(),
    );
    for revision in REVISIONS {
        let strict = session(&refusing, revision).await;
        let loose = session(&ignoring, revision).await;
        // With parameters, with the author's own type, and without arguments.
        for (tool, args) in [
            ("echo", json!({"text": "a", "txt": 1})),
            ("own", json!({"text": "a", "txt": 1})),
            ("nothing", json!({"txt": 1})),
        ] {
            let (how, text) = outcome(&strict, tool, args.clone()).await;
            assert_ne!(how, "fine", "{tool} {revision}");
            assert!(text.contains("`txt` is not a known property"), "{tool} {revision}: {text}");
            assert_eq!(outcome(&loose, tool, args).await.0, "fine", "{tool} {revision}");
        }
    }
}

#[tokio::test]
async fn arguments_that_are_not_an_object_are_rejected() {
    let server = Shop::builder().build().unwrap();
    let session = session(&server, MODERN).await;
    for args in [json!([1]), json!("x"), json!(3)] {
        let result = ask(&session, "tools/call", json!({"name": "echo", "arguments": args})).await;
        let text = match result {
            Ok(result) => result.to_string(),
            Err((code, text)) => {
                assert_eq!(code, -32602);
                text
            }
        };
        assert!(text.contains("object"), "{text}");
    }
}
