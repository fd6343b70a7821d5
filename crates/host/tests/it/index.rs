//! The table of rows that are the host's: every one has a test here, or it is said where it is tested.

use std::path::Path;

use switchboard_testkit::Trial;

/// A row, and the end of the name of each test of it.
const HERE: &[(&str, &[&str])] = &[
    ("F003", &["f003_a_server_that_exits_during_the_handshake_is_tried_so_often_and_no_more"]),
    ("F008", &["f008_a_crash_ends_every_call_on_it_and_replays_none", "a_killed_server_is_started_again"]),
    ("F025", &["f025_hostile_servers_are_stopped_in_parallel"]),
    ("F028", &["f028_a_server_that_exits_again_and_again_is_given_up_and_a_reconnect_begins_anew"]),
    ("F143", &["f143_a_cursor_that_repeats_ends_the_list"]),
    ("F144", &["f144_cursors_without_end_are_bounded"]),
    ("F145", &["f145_an_empty_cursor_is_followed_once"]),
    ("F146", &["f146_a_cursor_that_is_not_known_any_more_begins_the_list_anew"]),
    ("F147", &["f147_of_two_tools_of_one_name_on_two_pages_neither_is_mistaken_for_the_other"]),
    ("F148", &["a_flood_of_changes_costs_few_lists"]),
    ("F149", &["f149_a_server_that_tells_of_a_change_with_every_list_is_not_followed_for_ever"]),
    ("F150", &["tools_that_vanish_during_a_call_do_not_end_it"]),
    ("F153", &["f153_without_descriptors_a_server_is_not_started_and_the_others_go_on"]),
    ("F154", &["f154_an_approval_that_cannot_be_stored_is_none"]),
    ("F156", &["f156_starved_of_time_every_answer_still_finds_its_call"]),
    ("F157", &["f157_fifty_idle_servers_stay_within_the_memory"]),
    ("F158", &["f158_a_tool_that_blocks_its_thread_holds_up_nobody_else"]),
    ("F159", &["f159_text_is_utf_8_whatever_the_locale"]),
    ("F160", &["f160_a_server_of_the_future_is_told_what_is_spoken"]),
    ("T09", &["t09_a_server_has_three_descriptors_and_no_terminal"]),
    ("T14", &["t14_neighbours_on_one_server_never_see_each_others_answers"]),
    ("T39", &["a_changed_definition_is_told", "a_changed_definition_can_be_withheld_until_it_is_accepted"]),
    (
        "T43",
        &[
            "t43_an_address_a_server_asks_about_is_shown_and_not_visited",
            "t43_questions_without_end_are_ended",
            "a_server_that_asks_a_caller_without_answers_is_refused",
        ],
    ),
];

/// Rows whose test stands elsewhere: a source file of this workspace, and words of it.
const ELSEWHERE: &[(&str, &str, &str)] = &[
    ("F151", "crates/host/src/connection/sleep_watcher.rs", "slept_before(&later(8 * 3600, 5))"),
    ("F155", "crates/cli/tests/it/shutdown.rs", "broken_pipe()"),
    ("T04", "crates/config/tests/it/files.rs", "T04_"),
    ("T05", "crates/host/tests/offline/config_entry.rs", "T05_"),
    ("T07", "crates/host/tests/offline/config_entry.rs", "T07_"),
    ("T08", "crates/host/tests/offline/config_entry.rs", "T08_"),
    ("T10", "crates/config/tests/it/files.rs", "T10_"),
    ("T38", "crates/host/tests/offline/permission.rs", "T38_"),
    ("T40", "crates/config/tests/it/names.rs", "T40_"),
    ("T41", "crates/config/tests/it/files.rs", "T41_"),
    ("T42", "crates/host/tests/offline/permission.rs", "T42_"),
];

/// F152: deadlines are by the clock that nobody can set. The other one is read in these files only: the age of a file,
/// sleep of the machine, how long a sealed state holds, and whether a certificate was replaced.
const WALL_CLOCK: &[&str] = &[
    "crates/host/src/config/file_watcher.rs",
    "crates/host/src/connection/sleep_watcher.rs",
    "crates/session/src/era/modern/seal.rs",
    "crates/transport/src/http/server/tls.rs",
];

/// Source files below a folder that name the clock on the wall.
fn wall_clocks(root: &Path, folder: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            wall_clocks(root, &path, found);
        } else if std::fs::read_to_string(&path).unwrap_or_default().contains("SystemTime") {
            found.push(path.strip_prefix(root).unwrap().to_str().unwrap().to_owned());
        }
    }
}

/// Fails when a row has lost its test.
pub(crate) fn trial(trials: &[Trial]) -> Trial {
    let names: Vec<String> = trials.iter().map(|trial| trial.name().to_owned()).collect();
    Trial::test("index::every_row_has_its_test", move || {
        for (row, tests) in HERE {
            for test in *tests {
                assert!(names.iter().any(|name| name.ends_with(test)), "{row} has lost {test}");
            }
        }
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for (row, file, words) in ELSEWHERE {
            let text = std::fs::read_to_string(root.join(file)).unwrap_or_default();
            assert!(text.contains(words), "{row} has lost {words:?} in {file}");
        }
        let mut found = Vec::new();
        for name in ["config", "host", "http", "session", "transport"] {
            wall_clocks(&root, &root.join("crates").join(name).join("src"), &mut found);
        }
        found.sort();
        assert_eq!(found, WALL_CLOCK, "F152");
        Ok(())
    })
}
