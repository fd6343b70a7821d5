//! Many at once: every answer carries its caller's nonce.

use serde_json::json;
use switchboard::client::{
    ClientHandler, ClientSession, HandlerCapabilities, HandlerError, RequestingServer,
};
use switchboard::protocol::{ElicitParams, ElicitResult};
use switchboard::transport::link::BoxFuture;
use switchboard_testkit::wait_for_reaping;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::faults::part;
use crate::faults::sessions::{Watched, close_politely, faultd, legacy, real, shell};

switchboard_testkit::trials![
    real:
        f035_a_thousand_messages_in_one_write_all_arrive,
        crowd_256_calls_at_once_on_one_session,
        crowd_32_sessions_at_once,
        contract_no_case_leaks_anything,
        contract_a_dropped_session_gives_up_its_questions;
];

/// The server answers only when all calls are there, in reverse order, in one write.
async fn all_at_once(session: &ClientSession, count: usize, name: &str) {
    let mut calls = JoinSet::new();
    for number in 0..count {
        let (session, nonce) = (session.clone(), format!("{name}-{number}"));
        calls.spawn(async move {
            let result = session.call_tool("gather", json!({ "nonce": nonce, "of": count })).await.unwrap();
            assert_eq!(result.text(), nonce, "an answer reached another caller");
        });
    }
    calls.join_all().await;
}

async fn f035_a_thousand_messages_in_one_write_all_arrive() {
    let watched = Watched::new(faultd("none"));
    let session = legacy().connect(watched.clone()).await.unwrap();
    all_at_once(&session, 1000, "many").await;
    assert_eq!((watched.pending(), session.counts()), (0, Default::default()));
    close_politely(&session).await;
}

async fn crowd_256_calls_at_once_on_one_session() {
    let watched = Watched::new(faultd("none"));
    let session = legacy().connect(watched.clone()).await.unwrap();
    for round in 0..4 {
        all_at_once(&session, 256, &format!("round-{round}")).await;
    }
    assert_eq!((watched.pending(), session.counts()), (0, Default::default()));
    close_politely(&session).await;
}

async fn crowd_32_sessions_at_once() {
    let mut sessions = JoinSet::new();
    for number in 0..32 {
        sessions.spawn(async move {
            let watched = Watched::new(faultd("none"));
            let session = legacy().connect(watched.clone()).await.unwrap();
            all_at_once(&session, 32, &format!("session-{number}")).await;
            assert_eq!((watched.pending(), session.counts()), (0, Default::default()));
            close_politely(&session).await;
        });
    }
    sessions.join_all().await;
}

/// In a process of its own: other tests open descriptors too.
async fn contract_no_case_leaks_anything() {
    assert_eq!(part::said("leaks").await, "0 children, 0 descriptors, 0 tasks");
}

/// Asks somebody who never answers, and tells when it begins and when it is given up.
pub(crate) struct Silent(pub(crate) mpsc::UnboundedSender<&'static str>);

struct Asked(mpsc::UnboundedSender<&'static str>);

impl Drop for Asked {
    fn drop(&mut self) {
        let _ = self.0.send("given up");
    }
}

impl ClientHandler for Silent {
    fn capabilities(&self) -> HandlerCapabilities {
        HandlerCapabilities::none().with_forms()
    }

    fn elicit<'a>(
        &'a self,
        _: ElicitParams,
        _: &'a RequestingServer,
    ) -> BoxFuture<'a, Result<ElicitResult, HandlerError>> {
        self.0.send("asked").unwrap();
        let asked = Asked(self.0.clone());
        Box::pin(async move {
            let _asked = asked;
            std::future::pending().await
        })
    }
}

/// The server waits for an answer that never comes: dropping the session, closing it or losing the server ends that.
async fn contract_a_dropped_session_gives_up_its_questions() {
    let question = r#"{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"well?","requestedSchema":{"type":"object","properties":{}}}}"#;
    for then in ["cat >/dev/null", "read more"] {
        let script = format!("echo '{question}'; {then}");
        let (asked, mut was_asked) = mpsc::unbounded_channel();
        let watched = Watched::new(shell(&script));
        let session = legacy().with_answers(Silent(asked)).connect(watched.clone()).await.unwrap();
        assert_eq!(was_asked.recv().await, Some("asked"));
        if then == "read more" {
            // The server ends while the session is still held.
            session.ping().await.unwrap_err();
            assert_eq!(was_asked.recv().await, Some("given up"));
        }
        drop(session);
        if then != "read more" {
            assert_eq!(was_asked.recv().await, Some("given up"));
        }
        wait_for_reaping(watched.children()[0].root_pid()).await;
    }
}
