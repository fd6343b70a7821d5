//! Which sessions give way to newcomers, and which never do.

use switchboard_protocol::{Implementation, Raw, RpcError, ServerCapabilities};
use switchboard_session::server::{
    Handler, HandlerOutcome, RequestContext, Server, ServerRequest, ServerSession,
};

use super::*;
use crate::http::server::budget::ByteBudget;
use crate::http::server::event_queue::Delivery;
use crate::http::server::session::STANDALONE;

struct Nothing;

impl Handler for Nothing {
    fn handle(&self, request: ServerRequest, _: RequestContext) -> HandlerOutcome {
        HandlerOutcome::error(RpcError::method_not_found(request.method()))
    }
}

fn sessions(set: impl FnOnce(&mut HttpServerOptions)) -> Sessions {
    let server = Server::builder(Implementation::new("test", "1"), ServerCapabilities::new()).build(Nothing);
    let mut options = HttpServerOptions::default();
    set(&mut options);
    Sessions::new(&server, &options, &Budget::new(options.stream_budget))
}

fn address(last: u8) -> ClientId {
    ClientId::at([192, 0, 2, last].into())
}

impl Sessions {
    /// A session as if its handshake had succeeded.
    async fn open(&self, client: &ClientId) -> Result<SessionUse, TooManySessions> {
        const MEMORY: &str =
            r#"{"revision":"2025-11-25","client":{"name":"c","version":"1"},"capabilities":{}}"#;
        let memory = ServerSession::restore(&Raw::parse(MEMORY).unwrap()).unwrap();
        let session = self.admit(self.replica.new_session_id(), memory, Some(client)).await?;
        self.publish_and_save(&session).await;
        Ok(session)
    }

    async fn is_known(&self, id: &str) -> bool {
        self.find(id, None, || None).await.unwrap().is_some()
    }
}

#[tokio::test]
async fn s5_a_session_in_use_outlives_any_number_of_newcomers() {
    let newcomers = if std::env::var_os("SWITCHBOARD_LONG").is_some() { 50_000 } else { 2_000 };
    let sessions = sessions(|options| options.sessions = 500);
    let victim = sessions.open(&address(1)).await.unwrap();
    let stream = victim.attach(STANDALONE, None).unwrap();
    let idle = sessions.open(&address(1)).await.unwrap().id.clone();
    for newcomer in 0..newcomers {
        sessions.open(&address(2 + (newcomer % 5) as u8)).await.unwrap();
    }
    assert!(!sessions.is_known(&idle).await, "an idle one gave way");
    assert!(sessions.is_known(&victim.id).await);
    assert!(!stream.is_abandoned());
    assert_eq!(sessions.table.lock().lru.len(), 500);
}

#[tokio::test]
async fn s5_beyond_its_share_a_client_loses_its_own_sessions() {
    let sessions = sessions(|options| {
        options.sessions = 10;
        options.sessions_per_client = 3;
    });
    let mut others = Vec::new();
    for _ in 0..2 {
        others.push(sessions.open(&address(1)).await.unwrap().id.clone());
    }
    let mut own = Vec::new();
    for _ in 0..20 {
        own.push(sessions.open(&address(2)).await.unwrap().id.clone());
    }
    for id in others.iter().chain(&own[17..]) {
        assert!(sessions.is_known(id).await);
    }
    assert!(!sessions.is_known(&own[16]).await);
}

#[tokio::test]
async fn s5_where_all_are_in_use_a_newcomer_is_refused() {
    let sessions = sessions(|options| {
        options.sessions = 3;
        options.sessions_per_client = 2;
    });
    let first = sessions.open(&address(1)).await.unwrap();
    let _second = sessions.open(&address(1)).await.unwrap();
    assert_eq!(sessions.open(&address(1)).await.unwrap_err(), TooManySessions, "its share is in use");
    let _third = sessions.open(&address(2)).await.unwrap();
    assert_eq!(sessions.open(&address(3)).await.unwrap_err(), TooManySessions, "all are in use");
    drop(first);
    sessions.open(&address(3)).await.unwrap();
}

#[tokio::test]
async fn s4_logs_of_idle_sessions_give_way_within_the_budget() {
    const SIZE: usize = 1000;
    let sessions = sessions(|options| options.replay_budget = ByteBudget::new(8 * SIZE, 4 * SIZE));
    let mut ids = Vec::new();
    for newcomer in 0_u8..40 {
        let session = sessions.open(&address(newcomer / 20)).await.unwrap();
        session.send(STANDALONE, &[b'x'; SIZE - 100], Delivery::Required);
        assert!(sessions.budgets.replay.held() <= 8 * SIZE);
        ids.push(session.id.clone());
    }
    let mut kept = 0;
    for id in ids {
        let session = sessions.find(&id, None, || None).await.unwrap().expect("the session itself stays");
        let queue = session.attach(STANDALONE, Some(0)).unwrap();
        queue.end();
        let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
        kept += usize::from(matches!(queue.poll_next(&mut cx), std::task::Poll::Ready(Some(_))));
    }
    assert_eq!(kept, 8, "four of each client");
}

#[tokio::test]
async fn s4_a_log_beyond_the_budget_loses_its_own_oldest_events() {
    let sessions = sessions(|options| options.replay_budget = ByteBudget::new(10_000, 5_000));
    let session = sessions.open(&address(1)).await.unwrap();
    for _ in 0..100 {
        session.send(STANDALONE, &[b'x'; 900], Delivery::Required);
        assert!(sessions.budgets.replay.held() <= 5_000);
    }
    assert!(sessions.budgets.replay.held() > 3_000);
    sessions.end(&session.id).await;
    assert_eq!(sessions.budgets.replay.held(), 0);
}
