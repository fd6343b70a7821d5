//! Byte stream and framing: F029 to F056.

use switchboard::CallError;
use switchboard::protocol::jsonrpc::{MessageErrorKind, SyntaxErrorKind};
use switchboard::transport::LinkError;
use switchboard::transport::link::PeerHint;

use super::{
    Case, Outcome, SHORT, Say, case, hinted, malformed, nothing, ok, structured, too_deep, too_many_nodes,
    too_many_nodes_as_data, unexpected,
};
use crate::faults::faultd::reply;
use crate::faults::sessions::is_long;

const KIB: usize = 1024;
const LIMIT: usize = 64 * KIB;

pub(super) const CASES: &[Case] = &[
    Case {
        hello: b"server v1.2 listening on stdio\n",
        ..case("F029_a_banner_between_messages_is_skipped", Say::Text("[info] called\n$OK\nbye\n"), ok, |c| {
            c.junk = 3
        })
    },
    case("F030_a_flood_of_junk_hides_no_answer", Say::Bytes(junk_flood), ok, |c| c.junk = 2 * junk_lines()),
    Case {
        hello: b"\xef\xbb\xbf",
        ..case("F031_a_byte_order_mark_is_stripped", Say::Text("\u{feff}$OK\n"), ok, nothing)
    },
    case("F032_a_carriage_return_before_the_newline_is_dropped", Say::Text("$OK\r\n"), ok, nothing),
    case("F032_bare_carriage_returns_before_the_newline_are_dropped", Say::Text("$OK\r\r\n"), ok, nothing),
    case("F033_blank_lines_are_ignored", Say::Text("\n   \n\t\n\r\n$OK\n\n \n"), ok, nothing),
    case("F034_a_message_in_single_bytes_is_put_together", Say::Dribble("$OK\n"), ok, nothing),
    case(
        "F035_two_messages_in_one_write_both_arrive",
        Say::Text("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n$OK\n"),
        ok,
        nothing,
    ),
    case("F036_two_values_on_one_line_fail_the_first", Say::Text("$OK$OK\n"), trailing, |c| c.malformed = 1),
    Case {
        within: SHORT,
        ..case("F037_pretty_printed_json_times_out_with_a_hint", Say::Bytes(pretty), pretty_hint, |c| {
            c.junk = 12
        })
    },
    Case {
        line_limit: Some(LIMIT),
        ..case("F039_an_oversized_line_fails_only_its_call", Say::Bytes(oversized_id_last), too_large, |c| {
            c.too_large = 1;
        })
    },
    Case {
        line_limit: Some(LIMIT),
        ..case(
            "F039_an_oversized_line_with_its_id_first_too",
            Say::Bytes(oversized_id_first),
            too_large,
            |c| {
                c.too_large = 1;
            },
        )
    },
    Case {
        line_limit: Some(LIMIT),
        ..case("F041_many_small_lines_beyond_the_limit_are_fine", Say::Bytes(many_small), ok, |c| {
            c.late_or_unknown = 2000;
        })
    },
    case("F042_invalid_utf8_fails_its_own_call", Say::Bytes(not_utf8), not_utf8_fault, |c| c.malformed = 1),
    case(
        "F043_cuts_inside_characters_and_escapes_are_transparent",
        Say::Dribble(
            r#"{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"é😀\u00e9\ud83d\ude00"}]}}
"#,
        ),
        |outcome| matches!(outcome, Ok(result) if result.text() == "é😀é😀"),
        nothing,
    ),
    case(
        "F044_a_lone_surrogate_is_read_as_the_replacement_character",
        Say::Text(
            "{\"jsonrpc\":\"2.0\",\"id\":$ID,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"a\\ud800b\"}],\"structuredContent\":{\"x\":\"\\udfff\"}}}\n",
        ),
        |outcome| matches!(outcome, Ok(result) if result.text() == "a\u{fffd}b"),
        nothing,
    ),
    case(
        "F045_extreme_numbers_are_kept_as_written",
        Say::Text(
            "{\"jsonrpc\":\"2.0\",\"id\":$ID,\"result\":{\"content\":[],\"structuredContent\":{\"rows\":[1e999,123456789012345678901234567890,-0]}}}\n",
        ),
        kept_numbers,
        nothing,
    ),
    case(
        "F046_nan_is_not_json",
        Say::Text("{\"jsonrpc\":\"2.0\",\"id\":$ID,\"result\":{\"x\":NaN}}\n"),
        unexpected,
        one,
    ),
    case(
        "F046_infinity_is_not_json",
        Say::Text("{\"jsonrpc\":\"2.0\",\"id\":$ID,\"result\":{\"x\":-Infinity}}\n"),
        unexpected,
        one,
    ),
    case(
        "F046_a_comment_is_not_json",
        Say::Text("{\"jsonrpc\":\"2.0\",\"id\":$ID,\"result\":{/* none */}}\n"),
        unexpected,
        one,
    ),
    case(
        "F046_a_trailing_comma_is_not_json",
        Say::Text("{\"jsonrpc\":\"2.0\",\"id\":$ID,\"result\":{\"content\":[],}}\n"),
        unexpected,
        one,
    ),
    case(
        "F046_single_quotes_are_not_json",
        Say::Text("{\"jsonrpc\":\"2.0\",\"id\":$ID,\"result\":{'content':[]}}\n"),
        unexpected,
        one,
    ),
    case("F047_nesting_200_deep_fails_its_own_call", Say::Bytes(|id, _| deep(id, 200)), too_deep, one),
    case("F047_nesting_10000_deep_fails_its_own_call", Say::Bytes(|id, _| deep(id, 10_000)), too_deep, one),
    case(
        "F047_nesting_1000000_deep_fails_its_own_call",
        Say::Bytes(|id, _| deep(id, 1_000_000)),
        too_deep,
        one,
    ),
    case(
        "F048_a_node_bomb_is_refused_before_it_is_typed",
        Say::Bytes(|id, _| nodes(id)),
        too_many_nodes,
        nothing,
    ),
    case(
        "F048_a_node_bomb_that_is_kept_as_text_is_refused_when_it_is_typed",
        Say::Bytes(|id, _| data_nodes(id)),
        too_many_nodes_as_data,
        nothing,
    ),
    case(
        "F049_a_duplicate_id_is_malformed",
        Say::Text("{\"jsonrpc\":\"2.0\",\"id\":$ID,\"id\":$ID,\"result\":{}}\n"),
        duplicate,
        one,
    ),
    case(
        "F049_a_duplicate_result_is_malformed",
        Say::Text("{\"jsonrpc\":\"2.0\",\"id\":$ID,\"result\":{},\"result\":{}}\n"),
        duplicate,
        one,
    ),
    case(
        "F049_a_duplicate_written_with_escapes_is_malformed",
        Say::Text("{\"jsonrpc\":\"2.0\",\"id\":$ID,\"result\":{},\"res\\u0075lt\":{}}\n"),
        duplicate,
        one,
    ),
    case(
        "F049_duplicates_inside_the_result_are_passed_on",
        Say::Text(
            "{\"jsonrpc\":\"2.0\",\"id\":$ID,\"result\":{\"content\":[],\"structuredContent\":{\"a\":1,\"a\":2}}}\n",
        ),
        |outcome| structured(outcome, r#"{"a":1,"a":2}"#),
        nothing,
    ),
    case(
        "F050_a_raw_nul_in_a_string_is_malformed",
        Say::Text("{\"jsonrpc\":\"2.0\",\"id\":$ID,\"result\":{\"x\":\"a\0b\"}}\n"),
        unexpected,
        one,
    ),
    case(
        "F050_a_raw_control_character_is_malformed",
        Say::Text("{\"jsonrpc\":\"2.0\",\"id\":$ID,\"result\":{\"x\":\"a\u{1b}[2Jb\"}}\n"),
        unexpected,
        one,
    ),
    Case {
        within: SHORT,
        ..case(
            "F051_utf16_is_junk_with_a_hint",
            Say::Bytes(utf16),
            |o| hinted(o, PeerHint::Utf16),
            |c| c.junk = 2,
        )
    },
    Case {
        revision: Some("2025-03-26"),
        ..case(
            "F052_a_batch_is_split_where_there_are_batches",
            Say::Text("[{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"},$OK]\n"),
            ok,
            nothing,
        )
    },
    Case {
        revision: Some("2025-06-18"),
        ..case("F052_a_batch_is_dropped_where_there_are_none", Say::Text("[$OK]\n$OK\n"), ok, |c| {
            c.batches = 1
        })
    },
    case(
        "F056_a_line_torn_by_a_grandchild_fails_its_own_call",
        Say::Text("{\"jsonrpc\":\"2.0\",\"id\":$ID,\"resa grandchild says hello\nult\":{\"content\":[]}}\n"),
        |outcome| matches!(outcome, Err(CallError::Link(LinkError::Malformed(_)))),
        |c| (c.malformed, c.junk) = (1, 1),
    ),
];

