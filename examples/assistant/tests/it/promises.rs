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
            ("one_trait.rs", "service_clients_and_arc_behave_identically"),
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
            ("rpc.rs", "every_method_is_called_by_its_rust_name"),
            ("rpc_client.rs", "the_plain_endpoint_client_implements_the_trait"),
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
        &[("streams.rs", "events_precede_the_result_in_every_encoding")],
    ),
    (
        "stream items hold JSON in one of three ways",
        &[("streaming.rs", "stream_json_selects_the_encoding_of_items")],
    ),
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
        &[("logging.rs", "requests_and_responses_are_logged_without_payloads")],
    ),
    (
        "the error mapper is asked once, and a panic ends one request",
        &[
            ("errors.rs", "the_error_mapper_is_called_once_per_error"),
            ("errors.rs", "a_panic_fails_only_its_own_request"),
        ],
    ),
    (
        "denied resources are neither listed, read nor subscribed to",
        &[
            ("resources.rs", "denied_resources_cannot_be_listed_read_or_subscribed_to"),
            ("resources.talk", "resources_read_denied_uri"),
        ],
    ),
    (
        "mapped methods go over MCP, others to the fallback",
        &[
            ("one_trait.rs", "mapped_methods_use_mcp_and_others_the_fallback"),
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
            ("tools.rs", "all_argument_issues_are_reported_with_pointers"),
        ],
    ),
    ("pure MCP needs a role for every method", &[("checks/tests/ui/roles.stderr", "internal")]),
    (
        "URIs and queries become typed arguments, and back",
        &[
            ("typed.rs", "query_values_are_converted_to_the_parameter_type"),
            ("typed.rs", "the_arguments_of_a_resource_round_trip"),
            ("resources.talk", "resources_read_coercions"),
            ("resources.talk", "resources_read_invalid_query_type"),
        ],
    ),
    (
        "a quickstart is written, checked, refused and left out",
        &[
            ("crates/cli/tests/it/services.rs", "a_quickstart_is_written_checked_and_kept_up_to_date"),
            ("crates/cli/tests/it/services.rs", "a_quickstart_never_changes_a_foreign_file"),
            ("crates/cli/tests/it/services.rs", "a_design_may_disable_the_quickstart"),
        ],
    ),
    (
        "a scaffold belongs to the application, compiles and passes",
        &[
            ("crates/cli/tests/it/scaffold.rs", "d1_changed_or_deleted_files_stay_that_way"),
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
            ("errors.rs", "errors_are_mapped_as_specified_in_every_revision"),
            ("rpc.rs", "errors_in_a_stream_are_the_same_as_without_one"),
            ("rpc.rs", "an_id_keeps_its_type"),
        ],
    ),
    (
        "receiving from a stream gives typed errors",
        &[("streams.rs", "an_error_in_the_middle_ends_the_stream")],
    ),
    (
        "wrong arguments become a repair prompt, for tools and prompts",
        &[
            ("repair.rs", "the_repair_prompt_does_not_depend_on_how_the_server_reports_errors"),
            ("repair.rs", "the_repair_loop_stops_at_its_limit_with_the_last_error"),
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
            ("tools.rs", "text_unit_and_contents_are_content"),
        ],
    ),
    (
        "arguments of resources are forwarded in the query",
        &[("typed.rs", "arguments_are_sent_in_declaration_order_without_absent_ones")],
    ),
    (
        "subscriptions and events reach whoever listens, and nobody is held up",
        &[
            ("watchers.rs", "a_watcher_runs_from_the_first_to_the_last_subscriber"),
            ("it/events.rs", "a_slow_listener_loses_the_oldest_events_without_blocking_others"),
            ("it/events.rs", "every_listener_gets_every_event_in_order_until_it_cancels"),
            ("notifications.talk", "notify_status_update_request"),
        ],
    ),
    (
        "questions are asked in both eras by the same code",
        &[
            ("elicitation.rs", "concurrent_requests_are_one_round"),
            ("elicitation.rs", "sequential_requests_are_sent_once_and_a_step_runs_once"),
            ("elicitation.rs", "a_forged_or_foreign_request_state_is_rejected"),
            ("elicitation.rs", "a_changed_request_is_sent_again"),
        ],
    ),
    (
        "cancelling drops the method",
        &[
            ("cancellation.rs", "dropping_a_call_drops_its_method"),
            ("cancellation.rs", "closing_a_connection_drops_its_methods"),
        ],
    ),
    (
        "tasks, in both of their protocols",
        &[
            ("crates/service/tests/it/tasks/mod.rs", "a_call_is_followed_to_its_result_in_both_protocols"),
            ("task_tools.rs", "a_tool_runs_as_a_task_if_design_and_caller_agree"),
        ],
    ),
    (
        "several services are one server",
        &[("composition.rs", "calls_are_routed_to_the_composed_service_that_has_the_item")],
    ),
    (
        "a lock tells breaking changes from compatible ones",
        &[
            ("crates/cli/tests/it/services.rs", "a_lock_distinguishes_breaking_from_compatible_changes"),
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
