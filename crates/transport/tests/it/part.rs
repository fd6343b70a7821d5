//! The parts this program plays when it is started as another process.

use std::io::Read;
use std::time::Duration;

use switchboard_session::link::{
    ExchangeKind, InboundMessage, Link, LinkError, Mirror, OneWayMessage, OutgoingRequest,
};
use switchboard_session::{ConnectionLimits, MuxLink};
use switchboard_testkit::{block_on, child_count, descriptor_count, memory_kib};
use switchboard_transport::stdio::{Stdio, spawn, take_stdio};

use crate::links::{ask, group, link, sh};

pub(crate) const PART: &str = "SWITCHBOARD_TEST_PART";
/// The script a part starts.
pub(crate) const SCRIPT: &str = "SWITCHBOARD_TEST_SCRIPT";

pub(crate) fn play(part: &str) {
    let script = std::env::var(SCRIPT).unwrap_or_default();
    match part {
        "host" => block_on(host(&sh(script))),
        "group-host" => block_on(host(&group(script))),
        "abort" => block_on(async {
            let _link = link(&sh(script));
            std::io::stdin().read_exact(&mut [0]).unwrap();
            std::process::abort();
        }),
        "long-line" => block_on(long_line()),
        "run" => block_on(async {
            let command = sh(script).env("DECLARED", "yes").inherit_env("CANARY_7").inherit_env("FUNCTION");
            let (link, child) = link(&command);
            child.exited().await;
            drop(link);
            print!("{}", child.stderr_tail());
        }),
        "without-drivers" => {
            let bare = tokio::runtime::Builder::new_current_thread().build().unwrap();
            let refused = bare.block_on(async { spawn(&Stdio::new("cat")).err() });
            print!("{}", refused.expect("no driver, no server"));
        }
        "restarts" => block_on(restarts()),
        "own" => block_on(own()),
        other => panic!("no such part: {other}"),
    }
}

/// Starts this program in a part.
pub(crate) fn cast(part: &str, env: &[(&str, &str)]) -> tokio::process::Command {
    let mut command = tokio::process::Command::new(std::env::current_exe().unwrap());
    command
        .env(PART, part)
        .envs(env.iter().copied())
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .kill_on_drop(true);
    command
}

/// What this program says in a part.
pub(crate) async fn said(part: &str, env: &[(&str, &str)]) -> String {
    let output = cast(part, env).stderr(std::process::Stdio::piped()).output().await.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

async fn host(command: &Stdio) {
    let _link = link(command);
    std::future::pending().await
}

/// Prints by how many KiB our peak grew over a line of 100 MiB.
async fn long_line() {
    let script = r#"read a; read b
        printf '{"jsonrpc":"2.0","result":{"text":"'; head -c 104857600 /dev/zero | tr '\0' x; printf '"},"id":1}\n'
        echo '{"jsonrpc":"2.0","id":2,"result":{}}'
        read c
        printf '{"jsonrpc":"2.0","result":{"text":"'; head -c 1073741824 /dev/zero | tr '\0' x; printf '"},"id":3}\n'
        exec cat >/dev/null"#;
    let (link, _) = link(&sh(script));
    let before = memory_kib("VmHWM");
    let (long, short) = tokio::join!(ask(&link, 1), ask(&link, 2));
    assert!(matches!(long, Err(LinkError::TooLarge { limit: 16_777_216 })), "{long:?}");
    short.expect("the next answer is whole");
    // F040: a gibibyte is more than any line.
    let endless = ask(&link, 3).await;
    assert!(matches!(endless, Err(LinkError::Lost { .. })), "{endless:?}");
    print!("{}", memory_kib("VmHWM") - before);
}

/// Starts and ends many servers in every way, and prints what is left of them.
async fn restarts() {
    let round = async || {
        for command in [sh("exit 0"), group("exit 0"), sh("exec cat"), group("exec cat")] {
            let (pipe, child) = spawn(&command).unwrap();
            let peer = MuxLink::start(pipe, ConnectionLimits::default());
            peer.close(Duration::from_secs(5)).await;
            drop(peer);
            drop(link(&command));
            child.exited().await;
        }
    };
    round().await;
    let before = descriptor_count();
    for _ in 0..25 {
        round().await;
    }
    // What was dropped is reaped when the runtime next waits.
    for _ in 0..2000 {
        if child_count() == 0 && descriptor_count() <= before {
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    print!("{} children, {} descriptors", child_count(), descriptor_count().saturating_sub(before));
}

/// A server on our own stdio: answers every request, with stray output in between, and says on stderr how it ended.
async fn own() {
    let pipe = take_stdio().unwrap();
    assert!(take_stdio().is_err(), "there is only one stdin");
    println!("stray");
    let sub = std::process::Command::new("sh").args(["-c", "echo stray from below; cat"]).status().unwrap();
    assert!(sub.success(), "stdin is at its end for everybody else");
    let peer = MuxLink::start(pipe, ConnectionLimits::default());
    let mut inbound = peer.inbound().unwrap();
    while let Some(inward) = inbound.next().await {
        println!("stray");
        if let InboundMessage::Upcall(call) = inward {
            let result = call.params.expect("all have some");
            peer.post(OneWayMessage::Response { id: &call.id, outcome: Ok(&result) }).unwrap();
        }
    }
    eprintln!("ended: {}", peer.ended().expect("it has"));
    peer.close(Duration::from_secs(1)).await;
    let refused = peer
        .open(OutgoingRequest {
            id: 1.into(),
            method: "x",
            params: "{}",
            mirror: Mirror::default(),
            kind: ExchangeKind::Call,
            call: None,
        })
        .done()
        .await;
    assert!(refused.is_err());
}
