//! Tasks in both task protocols, from our client to a handler that starts them.

mod wire;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_design::TaskRule;
use switchboard_protocol::{
    CallToolResult, Content, ElicitParams, ElicitResult, FormField, FormSchema, Implementation,
    ListCapability, OrderedMap, Raw, RpcError, ServerCapabilities, TaskParams, TextField,
};
use switchboard_service::task::{MemoryTaskStore, TaskDecision, TaskLimits, Tasks};
use switchboard_session::client::{
    Change, ClientHandler, HandlerCapabilities, HandlerError, RequestingServer,
};
use switchboard_session::link::{BoxFuture, SingleLink, pair};
use switchboard_session::server::{
    Caller, Handler, HandlerOutcome, InProcess, Reply, RequestContext, Server, ServerRequest,
};
use switchboard_session::{CallError, Client, ClientSession, ConnectionLimits, MuxLink, RevisionPolicy};
use switchboard_testkit::wait_until;
use switchboard_transport::http::client::Http;
use switchboard_transport::http::server::{HttpListener, HttpServerOptions, HttpService};

/// Counts work that was dropped before completion.
#[derive(Clone, Default)]
struct Dropped(Arc<AtomicUsize>);

struct Unfinished(Option<Dropped>);

impl Drop for Unfinished {
    fn drop(&mut self) {
        if let Some(dropped) = &self.0 {
            dropped.0.fetch_add(1, Ordering::SeqCst);
        }
    }
}

struct Jobs {
    tasks: Tasks,
    dropped: Dropped,
}

async fn name(cx: &RequestContext, key: &str) -> Result<String, RpcError> {
    let form = FormSchema::new().with_required("name", FormField::Text(TextField::new()));
    let answer = cx.elicit(key, ElicitParams::form(format!("The {key}?"), form)).await?;
    Ok(answer.content.and_then(|content| content.get("name")?.decode().ok()).unwrap_or_default())
}

async fn work(tool: String, cx: RequestContext, mut unfinished: Unfinished) -> Reply {
    let said = match tool.as_str() {
        "quick" => "quick".to_owned(),
        "slow" => {
            tokio::time::sleep(Duration::from_millis(50)).await;
            "slow".to_owned()
        }
        "forever" => std::future::pending().await,
        "oops" => {
            unfinished.0 = None;
            return Ok(CallToolResult::error("oops").into());
        }
        "broken" => {
            unfinished.0 = None;
            return Err(RpcError::internal("broken"));
        }
        "panics" => panic!("as the test wants it"),
        "ask" => format!("hello {}", name(&cx, "name").await?),
        "both" => {
            let (first, last) = tokio::join!(name(&cx, "first"), name(&cx, "last"));
            format!("hello {} {}", first?, last?)
        }
        "again" => format!("{} and {}", name(&cx, "name").await?, name(&cx, "name").await?),
        "later" => {
            let user = name(&cx, "user").await?;
            let outlives = cx.detach().await;
            format!("{user} {outlives} {}", name(&cx, "more").await?)
        }
        "thread" => {
            let runtime = tokio::runtime::Handle::current();
            let work = move || runtime.block_on(async { (cx.detach().await, name(&cx, "user").await) });
            let (outlives, user) = tokio::task::spawn_blocking(work).await.unwrap();
            format!("{outlives} {}", user?)
        }
        other => return Err(RpcError::invalid_params(format!("no tool {other}"))),
    };
    unfinished.0 = None;
    Ok(CallToolResult::new([Content::text(said)]).into())
}

impl Handler for Jobs {
    fn handle(&self, request: ServerRequest, cx: RequestContext) -> HandlerOutcome {
        let call = match request {
            ServerRequest::CallTool(call) => call,
            other => return self.tasks.handle(other, cx),
        };
        let rule = match call.name.as_str() {
            "quick" => TaskRule::Never,
            "later" | "thread" => TaskRule::Later,
            "broken" => TaskRule::Required,
            _ => TaskRule::Allowed,
        };
        let work = Box::pin(work(call.name.to_string(), cx.clone(), Unfinished(Some(self.dropped.clone()))));
        match self.tasks.decide(&cx, rule, call.task.as_ref()) {
            TaskDecision::Direct => HandlerOutcome::Later(work),
            TaskDecision::Task => self.tasks.start(cx, call.task.as_ref(), work),
            TaskDecision::OnRequest => self.tasks.run_detachable(cx, work),
            TaskDecision::Rejected(error) => HandlerOutcome::error(error),
        }
    }