fn one(counts: &mut switchboard::transport::link::Counts) {
    counts.malformed = 1;
}

fn trailing(outcome: &Outcome) -> bool {
    malformed(outcome, |kind| kind == MessageErrorKind::Syntax(SyntaxErrorKind::Trailing))
}

fn duplicate(outcome: &Outcome) -> bool {
    malformed(outcome, |kind| matches!(kind, MessageErrorKind::Duplicate(_)))
}

fn not_utf8_fault(outcome: &Outcome) -> bool {
    malformed(outcome, |kind| kind == MessageErrorKind::NotUtf8)
}

fn too_large(outcome: &Outcome) -> bool {
    matches!(outcome, Err(CallError::Link(LinkError::TooLarge { limit: LIMIT })))
}

fn pretty_hint(outcome: &Outcome) -> bool {
    hinted(outcome, PeerHint::PrettyPrints)
}

/// Kept byte for byte; read as a type they do not fit, they are an error that names the place.
fn kept_numbers(outcome: &Outcome) -> bool {
    let typed = outcome.as_ref().ok().map(|result| result.structured::<serde_json::Value>());
    structured(outcome, r#"{"rows":[1e999,123456789012345678901234567890,-0]}"#)
        && matches!(typed, Some(Err(error)) if error.path().starts_with("rows"))
}

fn line(id: &str, nonce: &str) -> Vec<u8> {
    let id: serde_json::Value = serde_json::from_str(id).expect("ids are JSON");
    format!("{}\n", reply(&id, nonce)).into_bytes()
}

fn junk_lines() -> u64 {
    if is_long() { 500_000 } else { 10_000 }
}

fn junk_flood(id: &str, nonce: &str) -> Vec<u8> {
    let lines = usize::try_from(junk_lines()).expect("fits");
    let junk = "DEBUG something or other happened somewhere, and here it is at some length\n".repeat(lines);
    [junk.as_bytes(), &line(id, nonce), junk.as_bytes()].concat()
}

fn pretty(id: &str, nonce: &str) -> Vec<u8> {
    let id: serde_json::Value = serde_json::from_str(id).expect("ids are JSON");
    format!("{:#}\n", reply(&id, nonce)).into_bytes()
}

fn oversized_id_last(id: &str, _: &str) -> Vec<u8> {
    let text = "x".repeat(7 * LIMIT);
    format!("{{\"jsonrpc\":\"2.0\",\"result\":{{\"id\":99,\"text\":\"{text}\"}},\"id\":{id}}}\n").into_bytes()
}

fn oversized_id_first(id: &str, _: &str) -> Vec<u8> {
    let text = "x".repeat(2 * LIMIT);
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"id\":99,\"text\":\"{text}\"}}}}\n").into_bytes()
}

