//! Where the methods of a service run: on a thread for work that holds it, or to their end; and that they can ask there.
#![cfg(feature = "service-client")]
#![allow(clippy::unwrap_used, clippy::type_complexity, reason = "a test ends at the first surprise")]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use switchboard::client::{
    ClientHandler, HandlerCapabilities, HandlerError, RequestingServer, RevisionPolicy,
};
use switchboard::protocol::Revision;
use switchboard::protocol::{ElicitParams, ElicitResult};
use switchboard::service::prelude::*;
use switchboard::transport::link::BoxFuture;
use switchboard::{Client, InProcess};
use tokio::sync::oneshot;

#[derive(Deserialize, Form)]
struct Consent {
    ok: bool,
}

/// Runs.
#[service(version = "1.0.0")]
trait Runs {
    /// Asks twice, between things that hold the thread.
    #[tool(blocking)]
    async fn ask(&self, cx: &Cx) -> Result<String>;
    /// Holds until it is dropped.
    #[tool(blocking)]
    async fn hold(&self) -> Result<()>;
    /// Runs to its end, whatever happens to the call.
    #[tool(shielded)]
    async fn finish(&self) -> Result<()>;
    /// Becomes a task between things that hold the thread.
    #[tool(blocking, task = "later")]
    async fn leave(&self, cx: &Cx) -> Result<String>;
}

#[derive(Default)]
struct Svc {
    steps: AtomicUsize,
    held: Mutex<Option<(oneshot::Sender<()>, oneshot::Sender<()>)>>,
    shielded: Mutex<Option<(oneshot::Sender<()>, oneshot::Receiver<()>, oneshot::Sender<()>)>>,
}

impl Runs for Svc {
    async fn ask(&self, cx: &Cx) -> Result<String> {
        std::thread::sleep(Duration::from_millis(1));
        let step = async || {
            self.steps.fetch_add(1, Ordering::SeqCst);
            Ok(42)
        };
        let number: u32 = cx.step("number", step).await?;
        let first: Consent = cx.elicit("first", "Go on?").await?.into_result()?;
        std::thread::sleep(Duration::from_millis(1));
        let second: Consent = cx.elicit("second", "And on?").await?.into_result()?;
        Ok(format!("{number} {} {}", first.ok, second.ok))
    }
    async fn hold(&self) -> Result<()> {
        let (started, _dropped) = self.held.lock().unwrap().take().unwrap();
        started.send(()).unwrap();
        std::future::pending().await
    }
    async fn finish(&self) -> Result<()> {
        let (started, go_on, done) = self.shielded.lock().unwrap().take().unwrap();
        started.send(()).unwrap();
        go_on.await.unwrap();
        done.send(()).unwrap();
        Ok(())
    }
    async fn leave(&self, cx: &Cx) -> Result<String> {
        std::thread::sleep(Duration::from_millis(1));
        let became = cx.become_task().await;
        std::thread::sleep(Duration::from_millis(1));
        Ok(format!("became a task: {became}"))
    }
}

struct Agrees;

impl ClientHandler for Agrees {
    fn capabilities(&self) -> HandlerCapabilities {
        HandlerCapabilities::none().with_forms()
    }

    fn elicit<'a>(
        &'a self,
        _: ElicitParams,
        _: &'a RequestingServer,
    ) -> BoxFuture<'a, Result<ElicitResult, HandlerError>> {
        let answer = json!({"action": "accept", "content": {"ok": true}});
        Box::pin(async { Ok(serde_json::from_value(answer).unwrap()) })
    }
}

const ERAS: [Revision; 2] = [Revision::LATEST, Revision::LATEST_LEGACY];

async fn connect(svc: Arc<Svc>, revision: Revision) -> RunsClient {
    let server = RunsServer::builder(svc).build().unwrap();
    let client = Client::new().with_answers(Agrees).with_revisions(RevisionPolicy::Only(revision));
    RunsClient::new(client.connect(InProcess::new(&server)).await.unwrap())
}

#[tokio::test]
async fn a_blocking_tool_can_ask_in_both_eras() {
    for revision in ERAS {
        let svc = Arc::new(Svc::default());
        let runs = connect(Arc::clone(&svc), revision).await;
        let cx = Cx::call().build();
        assert_eq!(runs.ask(&cx).await.unwrap(), "42 true true", "{revision}");
        assert_eq!(svc.steps.load(Ordering::SeqCst), 1, "{revision}");
    }
}

#[tokio::test]
async fn dropping_a_call_drops_a_blocking_tool_at_its_next_await() {
    for revision in ERAS {
        let svc = Arc::new(Svc::default());
        let ((started, start), (held, dropped)) = (oneshot::channel(), oneshot::channel::<()>());
        *svc.held.lock().unwrap() = Some((started, held));
        let runs = connect(svc, revision).await;
        let call = tokio::spawn(async move { runs.hold().await });
        start.await.unwrap();
        call.abort();
        assert!(dropped.await.is_err(), "{revision}");
    }
}

#[tokio::test]
async fn dropping_a_call_leaves_a_shielded_tool_running() {
    for revision in ERAS {
        let svc = Arc::new(Svc::default());
        let ((started, start), (go_on, wait)) = (oneshot::channel(), oneshot::channel());
        let (done, end) = oneshot::channel();
        *svc.shielded.lock().unwrap() = Some((started, wait, done));
        let runs = connect(svc, revision).await;
        let call = tokio::spawn(async move { runs.finish().await });
        start.await.unwrap();
        call.abort();
        assert!(call.await.unwrap_err().is_cancelled());
        go_on.send(()).unwrap();
        end.await.unwrap();
    }
}

#[tokio::test]
async fn s11_a_blocking_tool_becomes_a_task() {
    let server = RunsServer::builder(Arc::new(Svc::default())).build().unwrap();
    for (tasks, expected) in [(true, "became a task: true"), (false, "became a task: false")] {
        let client = Client::new().with_revisions(RevisionPolicy::Only(Revision::LATEST));
        let client = if tasks { client.with_tasks() } else { client };
        let session = client.connect(InProcess::new(&server)).await.unwrap();
        let call = session.call_tool("leave", ());
        let result = tokio::time::timeout(Duration::from_secs(60), call).await.expect("the call must end");
        assert_eq!(result.unwrap().text(), expected);
    }
}
