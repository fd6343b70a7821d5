//! Message types inside other types and in serde formats other than JSON.

use serde::{Deserialize, Serialize};
use switchboard_protocol::{CallToolParams, CallToolResult, Content, Meta, RequestId, Tool};

/// Round-trips the value through CBOR, with members in alphabetical order.
fn through_cbor<T: Serialize + for<'de> Deserialize<'de>>(value: &T) -> T {
    let mut bytes = Vec::new();
    ciborium::into_writer(&serde_json::to_value(value).unwrap(), &mut bytes).unwrap();
    ciborium::from_reader(bytes.as_slice()).unwrap()
}

fn tool() -> Tool {
    serde_json::from_str(
        r#"{"name":"add","inputSchema":{"properties":{"a":{"type":"number"}},"type":"object"},"_meta":{"x":[1]}}"#,
    )
    .unwrap()
}

#[test]
fn a_binary_format_is_deserialized() {
    assert_eq!(through_cbor(&tool()), tool());
    let result = CallToolResult::new([Content::text("1"), Content::image("AA==", "image/png")]);
    assert_eq!(through_cbor(&result), result);
    let meta = Meta::new().with(Meta::PROGRESS_TOKEN, &7).unwrap();
    assert_eq!(through_cbor(&meta).progress_token(), Some(RequestId::from(7)));
}

#[test]
fn another_text_format_is_deserialized() {
    let text = r#"
        name = "add"
        [arguments]
        a = 1
        b = [1.5, "x"]
        [_meta]
        progressToken = "p"
    "#;
    let params: CallToolParams = toml::from_str(text).unwrap();
    assert_eq!(params.name, "add");
    assert_eq!(params.arguments.unwrap().as_str(), r#"{"a":1,"b":[1.5,"x"]}"#);
    assert_eq!(params.meta.unwrap().progress_token(), Some(RequestId::from("p")));
}

#[derive(Debug, Serialize, Deserialize, PartialEq)]
struct Audited {
    at: u64,
    #[serde(flatten)]
    call: CallToolParams,
}

#[derive(Debug, Serialize, Deserialize, PartialEq)]
#[serde(untagged)]
enum Either {
    Tool(Box<Tool>),
    Content(Content),
}

#[derive(Debug, Serialize, Deserialize, PartialEq)]
#[serde(tag = "kind")]
enum Tagged {
    Listed(Box<Tool>),
}

#[test]
fn types_are_deserialized_inside_flatten_untagged_and_tagged() {
    let text = r#"{"at":1,"name":"add","arguments":{"a":[1,2.5]}}"#;
    let read: Audited = serde_json::from_str(text).unwrap();
    assert_eq!((read.at, read.call.name.as_str()), (1, "add"));
    assert_eq!(read.call.arguments.as_ref().unwrap().as_str(), r#"{"a":[1,2.5]}"#);
    assert_eq!(through_cbor(&read), read);

    let either: Either = serde_json::from_str(&serde_json::to_string(&tool()).unwrap()).unwrap();
    assert_eq!(either, Either::Tool(Box::new(tool())));
    let either: Either = serde_json::from_str(r#"{"type":"text","text":"hi"}"#).unwrap();
    assert_eq!(either, Either::Content(Content::text("hi")));

    let tagged = Tagged::Listed(Box::new(tool()));
    assert_eq!(serde_json::from_str::<Tagged>(&serde_json::to_string(&tagged).unwrap()).unwrap(), tagged);
}
