//! Events of a streaming tool, as a client hears them.

use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::{Value, json};
use switchboard_protocol::Raw;
use switchboard_server::wire::{STREAM_EXTENSION, STREAM_NOTE};
use switchboard_server::{ServiceBuilder, StreamJson};
use switchboard_session::Client;

use crate::stage::{At, ERAS, REVISIONS, Shop, by_hand, connect, session};

type Heard = Arc<Mutex<Vec<Value>>>;

/// What a client hears that declared the extension, in order, and the result.
async fn spell(builder: ServiceBuilder, revision: At) -> (Vec<Value>, Value) {
    let server = builder.build().unwrap();
    let client = Client::new().with_extension(STREAM_EXTENSION, Raw::empty_object());
    let session = connect(&client, &server, revision).await;
    let heard = Heard::default();
    let hears = Arc::clone(&heard);
    let call = session.call_tool("spell", json!({"text": "abc"})).on_note(move |method, note| {
        assert_eq!(method, STREAM_NOTE);
        hears.lock().push(note.decode().unwrap());
    });
    let result = call.await.unwrap();
    let heard = heard.lock().clone();
    (heard, serde_json::to_value(result).unwrap())
}

#[tokio::test]
async fn a_client_that_declared_the_extension_hears_every_event_whole() {
    for revision in REVISIONS {
        let (heard, result) = spell(Shop::builder(), revision).await;
        assert_eq!(heard.len(), 3, "{revision}");
        for (at, letter) in ["a", "b", "c"].iter().enumerate() {
            assert_eq!(heard[at]["seq"], at, "{revision}");
            assert!(heard[at]["requestId"].is_number() || heard[at]["requestId"].is_string());
            let text = format!("\"{letter}\"");
            assert_eq!(heard[at]["content"], json!([{"type": "text", "text": text}]), "{revision}");
        }
        assert_eq!(result["content"], json!([{"type": "text", "text": "{\"sum\":3}"}]), "{revision}");
    }
}

#[tokio::test]
async fn json_stands_in_items_as_chosen() {
    for revision in ERAS {
        for (json, item) in [
            (StreamJson::Text, json!({"type": "text", "text": "\"a\""})),
            (StreamJson::TypedText, json!({"type": "text", "mimeType": "application/json", "text": "\"a\""})),
        ] {
            let (heard, _) = spell(Shop::builder().structured_stream_json(json), revision).await;
            assert_eq!(heard[0]["content"], json!([item]), "{revision}");
        }
        let (heard, result) =
            spell(Shop::builder().structured_stream_json(StreamJson::Resource), revision).await;
        for (item, text) in [(&heard[0]["content"][0], "\"a\""), (&result["content"][0], "{\"sum\":3}")] {
            assert_eq!(item["type"], "resource", "{revision}");
            assert_eq!(item["resource"]["mimeType"], "application/json", "{revision}");
            assert_eq!(item["resource"]["text"], text, "{revision}");
        }
        assert_eq!(result["structuredContent"], json!({"sum": 3}), "{revision}");
    }
}

#[tokio::test]
async fn a_client_that_asked_for_progress_is_told_of_every_event() {
    let server = Shop::builder().build().unwrap();
    let (notes, _) = by_hand(&server, None, json!({"name": "spell", "arguments": {"text": "abcd"}})).await;
    let letters: Vec<&str> = notes.iter().map(|(_, note)| note["message"].as_str().unwrap()).collect();
    assert_eq!(letters, ["\"a\"", "\"b\"", "\"c\"", "\"d\""]);
    let steps: Vec<f64> = notes.iter().map(|(_, note)| note["progress"].as_f64().unwrap()).collect();
    assert!(steps.windows(2).all(|two| two[0] < two[1]), "{steps:?}");
    assert!(
        notes.iter().all(|(method, note)| method == "notifications/progress" && note["progressToken"] == "p")
    );
    // Our own client tells of progress, though not of every step when they come fast.
    for revision in REVISIONS {
        let session = session(&server, revision).await;
        let heard: Arc<Mutex<Vec<String>>> = Arc::default();
        let hears = Arc::clone(&heard);
        let call = session.call_tool("spell", json!({"text": "abcd"})).on_progress(move |progress| {
            hears.lock().push(progress.message.unwrap_or_default());
        });
        call.await.unwrap();
        let last = heard.lock().last().cloned();
        assert_eq!(last.as_deref(), Some("\"d\""), "{revision}");
    }
}

#[tokio::test]
async fn a_client_that_declared_nothing_gets_the_result_alone() {
    let server = Shop::builder().build().unwrap();
    for revision in REVISIONS {
        let session = session(&server, revision).await;
        let result = session
            .call_tool("spell", json!({"text": "abc"}))
            .on_note(|method, _| panic!("heard {method}"))
            .await
            .unwrap();
        assert_eq!(result.text(), "{\"sum\":3}", "{revision}");
    }
}
