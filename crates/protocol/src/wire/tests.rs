//! What is read agrees with `serde_json`, in text and in numbers.

use proptest::prelude::*;

use super::unescape::unescape;
use super::*;

fn read<T: FromRaw>(text: &str) -> Option<T> {
    T::from_raw(&Raw::parse(text.to_owned()).unwrap()).ok()
}

/// The inside of a string as some peer may write it: plain, escaped, half a pair.
fn written() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-z \u{80}-\u{7ff}\u{1f600}-\u{1f64f}]{0,40}",
        Just(r"\n".to_owned()),
        Just(r"\/".to_owned()),
        Just(r#"\""#.to_owned()),
        Just(r"\\".to_owned()),
        any::<u16>().prop_map(|unit| format!(r"\u{unit:04x}")),
        any::<char>().prop_map(|one| {
            let mut units = [0; 2];
            one.encode_utf16(&mut units).iter().map(|unit| format!(r"\u{unit:04X}")).collect::<String>()
        }),
    ];
    proptest::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn strings_mean_what_they_mean_to_serde_json(inner in written()) {
        let text = format!("\"{inner}\"");
        let mended = crate::jsonrpc::mend_surrogates(&text).unwrap_or(text.clone());
        let meant: String = serde_json::from_str(&mended).unwrap();
        prop_assert_eq!(&unescape(&inner), &meant);
        prop_assert_eq!(read::<String>(&text), Some(meant));
    }

    #[test]
    fn numbers_are_those_of_serde_json(number in prop_oneof![
        any::<f64>().prop_filter("JSON has no others", |number| number.is_finite()).prop_map(|n| n.to_string()),
        any::<i64>().prop_map(|n| n.to_string()),
        any::<u64>().prop_map(|n| n.to_string()),
        "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?",
    ]) {
        prop_assert_eq!(read::<u64>(&number), serde_json::from_str(&number).ok());
        // To them `-0` is a float.
        prop_assume!(number != "-0");
        prop_assert_eq!(read::<i32>(&number), serde_json::from_str(&number).ok());
        let (ours, theirs) = (read::<f64>(&number), serde_json::from_str::<f64>(&number).ok());
        // They round the last digit of some otherwise.
        let close = |(a, b): (f64, f64)| (a - b).abs() <= 4.0 * f64::EPSILON * a.abs();
        prop_assert!(ours == theirs || ours.zip(theirs).is_some_and(close), "{:?} {:?}", ours, theirs);
    }
}

#[test]
fn half_a_pair_is_the_replacement_character() {
    for (inner, meant) in [
        (r"\ud83d\ude00", "\u{1f600}"),
        (r"\ud83d", "\u{fffd}"),
        (r"\ude00\ud83d", "\u{fffd}\u{fffd}"),
        (r"\ud83d\ud83d\ude00", "\u{fffd}\u{1f600}"),
        (r"\ud83dx", "\u{fffd}x"),
        (r"\ud83d\n", "\u{fffd}\n"),
    ] {
        assert_eq!(unescape(inner), meant, "{inner}");
    }
}

#[test]
fn only_what_is_a_value_of_the_type_is_read() {
    assert_eq!((read("true"), read("false")), (Some(true), Some(false)));
    for text in ["null", "1", "\"true\"", "{}"] {
        assert_eq!(read::<bool>(text), None, "{text}");
    }
    for text in ["\"1\"", "true", "null", "[1]", "1e999"] {
        assert_eq!((read::<u64>(text), read::<f64>(text)), (None, None), "{text}");
    }
    assert_eq!(read::<Vec<Option<u64>>>(" [1, null ,2] "), Some(vec![Some(1), None, Some(2)]));
    assert_eq!(read::<Vec<u64>>("{}"), None);
}

#[test]
fn a_long_value_is_not_quoted_whole() {
    let text = format!("[\"{}\"]", "ä".repeat(1000));
    let error = Vec::<u64>::from_raw(&Raw::parse(text).unwrap()).unwrap_err().to_string();
    assert!(error.starts_with("invalid type: string \"ää") && error.len() < 200, "{error}");
    assert!(error.ends_with("…, expected u64 (at [0])"), "{error}");
}

