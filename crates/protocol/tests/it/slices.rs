//! What is read as slices of its text reads like what is read by its type.

use switchboard_protocol::{CallToolParams, CallToolResult, Raw, Tool};

#[test]
fn a_tool_reads_the_same_both_ways() {
    for text in [
        r#"{"name":"a","inputSchema":{}}"#,
        r#"{"inputSchema":{"type":"object"},"x":[1,{"name":2}],"name":"\u0061\n","title":null,"description":"d"}"#,
        r#"{"name":"a","title":"T","inputSchema":{},"outputSchema":{"type":"object"},"annotations":{"readOnlyHint":true},
            "execution":{"taskSupport":"optional"},"icons":[{"src":"https://a/b.png"}],"_meta":{"k":1.50}}"#,
        r#"{"name":"a","inputSchema":{},"outputSchema":null,"annotations":null,"icons":null,"_meta":null}"#,
        r#"{"name":"a"}"#,
        r#"{"inputSchema":{}}"#,
        r#"{"name":7,"inputSchema":{}}"#,
        r#"{"name":null,"inputSchema":{}}"#,
        r#"{"name":"a","inputSchema":[]}"#,
        r#"{"name":"a","inputSchema":null}"#,
        r#"{"name":"a","inputSchema":{},"annotations":[]}"#,
        r#"{"name":"a","inputSchema":{},"_meta":5}"#,
        r#"{"name":"a","name":"b","inputSchema":{}}"#,
        r#"{"name":"a","inputSchema":{},"inputSchema":{}}"#,
        "[]",
        "null",
    ] {
        let raw = Raw::parse(text.to_owned()).unwrap();
        assert_eq!(Tool::read(&raw).ok(), raw.decode().ok(), "{text}");
    }
}

#[test]
fn a_call_reads_the_same_both_ways() {
    for text in [
        r#"{"name":"a"}"#,
        r#"{"arguments":{"x": 1 },"name":"\u0061","other":{"name":1}}"#,
        r#"{"name":"a","arguments":null,"task":null,"inputResponses":null,"requestState":null,"_meta":null}"#,
        r#"{"name":"a","arguments":[1],"task":{"ttl":5},"inputResponses":{"k":{"action":"accept"}},"requestState":"s","_meta":{}}"#,
        r#"{"arguments":{}}"#,
        r#"{"name":"a","_meta":"x"}"#,
        r#"{"name":"a","requestState":5}"#,
        r#"{"name":"a","arguments":{},"arguments":{}}"#,
        r#"{"name":"a","task":5}"#,
        r#"{"name":["a"]}"#,
        "{}",
    ] {
        let raw = Raw::parse(text.to_owned()).unwrap();
        assert_eq!(CallToolParams::read(raw.fields()).ok(), raw.decode().ok(), "{text}");
    }
}

#[test]
fn a_result_reads_the_same_both_ways() {
    for text in [
        r#"{"content":[{"type":"text","text":"a"}]}"#,
        r#"{"resultType":"complete","content":[],"structuredContent":{"a": [1.50]},"isError":true,"_meta":{"k":1}}"#,
        r#"{"content":null,"structuredContent":null,"isError":null,"_meta":null}"#,
        r#"{"content":[{"type":"other","x":1}],"x":2}"#,
        r#"{"content":5}"#,
        r#"{"content":[5]}"#,
        r#"{"isError":"yes"}"#,
        r#"{"_meta":[]}"#,
        r#"{"content":[],"content":[]}"#,
        "{}",
    ] {
        let raw = Raw::parse(text.to_owned()).unwrap();
        assert_eq!(CallToolResult::read(&raw).ok(), raw.decode().ok(), "{text}");
    }
}

#[test]
fn an_error_names_the_member() {
    let raw = Raw::parse(r#"{"name":"a","inputSchema":{},"annotations":{"readOnlyHint":"yes"}}"#).unwrap();
    assert_eq!(Tool::read(&raw).unwrap_err().path(), "annotations.readOnlyHint");
    let raw = Raw::parse(r#"{"name":"a","requestState":5}"#).unwrap();
    assert_eq!(CallToolParams::read(raw.fields()).unwrap_err().path(), "requestState");
}
