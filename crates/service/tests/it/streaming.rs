//! Events of a streaming tool, as a client receives them.

use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::{Value, json};
use switchboard_protocol::Raw;
use switchboard_service::wire::{STREAM_EXTENSION, STREAM_NOTIFICATION};
use switchboard_service::{ServiceBuilder, StreamJson, StreamLimits};
use switchboard_session::Client;

use crate::requests::send_request;
use crate::sessions::{ERAS, REVISIONS, Setup, connect, session};
use crate::shop::Shop;

type Received = Arc<Mutex<Vec<Value>>>;

/// Returns the notifications and the result that a client with the extension receives.
async fn spell(builder: ServiceBuilder, revision: Setup) -> (Vec<Value>, Value) {
    let server = builder.build().unwrap();
    let client = Client::new().with_extension(STREAM_EXTENSION, Raw::empty_object());
    let session = connect(&client, &server, revision).await;
    let received = Received::default();
    let sink = Arc::clone(&received);
    let call = session.call_tool("spell", json!({"text": "abc"})).on_notification(move |method, note| {
        assert_eq!(method, STREAM_NOTIFICATION);
        sink.lock().push(note.decode().unwrap());
    });
    let result = call.await.unwrap();
    let received = received.lock().clone();
    (received, serde_json::to_value(result).unwrap())
}

#[tokio::test]
async fn a_client_with_the_extension_gets_every_event_as_a_notification() {
    for revision in REVISIONS {
        let (received, result) = spell(Shop::builder(), revision).await;
        assert_eq!(received.len(), 3, "{revision}");
        for (at, letter) in ["a", "b", "c"].iter().enumerate() {
            assert_eq!(received[at]["seq"], at, "{revision}");
            assert!(received[at]["requestId"].is_number() || received[at]["requestId"].is_string());
            let text = format!("\"{letter}\"");
            assert_eq!(received[at]["content"], json!([{"type": "text", "text": text}]), "{revision}");
        }
        assert_eq!(result["content"], json!([{"type": "text", "text": "{\"sum\":3}"}]), "{revision}");
    }
}

#[tokio::test]
async fn stream_json_selects_the_encoding_of_items() {
    for revision in ERAS {
        for (json, item) in [
            (StreamJson::Text, json!({"type": "text", "text": "\"a\""})),
            (StreamJson::TypedText, json!({"type": "text", "mimeType": "application/json", "text": "\"a\""})),
        ] {
            let (received, _) = spell(Shop::builder().structured_stream_json(json), revision).await;
            assert_eq!(received[0]["content"], json!([item]), "{revision}");
        }
        let (received, result) =
            spell(Shop::builder().structured_stream_json(StreamJson::Resource), revision).await;
        for (item, text) in [(&received[0]["content"][0], "\"a\""), (&result["content"][0], "{\"sum\":3}")] {
            assert_eq!(item["type"], "resource", "{revision}");
            assert_eq!(item["resource"]["mimeType"], "application/json", "{revision}");
            assert_eq!(item["resource"]["text"], text, "{revision}");
        }
        assert_eq!(result["structuredContent"], json!({"sum": 3}), "{revision}");
    }
}

#[tokio::test]
async fn d2_a_client_without_the_extension_gets_every_item_in_the_result() {
    let server = Shop::builder().build().unwrap();
    for revision in REVISIONS {
        let session = session(&server, revision).await;
        let result = session
            .call_tool("spell", json!({"text": "abc"}))
            .on_notification(|method, _| panic!("received {method}"))
            .await
            .unwrap();
        let texts: Vec<_> = result.content.iter().map(|item| item.as_text().unwrap()).collect();
        assert_eq!(texts, ["\"a\"", "\"b\"", "\"c\"", "{\"sum\":3}"], "{revision}");
        if let Some(data) = result.structured_content {
            assert_eq!(data.as_str(), "{\"sum\":3}", "{revision}");
        }
    }
}

#[tokio::test]
async fn d2_the_items_in_a_result_are_limited() {
    let limits = StreamLimits::default().items(2);
    let server = Shop::builder().stream_limits(limits).build().unwrap();
    let session = session(&server, ERAS[0]).await;
    let result = session.call_tool("spell", json!({"text": "abcde"})).await.unwrap();
    assert_eq!(result.text(), "\"a\"\n\"b\"\n[3 of 5 items omitted]\n{\"sum\":5}");
}

#[tokio::test]
async fn v8_progress_of_a_stream_contains_only_the_item_count() {
    let server = Shop::builder().build().unwrap();
    let (notes, result) =
        send_request(&server, None, json!({"name": "spell", "arguments": {"text": "abcd"}})).await;
    assert_eq!(result.unwrap()["content"].as_array().unwrap().len(), 5);
    assert!(!notes.is_empty());
    let mut last = 0;
    for (method, note) in &notes {
        assert_eq!((method.as_str(), &note["progressToken"]), ("notifications/progress", &json!("p")));
        let count = note["progress"].as_u64().expect("a whole number");
        assert!(count > last && count <= 4, "{notes:?}");
        assert_eq!(note["message"], format!("{count} items so far"));
        last = count;
    }
}

#[tokio::test]
async fn v8_a_client_with_the_extension_gets_no_item_progress() {
    let server = Shop::builder().build().unwrap();
    for revision in REVISIONS {
        let client = Client::new().with_extension(STREAM_EXTENSION, Raw::empty_object());
        let session = connect(&client, &server, revision).await;
        let call = session
            .call_tool("spell", json!({"text": "abcd"}))
            .on_progress(move |progress| panic!("{revision}: {progress:?}"));
        call.await.unwrap();
    }
}
