//! Our host with servers that others wrote, all at once: from npm, from PyPI, written with rmcp, over pipes and HTTP.

use std::path::Path;
use std::time::Duration;

use switchboard::host::HostError;
use switchboard::host::{Run, ServerSpec, Status, StatusKind};
use switchboard::{Host, Http, Stdio, json};
use switchboard_testkit::Failed;

use crate::interop::listening::Listening;
use crate::interop::peer::{Mark, place};
use crate::interop::{Test, block_on};

pub(crate) const TESTS: &[Test] =
    &[("one_host_of_six_servers", six), ("a_host_brings_a_killed_server_back", back)];

/// A server from npm.
fn node(name: &str, arguments: &[&str], mark: &Mark) -> ServerSpec {
    let script = place("SWITCHBOARD_INTEROP_NODE").join("node_modules/.bin").join(name);
    let script = script.to_str().expect("a path in UTF-8");
    program("node", &[&[script], arguments].concat(), mark)
}

/// Any program. What it starts inherits the mark.
fn program(command: impl AsRef<Path>, arguments: &[&str], mark: &Mark) -> ServerSpec {
    Stdio::new(command.as_ref()).args(arguments).env(Mark::VARIABLE, mark.text()).into()
}

fn six() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("note.txt"), "written by the test")?;
    let root = folder.path().to_str().expect("a path in UTF-8").to_owned();
    block_on(async move {
        let mark = Mark::new();
        let web = Listening::everything("streamableHttp", "/mcp").await;
        let host = Host::builder().build();
        let set = host
            .set_servers([
                ("filesystem", node("mcp-server-filesystem", &[&root], &mark)),
                ("memory", node("mcp-server-memory", &[], &mark)),
                ("everything", node("mcp-server-everything", &[], &mark)),
                (
                    "time",
                    program(place("SWITCHBOARD_INTEROP_PYTHON").join("bin/mcp-server-time"), &[], &mark),
                ),
                ("rust", program(place("SWITCHBOARD_INTEROP_RMCP_SERVER"), &[], &mark)),
                ("web", Http::new(web.url()).into()),
                ("missing", Stdio::new("no-such-program-anywhere").into()),
            ])
            .await;
        assert_eq!(set.added.len(), 7, "{set:?}");
        assert_eq!(set.errors.keys().collect::<Vec<_>>(), ["missing"], "{set:?}");
        mark.assert_found();
        let connected = host.status().iter().filter(|server| server.status == StatusKind::Connected).count();
        assert_eq!(connected, 6);

        let read = host.find_tool("read_text_file").unwrap();
        assert_eq!((read.tool.server(), read.tool.name()), ("filesystem", "mcp__filesystem__read_text_file"));
        let path = format!("{root}/note.txt");
        let said = host.execute("mcp__filesystem__read_text_file", json!({ "path": path })).await;
        assert!(!said.is_error && said.text().contains("written by the test"), "{}", said.text());
        for server in ["everything", "web"] {
            let echoed = host.call_tool(server, "echo", json!({ "message": "hello" })).await.unwrap();
            assert_eq!(echoed.text(), "Echo: hello", "{server}");
        }
        // Two have it: the first in order, and the other is named.
        let echo = host.find_tool("echo").unwrap();
        assert_eq!(echo.tool.server(), "everything");
        let wrong = host.call_tool("everything", "echo", json!({ "message": 7 })).await.unwrap_err();
        assert!(matches!(wrong, HostError::Arguments { .. }), "{wrong}");
        let now =
            host.call_tool("time", "get_current_time", json!({ "timezone": "Europe/Oslo" })).await.unwrap();
        assert!(now.text().contains("Europe/Oslo"), "{}", now.text());

        host.set_denied_tools("filesystem", ["write_file", "edit_file"]);
        assert!(host.get("mcp__filesystem__write_file").is_none());
        let denied =
            host.execute("mcp__filesystem__write_file", json!({ "path": path, "content": "" })).await;
        assert!(denied.is_error, "{}", denied.text());
        let resources = host.execute("ListMcpResources", json!({ "server": "everything" })).await;
        assert!(!resources.is_error, "{}", resources.text());

        let run = Run::new();
        let slow = host
            .call_tool("everything", "trigger-long-running-operation", json!({ "duration": 50, "steps": 50 }))
            .within(&run);
        let slow = tokio::spawn(slow.into_future());
        tokio::time::sleep(Duration::from_millis(300)).await;
        run.cancel();
        assert!(matches!(slow.await.unwrap(), Err(HostError::Cancelled { sent: true, .. })));

        host.toggle("memory", false).await.unwrap();
        assert!(!host.all_tools().iter().any(|tool| tool.server() == "memory"));
        host.toggle("memory", true).await.unwrap();
        assert!(host.get("mcp__memory__read_graph").is_some());
        host.close().await;
        mark.gone().await;
        web.stop().await;
    })
}

fn back() -> Result<(), Failed> {
    block_on(async move {
        let mark = Mark::new();
        let host = Host::builder().build();
        host.connect("everything", node("mcp-server-everything", &[], &mark)).await.unwrap();
        let pid = host.child("everything").unwrap().expect("a program of ours").pid().expect("it runs");
        let mut events = host.events();
        std::process::Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap();
        while host.server_metrics("everything").unwrap().reconnects == 0
            || !matches!(host.state("everything"), Ok(Status::Ready(_)))
        {
            events.next().await;
        }
        let echoed = host.call_tool("everything", "echo", json!({ "message": "again" })).await.unwrap();
        assert_eq!(echoed.text(), "Echo: again");
        host.close().await;
        mark.gone().await;
    })
}
