//! The programs that come from the design, run as their users run them.

use std::process::{Command, Output};

crate::trials![
    a_tool_is_a_command,
    a_failed_tool_has_its_exit_code,
    where_nobody_can_be_asked_the_exit_code_says_so,
    generate_prompts_invalid_cli_retry,
    assistant_send_notification_cli,
    the_design_is_printed_without_serving,
];

const ASSISTANT: &str = env!("CARGO_BIN_EXE_assistant");

/// Runs the client against a server that it starts itself.
fn cli(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_assistant-cli"))
        .args(["--stdio", &format!("{ASSISTANT} serve --stdio")])
        .args(words)
        .output()
        .expect("the program starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn a_tool_is_a_command() {
    let output = cli(&["--json", "analyze-sentiment", "--text", "I love it"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let said: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let data = said.get("structuredContent").unwrap_or(&said);
    assert_eq!(data["sentiment"], "positive");
}

fn a_failed_tool_has_its_exit_code() {
    let output = cli(&["process-batch", "--items", "fail"]);
    assert_eq!(output.status.code(), Some(4), "{}", text(&output.stdout));
    assert!(text(&output.stderr).contains("Item 0 cannot be processed."), "{}", text(&output.stderr));
}

fn where_nobody_can_be_asked_the_exit_code_says_so() {
    let output = cli(&["execute-code", "--language", "python", "--code", "1"]);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
}

// The counterpart of the scenario generate_prompts_invalid_cli_retry.
fn generate_prompts_invalid_cli_retry() {
    let output = cli(&["--explain", "prompt", "contextual_prompts", "--context", "tests", "--task", "nope"]);
    assert_eq!(output.status.code(), Some(2));
    let told = text(&output.stderr);
    let wanted = [
        "\nOperation: prompts/get:contextual_prompts\nSchema: {",
        "\nError: ",
        "\nRedo the operation now with valid parameters.\n\
         Use only valid schema fields and ensure required fields and types/enums are valid.\n\
         Example params: {",
    ];
    for part in wanted {
        assert!(told.contains(part), "{part:?} is not in\n{told}");
    }
    let again = cli(&["prompt", "contextual_prompts", "--context", "tests", "--task", "write"]);
    assert_eq!(again.status.code(), Some(0));
    assert!(text(&again.stdout).contains("Write something about tests."));
}

// The counterpart of the scenario assistant_send_notification_cli.
fn assistant_send_notification_cli() {
    let output = cli(&["notify", "status_update", r#"{"type":"status","message":"busy"}"#]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let wrong = cli(&["notify", "status_update", r#"{"message":7}"#]);
    assert_eq!(wrong.status.code(), Some(2), "{}", text(&wrong.stdout));
}

fn the_design_is_printed_without_serving() {
    let output = Command::new(ASSISTANT).args(["design", "print", "--json"]).output().expect("it starts");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let design: switchboard::service::design::Design =
        serde_json::from_slice(&output.stdout).expect("a design");
    assert_eq!(&design, &**assistant::AssistantServer::<()>::design());
}
