//! Many at once: every answer carries its caller's nonce.

use libtest_mimic::Trial;
use serde_json::json;
use switchboard::ClientSession;
use tokio::task::JoinSet;

use crate::part;
use crate::stage::{Watched, close_politely, faultd, legacy, real};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        real(
            "f035_a_thousand_messages_in_one_write_all_arrive",
            f035_a_thousand_messages_in_one_write_all_arrive,
        ),
        real("crowd_256_calls_at_once_on_one_session", crowd_256_calls_at_once_on_one_session),
        real("crowd_32_sessions_at_once", crowd_32_sessions_at_once),
        real("contract_no_case_leaks_anything", contract_no_case_leaks_anything),
    ]
}

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
