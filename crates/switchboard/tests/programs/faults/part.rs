//! The parts this program plays when it is started as another process, other than the misbehaving server.

use std::io::Read;
use std::process::{Stdio, exit};
use std::time::Duration;

use serde_json::json;
use switchboard::client::ClientSession;
use switchboard::transport::stdio::Supervision;
use switchboard::transport::{CloseOutcome, LinkError};
use switchboard::{CallError, serve_stdio};
use switchboard_testkit::{
    block_on, child_count, descriptor_count, memory_kib, task_count, wait_for_reaping,
};

use crate::faults::sessions::{QUICK, Watched, close_politely, legacy, sh, shell, times};
use crate::faults::{case, framing, honest};

/// Names the part.
pub(crate) const PART: &str = "SWITCHBOARD_PART";
/// The script a part starts as its server.
pub(crate) const SCRIPT: &str = "SWITCHBOARD_SCRIPT";

pub(crate) fn play(part: &str) {
    let script = std::env::var(SCRIPT).unwrap_or_default();
    block_on(async {
        match part {
            "server" => serve_stdio(&honest::server()).await.unwrap(),
            "host" => {
                let _session = legacy().connect(shell(&script)).await.unwrap();
                std::future::pending().await
            }
            "abort" | "panic" => crash(part, &script).await,
            "terminal" => terminal(&script).await,
            "restarts" => restarts().await,
            "leaks" => leaks().await,
            "long-line" => long_line().await,
            "junk-log" => framing::junk_log().await,
            "reuse" => reuse().await,
            other => panic!("no such part: {other}"),
        }
    });
}

/// Starts this program in a part.
pub(crate) fn cast(part: &str, env: &[(&str, &str)]) -> tokio::process::Command {
    let mut command = tokio::process::Command::new(std::env::current_exe().unwrap());
    command
        .env(PART, part)
        .envs(env.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true);
    command
}

/// What this program says in a part.
pub(crate) async fn said(part: &str) -> String {
    let output = cast(part, &[]).stderr(Stdio::piped()).output().await.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

async fn crash(how: &str, script: &str) {
    let _session = legacy().connect(shell(script)).await.unwrap();
    // Elsewhere, so that what is still to be written is.
    tokio::task::spawn_blocking(|| std::io::stdin().read_exact(&mut [0])).await.unwrap().unwrap();
    if how == "abort" {
        std::process::abort();
    }
    panic!("as asked");
}

/// What a program at a terminal does: the first interrupt stops the servers, the second stops at once.
async fn terminal(script: &str) {
    let mut interrupts = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt()).unwrap();
    let session = legacy().connect(shell(script)).await.unwrap();
    let call = session.call_tool("never", json!({}));
    tokio::select! {
        outcome = call => panic!("{outcome:?}"),
        _ = interrupts.recv() => {}
    }
    tokio::select! {
        ended = session.close() => {
            let CloseOutcome::Exited(status) = ended else { panic!("{ended:?}") };
            print!("{:?}", status.code);
        }
        _ = interrupts.recv() => {}
    }
    exit(130);
}

/// Opens and ends many sessions in every way, and prints what is left of them.
async fn restarts() {
    let open = async |command| -> (Watched, ClientSession) {
        let watched = Watched::new(command);
        let session = legacy().connect(watched.clone()).await.unwrap();
        (watched, session)
    };
    let round = async || {
        for supervision in [Supervision::Best, Supervision::GroupOnly] {
            let command = shell("exec cat").supervision(supervision);
            let (_, session) = open(command.clone()).await;
            close_politely(&session).await;
            drop(session);
            let (watched, session) = open(command).await;
            drop(session);
            watched.children()[0].exited().await;
            let failed = legacy().connect(sh("exit 3").supervision(supervision)).await;
            assert!(matches!(failed, Err(CallError::Link(LinkError::Exited(_)))));
        }
    };
    round().await;
    let before = descriptor_count();
    // Six servers a round.
    for _ in 0..times(8, 1_667) {
        round().await;
    }
    print!("{}", left(before).await);
}

/// Runs every case twice, and prints what the second time has left behind.
async fn leaks() {
    case::run_all().await;
    let before = descriptor_count();
    case::run_all().await;
    print!("{}", left(before).await);
}

async fn left(before: usize) -> String {
    // What was dropped is reaped when the runtime next waits.
    for _ in 0..24_000 {
        if child_count() == 0 && descriptor_count() <= before && task_count() == 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    format!(
        "{} children, {} descriptors, {} tasks",
        child_count(),
        descriptor_count().saturating_sub(before),
        task_count()
    )
}

/// Prints by how many KiB our peak grew over a line of 100 MiB.
async fn long_line() {
    let script = r#"read call; printf '{"jsonrpc":"2.0","result":{"text":"'; head -c 104857600 /dev/zero | tr '\0' x
        printf '"},"id":2}\n'; read other; echo '{"jsonrpc":"2.0","id":3,"result":{"content":[]}}'; exec cat >/dev/null"#;
    let session = legacy().connect(shell(script)).await.unwrap();
    let before = memory_kib("VmHWM");
    let long = session.call_tool("long", json!({})).await;
    assert!(matches!(long, Err(CallError::Link(LinkError::TooLarge { limit: 16_777_216 }))), "{long:?}");
    session.call_tool("short", json!({})).await.expect("the connection stays");
    print!("{}", memory_kib("VmHWM") - before);
}

/// A server has ended and its number is used again: whoever has it now must not be hit. Prints what it came to.
async fn reuse() {
    for supervision in [Supervision::GroupOnly, Supervision::Best] {
        let watched = Watched::new(shell("exit 0").supervision(supervision).stop_timeouts(QUICK));
        let session = legacy().connect(watched.clone()).await.unwrap();
        let child = watched.children()[0].clone();
        child.exited().await;
        wait_for_reaping(child.root_pid()).await;
        let next = std::fs::write("/proc/sys/kernel/ns_last_pid", (child.root_pid() - 1).to_string());
        let mut bystander = tokio::process::Command::new("sleep")
            .arg("60")
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        if next.is_ok() {
            assert_eq!(bystander.id(), Some(child.root_pid()), "the number is used again");
        }
        session.close().await;
        drop(session);
        let ended = tokio::time::timeout(Duration::from_millis(300), bystander.wait()).await;
        assert!(ended.is_err(), "a bystander was hit: {ended:?}");
        bystander.kill().await.unwrap();
        print!("{}", if next.is_ok() { "reused " } else { "unused " });
    }
}
