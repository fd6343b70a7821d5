//! A proxy that does harm, between our client and our server: it cuts, delays, splits, corrupts, or goes silent.
//!
//! Whatever it does, each call has exactly one outcome, in time, and the next one is served when the harm is over.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use switchboard::client::{ClientSession, RevisionPolicy, TimeoutKind};
use switchboard::transport::LinkError;
use switchboard::{CallError, Client, Http, json};
use switchboard_testkit::{HttpScript, STEP_TIMEOUT};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::http_faults::raw::Stand;
use crate::http_faults::scripted_server::{SHORT, limits, ms, patience};

/// What is done to the bytes of the server.
#[derive(Debug, Clone, Copy)]
enum Harm {
    /// The connection is cut after so many bytes.
    Cut(usize),
    /// Each packet is late.
    Delay,
    /// Each byte comes alone.
    Split,
    /// The byte at this place is another.
    Corrupt(usize),
    /// After so many bytes nothing comes any more, and the connection stays.
    Silent(usize),
}

struct Proxy {
    script: HttpScript,
    harms: Arc<AtomicBool>,
}

impl Proxy {
    async fn start(server: SocketAddr, harm: Harm) -> Self {
        let harms = Arc::new(AtomicBool::new(false));
        let does = Arc::clone(&harms);
        let script = HttpScript::per_connection(move |near, _| carry(near, server, harm, Arc::clone(&does)));
        Self { script: script.await, harms }
    }

    async fn session(&self, offer: RevisionPolicy) -> ClientSession {
        let http = Http::new(self.script.url("/mcp")).limits(limits());
        Client::new().with_revisions(offer).with_limits(patience()).connect(http).await.unwrap()
    }
}

async fn carry(near: TcpStream, server: SocketAddr, harm: Harm, harms: Arc<AtomicBool>) {
    let far = TcpStream::connect(server).await.unwrap();
    let ((mut near_in, mut near_out), (mut far_in, mut far_out)) = (near.into_split(), far.into_split());
    let onward = async { tokio::io::copy(&mut near_in, &mut far_out).await.map(drop) };
    let back = async {
        let (mut bytes, mut done) = (vec![0; 64 * 1024], 0);
        loop {
            let count = far_in.read(&mut bytes).await?;
            if count == 0 {
                return Ok(());
            }
            let part = &mut bytes[..count];
            if !harms.load(Ordering::SeqCst) {
                near_out.write_all(part).await?;
                continue;
            }
            match harm {
                Harm::Cut(at) if done + count >= at => return near_out.write_all(&part[..at - done]).await,
                Harm::Silent(at) if done + count >= at => {
                    near_out.write_all(&part[..at - done]).await?;
                    std::future::pending::<()>().await;
                }
                Harm::Delay => tokio::time::sleep(ms(20)).await,
                Harm::Corrupt(at) if (done..done + count).contains(&at) => part[at - done] ^= 0x15,
                _ => {}
            }
            if let Harm::Split = harm {
                for byte in &*part {
                    near_out.write_all(&[*byte]).await?;
                    tokio::task::yield_now().await;
                }
            } else {
                near_out.write_all(part).await?;
            }
            done += count;
        }
    };
    // Whichever side ends first ends both.
    let _: std::io::Result<()> = tokio::select! { ended = onward => ended, ended = back => ended };
}

const OFFERS: [RevisionPolicy; 2] = [RevisionPolicy::ModernOnly, RevisionPolicy::LegacyOnly];

#[tokio::test]
async fn late_and_single_bytes_change_nothing() {
    let stand = Stand::open().await;
    for harm in [Harm::Delay, Harm::Split] {
        let proxy = Proxy::start(stand.at, harm).await;
        proxy.harms.store(true, Ordering::SeqCst);
        for offer in OFFERS {
            let session = proxy.session(offer).await;
            for (tool, text) in [("echo", "{}"), ("speaks", "spoken")] {
                assert_eq!(session.call_tool(tool, json!({})).await.unwrap().text(), text, "{harm:?}");
            }
            let error = session.call_tool("fails", json!({})).await.unwrap_err();
            assert_eq!(error.remote().unwrap().message, "it cannot be done");
            session.close().await;
        }
    }
}

#[tokio::test]
async fn a_cut_anywhere_loses_one_call_and_no_other() {
    let stand = Stand::open().await;
    for at in [1, 9, 17, 40, 80, 120] {
        for tool in ["echo", "speaks"] {
            let proxy = Proxy::start(stand.at, Harm::Cut(at)).await;
            let session = proxy.session(RevisionPolicy::ModernOnly).await;
            proxy.harms.store(true, Ordering::SeqCst);
            let called =
                tokio::time::timeout(STEP_TIMEOUT, session.call_tool(tool, json!({}))).await.unwrap();
            let error = called.unwrap_err();
            assert!(matches!(error, CallError::Link(LinkError::Lost { sent: true, .. })), "{at}: {error:?}");
            assert!(error.outcome_unknown());
            proxy.harms.store(false, Ordering::SeqCst);
            assert_eq!(session.call_tool("echo", json!({})).await.unwrap().text(), "{}");
        }
    }
}

#[tokio::test]
async fn a_wrong_byte_anywhere_has_one_outcome() {
    let stand = Stand::open().await;
    for offer in OFFERS {
        for at in (0..300).step_by(7) {
            let proxy = Proxy::start(stand.at, Harm::Corrupt(at)).await;
            let session = proxy.session(offer).await;
            proxy.harms.store(true, Ordering::SeqCst);
            // A result, a refusal, a loss, or the time is up: a length may be wrong, too.
            let call = session.call_tool("echo", json!({})).timeout(ms(1000));
            let _ = tokio::time::timeout(STEP_TIMEOUT, call).await.expect("it ends in time");
            proxy.harms.store(false, Ordering::SeqCst);
            let next = session.call_tool("echo", json!({})).timeout(STEP_TIMEOUT).await;
            assert_eq!(next.unwrap().text(), "{}", "{at}");
        }
    }
}

#[tokio::test]
async fn a_peer_that_vanished_costs_the_time_of_its_call() {
    let stand = Stand::open().await;
    for at in [1, 60] {
        let proxy = Proxy::start(stand.at, Harm::Silent(at)).await;
        let session = proxy.session(RevisionPolicy::ModernOnly).await;
        proxy.harms.store(true, Ordering::SeqCst);
        let error = session.call_tool("echo", json!({})).idle_timeout(SHORT).await.unwrap_err();
        assert!(matches!(error, CallError::TimedOut { kind: TimeoutKind::Idle, .. }), "{at}: {error:?}");
        proxy.harms.store(false, Ordering::SeqCst);
        assert_eq!(session.call_tool("echo", json!({})).await.unwrap().text(), "{}");
    }
}