#[test]
fn what_is_let_pass_costs_no_look_at_the_whole_text() {
    // A path for each would be the square of this.
    let hint = r#"{"name":"a","inputSchema":{},"execution":{"taskSupport":"sometimes"}},"#;
    let text = format!("[{}1]", hint.repeat(50_000));
    assert!(Vec::<crate::Tool>::from_raw(&Raw::parse(text).unwrap()).is_err());
}

#[test]
fn a_node_bomb_is_text_but_never_typed() {
    let bomb = format!("[{}0]", "0,".repeat(crate::MAX_NODES));
    let kind = |error: DecodeError| error.kind().clone();
    let too_many = crate::DecodeKind::TooManyNodes { nodes: crate::MAX_NODES + 2 };
    let raw = Raw::parse(bomb.clone()).unwrap();
    assert_eq!(kind(Vec::<u64>::from_raw(&raw).unwrap_err()), too_many);
    assert!(Raw::from_raw(&raw).is_ok());
    // In an entry of a list it costs that entry.
    let icons = format!("[{}null]", r#"{"src":"a"},"#.repeat(crate::MAX_NODES / 2));
    let (bad, good) = (r#"{"name":"a","inputSchema":{},"icons":"#, r#"{"name":"b","inputSchema":{"x":"#);
    let list = format!(r#"{{"tools":[{bad}{icons}}},{good}{bomb}}}}}]}}"#);
    let page = crate::read_entries::<crate::Tool>(&Raw::parse(list).unwrap(), "tools", 10).unwrap();
    assert_eq!(page.items[0].name, "b");
    assert!(matches!(page.rejected[..], [ref bad] if bad.error.to_string().contains("are more than the")));
}

#[test]
fn text_from_elsewhere_is_no_deeper_than_ours() {
    let deep = r#"{"type":"tool_result","toolUseId":"1","content":["#.repeat(70) + &"]}".repeat(70);
    let error = serde_json::from_str::<crate::Content>(&deep).unwrap_err();
    assert!(error.to_string().contains("nested deeper"), "{error}");
}

#[test]
fn a_raw_is_never_deeper_than_a_message_may_be() {
    let deep = "[".repeat(crate::MAX_DEPTH + 1) + &"]".repeat(crate::MAX_DEPTH + 1);
    assert!(serde_json::from_str::<Raw>(&deep).is_err());
}

#[test]
fn values_that_are_read_aside_count_too() {
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
fn a_list_that_is_cut_is_not_lost() {
    let tools = r#"{"name":"a","inputSchema":{}},"#.repeat(crate::MAX_NODES);
    let text = format!(r#"{{"tools":[{tools}{{"name":"b","inputSchema":{{}}}}]}}"#);
    let page = crate::read_entries::<crate::Tool>(&Raw::parse(text).unwrap(), "tools", 10).unwrap();
    assert!(page.is_cut && page.items.len() == 10);
}

#[test]
fn half_a_pair_in_a_key_is_the_replacement_character() {
    let text = r#"{"\ud800":1,"\\ud800":2}"#;
    let map = crate::OrderedMap::<u64>::from_raw(&Raw::parse(text).unwrap()).unwrap();
    assert_eq!(map.iter().collect::<Vec<_>>(), [("\u{fffd}", &1), ("\\ud800", &2)]);
}

#[test]
fn many_capabilities_cost_what_they_weigh() {
    let entries: Vec<String> = (0..100_000).map(|n| format!(r#""k{n}":0"#)).collect();
    let raw = Raw::parse(format!("{{{}}}", entries.join(","))).unwrap();
    let read = crate::ClientCapabilities::from_raw(&raw).unwrap();
    assert_eq!(read.extra.len(), 100_000);
}

#[test]
fn capabilities_keep_nothing_of_their_message() {
    let text = r#"{"x":{"y":1},"extensions":{"e":{"z":2}},"tools":{},"tools":{"listChanged":true}}"#;
    let raw = Raw::parse(text).unwrap();
    let read = crate::ServerCapabilities::from_raw(&raw).unwrap();
    let range = raw.as_str().as_bytes().as_ptr_range();
    let kept = [read.extra.get("x").unwrap(), read.extensions.as_ref().unwrap().get("e").unwrap()];
    assert!(kept.iter().all(|kept| !range.contains(&kept.as_str().as_ptr())));
    assert_eq!(read.tools.unwrap().list_changed, Some(true), "of several the last one counts");
}