    fn may_follow(&self, task: &str, owner: Option<&str>) -> bool {
        self.tasks.may_follow(task, owner)
    }
}

struct Stage {
    server: Arc<Server>,
    dropped: Dropped,
}

fn limits() -> TaskLimits {
    TaskLimits::default().with_poll_interval(Duration::from_millis(20))
}

fn stage_with(tasks: Tasks) -> Stage {
    let mut offers = ServerCapabilities::new().with_tools(ListCapability::new());
    Tasks::declare_capabilities(&mut offers);
    let dropped = Dropped::default();
    let jobs = Jobs { tasks: tasks.clone(), dropped: dropped.clone() };
    let server = Server::builder(Implementation::new("jobs", "1.0.0"), offers).build(jobs);
    tasks.set_publisher(server.publisher().clone());
    Stage { server, dropped }
}

fn stage() -> Stage {
    stage_with(Tasks::new(limits()))
}

/// Answers every request with its key.
struct Ada;

impl ClientHandler for Ada {
    fn capabilities(&self) -> HandlerCapabilities {
        HandlerCapabilities::none().with_forms()
    }

    fn elicit<'a>(
        &'a self,
        asked: ElicitParams,
        _: &'a RequestingServer,
    ) -> BoxFuture<'a, Result<ElicitResult, HandlerError>> {
        let ElicitParams::Form(form) = asked else { panic!("a form is asked for") };
        let name = form.message.trim_start_matches("The ").trim_end_matches('?').to_owned();
        let mut content = OrderedMap::new();
        content.insert("name", Raw::from(json!(name)));
        Box::pin(async { Ok(ElicitResult::accept(content)) })
    }
}

const MODERN: RevisionPolicy = RevisionPolicy::ModernOnly;
const LEGACY: RevisionPolicy = RevisionPolicy::LegacyOnly;

fn client(offer: RevisionPolicy) -> Client {
    Client::new().with_revisions(offer).with_tasks().with_answers(Ada)
}

async fn direct(stage: &Stage, offer: RevisionPolicy) -> ClientSession {
    client(offer).connect(InProcess::new(&stage.server)).await.unwrap()
}

async fn piped(stage: &Stage, offer: RevisionPolicy) -> ClientSession {
    let (near, far) = pair();
    let server = Arc::clone(&stage.server);
    tokio::spawn(async move { server.serve(far).await });
    client(offer).connect(SingleLink::new(MuxLink::start(near, ConnectionLimits::default()))).await.unwrap()
}

/// Calls a tool, as a task where it can be one.
async fn call(
    session: &ClientSession,
    offer: RevisionPolicy,
    tool: &str,
) -> Result<CallToolResult, CallError> {
    let call = session.call_tool(tool.to_owned(), ());
    if offer == LEGACY { call.as_task(TaskParams::new()).await } else { call.await }
}

async fn raw(session: &ClientSession, method: &str, params: Value) -> Result<Value, RpcError> {
    match session.request_raw(method, params.into()).await {
        Ok(result) => Ok(result.decode().unwrap()),
        Err(CallError::Remote(error)) => Err(error),
        Err(other) => panic!("{other}"),
    }
}

/// Starts a task of 2025-11-25 and returns its id. The client follows tasks of the extension itself.
async fn start(session: &ClientSession, tool: &str) -> String {
    let created = raw(session, "tools/call", json!({ "name": tool, "task": {} })).await.unwrap();
    assert_eq!(created["task"]["status"], "working");
    created["task"]["taskId"].as_str().unwrap().to_owned()
}

