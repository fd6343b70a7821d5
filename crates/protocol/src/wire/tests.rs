//! Limits and tolerance of decoding the protocol types.

use super::*;

#[test]
fn a_tolerated_mismatch_computes_no_path() {
    // Computing a path for each would be quadratic.
    let hint = r#"{"name":"a","inputSchema":{},"execution":{"taskSupport":"sometimes"}},"#;
    let text = format!("[{}1]", hint.repeat(50_000));
    assert!(Vec::<crate::Tool>::from_raw(&Raw::parse(text).unwrap()).is_err());
}

#[test]
fn a_node_bomb_in_an_entry_rejects_only_that_entry() {
    let bomb = format!("[{}0]", "0,".repeat(crate::MAX_NODES));
    let icons = format!("[{}null]", r#"{"src":"a"},"#.repeat(crate::MAX_NODES / 2));
    let (bad, good) = (r#"{"name":"a","inputSchema":{},"icons":"#, r#"{"name":"b","inputSchema":{"x":"#);
    let list = format!(r#"{{"tools":[{bad}{icons}}},{good}{bomb}}}}}]}}"#);
    let page = crate::read_entries::<crate::Tool>(&Raw::parse(list).unwrap(), "tools", 10).unwrap();
    assert_eq!(page.items[0].name, "b");
    assert!(matches!(page.rejected[..], [ref bad] if bad.error.to_string().contains("are more than the")));
}

#[test]
fn deserializing_bounds_the_depth() {
    let deep = r#"{"type":"tool_result","toolUseId":"1","content":["#.repeat(70) + &"]}".repeat(70);
    let error = serde_json::from_str::<crate::Content>(&deep).unwrap_err();
    assert!(error.to_string().contains("nested deeper"), "{error}");
}

#[test]
fn detached_values_count_against_the_node_budget() {
    let many = format!("[{}\"\"]", "\"\",".repeat(crate::MAX_NODES / 2));
    let sample = |key: &str| {
        let params = format!(r#"{{"messages":[],"maxTokens":1,"stopSequences":{many}}}"#);
        format!(r#""{key}":{{"method":"sampling/createMessage","params":{params}}}"#)
    };
    let read = |text: String| crate::InputRequired::from_raw(&Raw::parse(text).unwrap());
    assert!(read(format!(r#"{{"inputRequests":{{{}}}}}"#, sample("a"))).is_ok());
    let error = read(format!(r#"{{"inputRequests":{{{},{}}}}}"#, sample("a"), sample("b"))).unwrap_err();
    assert!(matches!(error.kind(), crate::DecodeKind::TooManyNodes { .. }), "{error}");
    let field = format!(r#"{{"type":"array","items":{{}},"default":{many}}}"#);
    let form = |properties: String| format!(r#"{{"type":"object","properties":{{{properties}}}}}"#);
    let read = |text: String| crate::FormSchema::from_raw(&Raw::parse(text).unwrap());
    assert!(read(form(format!(r#""a":{field}"#))).is_ok());
    assert!(read(form(format!(r#""a":{field},"b":{field}"#))).is_err());
}

#[test]
fn a_list_beyond_the_limit_is_cut() {
    let tools = r#"{"name":"a","inputSchema":{}},"#.repeat(crate::MAX_NODES);
    let text = format!(r#"{{"tools":[{tools}{{"name":"b","inputSchema":{{}}}}]}}"#);
    let page = crate::read_entries::<crate::Tool>(&Raw::parse(text).unwrap(), "tools", 10).unwrap();
    assert!(page.is_cut && page.items.len() == 10);
}

#[test]
fn many_capabilities_are_decoded_in_linear_time() {
    let entries: Vec<String> = (0..100_000).map(|n| format!(r#""k{n}":0"#)).collect();
    let raw = Raw::parse(format!("{{{}}}", entries.join(","))).unwrap();
    let read = crate::ClientCapabilities::from_raw(&raw).unwrap();
    assert_eq!(read.extra.len(), 100_000);
}

#[test]
fn capabilities_do_not_keep_their_message_alive() {
    let text = r#"{"x":{"y":1},"extensions":{"e":{"z":2}},"tools":{},"tools":{"listChanged":true}}"#;
    let raw = Raw::parse(text).unwrap();
    let read = crate::ServerCapabilities::from_raw(&raw).unwrap();
    let range = raw.as_str().as_bytes().as_ptr_range();
    let kept = [read.extra.get("x").unwrap(), read.extensions.as_ref().unwrap().get("e").unwrap()];
    assert!(kept.iter().all(|kept| !range.contains(&kept.as_str().as_ptr())));
    assert_eq!(read.tools.unwrap().list_changed, Some(true), "of duplicates the last one wins");
}
