//! A machine that is short of something, or odd: F154, F156 to F159.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use switchboard_host::Host;
use switchboard_host::config::{Approvals, Locations, OffReason, ResolvedConfig, ServerConfig, StartPolicy};
use switchboard_protocol::{
    CallToolResult, Content, Implementation, ListCapability, ListToolsResult, RpcError, ServerCapabilities,
    Tool,
};
use switchboard_session::server::{Handler, HandlerOutcome, RequestContext, Server, ServerRequest};
use switchboard_testkit::{STEP_TIMEOUT, block_on, memory_kib, trial};

use crate::hosts::{child, child_with, host_of, in_process};
use crate::toy::{PART, Toy};

/// The part of a host with fifty idle servers, which says how much memory it has.
pub(crate) const CROWDED: &str = "crowded";

switchboard_testkit::trials![trial:
    f154_an_approval_that_cannot_be_stored_is_none,
    f156_starved_of_time_every_answer_still_finds_its_call,
    f157_fifty_idle_servers_stay_within_the_memory,
    f158_a_tool_that_blocks_its_thread_holds_up_nobody_else,
    f159_text_is_utf_8_whatever_the_locale,
];

async fn f154_an_approval_that_cannot_be_stored_is_none() {
    let folder = tempfile::tempdir().unwrap();
    // A file where a folder would have to be: what is written below it fails for everybody, root included.
    let blocked = folder.path().join("file");
    std::fs::write(&blocked, "").unwrap();
    let project = folder.path().join("project");
    std::fs::create_dir_all(&project).unwrap();
    std::fs::write(project.join(".mcp.json"), r#"{"mcpServers": {"s": {"command": "true"}}}"#).unwrap();
    let at = Locations::under(&project, &folder.path().join("config"), &blocked)
        .with_managed_file(folder.path().join("managed.json"));
    let entry: ServerConfig = serde_json::from_value(json!({"command": "true"})).unwrap();
    let stored = Approvals::open(&at.approvals).and_then(|mut kept| kept.approve(&project, "s", &entry));
    assert!(stored.is_err(), "nothing can be kept there");
    let files = ResolvedConfig::read(&at, &[], &|_| None);
    let start = files.server("s").unwrap().plan.as_ref().unwrap().start;
    assert_eq!(start, StartPolicy::Off(OffReason::Unapproved));
}

async fn f156_starved_of_time_every_answer_still_finds_its_call() {
    let host = Arc::new(Host::builder().build());
    host.connect("toy", child("toy")).await.unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let spinning: Vec<_> = (0..8)
        .map(|_| {
            let stop = Arc::clone(&stop);
            std::thread::spawn(move || while !stop.load(Ordering::Relaxed) {})
        })
        .collect();
    let calls: Vec<_> = (0..256)
        .map(|nonce| {
            let host = Arc::clone(&host);
            tokio::spawn(async move { host.call_tool("toy", "echo", json!({"nonce": nonce})).await })
        })
        .collect();
    for (nonce, call) in calls.into_iter().enumerate() {
        assert_eq!(call.await.unwrap().unwrap().text(), format!(r#"{{"nonce":{nonce}}}"#));
    }
    stop.store(true, Ordering::Relaxed);
    spinning.into_iter().for_each(|thread| thread.join().unwrap());
    host.close().await;
}

async fn f157_fifty_idle_servers_stay_within_the_memory() {
    let output = tokio::process::Command::new(std::env::current_exe().unwrap())
        .env(PART, CROWDED)
        .output()
        .await
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let kilobytes: u64 = String::from_utf8(output.stdout).unwrap().trim().parse().unwrap();
    assert!(kilobytes < 200 * 1024, "{kilobytes} kB");
}

/// Connects fifty servers, and prints how many kilobytes we have then.
pub(crate) fn play() {
    block_on(async {
        let host = Host::builder().build();
        let set = host.set_servers((0..50).map(|index| (format!("s{index}"), child("toy")))).await;
        assert!(set.errors.is_empty(), "{:?}", set.errors);
        println!("{}", memory_kib("VmRSS"));
        host.close().await;
    });
}

/// Holds a thread for as long as a test takes.
struct Blocks(Arc<AtomicBool>);

impl Handler for Blocks {
    fn handle(&self, request: ServerRequest, _: RequestContext) -> HandlerOutcome {
        match request {
            ServerRequest::ListTools(_) => {
                HandlerOutcome::now(ListToolsResult::new([Tool::new("block", json!({"type": "object"}))]))
            }
            ServerRequest::CallTool(_) => {
                let done = Arc::clone(&self.0);
                HandlerOutcome::blocking(move || {
                    while !done.load(Ordering::Relaxed) {
                        std::thread::sleep(Duration::from_millis(5));
                    }
                    Ok(CallToolResult::new([Content::text("done")]).into())
                })
            }
            other => HandlerOutcome::error(RpcError::method_not_found(other.method())),
        }
    }
}

async fn f158_a_tool_that_blocks_its_thread_holds_up_nobody_else() {
    let done = Arc::new(AtomicBool::new(false));
    let offers = ServerCapabilities::new().with_tools(ListCapability::new());
    let slow = Server::builder(Implementation::new("slow", "1"), offers).build(Blocks(Arc::clone(&done)));
    let host = host_of(&[("slow", &slow), ("quick", &Toy::full().server("quick"))]).await;
    let blocked: Vec<_> =
        (0..64).map(|_| tokio::spawn(host.call_tool("slow", "block", json!({})).into_future())).collect();
    tokio::task::yield_now().await;
    let start = Instant::now();
    host.call_tool("quick", "echo", json!({})).await.unwrap();
    assert!(start.elapsed() < STEP_TIMEOUT, "{:?}", start.elapsed());
    done.store(true, Ordering::Relaxed);
    for call in blocked {
        assert_eq!(call.await.unwrap().unwrap().text(), "done");
    }
    host.close().await;
}

async fn f159_text_is_utf_8_whatever_the_locale() {
    let host = Host::builder().with_server("inside", &Toy::full().server("日本")).build();
    host.connect("naïve", child_with("toy", &[("LANG", "C"), ("LC_ALL", "C")])).await.unwrap();
    host.connect("日本", in_process("inside")).await.unwrap();
    for server in ["naïve", "日本"] {
        let said = host.call_tool(server, "echo", json!({"text": "é 漢字 🦀"})).await.unwrap().text();
        assert!(said.contains("é 漢字 🦀"), "{said}");
    }
    host.close().await;
}