async fn settles(session: &ClientSession, id: &str, status: &str) -> Value {
    loop {
        let task = raw(session, "tasks/get", json!({ "taskId": id })).await.unwrap();
        if task["status"] == status {
            return task;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn a_call_is_followed_to_its_result_in_both_protocols() {
    for offer in [MODERN, LEGACY] {
        let stage = stage();
        for session in [direct(&stage, offer).await, piped(&stage, offer).await] {
            assert_eq!(call(&session, offer, "slow").await.unwrap().text(), "slow", "{offer:?}");
            let failed = call(&session, offer, "oops").await.unwrap();
            assert!(failed.is_error && failed.text() == "oops", "{failed:?}");
            for (tool, text) in [("broken", "broken"), ("panics", "the task failed")] {
                let Err(CallError::Remote(error)) = call(&session, offer, tool).await else {
                    panic!("{tool}")
                };
                assert!(error.message.contains(text), "{}", error.message);
            }
            assert_eq!(session.call_tool("quick", ()).await.unwrap().text(), "quick");
        }
    }
}

#[tokio::test]
async fn input_requests_of_a_task_reach_the_client_in_both_protocols() {
    for offer in [MODERN, LEGACY] {
        let stage = stage();
        for session in [direct(&stage, offer).await, piped(&stage, offer).await] {
            assert_eq!(call(&session, offer, "ask").await.unwrap().text(), "hello name");
            assert_eq!(call(&session, offer, "both").await.unwrap().text(), "hello first last");
            // The same request under the same key keeps its answer.
            assert_eq!(call(&session, offer, "again").await.unwrap().text(), "name and name");
            assert_eq!(call(&session, offer, "later").await.unwrap().text(), "user true more");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tasks_work_over_http_in_both_protocols() {
    let stage = stage();
    let listener = HttpListener::bind(([127, 0, 0, 1], 0).into()).await.unwrap();
    let url = format!("http://{}/mcp", listener.address().unwrap());
    tokio::spawn(listener.serve(HttpService::new(&stage.server, HttpServerOptions::default())));
    for offer in [MODERN, LEGACY] {
        let session = client(offer).connect(Http::new(&url)).await.unwrap();
        assert_eq!(call(&session, offer, "slow").await.unwrap().text(), "slow");
        assert_eq!(call(&session, offer, "both").await.unwrap().text(), "hello first last");
        assert_eq!(call(&session, offer, "later").await.unwrap().text(), "user true more");
        let before = stage.dropped.0.load(Ordering::SeqCst);
        let following = call(&session, offer, "forever");
        assert!(tokio::time::timeout(Duration::from_secs(1), following).await.is_err());
        wait_until("the drop of the work", || stage.dropped.0.load(Ordering::SeqCst) != before).await;
    }
}

#[tokio::test]
async fn a_method_stays_in_its_request_without_task_support() {
    for offer in [MODERN, LEGACY] {
        let plain = Client::new().with_revisions(offer).with_answers(Ada);
        let session = plain.connect(InProcess::new(&stage().server)).await.unwrap();
        assert_eq!(session.call_tool("later", ()).await.unwrap().text(), "user false more");
        assert_eq!(session.call_tool("slow", ()).await.unwrap().text(), "slow");
    }
}

#[tokio::test]
async fn s11_blocking_work_becomes_a_task() {
    let stage = stage();
    for session in [direct(&stage, MODERN).await, piped(&stage, MODERN).await] {
        let call = call(&session, MODERN, "thread");
        let result = tokio::time::timeout(Duration::from_secs(60), call).await.expect("the call must end");
        assert_eq!(result.unwrap().text(), "true user");
    }
}

#[tokio::test]
async fn a_task_only_tool_rejects_clients_without_tasks() {
    let plain = |offer| Client::new().with_revisions(offer);
    let session = plain(MODERN).connect(InProcess::new(&stage().server)).await.unwrap();
    let refused = raw(&session, "tools/call", json!({ "name": "broken" })).await.unwrap_err();
    let data: Value = refused.data.unwrap().decode().unwrap();
    assert_eq!(refused.code.0, -32021);
    assert!(
        data["requiredCapabilities"]["extensions"]["io.modelcontextprotocol/tasks"].is_object(),
        "{data}"
    );
    let refused = raw(&session, "tasks/get", json!({ "taskId": "x" })).await.unwrap_err();
    assert_eq!(refused.code.0, -32021);

    let session = plain(LEGACY).connect(InProcess::new(&stage().server)).await.unwrap();
    for params in [json!({ "name": "broken" }), json!({ "name": "quick", "task": {} })] {
        assert_eq!(raw(&session, "tools/call", params).await.unwrap_err().code.0, -32601);
    }
}

#[tokio::test]
async fn cancellation_drops_the_work_at_once() {
    let stage = stage();
    let session = direct(&stage, LEGACY).await;
    let id = start(&session, "forever").await;
    let cancelled = raw(&session, "tasks/cancel", json!({ "taskId": id })).await.unwrap();
    assert_eq!(cancelled["status"], "cancelled");
    while stage.dropped.0.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(settles(&session, &id, "cancelled").await["taskId"], id);
    assert_eq!(raw(&session, "tasks/cancel", json!({ "taskId": id })).await.unwrap_err().code.0, -32602);
    assert!(raw(&session, "tasks/result", json!({ "taskId": id })).await.is_err());

    // In the extension, dropping a call cancels its task.
    let session = direct(&stage, MODERN).await;
    let following = session.call_tool("forever", ());
    assert!(tokio::time::timeout(Duration::from_millis(500), following.into_future()).await.is_err());
    while stage.dropped.0.load(Ordering::SeqCst) == 1 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn only_the_owner_can_access_a_task() {
    let stage = stage();
    let of = async |caller: Option<&str>, offer| {
        let mut to = InProcess::new(&stage.server);
        if let Some(caller) = caller {
            to = to.with_caller(Caller::new(caller));
        }
        client(offer).connect(to).await.unwrap()
    };
    let ada = of(Some("ada"), LEGACY).await;
    let id = start(&ada, "forever").await;
    let same = [of(Some("ada"), LEGACY).await, of(Some("ada"), MODERN).await];
    let others = [of(Some("bob"), LEGACY).await, of(None, LEGACY).await, of(Some("bob"), MODERN).await];
    for session in &same {
        assert_eq!(raw(session, "tasks/get", json!({ "taskId": id })).await.unwrap()["status"], "working");
    }
    for session in &others {
        for method in ["tasks/get", "tasks/cancel"] {
            let refused = raw(session, method, json!({ "taskId": id })).await.unwrap_err();
            assert_eq!((refused.code.0, refused.message), (-32602, format!("Unknown task: {id}")));
        }
    }
    let listed = |list: Value| list["tasks"].as_array().unwrap().len();
    assert_eq!(listed(raw(&same[0], "tasks/list", json!({})).await.unwrap()), 1);
    assert_eq!(listed(raw(&others[0], "tasks/list", json!({})).await.unwrap()), 0);
    // Without an authenticated caller, a task belongs to its session.
    let (first, second) = (of(None, LEGACY).await, of(None, LEGACY).await);
    let id = start(&first, "forever").await;
    raw(&first, "tasks/get", json!({ "taskId": id })).await.unwrap();
    assert_eq!(raw(&second, "tasks/get", json!({ "taskId": id })).await.unwrap_err().code.0, -32602);
    assert_eq!(stage.dropped.0.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn only_the_owner_gets_status_notifications() {
    let stage = stage();
    let of = async |caller: &str, offer| {
        let to = InProcess::new(&stage.server).with_caller(Caller::new(caller));
        client(offer).connect(to).await.unwrap()
    };
    let id = start(&of("ada", LEGACY).await, "slow").await;
    let mut filter = switchboard_protocol::ListenFilter::new();
    filter.task_ids = vec![id.clone()];
    let ada = of("ada", MODERN).await;
    let mut subscription = ada.listen(filter.clone()).await.unwrap();
    let bob = of("bob", MODERN).await;
    let mut hears_nothing = bob.listen(filter).await.unwrap();
    loop {
        let Some(Change::Task(task)) = subscription.next().await else { panic!("no status notification") };
        let task: Value = task.decode().unwrap();
        assert_eq!(task["taskId"], id);
        if task["status"] == "completed" {
            assert_eq!(task["result"]["content"][0]["text"], "slow");
            break;
        }
    }
    let silence = tokio::time::timeout(Duration::from_millis(20), hears_nothing.next()).await;
    assert!(silence.is_err(), "{silence:?}");
}

#[tokio::test]
async fn results_are_kept_until_they_expire() {
    let stage = stage();
    let session = piped(&stage, LEGACY).await;
    let params = json!({ "name": "slow", "task": { "ttl": 150 } });
    let created = raw(&session, "tools/call", params).await.unwrap();
    assert_eq!(created["task"]["ttl"], 150);
    let id = json!({ "taskId": created["task"]["taskId"] });
    let result = raw(&session, "tasks/result", id.clone()).await.unwrap();
    assert_eq!(result["content"][0]["text"], "slow");
    assert_eq!(result["_meta"]["io.modelcontextprotocol/related-task"], id);
    // The result can be fetched again until it expires.
    raw(&session, "tasks/result", id.clone()).await.unwrap();
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(raw(&session, "tasks/get", id).await.unwrap_err().code.0, -32602);
    // A task still running at expiry is cancelled.
    let params = json!({ "name": "forever", "task": { "ttl": 20 } });
    raw(&session, "tools/call", params).await.unwrap();
    wait_until("the drop of the work", || stage.dropped.0.load(Ordering::SeqCst) != 0).await;
}

#[tokio::test]
async fn the_number_of_running_tasks_is_limited() {
    let mut one = limits();
    one.max_running_per_owner = 1;
    let stage = stage_with(Tasks::with_store(one, Arc::new(MemoryTaskStore::new(2))));
    let session = direct(&stage, LEGACY).await;
    let first = start(&session, "forever").await;
    let params = json!({ "name": "forever", "task": {} });
    let refused = raw(&session, "tools/call", params.clone()).await.unwrap_err();
    assert!(refused.message.contains("too many tasks"), "{}", refused.message);
    // Another caller has room here, but the store is full for the next.
    let second = direct(&stage, LEGACY).await;
    start(&second, "forever").await;
    let third = direct(&stage, LEGACY).await;
    let refused = raw(&third, "tools/call", params.clone()).await.unwrap_err();
    assert!(refused.message.contains("too many tasks"), "{}", refused.message);
    raw(&session, "tasks/cancel", json!({ "taskId": first })).await.unwrap();
    settles(&session, &first, "cancelled").await;
    raw(&third, "tools/call", params).await.unwrap();
}

#[tokio::test]
async fn an_anonymous_task_ends_with_its_session() {
    let stage = stage();
    let caller = InProcess::new(&stage.server).with_caller(Caller::new("ada"));
    let ada = client(LEGACY).connect(caller.clone()).await.unwrap();
    let id = start(&ada, "forever").await;
    ada.close().await;
    let anonymous = direct(&stage, LEGACY).await;
    start(&anonymous, "forever").await;
    anonymous.close().await;
    wait_until("the drop of the work", || stage.dropped.0.load(Ordering::SeqCst) != 0).await;
    let ada = client(LEGACY).connect(caller).await.unwrap();
    assert_eq!(raw(&ada, "tasks/get", json!({ "taskId": id })).await.unwrap()["status"], "working");
    assert_eq!(stage.dropped.0.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn dropping_the_tasks_cancels_running_ones() {
    let stage = stage();
    let to = InProcess::new(&stage.server).with_caller(Caller::new("ada"));
    let session = client(LEGACY).connect(to).await.unwrap();
    start(&session, "forever").await;
    let Stage { server, dropped } = stage;
    session.close().await;
    drop((session, server));
    wait_until("the drop of the work", || dropped.0.load(Ordering::SeqCst) == 1).await;
}
