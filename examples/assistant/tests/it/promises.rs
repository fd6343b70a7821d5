//! What a service promises, and the tests that hold it to that. Fails when a promise loses its test.

use std::fs;
use std::path::Path;

crate::trials![every_promise_has_its_tests,];

/// A promise, and where it is kept: file and test.
type Promise = (&'static str, &'static [(&'static str, &'static str)]);

const SCENARIOS: &str = "examples/assistant/tests/it/scenarios";
const SERVER: &str = "crates/service/tests/it";
const CLIENT: &str = "crates/service/tests/it/client";

const PROMISES: &[Promise] = &[
    (
        "tools, resources and prompts are mapped from the service",
        &[
            ("tools.talk", "tools_list"),
            ("resources.talk", "resources_list"),
            ("prompts.talk", "prompts_list"),
        ],
    ),
    ("methods that stream do so over every transport", &[("tools.talk", "tool_process_batch_json")]),
    (
        "the typed client is the service",
        &[
            ("same.rs", "the_service_its_clients_and_an_arc_of_it_are_the_same"),
            (
                "crates/switchboard/tests/it/service.rs",
                "a_service_is_the_same_directly_shared_and_behind_a_pointer",
            ),
        ],
    ),
    (
        "the design is one value, known without an implementation",
        &[
            ("examples/assistant/tests/it/documents.rs", "the_design_is_sound_and_survives_json"),
            ("crates/switchboard/tests/it/service.rs", "the_design_says_what_the_trait_says"),
        ],
    ),
    (
        "the original transport and the command line come from it",
        &[
            ("rpc.rs", "every_method_is_called_by_its_name_in_rust"),
            ("rpc_client.rs", "a_client_of_the_plain_endpoint_is_the_service_too"),
            ("examples/assistant/tests/it/cli.rs", "a_tool_is_a_command"),
        ],
    ),
    (
        "the same design gives the same text",
        &[
            ("crates/macros/src/expand/tests.rs", "golden"),
            ("examples/assistant/tests/it/documents.rs", "the_quickstart_is_that_of_the_design"),
        ],
    ),
    (
        "nothing is written that gets in the way of others",
        &[
            ("crates/switchboard/tests/it/service_shapes.rs", "a_glob_of_both_leaves_no_method_in_doubt"),
            ("crates/switchboard/tests/it/service_shapes.rs", "a_service_can_stand_in_a_function"),
            ("crates/switchboard/tests/it/service_shapes.rs", "a_service_can_come_from_another_macro"),
        ],
    ),
    (
        "a stream is a parameter: events in order, the result last",
        &[("streams.rs", "events_come_in_order_and_the_result_last_however_they_hold_json")],
    ),
    ("stream items hold JSON in one of three ways", &[("streaming.rs", "json_stands_in_items_as_chosen")]),
    (
        "versions are negotiated, or one is insisted on",
        &[
            ("protocol.talk", "initialize_unsupported_version"),
            ("protocol.talk", "initialize_missing_version"),
            ("protocol.talk", "initialize_twice"),
        ],
    ),
    (
        "the logger sees everything but payloads",
        &[("logging.rs", "every_request_is_told_twice_and_nothing_of_what_it_carries")],
    ),
    (
        "the error mapper is asked once, and a panic ends one request",
        &[
            ("errors.rs", "an_error_mapper_is_asked_once_for_each_error_before_it_is_told"),
            ("errors.rs", "a_method_that_panics_ends_its_own_request_only"),
        ],
    ),
    (
        "denied resources are neither listed, read nor subscribed to",
        &[
            ("resources.rs", "what_is_denied_is_neither_listed_read_nor_subscribed_to"),
            ("resources.talk", "resources_read_denied_uri"),
        ],
    ),
    (
        "mapped methods go over MCP, others to the fallback",
        &[
            ("same.rs", "what_is_mapped_goes_over_mcp_only_and_the_rest_to_the_fallback_only"),
            (
                "crates/switchboard/tests/it/service_rpc.rs",
                "a2_a_client_without_a_fallback_calls_all_that_is_mapped",
            ),
        ],
    ),
    (
        "schemas that every client reads",
        &[
            ("tools.talk", "tools_list_schema"),
            ("crates/switchboard/tests/programs/interop/assistant.rs", "typescript"),
        ],
    ),
    (
        "required, enums and types are checked, all at once",
        &[
            ("tools.talk", "tool_call_missing_args"),
            ("tools.talk", "tool_call_invalid_enum"),
            ("tools.talk", "tool_call_invalid_arg_type"),
            ("tools.talk", "tool_call_malformed_arguments"),
            ("tools.rs", "all_that_is_wrong_with_arguments_is_told_with_pointers"),
        ],
    ),
    ("pure MCP needs a role for every method", &[("checks/tests/ui/roles.stderr", "internal")]),
    (
        "URIs and queries become typed arguments, and back",
        &[
            ("typed.rs", "a_query_is_typed_by_the_parameter_on_the_other_side"),
            ("typed.rs", "the_arguments_of_a_resource_arrive_as_they_were"),
            ("resources.talk", "resources_read_coercions"),
            ("resources.talk", "resources_read_invalid_query_type"),
        ],
    ),
    (
        "a quickstart is written, checked, refused and left out",
        &[
            ("crates/cli/tests/it/services.rs", "a_quickstart_is_written_checked_and_kept_up_to_date"),
            ("crates/cli/tests/it/services.rs", "a_quickstart_never_touches_a_file_of_somebody_else"),
            ("crates/cli/tests/it/services.rs", "a_design_that_wants_no_quickstart_gets_none"),
        ],
    ),
    (
        "a scaffold belongs to the application, compiles and passes",
        &[
            ("crates/cli/tests/it/scaffold.rs", "d1_files_that_were_changed_or_removed_stay_so"),
            ("crates/cli/tests/it/scaffold.rs", "v1_a_new_project_with_an_agent_builds_and_passes_its_tests"),
        ],
    ),
    (
        "nothing but a ping before the handshake",
        &[
            ("protocol.talk", "call_before_init"),
            ("protocol.talk", "ping_basic"),
            ("prompts.talk", "prompts_get_missing_arg_http"),
        ],
    ),
    (
        "error codes by table, the same in a stream",
        &[
            ("errors.rs", "the_table_holds_in_every_revision"),
            ("rpc.rs", "an_error_in_a_stream_is_the_same_as_without_one"),
            ("rpc.rs", "an_id_keeps_its_type"),
        ],
    ),
    (
        "receiving from a stream gives typed errors",
        &[("streams.rs", "an_error_in_the_middle_is_an_error_and_then_the_end")],
    ),
    (
        "wrong arguments become a repair prompt, for tools and prompts",
        &[
            ("repair.rs", "the_repair_prompt_is_the_same_however_the_server_tells_of_it"),
            ("repair.rs", "the_loop_stops_at_its_limit_with_the_last_error"),
            ("examples/assistant/tests/it/cli.rs", "generate_prompts_invalid_cli_retry"),
        ],
    ),
    (
        "accepted types are negotiated",
        &[
            ("tools.talk", "tool_analyze_sentiment_sse_on_non_streaming"),
            ("crates/switchboard/tests/it/door/accept.rs", "as_the_specification_has_it"),
        ],
    ),
    (
        "binary content is a resource with bytes or a link",
        &[
            ("tools.talk", "tool_process_batch_stream_blob"),
            ("tools.talk", "tool_process_batch_stream_uri"),
            ("tools.rs", "text_nothing_and_content_are_content"),
        ],
    ),
    (
        "arguments of resources are forwarded in the query",
        &[("typed.rs", "arguments_are_forwarded_in_order_of_declaration_without_what_is_not_given")],
    ),
    (
        "subscriptions and events reach whoever listens, and nobody is held up",
        &[
            ("watching.rs", "a_watcher_begins_with_the_first_subscriber_and_ends_with_the_last"),
            ("it/events.rs", "a_slow_listener_loses_the_oldest_is_told_how_many_and_holds_nobody_up"),
            ("it/events.rs", "every_listener_hears_every_event_in_order_until_it_cancels"),
            ("notifications.talk", "notify_status_update_request"),
        ],
    ),
    (
        "questions are asked in both eras by the same code",
        &[
            ("asking.rs", "questions_asked_at_once_are_one_round"),
            ("asking.rs", "questions_one_after_another_are_asked_once_each_and_a_step_is_taken_once"),
            ("asking.rs", "a_state_that_was_changed_or_is_of_another_call_caller_or_server_is_refused"),
            ("asking.rs", "an_answer_to_a_question_that_has_changed_is_asked_for_anew"),
        ],
    ),
    (
        "cancelling drops the method",
        &[
            ("cancelling.rs", "a_call_that_is_dropped_drops_its_method"),
            ("cancelling.rs", "a_connection_that_ends_drops_its_methods"),
        ],
    ),
    (
        "tasks, in both of their protocols",
        &[
            ("crates/service/tests/it/tasks/mod.rs", "a_call_is_followed_to_its_result_in_both_protocols"),
            ("tasking.rs", "a_tool_runs_as_a_task_where_design_and_caller_say_so"),
        ],
    ),
    (
        "several services are one server",
        &[("composing.rs", "two_services_are_one_server_and_each_call_goes_to_whose_it_is")],
    ),
    (
        "a lock tells breaking changes from compatible ones",
        &[
            ("crates/cli/tests/it/services.rs", "a_lock_tells_breaking_changes_from_compatible_ones"),
            ("examples/assistant/tests/it/documents.rs", "the_design_keeps_its_promises"),
        ],
    ),
    (
        "mistakes in a design are told where they are",
        &[("checks/tests/compile_fail.rs", "mistakes_are_told_where_they_are")],
    ),
];

/// The text of a file, which is named whole or as one of the usual places has it.
fn text(file: &str) -> Option<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let places = [
        String::new(),
        format!("{SCENARIOS}/"),
        format!("{CLIENT}/"),
        format!("{SERVER}/"),
        "crates/service/tests/".into(),
    ];
    // The same name may stand in several places: then any may have it.
    let found: Vec<String> = places
        .iter()
        .filter_map(|place| fs::read_to_string(root.join(format!("{place}{file}"))).ok())
        .collect();
    (!found.is_empty()).then(|| found.join("\n"))
}

fn every_promise_has_its_tests() {
    let mut missing = Vec::new();
    for (promise, tests) in PROMISES {
        for (file, test) in *tests {
            if !text(file).is_some_and(|text| text.contains(test)) {
                missing.push(format!("{promise}: {file} has no {test}"));
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}
