//! `switchboard test`: compares a server with a recording.

use serde_json::json;
use switchboard::host::permission::Verdict;
use switchboard::protocol::Raw;
use switchboard_recording::{Difference, DifferenceKind, ServerTest, TestReport, TestStep, TestStepOutcome};

use crate::args::{ServerTarget, TestArgs};
use crate::command::replay::{read_recording, replay_error};
use crate::configured_servers::{HostRequest, HostedServers, with_host};
use crate::connect::{CommandSession, no_server, with_connection_and_handler};
use crate::error::CommandError;
use crate::output::OutputStream;
use crate::sanitize::one_line;

/// A longer value is cut in text output.
const MAX_VALUE: usize = 400;
/// More differences of one request than these are only counted.
const MAX_SHOWN: usize = 40;

/// Sends the recorded requests to a server and reports the differences of its answers.
///
/// # Errors
/// Returns an error if the recording cannot be read, the server cannot be used, or an answer differs.
pub(crate) async fn run(args: TestArgs) -> Result<(), CommandError> {
    let TestArgs { file, ignore, recorded, mut target } = args;
    let recording = read_recording(&file)?;
    // A configured server has the same name in a recording of it.
    let same_name =
        target.server.clone().filter(|name| recording.servers.iter().any(|server| *server.name == **name));
    let recorded = recorded.or(same_name);
    let test = ServerTest::new(&recording, recorded.as_deref())
        .map_err(|error| replay_error(&error, "--recorded"))?
        .ignoring(ignore);
    target.options.revision = target.options.revision.or(test.revision());
    let is_json = target.options.json;
    let report = run_test(&test, &target).await?;
    let out = OutputStream::stdout();
    out.print(&if is_json { json_report(&report) } else { text_report(&report, &out) })?;
    match report.failures().count() {
        0 => Ok(()),
        count => Err(CommandError::other(
            "test_failed",
            format!("{count} of {} answers differ from the recording", tested(&report)),
        )
        .hint("--ignore PATH leaves a volatile member out; a value of the recording may be \"<any>\"")),
    }
}

async fn run_test(test: &ServerTest, target: &ServerTarget) -> Result<TestReport, CommandError> {
    if !target.is_configured() {
        let use_it = async |connection: &CommandSession| {
            Ok(test.run(&connection.session, connection.handshake_result().as_ref()).await)
        };
        return with_connection_and_handler(target, Some(test.handler()), use_it).await;
    }
    let name = target.server.clone().ok_or_else(no_server)?;
    let request = HostRequest::new(Some(name.clone()), target.options.clone());
    with_host(HostRequest { handler: Some(test.handler()), ..request }, async |hosted| {
        hosted.start_usable().await?;
        check_permissions(hosted, test, &name)?;
        let connection = hosted.connection(&name).await?;
        Ok(test.run(&connection.session, None::<&Raw>).await)
    })
    .await
}

/// Rejects a test that calls a tool which the user's rules deny.
fn check_permissions(hosted: &HostedServers, test: &ServerTest, server: &str) -> Result<(), CommandError> {
    let tools = hosted.host.all_tools();
    for called in test.tools() {
        let listed = tools.iter().find(|tool| tool.server() == server && tool.tool().name == called);
        let Some(decision) = listed.map(|tool| hosted.decide(tool)) else { continue };
        if decision.verdict == Verdict::Deny {
            let name = format!("{}/{}", one_line(server), one_line(called));
            return Err(CommandError::other("denied", format!("the recording calls {name}: {decision}"))
                .hint("change the rule in `permissions`, or test the program itself with -- CMD"));
        }
    }
    Ok(())
}

fn tested(report: &TestReport) -> usize {
    report.steps.iter().filter(|step| step.outcome != TestStepOutcome::Skipped).count()
}

fn text_report(report: &TestReport, out: &OutputStream) -> String {
    let mut text = String::new();
    for TestStep { request, outcome, .. } in &report.steps {
        let request = one_line(request);
        match outcome {
            TestStepOutcome::Same => text += &format!("{} {request}\n", out.green("ok  ")),
            TestStepOutcome::Skipped => text += &format!("{} {request}\n", out.dim("skip")),
            TestStepOutcome::Failed(error) => {
                text += &format!("{} {request}\n       {}\n", out.red("fail"), one_line(error));
            }
            TestStepOutcome::Different(differences) => {
                text += &format!("{} {request}\n", out.red("diff"));
                for difference in differences.iter().take(MAX_SHOWN) {
                    text += &text_difference(difference, out);
                }
                if differences.len() > MAX_SHOWN {
                    text += &format!("       and {} more differences\n", differences.len() - MAX_SHOWN);
                }
            }
        }
    }
    text
}

fn text_difference(difference: &Difference, out: &OutputStream) -> String {
    let value = |value: &serde_json::Value| {
        let text = one_line(&value.to_string());
        let shown = &text[..text.floor_char_boundary(MAX_VALUE)];
        let more = if shown.len() < text.len() { "…" } else { "" };
        format!("{shown}{more}")
    };
    let removed = |expected| format!("       {}\n", out.red(&format!("- {}", value(expected))));
    let added = |actual| format!("       {}\n", out.green(&format!("+ {}", value(actual))));
    let lines = match &difference.kind {
        DifferenceKind::Missing { expected } => removed(expected),
        DifferenceKind::Unexpected { actual } => added(actual),
        DifferenceKind::Changed { expected, actual } => removed(expected) + &added(actual),
    };
    format!("     {}\n{lines}", one_line(&difference.path))
}

fn json_report(report: &TestReport) -> String {
    let steps: Vec<_> = report
        .steps
        .iter()
        .map(|step| match &step.outcome {
            TestStepOutcome::Same => json!({ "request": step.request, "outcome": "same" }),
            TestStepOutcome::Skipped => json!({ "request": step.request, "outcome": "skipped" }),
            TestStepOutcome::Failed(error) => {
                json!({ "request": step.request, "outcome": "failed", "error": error })
            }
            TestStepOutcome::Different(differences) => {
                let differences: Vec<_> = differences.iter().map(json_difference).collect();
                json!({ "request": step.request, "outcome": "different", "differences": differences })
            }
        })
        .collect();
    format!("{}\n", json!({ "success": report.is_success(), "steps": steps }))
}

fn json_difference(difference: &Difference) -> serde_json::Value {
    let path = &difference.path;
    match &difference.kind {
        DifferenceKind::Missing { expected } => json!({ "path": path, "expected": expected }),
        DifferenceKind::Unexpected { actual } => json!({ "path": path, "actual": actual }),
        DifferenceKind::Changed { expected, actual } => {
            json!({ "path": path, "expected": expected, "actual": actual })
        }
    }
}
