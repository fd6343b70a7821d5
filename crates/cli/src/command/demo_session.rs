//! `switchboard demo --trace` or `--revision`: demonstrates a session with one server.

use switchboard::json;

use crate::args::{DemoArgs, RemoteArgs, ServerTarget, SessionOptions};
use crate::command::call::call;
use crate::connect::{CommandSession, server_summary, with_connection};
use crate::error::CommandError;
use crate::output::{Signature, encode, indented, pluralize, render_contents, render_result};
use crate::sanitize::one_line;

pub(crate) async fn run(args: &DemoArgs) -> Result<(), CommandError> {
    let options = SessionOptions { trace: args.trace, revision: args.revision, ..SessionOptions::default() };
    let program = std::env::current_exe()?;
    let command = vec![program.into(), "demo-server".into()];
    let target = ServerTarget { options, remote: RemoteArgs::default(), server: None, command };
    with_connection(&target, run_steps).await
}

/// Prints each command of the demonstration and its output, all over one session.
async fn run_steps(connection: &CommandSession) -> Result<(), CommandError> {
    let out = &connection.out;
    let command = |text: &str| format!("\n{} {}\n", out.green("$"), out.bold(text));
    let mut text = command("switchboard info -- switchboard demo-server");
    text += &format!("  connected to {}\n", server_summary(connection.session_info()?));
    out.print(&text)?;

    let tools = connection.session.list_tools().await?;
    let mut text = command("switchboard tools -- switchboard demo-server");
    for tool in &*tools {
        let inner = out.narrower(2);
        for line in Signature::of_tool(tool).render(&inner).lines() {
            text += &format!("  {line}\n");
        }
    }
    let resources = connection.session.list_resources().await?;
    let templates = connection.session.list_resource_templates().await?;
    let prompts = connection.session.list_prompts().await?;
    text += &out.dim(&format!(
        "  {}, {}, {}, {}\n",
        pluralize(tools.len(), "tool"),
        pluralize(resources.len(), "resource"),
        pluralize(templates.len(), "resource template"),
        pluralize(prompts.len(), "prompt"),
    ));
    out.print(&text)?;

    out.print(&command("switchboard call add a=19 b=23 -- switchboard demo-server"))?;
    call_and_print(connection, "add", json!({ "a": 19, "b": 23 })).await?;
    out.print(&command("switchboard call countdown from=5 -- switchboard demo-server"))?;
    call_and_print(connection, "countdown", json!({ "from": 5, "interval_ms": 200 })).await?;
    if let Some(first) = resources.first() {
        out.print(&command(&format!(
            "switchboard read {} -- switchboard demo-server",
            one_line(&first.uri)
        )))?;
        let read = connection.session.read_resource(&first.uri).await?;
        out.print(&indented(&render_contents(&read.contents, out), "  ", out.prose_width()))?;
    }
    let next = "Next: put the command of your own server after the dashes, or try `switchboard call order_pizza`, which asks \
                questions.";
    Ok(out.print(&format!("\n{}", out.dim(&indented(next, "", out.prose_width()))))?)
}

async fn call_and_print(
    connection: &CommandSession,
    tool: &str,
    arguments: serde_json::Value,
) -> Result<(), CommandError> {
    let answer = call(connection, tool, &encode(&arguments)?).await?;
    let protocol_error = |error| switchboard::CallError::Protocol { method: "tools/call".to_owned(), error };
    let output = answer.decode().map_err(protocol_error)?;
    Ok(connection.out.print(&indented(
        &render_result(&output, &connection.out),
        "  ",
        connection.out.width,
    ))?)
}
