//! Our client with the other servers: listed, called, cancelled where something is slow, stopped.

use std::process::Command;
use std::time::Duration;

use switchboard::client::RevisionPolicy;
use switchboard::protocol::Revision;
use switchboard::{Client, json};
use switchboard_testkit::Failed;

use crate::interop::peer::Peer;
use crate::interop::{Test, block_on};

pub(crate) const TESTS: &[Test] = &[
    ("filesystem_reads_within_its_root", filesystem),
    ("memory_remembers", memory),
    ("time_is_told_in_the_modern_era", || time(RevisionPolicy::Any, Revision::LATEST)),
    ("time_is_told_in_the_legacy_era", || time(RevisionPolicy::LegacyOnly, Revision::LATEST_LEGACY)),
    ("git_shows_a_log", git),
    ("rmcp_server_in_the_modern_era", || rmcp(RevisionPolicy::Any, Revision::LATEST)),
    ("rmcp_server_in_the_legacy_era", || rmcp(RevisionPolicy::LegacyOnly, Revision::LATEST_LEGACY)),
    ("rmcp_server_of_the_oldest_revision", || {
        rmcp(RevisionPolicy::Only(Revision::V2024_11_05), Revision::V2024_11_05)
    }),
    ("rmcp_server_that_exits_on_the_probe", rmcp_old),
];

fn filesystem() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("note.txt"), "written by the test")?;
    let root = folder.path().to_str().expect("a path in UTF-8").to_owned();
    block_on(async move {
        let peer = Peer::node("mcp-server-filesystem", &[&root]);
        let session = peer.connect(&Client::new()).await;
        let tools = session.list_tools().await.unwrap();
        assert!(tools.by_name("read_text_file").is_some());
        let path = format!("{root}/note.txt");
        let read = session.call_tool("read_text_file", json!({ "path": path })).await.unwrap();
        assert!(read.text().contains("written by the test"), "{}", read.text());
        let outside = session.call_tool("read_text_file", json!({ "path": "/etc/hostname" })).await.unwrap();
        assert!(outside.is_error);
        peer.stop(session).await;
    })
}

fn memory() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("memory.jsonl");
    block_on(async move {
        let mut peer = Peer::node("mcp-server-memory", &[]);
        peer.command = peer.command.env("MEMORY_FILE_PATH", file.as_os_str());
        let session = peer.connect(&Client::new()).await;
        assert!(session.list_tools().await.unwrap().by_name("create_entities").is_some());
        let entity =
            json!({ "entities": [{ "name": "Ada", "entityType": "person", "observations": ["counts"] }] });
        assert!(!session.call_tool("create_entities", entity).await.unwrap().is_error);
        let graph = session.call_tool("read_graph", json!({})).await.unwrap();
        assert!(graph.text().contains("Ada"), "{}", graph.text());
        peer.stop(session).await;
    })
}

fn time(offer: RevisionPolicy, spoken: Revision) -> Result<(), Failed> {
    block_on(async move {
        let peer = Peer::python("mcp-server-time", &[]);
        let session = peer.connect(&Client::new().with_revisions(offer)).await;
        assert_eq!(session.info().unwrap().revision, spoken);
        let tools = session.list_tools().await.unwrap();
        assert!(tools.by_name("get_current_time").is_some());
        let now = session.call_tool("get_current_time", json!({ "timezone": "Europe/Oslo" })).await.unwrap();
        assert!(now.text().contains("Europe/Oslo"), "{}", now.text());
        let nowhere = session.call_tool("get_current_time", json!({ "timezone": "Nowhere/Land" })).await;
        assert!(nowhere.map_or(true, |result| result.is_error));
        peer.stop(session).await;
    })
}

fn git() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.arg("-C").arg(folder.path()).args(["-c", "user.name=T", "-c", "user.email=t@example.org"]);
        command.args(arguments).output()
    };
    git(&["init", "-q"])?;
    git(&["commit", "-q", "--allow-empty", "-m", "the first commit"])?;
    let path = folder.path().to_str().expect("a path in UTF-8").to_owned();
    block_on(async move {
        let peer = Peer::python("mcp-server-git", &["--repository", &path]);
        let session = peer.connect(&Client::new()).await;
        assert!(session.list_tools().await.unwrap().by_name("git_log").is_some());
        let log = session.call_tool("git_log", json!({ "repo_path": path })).await.unwrap();
        assert!(log.text().contains("the first commit"), "{}", log.text());
        peer.stop(session).await;
    })
}

fn rmcp(offer: RevisionPolicy, spoken: Revision) -> Result<(), Failed> {
    block_on(async move {
        let peer = Peer::rmcp("SWITCHBOARD_INTEROP_RMCP_SERVER");
        let session = peer.connect(&Client::new().with_revisions(offer)).await;
        assert_eq!(session.info().unwrap().revision, spoken);
        let tools = session.list_tools().await.unwrap();
        assert_eq!(tools.len(), 4, "echo, add, slow and steps");
        let said = session.call_tool("echo", json!({ "text": "nonce 99" })).await.unwrap();
        assert_eq!(said.text(), "nonce 99");
        assert_eq!(session.list_prompts().await.unwrap().len(), 1);
        assert!(!session.get_prompt("greet", [("name", "Ada")]).await.unwrap().messages.is_empty());

        // The server counts what it was told: our dropped call must reach it as a cancellation.
        let slow = session.call_tool("slow", json!({ "seconds": 30 }));
        assert!(tokio::time::timeout(Duration::from_millis(300), async { slow.await }).await.is_err());
        let counted = async {
            loop {
                let read = session.read_resource("interop://slow").await.unwrap();
                let text = format!("{:?}", read.contents);
                if text.contains("cancelled") && !text.contains("\\\"cancelled\\\":0") {
                    return text;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(5), counted).await.expect("the server saw the cancellation");
        peer.stop(session).await;
    })
}

fn rmcp_old() -> Result<(), Failed> {
    block_on(async {
        let peer = Peer::rmcp("SWITCHBOARD_INTEROP_RMCP_OLD_SERVER");
        let session = peer.connect(&Client::new()).await;
        assert!(session.info().unwrap().revision <= Revision::LATEST_LEGACY);
        assert!(session.list_tools().await.unwrap().by_name("echo").is_some());
        let said = session.call_tool("echo", json!({ "text": "after the respawn" })).await.unwrap();
        assert_eq!(said.text(), "after the respawn");
        // This one answers a cancelled call late: nobody's, and counted.
        let slow = session.call_tool("slow", json!({ "seconds": 30 }));
        assert!(tokio::time::timeout(Duration::from_millis(300), async { slow.await }).await.is_err());
        let late = async {
            while session.counts().late_or_unknown == 0 {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(5), late).await.expect("the late answer was counted");
        peer.stop(session).await;
    })
}
