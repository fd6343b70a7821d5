//! `switchboard demo` with one server: a session in a revision that can be chosen, with its traffic where it is wanted.

use switchboard::json;

use crate::args::{DemoArgs, Options, Remote, Target};
use crate::command::call::call;
use crate::command::tools::encode;
use crate::connect::{Connected, introduce, with};
use crate::failure::Failure;
use crate::output::{Signature, contents, count, indented, result};
use crate::sanitize::one_line;

pub(crate) async fn run(args: &DemoArgs) -> Result<(), Failure> {
    let options = Options { trace: args.trace, revision: args.revision, ..Options::default() };
    let program = std::env::current_exe()?;
    let command = vec![program.into(), "demo-server".into()];
    let target = Target { options, remote: Remote::default(), server: None, command };
    with(&target, story).await
}

async fn story(connected: &Connected) -> Result<(), Failure> {
    let paper = &connected.paper;
    let command = |text: &str| format!("\n{} {}\n", paper.green("$"), paper.bold(text));
    let mut text = command("switchboard info -- switchboard demo-server");
    text += &format!("  connected to {}\n", introduce(connected.terms()?));
    paper.print(&text)?;

    let tools = connected.session.list_tools().await?;
    let mut text = command("switchboard tools -- switchboard demo-server");
    for tool in &*tools {
        let inner = paper.narrower(2);
        for line in Signature::of_tool(tool).lay_out(&inner).lines() {
            text += &format!("  {line}\n");
        }
    }
    let resources = connected.session.list_resources().await?;
    let templates = connected.session.list_resource_templates().await?;
    let prompts = connected.session.list_prompts().await?;
    text += &paper.dim(&format!(
        "  {}, {}, {}, {}\n",
        count(tools.len(), "tool"),
        count(resources.len(), "resource"),
        count(templates.len(), "resource template"),
        count(prompts.len(), "prompt"),
    ));
    paper.print(&text)?;

    paper.print(&command("switchboard call add a=19 b=23 -- switchboard demo-server"))?;
    shown(connected, "add", json!({ "a": 19, "b": 23 })).await?;
    paper.print(&command("switchboard call countdown from=5 -- switchboard demo-server"))?;
    shown(connected, "countdown", json!({ "from": 5, "interval_ms": 200 })).await?;
    if let Some(first) = resources.first() {
        paper.print(&command(&format!(
            "switchboard read {} -- switchboard demo-server",
            one_line(&first.uri)
        )))?;
        let read = connected.session.read_resource(&first.uri).await?;
        paper.print(&indented(&contents(&read.contents, paper), "  ", paper.prose()))?;
    }
    let next = "Next: put the command of your own server behind the dashes, or try `switchboard call order_pizza` on \
                this one: it asks back.";
    Ok(paper.print(&format!("\n{}", paper.dim(&indented(next, "", paper.prose()))))?)
}

async fn shown(connected: &Connected, tool: &str, arguments: serde_json::Value) -> Result<(), Failure> {
    let answer = call(connected, tool, &encode(&arguments)?).await?;
    let wrong = |error| switchboard::CallError::Protocol { method: "tools/call".to_owned(), error };
    let said = answer.decode().map_err(wrong)?;
    Ok(connected.paper.print(&indented(&result(&said, &connected.paper), "  ", connected.paper.width))?)
}
