//! From a file to a running host: servers follow what the file says, and calls are permitted by rules.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_host::config::{ConfigWatcher, Locations};
use switchboard_host::permission::{Gate, Policy, Rules};
use switchboard_host::{Host, ServerStatus, StatusKind};
use switchboard_testkit::trial;

use crate::toy::PART;

switchboard_testkit::trials![trial:
    a_changed_file_changes_the_set_and_leaves_the_rest_alone,
    a_broken_entry_is_named_and_harms_nobody,
    rules_permit_and_refuse_calls,
];

fn entry(part: &str) -> Value {
    json!({"command": std::env::current_exe().unwrap(), "env": {PART: part}})
}

/// The files of a user whose home is a folder of its own.
struct Home {
    folder: tempfile::TempDir,
}

impl Home {
    fn new(servers: Value) -> Self {
        let home = Self { folder: tempfile::tempdir().unwrap() };
        home.write(servers);
        home
    }

    fn write(&self, servers: Value) {
        let at = self.locations().user_file;
        std::fs::create_dir_all(at.parent().unwrap()).unwrap();
        std::fs::write(at, json!({"mcpServers": servers}).to_string()).unwrap();
    }

    fn locations(&self) -> Locations {
        let at = |name: &str| self.folder.path().join(name);
        Locations::under(at("project"), &at("config"), &at("state")).with_managed_file(at("managed.json"))
    }

    fn watch(&self) -> ConfigWatcher {
        ConfigWatcher::new(self.locations(), |_| None).with_interval(Duration::from_millis(20))
    }
}

async fn pid(host: &Host, server: &str) -> String {
    host.call_tool(server, "pid", ()).await.unwrap().text()
}

async fn a_changed_file_changes_the_set_and_leaves_the_rest_alone() {
    let home = Home::new(json!({"stays": entry("toy"), "goes": entry("toy")}));
    let mut files = home.watch();
    let host = Host::builder().without_resource_tools().build();
    let done = host.apply(files.current()).await;
    assert_eq!((done.added.len(), done.errors.len()), (2, 0), "{done:?}");
    let before = pid(&host, "stays").await;
    let under_way = tokio::spawn(host.call_tool("stays", "echo", json!({"text": "a"})).into_future());
    home.write(json!({"stays": entry("toy"), "comes": entry("toy")}));
    let done = host.apply(files.changed().await).await;
    assert_eq!((done.added, done.removed), (vec!["comes".to_owned()], vec!["goes".to_owned()]));
    assert_eq!(under_way.await.unwrap().unwrap().text(), r#"{"text":"a"}"#);
    assert_eq!(pid(&host, "stays").await, before, "the same process");
    let status = host.server_status("stays").unwrap();
    assert_eq!((status.status, status.scope.as_deref()), (StatusKind::Connected, Some("user")));
    let written = serde_json::to_value(&status).unwrap()["config"].clone();
    assert_ne!(written["env"][PART], "toy", "values are masked: {written}");
    host.close().await;
}

async fn a_broken_entry_is_named_and_harms_nobody() {
    let home = Home::new(json!({
        "good": entry("toy"),
        "unset": {"command": "true", "args": ["${NOT_SET_ANYWHERE}"]},
        "missing": {"command": "no-such-program-anywhere"},
    }));
    let host = Host::builder().without_resource_tools().build();
    let done = host.apply(home.watch().current()).await;
    assert!(done.errors["unset"].contains("NOT_SET_ANYWHERE"), "{done:?}");
    assert!(done.errors["missing"].contains("no-such-program-anywhere"), "{done:?}");
    assert_eq!(host.server_status("good").unwrap().status, StatusKind::Connected);
    let files = home.watch();
    let told = |name| ServerStatus::of_invalid(files.current().server(name).unwrap());
    let unset = told("unset").unwrap();
    assert_eq!((unset.status, unset.scope.as_deref()), (StatusKind::Failed, Some("user")));
    assert!(unset.error.unwrap().contains("NOT_SET_ANYWHERE"));
    assert!(told("good").is_none() && told("missing").is_none(), "the host knows how these are");
    host.close().await;
}

async fn rules_permit_and_refuse_calls() {
    let home = Home::new(json!({"toy": entry("toy")}));
    let files = home.watch();
    let rules = Rules::new(["allow toy/echo", "deny toy/pid"].map(|rule| rule.parse().unwrap()));
    let gate = Arc::new(Gate::new(Policy::new(rules)));
    gate.set_servers_from_config(files.current());
    let host = Host::builder().without_resource_tools().with_call_policy(gate).build();
    host.apply(files.current()).await;
    let echoed = host.call_tool("toy", "echo", json!({"text": "a"})).await.unwrap();
    assert_eq!(echoed.text(), r#"{"text":"a"}"#);
    let refused = host.call_tool("toy", "pid", ()).await.unwrap_err();
    assert!(refused.to_string().contains("deny toy/pid"), "{refused}");
    // Neither allowed nor denied, and nobody to ask.
    let unasked = host.execute("mcp__toy__fail", json!({})).await;
    assert!(unasked.is_error, "{}", unasked.text());
    host.close().await;
}
