//! The table of rows: every one has a test, or a reason why it waits.

use std::collections::BTreeSet;

use switchboard_testkit::Trial;

struct Row {
    id: &'static str,
    tests: &'static [&'static str],
    waits: Option<&'static str>,
}

const fn row(id: &'static str, tests: &'static [&'static str]) -> Row {
    Row { id, tests, waits: None }
}

/// The rows that may wait, all or in part.
const MAY_WAIT: [&str; 6] = ["F003", "F008", "F015", "F025", "F027", "F028"];

const HOST: &str = "starting it again is the host's, and tested there";

#[rustfmt::skip]
const ROWS: &[Row] = &[
    row("F001", &[
        "F001_what_cannot_start_is_named_at_once",
    ]),
    row("F002", &[
        "F002_an_exit_without_a_word_is_seen_at_once",
    ]),
    Row { waits: Some(HOST), ..row("F003", &[
        "F003_an_exit_during_the_handshake_carries_its_last_words",
    ]) },
    row("F004", &[
        "F004_a_known_legacy_server_gets_no_probe",
        "F004_a_server_that_answers_the_probe_and_dies_is_started_again",
        "F004_a_server_that_dies_of_the_probe_is_started_again",
    ]),
    row("F005", &[
        "F005_a_late_answer_to_the_probe_may_still_come_first",
        "F005_a_probe_that_is_ignored_is_followed_by_a_handshake",
        "F005_a_server_that_ignores_the_probe_keeps_its_process",
    ]),
    row("F006", &[
        "F006_a_slow_start_holds_up_nobody_else",
    ]),
    row("F007", &[
        "F007_a_server_that_hangs_is_killed_at_the_startup_time",
        "F007_a_server_that_never_speaks_times_out_while_starting",
    ]),
    Row { waits: Some(HOST), ..row("F008", &[
        "F008_a_crash_fails_every_call_once_and_replays_none",
    ]) },
    row("F009", &[
        "F009_a_closed_stdout_is_a_lost_connection",
    ]),
    row("F010", &[
        "F010_a_closed_stdin_is_a_lost_connection_after_the_grace",
    ]),
    row("F011", &[
        "F011_the_exit_is_the_end_not_the_pipes",
    ]),
    row("F012", &[
        "F012_a_server_that_ignores_term_is_killed_in_time",
    ]),
    row("F013", &[
        "F013_a_server_that_honours_term_ends_clean",
    ]),
    row("F014", &[
        "F014_a_stopped_server_is_continued_and_ends",
    ]),
    Row { waits: Some("the transport's ladder: an_unkillable_process_is_given_up_in_five_seconds"), ..row("F015", &[]) },
    row("F016", &[
        "F016_grandchildren_end_with_their_server",
    ]),
    row("F017", &[
        "F017_a_grandchild_of_another_session_ends_too",
    ]),
    row("F018", &[
        "F018_a_killed_host_leaves_nobody",
    ]),
    row("F019", &[
        "F019_a_panicking_host_leaves_nobody",
        "F019_an_aborted_host_leaves_nobody",
    ]),
    row("F020", &[
        "F020_the_thread_that_started_a_server_may_end",
    ]),
    row("F021", &[
        "F021_many_restarts_leave_nothing",
    ]),
    row("F022", &[
        "F022_a_forking_tree_is_killed_to_the_last",
    ]),
    row("F023", &[
        "F023_a_number_used_again_is_not_signalled",
    ]),
    row("F024", &[
        "F024_a_daemon_is_an_exit_and_its_descendants_end",
    ]),
    Row { waits: Some(HOST), ..row("F025", &[
        "F025_hostile_servers_stop_together",
    ]) },
    row("F026", &[
        "F026_a_second_interrupt_leaves_the_rest_to_the_shim",
        "F026_an_interrupt_reaches_only_the_host",
    ]),
    Row { waits: Some("waits for the gateway"), ..row("F027", &[]) },
    Row { waits: Some("a restart storm is the host's, and tested there"), ..row("F028", &[]) },
    row("F029", &[
        "F029_a_banner_between_messages_is_skipped",
        "F029_the_server_survives_junk",
    ]),
    row("F030", &[
        "F030_a_flood_of_junk_hides_no_answer",
        "F030_junk_is_logged_once_in_ten_seconds",
        "F030_junk_is_passed_over_quickly",
    ]),
    row("F031", &[
        "F031_a_byte_order_mark_is_stripped",
        "F031_the_server_strips_a_byte_order_mark",
    ]),
    row("F032", &[
        "F032_a_carriage_return_before_the_newline_is_dropped",
        "F032_bare_carriage_returns_before_the_newline_are_dropped",
        "F032_the_server_takes_carriage_returns",
    ]),
    row("F033", &[
        "F033_blank_lines_are_ignored",
        "F033_the_server_ignores_blank_lines",
    ]),
    row("F034", &[
        "F034_a_message_in_single_bytes_is_put_together",
        "F034_slow_single_bytes_cost_no_busy_loop",
        "F034_the_server_puts_single_bytes_together",
    ]),
    row("F035", &[
        "F035_a_thousand_messages_in_one_write_all_arrive",
        "F035_two_messages_in_one_write_both_arrive",
    ]),
    row("F036", &[
        "F036_the_server_refuses_two_values_on_a_line",
        "F036_two_values_on_one_line_fail_the_first",
    ]),
    row("F037", &[
        "F037_a_pretty_printed_handshake_times_out_with_a_hint",
        "F037_pretty_printed_json_times_out_with_a_hint",
    ]),
    row("F038", &[
        "F038_a_last_line_that_is_cut_is_dropped",
        "F038_a_last_line_without_newline_counts",
        "F038_a_last_request_without_newline_is_answered",
    ]),
    row("F039", &[
        "F039_an_oversized_line_fails_only_its_call",
        "F039_an_oversized_line_with_its_id_first_too",
        "F039_an_oversized_request_is_answered_to_its_id",
        "F039_one_hundred_mebibytes_stay_within_the_limit",
    ]),
    row("F040", &[
        "F040_an_endless_line_loses_the_connection",
        "F040_an_endless_request_ends_the_connection",
    ]),
    row("F041", &[
        "F041_many_small_lines_beyond_the_limit_are_fine",
        "F041_many_small_requests_beyond_the_limit_are_fine",
    ]),
    row("F042", &[
        "F042_invalid_utf8_fails_its_own_call",
        "F042_the_server_answers_invalid_utf8_to_its_id",
    ]),
    row("F043", &[
        "F043_cuts_inside_characters_and_escapes_are_transparent",
    ]),
    row("F044", &[
        "F044_a_lone_surrogate_is_forwarded_as_written",
        "F044_a_lone_surrogate_is_read_as_the_replacement_character",
        "F044_the_server_takes_a_lone_surrogate",
    ]),
    row("F045", &[
        "F045_extreme_numbers_are_kept_as_written",
        "F045_f053_a_result_goes_out_byte_for_byte_on_one_line",
    ]),
    row("F046", &[
        "F046_a_comment_is_not_json",
        "F046_a_trailing_comma_is_not_json",
        "F046_infinity_is_not_json",
        "F046_nan_is_not_json",
        "F046_single_quotes_are_not_json",
        "F046_the_server_refuses_nan",
    ]),
    row("F047", &[
        "F047_nesting_1000000_deep_fails_its_own_call",
        "F047_nesting_10000_deep_fails_its_own_call",
        "F047_nesting_200_deep_fails_its_own_call",
        "F047_the_server_refuses_deep_nesting",
    ]),
    row("F048", &[
        "F048_a_node_bomb_is_refused_before_it_is_typed",
        "F048_a_node_bomb_may_pass_through",
        "F048_a_node_bomb_that_is_kept_as_text_is_refused_when_it_is_typed",
    ]),
    row("F049", &[
        "F049_a_duplicate_id_is_malformed",
        "F049_a_duplicate_result_is_malformed",
        "F049_a_duplicate_written_with_escapes_is_malformed",
        "F049_duplicates_inside_the_result_are_passed_on",
        "F049_the_server_refuses_duplicate_members",
    ]),
    row("F050", &[
        "F050_a_raw_control_character_is_malformed",
        "F050_a_raw_nul_in_a_string_is_malformed",
        "F050_the_server_refuses_raw_control_characters",
    ]),
    row("F051", &[
        "F051_utf16_is_junk_with_a_hint",
    ]),
    row("F052", &[
        "F052_a_batch_ends_with_its_connection",
        "F052_a_batch_is_answered_by_one_array",
        "F052_a_batch_is_dropped_where_there_are_none",
        "F052_a_batch_is_split_where_there_are_batches",
        "F052_a_batch_runs_side_by_side_and_can_be_cancelled",
        "F052_the_server_refuses_a_batch_where_there_are_none",
        "F052_the_server_refuses_an_empty_batch",
    ]),
    row("F053", &[
        "F053_any_text_survives_the_way_there_and_back",
        "F053_no_text_of_ours_breaks_a_line",
        "F053_raw_text_of_many_lines_is_sent_as_one",
        "F045_f053_a_result_goes_out_byte_for_byte_on_one_line",
    ]),
    row("F054", &[
        "F054_a_client_that_never_reads_is_not_served_and_is_lost",
        "F054_a_client_that_reads_late_gets_everything",
        "F054_a_server_that_never_reads_overloads_then_loses_the_connection",
        "F054_a_server_that_stops_reading_is_ended",
        "F054_answers_to_a_server_that_never_reads_are_bounded",
        "F054_bytes_that_wait_are_bounded_too",
        "F054_log_messages_for_a_client_that_never_reads_are_not_kept",
        "F054_news_during_the_handshake_is_bounded",
    ]),
    row("F055", &[
        "F055_a_flood_on_stderr_blocks_nobody",
    ]),
    row("F056", &[
        "F056_a_line_torn_by_a_grandchild_fails_its_own_call",
        "F056_stray_output_of_a_handler_cannot_reach_the_wire",
    ]),
    row("F057", &[
        "F057_an_answer_to_nothing_is_dropped",
        "F057_the_server_ignores_an_answer_to_nothing",
    ]),
    row("F058", &[
        "F058_the_first_of_two_answers_wins",
    ]),
    row("F059", &[
        "F059_answers_after_a_timeout_or_a_cancellation_are_dropped",
    ]),
    row("F060", &[
        "F060_only_the_canonical_spelling_is_accepted",
        "F060_our_number_as_a_string_is_accepted",
    ]),
    row("F061", &[
        "F061_a_fraction_is_nobodys_id",
        "F061_an_integral_exponent_is_our_id",
        "F061_an_integral_fraction_is_our_id",
    ]),
    row("F062", &[
        "F062_a_string_id_of_a_mebibyte_matches_nothing",
        "F062_an_error_with_an_unreadable_id_is_not_for_the_only_caller",
        "F062_ids_out_of_range_match_nothing",
        "F062_the_server_refuses_ids_that_are_none",
        "F062_the_server_takes_integral_ids",
    ]),
    row("F063", &[
        "F063_an_error_without_id_fails_nobody_among_several",
        "F063_an_error_without_id_fails_the_only_caller",
    ]),
    row("F064", &[
        "F064_a_damaged_answer_fails_the_question_it_was_for",
        "F064_both_result_and_error_is_malformed",
        "F064_neither_result_nor_error_is_malformed",
        "F064_the_server_does_not_answer_a_damaged_answer",
        "F064_the_server_refuses_neither",
    ]),
    row("F065", &[
        "F065_a_missing_version_is_tolerated",
        "F065_another_version_is_tolerated",
        "F065_the_server_refuses_a_missing_version",
        "F065_the_server_refuses_another_version",
    ]),
    row("F066", &[
        "F066_a_code_that_is_a_fraction_becomes_internal_and_is_kept",
        "F066_a_code_that_is_text_becomes_internal_and_is_kept",
        "F066_a_missing_message_is_empty",
        "F066_an_error_that_is_no_object_is_an_error",
    ]),
    row("F067", &[
        "F067_a_list_that_is_no_array_names_the_place",
        "F067_a_result_of_the_wrong_type_names_the_place",
        "F067_a_result_that_is_null_is_an_error",
        "F067_bad_entries_are_skipped_and_good_ones_kept",
    ]),
    row("F068", &[
        "F068_an_absent_result_type_is_complete",
        "F068_an_unknown_result_type_is_a_protocol_error",
    ]),
    row("F069", &[
        "F069_an_unknown_notification_is_ignored",
        "F069_an_unknown_request_is_refused_in_the_legacy_era",
        "F069_any_request_is_ignored_in_the_modern_era",
        "F069_the_server_ignores_an_unknown_notification",
        "F069_the_server_refuses_an_unknown_method",
    ]),
    row("F070", &[
        "F070_a_request_with_our_id_is_not_our_answer",
        "F070_the_ids_of_both_sides_are_apart",
    ]),
    row("F071", &[
        "F071_a_cancellation_drops_the_handler_and_is_not_answered",
        "F071_a_cancellation_of_nothing_is_ignored",
        "F071_a_server_cannot_cancel_our_request",
        "F071_the_server_ignores_a_cancellation_of_nothing",
    ]),
    row("F072", &[
        "F072_a_flood_of_progress_is_thinned_to_the_latest",
        "F072_progress_after_the_answer_is_ignored",
        "F072_progress_does_not_extend_the_total",
        "F072_progress_for_nothing_is_ignored",
        "F072_progress_never_goes_backwards",
        "F072_steady_progress_reaches_the_caller_twenty_times_a_second",
        "F072_the_server_ignores_progress",
    ]),
    row("F073", &[
        "F073_no_bound_is_no_panic",
        "F073_progress_forever_ends_at_the_total",
        "F073_silence_ends_at_the_idle_time",
    ]),
    row("F074", &[
        "F074_a_ping_during_the_handshake_is_answered",
        "F074_a_ping_during_the_probe_is_answered",
        "F074_the_server_answers_a_ping_before_the_handshake",
    ]),
    row("F075", &[
        "F075_an_answer_may_come_before_the_request_is_written",
    ]),
    row("F076", &[
        "F076_a_duplicate_in_a_batch_harms_nobody",
        "F076_a_second_request_with_an_id_in_flight_is_refused",
    ]),
    row("F077", &[
        "F077_a_second_initialize_is_refused",
        "F077_the_first_parameters_are_kept",
    ]),
    row("F078", &[
        "F078_one_request_too_many_is_answered_to_its_id",
        "F078_one_request_too_many_is_refused_at_once",
    ]),
];

/// Fails when a row has neither a test nor a reason, when a name is wrong, or when a test is in no row.
pub(crate) fn trial(trials: &[Trial]) -> Trial {
    let there: BTreeSet<String> = trials.iter().map(|trial| trial.name().to_owned()).collect();
    Trial::test("index_every_row_has_a_test_or_waits", move || {
        let expected: Vec<String> = (1..=78).map(|number| format!("F{number:03}")).collect();
        let ids: Vec<&str> = ROWS.iter().map(|row| row.id).collect();
        assert_eq!(ids, expected);
        let mut named = BTreeSet::new();
        for Row { id, tests, waits } in ROWS {
            assert!(!tests.is_empty() || waits.is_some(), "{id} has neither a test nor a reason");
            assert!(waits.is_none() || MAY_WAIT.contains(id), "{id} must not wait");
            for test in *tests {
                assert!(there.contains(*test), "{id}: no such test: {test}");
                named.insert((*test).to_owned());
            }
        }
        let unnamed: Vec<&String> = there.difference(&named).filter(|name| name.starts_with("F0")).collect();
        assert!(unnamed.is_empty(), "in no row: {unnamed:?}");
        Ok(())
    })
}
