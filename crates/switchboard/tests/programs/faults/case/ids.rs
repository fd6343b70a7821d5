//! JSON-RPC semantics that are only bytes: F057 to F072.

use switchboard::CallError;
use switchboard::protocol::ErrorCode;

use super::{Case, Outcome, Say, case, no_shape, nothing, ok};

const PARSE_ERROR: &str =
    "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"what?\"}}\n";

pub(super) const CASES: &[Case] = &[
    case(
        "F057_an_answer_to_nothing_is_dropped",
        Say::Text("{\"jsonrpc\":\"2.0\",\"id\":987654,\"result\":{}}\n$OK\n"),
        ok,
        late_one,
    ),
    case(
        "F058_the_first_of_two_answers_wins",
        Say::Text("$OK\n{\"jsonrpc\":\"2.0\",\"id\":$ID,\"error\":{\"code\":1,\"message\":\"no\"}}\n"),
        ok,
        late_one,
    ),
    case(
        "F060_our_number_as_a_string_is_accepted",
        Say::Text(
            "{\"jsonrpc\":\"2.0\",\"id\":\"$ID\",\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"$NONCE\"}]}}\n",
        ),
        ok,
        |c| c.id_coerced = 1,
    ),
    case(
        "F060_only_the_canonical_spelling_is_accepted",
        Say::Text(
            "{\"jsonrpc\":\"2.0\",\"id\":\"0$ID\",\"result\":{}}\n{\"jsonrpc\":\"2.0\",\"id\":\" $ID \",\"result\":{}}\n\
             {\"jsonrpc\":\"2.0\",\"id\":\"0x$ID\",\"result\":{}}\n{\"jsonrpc\":\"2.0\",\"id\":\"\",\"result\":{}}\n\
             {\"jsonrpc\":\"2.0\",\"id\":\"+$ID\",\"result\":{}}\n{\"jsonrpc\":\"2.0\",\"id\":\"$ID.0\",\"result\":{}}\n$OK\n",
        ),
        ok,
        |c| c.late_or_unknown = 6,
    ),
    case(
        "F061_an_integral_fraction_is_our_id",
        Say::Text(
            "{\"jsonrpc\":\"2.0\",\"id\":$ID.0,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"$NONCE\"}]}}\n",
        ),
        ok,
        nothing,
    ),
    case(
        "F061_an_integral_exponent_is_our_id",
        Say::Text(
            "{\"jsonrpc\":\"2.0\",\"id\":$IDe0,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"$NONCE\"}]}}\n",
        ),
        ok,
        nothing,
    ),
    case(
        "F061_a_fraction_is_nobodys_id",
        Say::Text("{\"jsonrpc\":\"2.0\",\"id\":$ID.9,\"result\":{}}\n$OK\n"),
        ok,
        late_one,
    ),
    case(
        "F062_ids_out_of_range_match_nothing",
        Say::Text(
            "{\"jsonrpc\":\"2.0\",\"id\":9007199254740993,\"result\":{}}\n\
             {\"jsonrpc\":\"2.0\",\"id\":99999999999999999999,\"result\":{}}\n\
             {\"jsonrpc\":\"2.0\",\"id\":-$ID,\"result\":{}}\n$OK\n",
        ),
        ok,
        |c| c.late_or_unknown = 3,
    ),
    case("F062_a_string_id_of_a_mebibyte_matches_nothing", Say::Bytes(long_id), ok, late_one),
    Case {
        company: false,
        ..case(
            "F062_an_error_with_an_unreadable_id_is_not_for_the_only_caller",
            Say::Text(
                "{\"jsonrpc\":\"2.0\",\"id\":99999999999999999999,\"error\":{\"code\":-32700,\"message\":\"no\"}}\n$OK\n",
            ),
            ok,
            late_one,
        )
    },
    Case {
        company: false,
        ..case(
            "F063_an_error_without_id_fails_the_only_caller",
            Say::Text(PARSE_ERROR),
            |o| remote(o, -32700, "what?"),
            nothing,
        )
    },
    case(
        "F063_an_error_without_id_fails_nobody_among_several",
        Say::Text(
            "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"what?\"}}\n$OK\n",
        ),
        ok,
        late_one,
    ),
    case(
        "F064_both_result_and_error_is_malformed",
        Say::Text("{\"jsonrpc\":\"2.0\",\"id\":$ID,\"result\":{},\"error\":{\"code\":1,\"message\":\"\"}}\n"),
        no_shape,
        |c| c.malformed = 1,
    ),
    case(
        "F064_neither_result_nor_error_is_malformed",
        Say::Text("{\"jsonrpc\":\"2.0\",\"id\":$ID}\n"),
        no_shape,
        |c| c.malformed = 1,
    ),
    case(
        "F065_a_missing_version_is_tolerated",
        Say::Text("{\"id\":$ID,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"$NONCE\"}]}}\n"),
        ok,
        |c| c.unversioned = 1,
    ),
    case(
        "F065_another_version_is_tolerated",
        Say::Text(
            "{\"jsonrpc\":\"1.0\",\"id\":$ID,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"$NONCE\"}]}}\n",
        ),
        ok,
        |c| c.unversioned = 1,
    ),
    case(
        "F066_a_code_that_is_text_becomes_internal_and_is_kept",
        Say::Text("{\"jsonrpc\":\"2.0\",\"id\":$ID,\"error\":{\"code\":\"E_FAIL\",\"message\":\"no\"}}\n"),
        |o| kept_code(o, "\"E_FAIL\""),
        nothing,
    ),
    case(
        "F066_a_code_that_is_a_fraction_becomes_internal_and_is_kept",
        Say::Text("{\"jsonrpc\":\"2.0\",\"id\":$ID,\"error\":{\"code\":1.5,\"message\":\"no\"}}\n"),
        |o| kept_code(o, "1.5"),
        nothing,
    ),
    case(
        "F066_a_missing_message_is_empty",
        Say::Text("{\"jsonrpc\":\"2.0\",\"id\":$ID,\"error\":{\"code\":-32001}}\n"),
        |o| remote(o, -32001, ""),
        nothing,
    ),
    case(
        "F066_an_error_that_is_no_object_is_an_error",
        Say::Text("{\"jsonrpc\":\"2.0\",\"id\":$ID,\"error\":\"boom\"}\n"),
        |o| remote(o, -32603, ""),
        nothing,
    ),
    case(
        "F067_a_result_of_the_wrong_type_names_the_place",
        Say::Text("{\"jsonrpc\":\"2.0\",\"id\":$ID,\"result\":{\"content\":7}}\n"),
        wrong_content,
        nothing,
    ),
    case(
        "F067_a_result_that_is_null_is_an_error",
        Say::Text("{\"jsonrpc\":\"2.0\",\"id\":$ID,\"result\":null}\n"),
        |o| matches!(o, Err(CallError::Protocol { .. })),
        nothing,
    ),
    case(
        "F069_an_unknown_notification_is_ignored",
        Say::Text("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/nobody/knows\",\"params\":[1]}\n$OK\n"),
        ok,
        nothing,
    ),
    case(
        "F070_a_request_with_our_id_is_not_our_answer",
        Say::Text("{\"jsonrpc\":\"2.0\",\"id\":$ID,\"method\":\"ping\"}\n$OK\n"),
        ok,
        nothing,
    ),
    case(
        "F071_a_cancellation_of_nothing_is_ignored",
        Say::Text(
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":424242}}\n$OK\n",
        ),
        ok,
        stray_one,
    ),
    case(
        "F071_a_server_cannot_cancel_our_request",
        Say::Text(
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":$ID}}\n$OK\n",
        ),
        ok,
        stray_one,
    ),
    case(
        "F072_progress_for_nothing_is_ignored",
        Say::Text(
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":424242,\"progress\":1}}\n$OK\n",
        ),
        ok,
        stray_one,
    ),
    case(
        "F072_progress_after_the_answer_is_ignored",
        Say::Text(
            "$OK\n{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":$ID,\"progress\":1}}\n",
        ),
        ok,
        stray_one,
    ),
];

fn late_one(counts: &mut switchboard::transport::link::Counts) {
    counts.late_or_unknown = 1;
}

fn stray_one(counts: &mut switchboard::transport::link::Counts) {
    counts.stray_notes = 1;
}

fn remote(outcome: &Outcome, code: i32, message: &str) -> bool {
    matches!(outcome, Err(CallError::Remote(error)) if error.code == ErrorCode(code) && error.message == message)
}

fn kept_code(outcome: &Outcome, original: &str) -> bool {
    let data = outcome.as_ref().err().and_then(CallError::remote).and_then(|error| error.data.as_ref());
    remote(outcome, -32603, "no") && data.is_some_and(|data| data.as_str().contains(original))
}

fn wrong_content(outcome: &Outcome) -> bool {
    matches!(outcome, Err(CallError::Protocol { method, error }) if method == "tools/call" && error.path() == "content")
}

fn long_id(id: &str, nonce: &str) -> Vec<u8> {
    let long = "9".repeat(1 << 20);
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":\"{long}\",\"result\":{{}}}}\n{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":\"{nonce}\"}}]}}}}\n"
    )
    .into_bytes()
}
