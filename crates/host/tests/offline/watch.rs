//! Files that are followed while they change, and where their programs run.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_host::config::{
    Approval, Approvals, ConfigWatcher, ConfiguredServer, Locations, ResolvedConfig,
};
use switchboard_host::{ServerSpec, Transport};
use switchboard_transport::stdio::Stdio;
use tempfile::TempDir;

/// Directories of its own for everything.
struct Stage {
    _root: TempDir,
    at: Locations,
}

impl Stage {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        fs::create_dir(path("project")).unwrap();
        let at = Locations::under(path("project"), &path("config"), &path("state"))
            .with_managed_file(path("etc/switchboard/mcp.json"));
        Self { _root: root, at }
    }

    fn put(&self, path: &Path, servers: &Value) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, json!({"mcpServers": servers}).to_string()).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
    }

    fn resolve(&self) -> ResolvedConfig {
        ResolvedConfig::read(&self.at, &[], &variables)
    }
}

fn variables(name: &str) -> Option<String> {
    (name == "TOKEN").then(|| "s3cr3t".to_owned())
}

fn stdio(server: &ConfiguredServer) -> Stdio {
    let Transport::Stdio(stdio) = ServerSpec::from_configured(server).unwrap().transport else {
        panic!("{server:?}")
    };
    *stdio
}

#[test]
fn a_project_server_runs_in_the_project() {
    let stage = Stage::new();
    stage.put(&stage.at.local_file, &json!({"a": {"command": "x"}, "b": {"command": "x", "cwd": "sub"}}));
    let resolved = stage.resolve();
    let cwd = |name: &str| stdio(resolved.server(name).unwrap()).directory().unwrap().to_owned();
    assert_eq!((cwd("a"), cwd("b")), (stage.at.project.clone(), stage.at.project.join("sub")));
}

#[tokio::test(start_paused = true)]
async fn a_change_is_seen_and_a_mistake_keeps_the_last_servers() {
    let stage = Stage::new();
    let at = &stage.at;
    stage.put(&at.user_file, &json!({"a": {"command": "x"}}));
    let mut watch = ConfigWatcher::new(at.clone(), variables).with_interval(Duration::from_millis(100));
    assert_eq!(watch.current().servers.len(), 1);

    stage.put(&at.user_file, &json!({"a": {"command": "x"}, "b": {"command": "${TOKEN}"}}));
    assert_eq!(watch.changed().await.servers.len(), 2);

    // Same length, other text.
    stage.put(&at.user_file, &json!({"a": {"command": "x"}, "c": {"command": "${TOKEN}"}}));
    assert!(watch.changed().await.server("c").is_some());

    fs::write(&at.user_file, "{\"mcpServers\": {").unwrap();
    let broken = watch.changed().await;
    assert_eq!((broken.servers.len(), broken.errors.len()), (2, 1));

    fs::remove_file(&at.user_file).unwrap();
    let gone = watch.changed().await;
    assert_eq!((gone.servers.len(), gone.errors.len()), (0, 0));

    stage.put(&at.project_file, &json!({"p": {"command": "x"}}));
    assert_eq!(watch.changed().await.server("p").unwrap().approval, Some(Approval::New));
    let entry = watch.current().server("p").unwrap().entry.clone().unwrap();
    Approvals::open(&at.approvals).unwrap().approve(&at.project, "p", &entry).unwrap();
    assert_eq!(watch.changed().await.server("p").unwrap().approval, Some(Approval::Approved));
}

#[tokio::test(start_paused = true)]
async fn a_file_that_is_only_touched_changes_nothing() {
    let stage = Stage::new();
    stage.put(&stage.at.user_file, &json!({"a": {"command": "x"}}));
    let mut watch = ConfigWatcher::new(stage.at.clone(), variables);
    stage.put(&stage.at.user_file, &json!({"a": {"command": "x"}}));
    let waited = tokio::time::timeout(Duration::from_secs(120), watch.changed()).await;
    assert!(waited.is_err());
}