fn many_small(id: &str, nonce: &str) -> Vec<u8> {
    let late = "{\"jsonrpc\":\"2.0\",\"id\":987654,\"result\":{\"some\":\"thing\"}}\n".repeat(2000);
    assert!(late.len() > LIMIT);
    [late.as_bytes(), &line(id, nonce)].concat()
}

fn not_utf8(id: &str, _: &str) -> Vec<u8> {
    [b"{\"jsonrpc\":\"2.0\",\"result\":{\"x\":\"\xff\xc3\"},\"id\":", id.as_bytes(), b"}\n"].concat()
}

fn deep(id: &str, levels: usize) -> Vec<u8> {
    let (open, close) = ("[".repeat(levels), "]".repeat(levels));
    format!("{{\"jsonrpc\":\"2.0\",\"result\":{{\"x\":{open}{close}}},\"id\":{id}}}\n").into_bytes()
}

/// Just under 16 MiB of blocks without a text.
pub(crate) fn nodes(id: &str) -> Vec<u8> {
    let block = r#"{"type":"text","text":""}"#;
    let many = format!("{block},").repeat(620_000);
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[{many}{block}]}}}}\n").into_bytes()
}

/// Just under 16 MiB of empty objects, where they are kept as text.
fn data_nodes(id: &str) -> Vec<u8> {
    let many = "{},".repeat(5_500_000);
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[],\"structuredContent\":[{many}{{}}]}}}}\n")
        .into_bytes()
}

/// The last newline is ours, so that what follows is readable again.
fn utf16(id: &str, nonce: &str) -> Vec<u8> {
    let text = String::from_utf8(line(id, nonce)).expect("it is text");
    let units = std::iter::once(0xfeff).chain(text.encode_utf16());
    units.flat_map(u16::to_le_bytes).chain(*b"\n").collect()
}
