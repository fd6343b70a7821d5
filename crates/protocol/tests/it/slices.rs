//! Values that stay JSON are slices of the received text; errors name the path.

use switchboard_protocol::{CallToolParams, CallToolResult, Content, FromRaw, Raw, TaskSupport, Tool};

/// Returns whether `part` is a slice of `whole`.
fn is_slice(part: &Raw, whole: &Raw) -> bool {
    whole.as_str().as_bytes().as_ptr_range().contains(&part.as_str().as_ptr())
}

#[test]
fn a_tool_contains_slices_of_its_text() {
    let text = r#"{"inputSchema":{"type":"object"},"x":[1,{"name":2}],"name":"\u0061\n","title":null,"description":"d",
        "outputSchema":{"type":"object"},"annotations":{"readOnlyHint":true},"execution":{"taskSupport":"optional"},
        "icons":[{"src":"https://a/b.png"}],"_meta":{"k":1.50}}"#;
    let raw = Raw::parse(text).unwrap();
    let tool = Tool::from_raw(&raw).unwrap();
    assert_eq!((&*tool.name, tool.title.as_deref(), tool.description.as_deref()), ("a\n", None, Some("d")));
    assert!(is_slice(&tool.input_schema, &raw) && is_slice(tool.output_schema.as_ref().unwrap(), &raw));
    assert_eq!(tool.annotations.unwrap().read_only_hint, Some(true));
    assert_eq!(tool.execution.unwrap().task_support, Some(TaskSupport::Optional));
    assert_eq!(tool.icons.unwrap()[0].src, "https://a/b.png");
    assert!(is_slice(tool.meta.unwrap().get("k").unwrap(), &raw));
}

#[test]
fn null_counts_as_missing_and_required_members_must_fit() {
    let read = |text: &str| Tool::from_raw(&Raw::parse(text.to_owned()).unwrap());
    let bare = read(r#"{"name":"a","inputSchema":{}}"#).unwrap();
    let nulls =
        r#"{"name":"a","inputSchema":{},"outputSchema":null,"annotations":null,"icons":null,"_meta":null}"#;
    assert_eq!(read(nulls).unwrap(), bare);
    for (text, reason) in [
        (r#"{"name":"a"}"#, "missing field `inputSchema` (at .)"),
        (r#"{"inputSchema":{}}"#, "missing field `name` (at .)"),
        (r#"{"name":7,"inputSchema":{}}"#, "invalid type: integer `7`, expected a string (at name)"),
        (r#"{"name":null,"inputSchema":{}}"#, "invalid type: null, expected a string (at name)"),
        (r#"{"name":"a","inputSchema":[]}"#, "expected an object (at inputSchema)"),
        (r#"{"name":"a","inputSchema":null}"#, "expected an object (at inputSchema)"),
        (
            r#"{"name":"a","inputSchema":{},"annotations":[]}"#,
            "invalid type: sequence, expected an object (at annotations)",
        ),
        (r#"{"name":"a","inputSchema":{},"_meta":5}"#, "expected an object (at _meta)"),
        (r#"{"name":"a","name":"b","inputSchema":{}}"#, "duplicate field `name` (at .)"),
        (r#"{"name":"a","inputSchema":{},"inputSchema":{}}"#, "duplicate field `inputSchema` (at .)"),
        ("[]", "invalid type: sequence, expected an object (at .)"),
        ("null", "invalid type: null, expected an object (at .)"),
    ] {
        assert_eq!(read(text).unwrap_err().to_string(), reason, "{text}");
    }
}

#[test]
fn a_call_decodes_the_same_with_and_without_an_outline() {
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
        assert_eq!(
            CallToolParams::from_fields(raw.fields()).ok(),
            CallToolParams::from_raw(&raw).ok(),
            "{text}"
        );
    }
}

#[test]
fn a_result_contains_slices_of_its_text() {
    let text = r#"{"resultType":"complete","content":[{"type":"other","x":1}],"structuredContent":{"a": [1.50]},"isError":true}"#;
    let raw = Raw::parse(text).unwrap();
    let result = CallToolResult::from_raw(&raw).unwrap();
    assert!(result.is_error && is_slice(result.structured_content.as_ref().unwrap(), &raw));
    assert!(matches!(&result.content[..], [Content::Unknown(block)] if is_slice(block, &raw)));
    let nulls =
        Raw::parse(r#"{"content":null,"structuredContent":null,"isError":null,"_meta":null}"#).unwrap();
    assert_eq!(CallToolResult::from_raw(&nulls).unwrap(), CallToolResult::default());
    for (text, path) in [
        (r#"{"content":5}"#, "content"),
        (r#"{"content":[5]}"#, "content[0]"),
        (r#"{"content":[{"type":"text","text":["a"]}]}"#, "content[0].text"),
        (r#"{"isError":"yes"}"#, "isError"),
        (r#"{"_meta":[]}"#, "_meta"),
        (r#"{"content":[],"content":[]}"#, "."),
    ] {
        let error = CallToolResult::from_raw(&Raw::parse(text).unwrap()).unwrap_err();
        assert_eq!(error.path(), path, "{text}: {error}");
    }
}

#[test]
fn an_error_names_the_member() {
    let raw = Raw::parse(r#"{"name":"a","inputSchema":{},"annotations":{"readOnlyHint":"yes"}}"#).unwrap();
    assert_eq!(Tool::from_raw(&raw).unwrap_err().path(), "annotations.readOnlyHint");
    let raw = Raw::parse(r#"{"name":"a","requestState":5}"#).unwrap();
    assert_eq!(CallToolParams::from_fields(raw.fields()).unwrap_err().path(), "requestState");
}
