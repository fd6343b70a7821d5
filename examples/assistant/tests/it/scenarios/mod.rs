//! Every scenario against the assistant: in each era, over memory, stdio and HTTP, and under both tables of errors.
//!
//! The program is also its own child: with `ASSISTANT_SERVES` set it serves on stdin and stdout.

mod play;
mod scenario;
mod wire;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use assistant::service::InMemory;
use assistant::{AssistantEvents, AssistantServer};
use libtest_mimic::{Failed, Trial};
use switchboard::Server;
use switchboard::service::{ErrorPolicy, VersionPolicy};

use crate::scenarios::play::{Way, play};
use crate::scenarios::scenario::Scenario;
use crate::scenarios::wire::Wire;

/// What the child serves: the policy, the revision, and the resources it denies.
const SERVES: &str = "ASSISTANT_SERVES";

const REVISIONS: [&str; 3] = ["2026-07-28", "2025-11-25", "2025-06-18"];
const POLICIES: [&str; 2] = ["spec", "seed"];
const OVER: [&str; 3] = ["memory", "stdio", "http"];

/// The scenarios that there must be. Two of them are of the command line, in `cli.rs`.
const NAMES: [&str; 55] = [
    "tools_call_typed_error_invalid_params",
    "tools_call_typed_error_method_not_found",
    "initialize_basic",
    "initialize_tools_only",
    "initialize_unsupported_version",
    "initialize_twice",
    "call_before_init",
    "prompts_list_before_init",
    "resources_list_before_init",
    "invalid_method",
    "initialize_missing_version",
    "initialize_fields",
    "ping_basic",
    "notification_no_response",
    "tools_list",
    "tools_list_schema",
    "tool_analyze_sentiment",
    "tool_extract_keywords",
    "tool_summarize_text",
    "tool_search_knowledge",
    "tool_search_knowledge_default_limit",
    "tool_execute_code_python",
    "tool_execute_code_javascript",
    "tool_execute_code_invalid_language",
    "tool_call_invalid_name",
    "tool_call_missing_args",
    "tool_call_invalid_arg_type",
    "tool_call_invalid_enum",
    "tool_call_malformed_arguments",
    "tool_process_batch_invalid_enum",
    "tool_process_batch_json",
    "tool_process_batch_stream_text",
    "tool_process_batch_stream_blob",
    "tool_process_batch_stream_uri",
    "tool_analyze_sentiment_sse_on_non_streaming",
    "tool_process_batch_stream_error",
    "resources_read_denied_by_name",
    "resources_read_uninitialized",
    "resources_list",
    "resources_read_system",
    "resources_read_conversation_with_params",
    "resources_read_coercions",
    "resources_read_invalid_query_type",
    "resources_read_invalid",
    "resources_read_denied_uri",
    "resources_subscribe_unsubscribe",
    "prompts_list",
    "prompts_get_static",
    "prompts_get_dynamic",
    "prompts_get_invalid",
    "prompts_get_missing_name",
    "prompts_get_missing_arg_http",
    "notify_status_update_no_response",
    "notify_status_update_request",
    "notify_status_update_request_uninitialized",
];

/// Serves what a variable names, if it is set.
pub(crate) fn work_as_child() -> Option<ExitCode> {
    std::env::var(SERVES).ok().map(|serves| serve_as_child(&serves))
}

pub(crate) fn all() -> Result<Vec<Trial>, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/scenarios");
    let scenarios = scenario::read_all(&folder)?;
    let names: Vec<String> = scenarios.iter().map(|scenario| scenario.name.clone()).collect();
    let mut trials: Vec<Trial> = scenarios.into_iter().flat_map(trials).collect();
    trials.push(Trial::test("every_scenario_is_there", move || {
        let missing: Vec<_> = NAMES.iter().filter(|name| !names.iter().any(|known| known == *name)).collect();
        if missing.is_empty() { Ok(()) } else { Err(format!("missing: {missing:?}").into()) }
    }));
    Ok(trials)
}

/// A scenario in each way it holds for.
fn trials(scenario: Scenario) -> Vec<Trial> {
    let scenario = Arc::new(scenario);
    let allows = |list: &Option<Vec<String>>, value: &str| {
        list.as_ref().is_none_or(|list| list.iter().any(|known| known == value))
    };
    let mut trials = Vec::new();
    for revision in REVISIONS {
        for policy in POLICIES {
            for over in OVER {
                let way = Way { revision, policy, over };
                if !allows(&scenario.eras, way.era())
                    || !allows(&scenario.revisions, revision)
                    || !allows(&scenario.over, over)
                {
                    continue;
                }
                let scenario = Arc::clone(&scenario);
                let name = format!("{} [{revision} {policy} {over}]", scenario.name);
                trials.push(Trial::test(name, move || {
                    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
                    runtime.block_on(run(&scenario, way)).map_err(Failed::from)
                }));
            }
        }
    }
    trials
}

async fn run(scenario: &Scenario, way: Way) -> Result<(), String> {
    let wire = match way.over {
        "memory" => Wire::in_memory(server(way.policy, way.revision, &scenario.deny)?),
        "stdio" => {
            let serves = format!("{} {} {}", way.policy, way.revision, scenario.deny.join(" "));
            let child = std::env::current_exe().and_then(|program| {
                tokio::process::Command::new(program)
                    .env(SERVES, serves)
                    .stdin(std::process::Stdio::piped())
                    .stdout(std::process::Stdio::piped())
                    .kill_on_drop(true)
                    .spawn()
            });
            Wire::of_child(child.map_err(|error| error.to_string())?)
        }
        _ => {
            let server = server(way.policy, way.revision, &scenario.deny)?;
            Wire::over_http(&server, way.revision, way.is_modern(), scenario.accept.as_deref()).await?
        }
    };
    play(scenario, way, wire).await
}

/// The assistant under a policy. The strict one takes one version alone, and every error is a code.
fn server(policy: &str, revision: &str, deny: &[String]) -> Result<Arc<Server>, String> {
    let (events, feed) = AssistantEvents::channel(16);
    let mut builder = AssistantServer::builder(InMemory::new(events))
        .events(feed)
        .accept_notifications(true)
        .deny_resources(deny);
    if policy == "seed" {
        builder = builder
            .error_policy(ErrorPolicy::Codes)
            .version_policy(VersionPolicy::Exact)
            .protocol_version_override(revision);
    }
    builder.build().map_err(|mistakes| mistakes.to_string())
}

fn serve_as_child(serves: &str) -> ExitCode {
    let mut words = serves.split_whitespace();
    let (policy, revision) = (words.next().unwrap_or("spec"), words.next().unwrap_or_default());
    let deny: Vec<String> = words.map(str::to_owned).collect();
    let served =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| error.to_string());
    let served = served.and_then(|runtime| {
        let server = server(policy, revision, &deny)?;
        runtime.block_on(switchboard::serve_stdio(&server)).map_err(|error| error.to_string())
    });
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
