//! Prompts and completion.

use serde_json::json;
use switchboard_service::UnknownArguments;

use crate::sessions::{REVISIONS, ask, session};
use crate::shop::Shop;

#[tokio::test]
async fn a_static_prompt_comes_from_the_design() {
    let server = Shop::builder().build().unwrap();
    for revision in REVISIONS {
        let session = session(&server, revision).await;
        let prompt = session.get_prompt("review", [("", ""); 0]).await.unwrap();
        assert_eq!(prompt.description.as_deref(), Some("Reviews code."));
        let said = serde_json::to_value(&prompt.messages).unwrap();
        assert_eq!(
            said,
            json!([
                {"role": "user", "content": {"type": "text", "text": "Review this."}},
                {"role": "assistant", "content": {"type": "text", "text": "Which?"}},
            ])
        );
    }
}

#[tokio::test]
async fn text_arguments_of_a_prompt_are_converted_to_types() {
    let server = Shop::builder().build().unwrap();
    for revision in REVISIONS {
        let session = session(&server, revision).await;
        let given = [("topic", "007"), ("color", "green"), ("times", "3")];
        let prompt = session.get_prompt("advise", given).await.unwrap();
        assert_eq!(prompt.messages[0].content.as_text(), Some("007 Some(Green) Some(3)"));
        let response =
            ask(&session, "prompts/get", json!({"name": "advise", "arguments": {"color": "blue", "x": "1"}}))
                .await;
        let (code, text) = response.unwrap_err();
        assert_eq!(code, -32602);
        for part in
            ["`topic` is required", "`color` must be ", "one of red, green", "`x` is not a known argument"]
        {
            assert!(text.contains(part), "{part} in {text}");
        }
    }
    let loose = Shop::builder().unknown_arguments(UnknownArguments::Ignore).build().unwrap();
    let session = session(&loose, REVISIONS[0]).await;
    assert!(session.get_prompt("advise", [("topic", "a"), ("x", "1")]).await.is_ok());
}

#[tokio::test]
async fn choices_complete_from_the_design_and_others_by_methods() {
    let server = Shop::builder().build().unwrap();
    for revision in REVISIONS {
        let session = session(&server, revision).await;
        let complete = async |reference: serde_json::Value, name: &str, value: &str| {
            let argument = json!({"name": name, "value": value});
            let context = json!({"arguments": {"color": "-red-"}});
            let params = json!({"ref": reference, "argument": argument, "context": context});
            ask(&session, "completion/complete", params).await.map(|result| result["completion"].clone())
        };
        let advise = || json!({"type": "ref/prompt", "name": "advise"});
        let values = complete(advise(), "color", "G").await.unwrap();
        assert_eq!(values, json!({"values": ["green"], "total": 1, "hasMore": false}), "{revision}");
        assert_eq!(complete(advise(), "color", "").await.unwrap()["values"], json!(["red", "green"]));
        assert_eq!(
            complete(advise(), "topic", "a").await.unwrap()["values"],
            json!(["a-red-0"]),
            "{revision}"
        );
        let many = complete(advise(), "topic", "many").await.unwrap();
        assert_eq!(many["values"].as_array().unwrap().len(), 100);
        assert_eq!((&many["total"], &many["hasMore"]), (&json!(250), &json!(true)));
        assert_eq!(complete(advise(), "times", "1").await.unwrap()["values"], json!([]));
        let template = json!({"type": "ref/resource", "uri": "conversation://history{?limit,flag,nums*}"});
        assert_eq!(complete(template, "flag", "t").await.unwrap()["values"], json!(["true"]));
        let unknown = complete(json!({"type": "ref/prompt", "name": "none"}), "a", "").await.unwrap_err();
        assert_eq!(unknown.0, -32602);
    }
}
