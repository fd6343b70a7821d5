//! The table of rows: every one has a test, here or beside what it tests, or a reason why it waits.

use std::collections::BTreeSet;

struct Row {
    id: &'static str,
    tests: &'static [&'static str],
    /// Tests of the layer below: the text they are in, and their names.
    elsewhere: &'static [(&'static str, &'static str)],
    waits: Option<&'static str>,
}

const fn row(id: &'static str, tests: &'static [&'static str]) -> Row {
    Row { id, tests, elsewhere: &[], waits: None }
}

const LOGIN: &str = "logging in comes later";
const GATEWAY: &str = "the gateway comes later";
const HOST: &str = "trying again later is the host's, and tested there";

const HERE: [&str; 4] = [
    include_str!("client.rs"),
    include_str!("streams.rs"),
    include_str!("server.rs"),
    include_str!("crowd.rs"),
];
const HTTP_BODY: &str = include_str!("../../../../http/tests/it/body.rs");
const HTTP_CONNECT: &str = include_str!("../../../../http/tests/it/connect.rs");
const HTTP_POOL: &str = include_str!("../../../../http/tests/it/pool.rs");
const HTTP_PROXY: &str = include_str!("../../../../http/tests/it/proxy.rs");
const HTTP_REDIRECT: &str = include_str!("../../../../http/tests/it/redirect.rs");
const HTTP_TLS: &str = include_str!("../../../../http/tests/it/tls.rs");
const SSE_TESTS: &str = include_str!("../../../../transport/src/sse/decode/tests.rs");

#[rustfmt::skip]
const ROWS: &[Row] = &[
    Row { waits: Some(HOST), ..row("F079", &[
        "f079_nobody_listens_and_the_caller_knows_at_once",
    ]) },
    Row { elsewhere: &[(HTTP_CONNECT, "a_black_hole_is_given_up_in_time")], ..row("F080", &[]) },
    Row { elsewhere: &[(HTTP_TLS, "wrong_certificates_are_named")], ..row("F081", &[]) },
    row("F082", &[
        "f082_a_server_that_never_answers_is_left_when_the_time_is_up",
    ]),
    row("F083", &[
        "f083_headers_and_then_silence_end_at_the_idle_time_of_the_body",
    ]),
    Row { elsewhere: &[(HTTP_POOL, "a_safe_request_is_repeated_once_on_a_fresh_connection")], ..row("F084", &[
        "f084_a_cut_before_the_answer_is_a_loss_and_nothing_is_sent_again",
    ]) },
    row("F085", &[
        "f085_a_modern_error_is_no_reason_to_fall_back",
        "f085_another_revision_is_negotiated",
    ]),
    row("F086", &[
        "f086_a_refusal_without_words_of_the_protocol_leads_to_the_handshake",
        "f086_the_oldest_binding_is_asked_last_and_the_first_refusal_is_told",
    ]),
    Row { waits: Some(LOGIN), ..row("F087", &[]) },
    Row { waits: Some(LOGIN), ..row("F088", &[]) },
    Row { waits: Some(LOGIN), ..row("F089", &[]) },
    row("F090", &[
        "f090_a_forgotten_session_is_replaced_reads_are_repeated_and_calls_are_not",
    ]),
    row("F091", &[
        "f091_no_stream_and_no_way_to_leave_are_normal",
    ]),
    row("F092", &[
        "f092_f093_what_is_refused_for_good_is_not_repeated",
    ]),
    row("F093", &[
        "f092_f093_what_is_refused_for_good_is_not_repeated",
        "f093_a_session_that_is_gone_ends_and_the_next_call_has_another",
    ]),
    row("F094", &[
        "f094_what_is_too_large_for_the_server_says_so",
    ]),
    row("F095", &[
        "f095_too_many_requests_are_told_with_the_wait",
        "f095_f096_reads_are_repeated_three_times",
        "f095_the_wait_that_the_server_names_is_honoured",
    ]),
    row("F096", &[
        "f095_f096_reads_are_repeated_three_times",
        "f096_a_call_fails_at_once_and_the_connection_stays",
    ]),
    Row { elsewhere: &[(HTTP_BODY, "of_a_huge_error_page_the_beginning_is_read")], ..row("F097", &[
        "f097_of_an_error_page_the_beginning_is_shown",
    ]) },
    row("F098", &[
        "f098_f100_redirects_that_change_the_request_or_the_origin_are_refused",
    ]),
    row("F099", &[
        "f099_the_same_origin_is_followed_with_method_and_body",
    ]),
    Row { elsewhere: &[(HTTP_REDIRECT, "other_redirects_are_refused_and_nothing_is_sent_there")], ..row("F100", &[
        "f098_f100_redirects_that_change_the_request_or_the_origin_are_refused",
    ]) },
    row("F101", &[
        "f101_an_answer_of_another_type_is_told_by_its_beginning",
        "f101_a_missing_type_is_taken_for_an_object_and_utf_8_may_be_named",
    ]),
    row("F102", &[
        "f102_a_request_that_is_only_taken_fails_at_once",
    ]),
    row("F103", &[
        "f103_a_notification_may_be_answered_with_nothing",
    ]),
    Row { elsewhere: &[(HTTP_BODY, "a_gzip_bomb_meets_the_limit")], ..row("F104", &[
        "f104_a_document_cut_in_the_middle_is_a_loss",
        "f104_a_damaged_document_fails_its_call_only",
        "f104_a_document_beyond_the_limit_is_too_large",
        "f104_a_document_that_comes_byte_by_byte_is_whole",
    ]) },
    Row { elsewhere: &[(HTTP_CONNECT, "heads_are_limited")], ..row("F105", &[
        "f105_headers_without_end_are_refused",
    ]) },
    Row { elsewhere: &[(HTTP_PROXY, "a_proxy_that_says_no")], ..row("F106", &[]) },
    row("F107", &[
        "f107_a_stream_cut_in_an_event_loses_its_call_in_the_modern_era",
        "f107_ids_give_no_way_back_in_the_modern_era",
        "f107_a_legacy_stream_with_ids_is_gone_back_to",
        "f107_a_legacy_stream_is_gone_back_to_five_times_without_progress",
        "f107_a_legacy_stream_without_ids_is_lost",
        "f107_a_session_that_ended_meanwhile_is_told",
    ]),
    row("F108", &[
        "f108_a_stream_that_ends_without_the_answer_fails_at_once",
    ]),
    row("F109", &[
        "f109_comments_keep_the_stream_and_not_the_call",
    ]),
    row("F110", &[
        "f110_a_standing_stream_without_bytes_is_opened_anew",
        "f110_a_listen_stream_without_bytes_is_opened_anew_in_the_modern_era",
    ]),
    Row { elsewhere: &[(SSE_TESTS, "streams_as_the_standard_reads_them")], ..row("F111", &[
        "f111_f112_odd_streams_are_read_as_the_standard_says",
    ]) },
    row("F112", &[
        "f111_f112_odd_streams_are_read_as_the_standard_says",
    ]),
    Row { elsewhere: &[(SSE_TESTS, "retry_is_clamped_and_nonsense_ignored")], ..row("F113", &[]) },
    Row { elsewhere: &[(SSE_TESTS, "ids_stay_until_another_comes")], ..row("F114", &[]) },
    row("F115", &[
        "f115_an_event_beyond_the_limit_fails_its_call_only",
        "f115_an_event_without_end_fails_its_call",
    ]),
    row("F116", &[
        "f116_a_million_junk_events_hold_up_nobody",
    ]),
    row("F117", &[
        "f117_a_stream_that_comes_byte_by_byte_is_whole",
    ]),
    row("F118", &[
        "f118_an_answer_to_another_request_is_dropped",
        "f118_no_call_is_answered_on_the_stream_of_another",
    ]),
    row("F119", &[
        "f119_of_two_answers_the_first_counts",
    ]),
    row("F120", &[
        "f120_a_stream_that_stays_open_after_the_answer_is_left",
    ]),
    row("F121", &[
        "f121_without_an_endpoint_there_is_nothing_to_wait_for",
        "f121_a_server_that_never_says_where_times_out_while_starting",
    ]),
    row("F122", &[
        "f122_an_endpoint_elsewhere_is_not_used",
    ]),
    row("F123", &[
        "f123_a_connection_that_says_nothing_is_closed",
    ]),
    row("F124", &[
        "f124_half_a_header_is_closed_at_the_same_time",
        "f124_bytes_that_drip_do_not_extend_the_time",
        "f124_the_time_between_requests_is_another",
    ]),
    row("F125", &[
        "f125_a_slow_body_is_given_up",
        "f125_a_body_that_trickles_is_given_up_before_its_time",
    ]),
    row("F126", &[
        "f126_a_body_beyond_the_limit_is_not_read",
        "f126_over_http_2_a_body_beyond_the_limit_is_refused_too",
    ]),
    row("F127", &[
        "f127_too_many_headers_and_too_long_ones_are_refused",
    ]),
    row("F128", &[
        "f128_a_reader_that_does_not_read_is_given_up_and_its_call_cancelled",
    ]),
    row("F129", &[
        "f129_hanging_up_cancels_within_a_tenth_of_a_second",
        "f129_hanging_up_on_a_stream_cancels_too",
        "f129_hanging_up_is_no_cancellation_in_the_legacy_era",
    ]),
    row("F130", &[
        "f130_idle_connections_do_not_slow_a_healthy_client",
        "f130_beyond_the_cap_the_longest_idle_connection_gives_way",
    ]),
    row("F131", &[
        "f131_without_descriptors_the_server_waits_and_goes_on",
    ]),
    row("F132", &[
        "f132_streams_of_one_connection_are_limited",
        "f132_floods_end_their_connection_and_no_other",
        "f132_empty_data_is_no_body_and_ends_in_time",
    ]),
    row("F133", &[
        "f133_a_panic_ends_its_own_request_only",
    ]),
    Row { waits: Some(GATEWAY), ..row("F134", &[]) },
    Row { waits: Some(GATEWAY), ..row("F135", &[]) },
    Row { waits: Some(GATEWAY), ..row("F136", &[]) },
    Row { waits: Some(GATEWAY), ..row("F137", &[]) },
    row("F138", &[
        "f138_headers_of_sessions_are_ignored_in_the_modern_era",
    ]),
    row("F139", &[
        "f139_other_methods_are_not_allowed",
    ]),
    Row { waits: Some(GATEWAY), ..row("F140", &[]) },
    Row { waits: Some(GATEWAY), ..row("F141", &[]) },
    Row { waits: Some(GATEWAY), ..row("F142", &[]) },
];

/// The names of the tests in a text.
fn tests_in(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.lines().filter_map(|line| line.strip_prefix("async fn ").or(line.strip_prefix("fn ")));
    lines.filter_map(|line| line.split_once('(').map(|(name, _)| name))
}

#[test]
fn index_every_row_has_a_test_or_waits() {
    let expected: Vec<String> = (79..=142).map(|number| format!("F{number:03}")).collect();
    let ids: Vec<&str> = ROWS.iter().map(|row| row.id).collect();
    assert_eq!(ids, expected);
    let is_row = |name: &&str| name.starts_with("f0") || name.starts_with("f1");
    let there: BTreeSet<&str> = HERE.iter().flat_map(|text| tests_in(text)).filter(is_row).collect();
    let mut named = BTreeSet::new();
    for Row { id, tests, elsewhere, waits } in ROWS {
        let is_tested = !tests.is_empty() || !elsewhere.is_empty();
        assert!(is_tested || waits.is_some(), "{id} has neither a test nor a reason");
        assert!(!is_tested || waits.is_none() || *id == "F079", "{id} must not wait");
        for test in *tests {
            assert!(there.contains(test), "{id}: no such test: {test}");
            assert!(test.contains(&id.to_lowercase()), "{test} does not belong to {id}");
            named.insert(*test);
        }
        for (text, test) in *elsewhere {
            assert!(tests_in(text).any(|name| name == *test), "{id}: no such test: {test}");
        }
    }
    let unnamed: Vec<&&str> = there.difference(&named).collect();
    assert!(unnamed.is_empty(), "in no row: {unnamed:?}");
}
