//! Tasks through the gateway, in every cell: created, asked, followed, cancelled and listed by their owner only.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use switchboard::client::Change;
use switchboard::gateway::GatewayOptions;
use switchboard::gateway::audit::{AuditLog, AuditOptions, AuditSink};
use switchboard::gateway::policy::Policy;
use switchboard::protocol::{
    CallToolResult, ErrorCode, Implementation, ListCapability, ListToolsResult, ListenFilter, Raw, Root,
    RpcError, ServerCapabilities, TaskParams, TaskSupport, Tool, ToolExecution,
};
use switchboard::server::{Caller, Handler, HandlerOutcome, RequestContext, ServerRequest, StateKeys};
use switchboard::{CallError, Client, InProcess, Server, json};
use switchboard_service::task::{TaskLimits, Tasks};
use switchboard_session::ClientSession;
use switchboard_testkit::{trial_leaving_tasks, trials};

use crate::cells::{Bench, Cell, Reach, Side, cells};
use crate::person::Person;
use crate::raw_client::RawClient;

trials! {
    trial_leaving_tasks:
        a_task_runs_to_its_result,
        a_task_asks_its_owner,
        a_failed_task_says_why,
        tools_of_legacy_servers_say_whether_they_run_as_tasks,
        an_id_is_of_use_to_its_owner_only,
        a_cancelled_task_is_cancelled_upstream,
        a_caller_lists_its_own_tasks,
        a_server_that_is_silent_about_its_tasks_does_not_delay_the_list,
        the_state_of_a_task_is_announced_to_its_owner,
        a_task_without_its_extension_is_waited_for,
        rules_of_a_tool_bind_its_tasks,
        a_task_in_a_session_of_another_replica_says_so,
        requests_for_tasks_are_recorded,
}

/// The cells in which a client gets tasks: all but a legacy client of a modern server.
fn task_cells() -> Vec<Cell> {
    cells()
        .into_iter()
        .filter(|cell| !(cell.client == Side::Legacy && cell.upstream == Side::Modern))
        .collect()
}

async fn open(cell: Cell) -> Bench {
    cell.open_tasks(GatewayOptions::default()).await
}

/// Connects a client that takes tasks.
async fn connect(bench: &Bench, cell: Cell, person: &Arc<Person>) -> ClientSession {
    Client::new()
        .with_revisions(cell.client.revisions())
        .with_tasks()
        .with_answers(Arc::clone(person))
        .with_roots([Root::new("file:///home")])
        .connect(InProcess::new(bench.gateway.server()).with_caller(Caller::new(person.name)))
        .await
        .unwrap()
}

/// Calls a tool as a task, and follows it to its result.
async fn run(session: &ClientSession, cell: Cell, tool: &str) -> Result<CallToolResult, CallError> {
    let call = session.call_tool(tool.to_owned(), json!({}));
    if cell.client == Side::Legacy { call.as_task(TaskParams::new()).await } else { call.await }
}

/// A client that sees the messages of tasks.
enum TaskClient {
    Legacy(ClientSession),
    Modern(RawClient),
}

impl TaskClient {
    async fn connect(bench: &Bench, cell: Cell, name: &'static str) -> Self {
        match cell.client {
            Side::Legacy => Self::Legacy(connect(bench, cell, &Person::new(name)).await),
            Side::Modern => {
                Self::Modern(RawClient::connect(bench.gateway.server(), Some(name)).await.with_tasks())
            }
        }
    }

    async fn request(&self, method: &'static str, params: serde_json::Value) -> Result<Raw, RpcError> {
        match self {
            Self::Legacy(session) => match session.request_raw(method, Raw::from(params)).await {
                Err(CallError::Remote(error)) => Err(error),
                other => Ok(other.unwrap()),
            },
            Self::Modern(client) => {
                let text = params.to_string();
                client.request(method, &text[1..text.len() - 1]).await
            }
        }
    }

    /// Starts a task and returns its id.
    async fn start(&self, tool: &str) -> String {
        let created = self.request("tools/call", json!({ "name": tool, "task": {} })).await.unwrap();
        let task = match self {
            Self::Legacy(_) => member(&created, "task"),
            Self::Modern(_) => created,
        };
        assert_eq!(text(&task, "status"), "working");
        text(&task, "taskId")
    }

    async fn status(&self, id: &str) -> Result<String, RpcError> {
        let task = self.request("tasks/get", json!({ "taskId": id })).await?;
        assert_eq!(text(&task, "taskId"), id);
        Ok(text(&task, "status"))
    }
}

fn member(raw: &Raw, name: &str) -> Raw {
    raw.fields()
        .find(|(key, _)| *key == name)
        .map(|(_, value)| value)
        .unwrap_or_else(|| panic!("{name}: {}", raw.as_str()))
}

fn text(raw: &Raw, name: &str) -> String {
    member(raw, name).decode().unwrap()
}

async fn a_task_runs_to_its_result() {
    for cell in task_cells() {
        let bench = open(cell).await;
        let session = connect(&bench, cell, &Person::new("ada")).await;
        bench.host.call_tool("up", "release", json!({})).await.unwrap();
        assert_eq!(run(&session, cell, "up__job").await.unwrap().text(), "done", "{cell:?}");
        bench.close().await;
    }
}

async fn a_task_asks_its_owner() {
    for cell in task_cells() {
        let bench = open(cell).await;
        let ada = Person::new("ada");
        let session = connect(&bench, cell, &ada).await;
        assert_eq!(run(&session, cell, "up__ask").await.unwrap().text(), "ada", "{cell:?}");
        assert_eq!(*ada.asked.lock(), ["Which color?"], "{cell:?}");
        assert_eq!(bench.gateway.status().parked_calls, 0, "{cell:?}");
        bench.close().await;
    }
}

async fn a_failed_task_says_why() {
    for cell in task_cells() {
        let bench = open(cell).await;
        let session = connect(&bench, cell, &Person::new("ada")).await;
        let failed = run(&session, cell, "up__fail").await;
        assert!(
            matches!(&failed, Err(CallError::Remote(error)) if error.message.contains("it is broken")),
            "{cell:?}: {failed:?}"
        );
        let complained = run(&session, cell, "up__complain").await.unwrap();
        assert!(complained.is_error && complained.text() == "bad luck", "{cell:?}");
        bench.close().await;
    }
}

async fn tools_of_legacy_servers_say_whether_they_run_as_tasks() {
    for cell in cells() {
        let bench = open(cell).await;
        let session = connect(&bench, cell, &Person::new("ada")).await;
        let tools = session.list_tools().await.unwrap();
        let support = |name: &str| {
            let tool = tools.by_name(name).unwrap();
            tool.execution.as_ref().and_then(|execution| execution.task_support)
        };
        let says = cell.client == Side::Legacy && cell.upstream == Side::Legacy;
        assert_eq!(support("up__fail"), says.then_some(TaskSupport::Required), "{cell:?}");
        assert_eq!(support("up__release"), None, "{cell:?}");
        if cell.client == Side::Legacy && cell.upstream == Side::Modern {
            let refused = run(&session, cell, "up__job").await;
            assert!(
                matches!(&refused, Err(CallError::Remote(error)) if error.code == ErrorCode::METHOD_NOT_FOUND),
                "{cell:?}: {refused:?}"
            );
            bench.host.call_tool("up", "release", json!({})).await.unwrap();
            let direct = session.call_tool("up__job", json!({})).await.unwrap();
            assert_eq!(direct.text(), "done", "{cell:?}: without a task it is called");
        }
        bench.close().await;
    }
}

async fn an_id_is_of_use_to_its_owner_only() {
    for cell in task_cells() {
        let bench = open(cell).await;
        let ada = TaskClient::connect(&bench, cell, "ada").await;
        let bob = TaskClient::connect(&bench, cell, "bob").await;
        let id = ada.start("up__job").await;
        assert_eq!(ada.status(&id).await.unwrap(), "working", "{cell:?}");
        let forged = format!("{}{}", &id[..id.len() - 1], if id.ends_with('A') { "B" } else { "A" });
        for method in ["tasks/get", "tasks/cancel"] {
            let others = bob.request(method, json!({ "taskId": id })).await.unwrap_err();
            let unknown = bob.request(method, json!({ "taskId": "7" })).await.unwrap_err();
            assert_eq!(others.code, ErrorCode::INVALID_PARAMS, "{cell:?} {method}");
            assert_eq!(others.message.replace(&id, "7"), unknown.message, "{cell:?}: as an unknown one");
            let forged = ada.request(method, json!({ "taskId": forged })).await.unwrap_err();
            assert_eq!(forged.code, ErrorCode::INVALID_PARAMS, "{cell:?} {method}");
        }
        assert_eq!(ada.status(&id).await.unwrap(), "working", "{cell:?}: no one cancelled it");
        bench.close().await;
    }
}

async fn a_cancelled_task_is_cancelled_upstream() {
    for cell in task_cells() {
        let bench = open(cell).await;
        let ada = TaskClient::connect(&bench, cell, "ada").await;
        let id = ada.start("up__job").await;
        ada.request("tasks/cancel", json!({ "taskId": id })).await.unwrap();
        bench.counted("ended jobs", 1).await;
        assert_eq!(ada.status(&id).await.unwrap(), "cancelled", "{cell:?}");
        let again = ada.request("tasks/cancel", json!({ "taskId": id })).await;
        assert_eq!(again.is_ok(), cell.client == Side::Modern, "{cell:?}: {again:?}");
        bench.close().await;
    }
}

async fn a_caller_lists_its_own_tasks() {
    for cell in task_cells().into_iter().filter(|cell| cell.client == Side::Legacy) {
        let bench = open(cell).await;
        let ada = TaskClient::connect(&bench, cell, "ada").await;
        let bob = TaskClient::connect(&bench, cell, "bob").await;
        let own = [ada.start("up__job").await, ada.start("up__job").await];
        bob.start("up__job").await;
        let list = ada.request("tasks/list", json!({})).await.unwrap();
        let listed: Vec<Raw> = member(&list, "tasks").decode().unwrap();
        assert_eq!(listed.iter().map(|task| text(task, "taskId")).collect::<Vec<_>>(), own, "{cell:?}");
        assert!(listed.iter().all(|task| text(task, "status") == "working"), "{cell:?}");
        assert!(ada.request("tasks/list", json!({ "cursor": "x" })).await.is_err(), "{cell:?}");
        bench.close().await;
    }
}

/// A server that creates tasks and never says how they are.
struct SilentTasks(Tasks);

impl Handler for SilentTasks {
    fn handle(&self, request: ServerRequest, cx: RequestContext) -> HandlerOutcome {
        match request {
            ServerRequest::ListTools(_) => {
                let mut tool = Tool::new("job", json!({ "type": "object" }));
                tool.execution = Some(ToolExecution::new(TaskSupport::Optional));
                HandlerOutcome::now(ListToolsResult::new([tool]))
            }
            ServerRequest::CallTool(call) => {
                self.0.start(cx, call.task.as_ref(), Box::pin(std::future::pending()))
            }
            ServerRequest::GetTask(_) => HandlerOutcome::later(std::future::pending()),
            other => self.0.handle(other, cx),
        }
    }
}

async fn a_server_that_is_silent_about_its_tasks_does_not_delay_the_list() {
    let mut offers = ServerCapabilities::new().with_tools(ListCapability::new());
    Tasks::declare_capabilities(&mut offers);
    let silent = Server::builder(Implementation::new("silent", "1"), offers)
        .revisions(Side::Legacy.revisions())
        .build(SilentTasks(Tasks::new(TaskLimits::default())));
    let cell = Cell { client: Side::Legacy, upstream: Side::Legacy, reach: Reach::InProcess };
    let bench = open(cell).await;
    bench.host.connect("silent", InProcess::new(&silent)).await.unwrap();
    let ada = TaskClient::connect(&bench, cell, "ada").await;
    for _ in 0..4 {
        ada.start("silent__job").await;
    }
    let own = ada.start("up__job").await;
    let began = tokio::time::Instant::now();
    let list = ada.request("tasks/list", json!({})).await.unwrap();
    let listed: Vec<Raw> = member(&list, "tasks").decode().unwrap();
    assert_eq!(listed.iter().map(|task| text(task, "taskId")).collect::<Vec<_>>(), [own]);
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
    bench.close().await;
}

async fn the_state_of_a_task_is_announced_to_its_owner() {
    for cell in task_cells() {
        let bench = open(cell).await;
        // A client of the extension listens for the id; to a session it is announced.
        let session = connect(&bench, cell, &Person::new("ada")).await;
        let ada = TaskClient::connect(&bench, cell, "ada").await;
        let (id, mut changes) = match &ada {
            TaskClient::Legacy(session) => {
                let changes = session.changes().unwrap();
                (ada.start("up__job").await, Stream::Session(changes))
            }
            TaskClient::Modern(_) => {
                let id = ada.start("up__job").await;
                let filter = ListenFilter::new().with_task_ids([id.clone(), "7".to_owned()]);
                let stream = session.listen(filter).await.unwrap();
                assert_eq!(stream.accepted().task_ids, std::slice::from_ref(&id), "{cell:?}");
                (id, Stream::Listen(stream))
            }
        };
        bench.host.call_tool("up", "release", json!({})).await.unwrap();
        loop {
            let state = changes.next_task().await;
            assert_eq!(text(&state, "taskId"), id, "{cell:?}");
            if text(&state, "status") == "completed" {
                let has_result = state.as_str().contains(r#""text":"done""#);
                assert_eq!(has_result, cell.client == Side::Modern, "{cell:?}: {}", state.as_str());
                break;
            }
        }
        bench.close().await;
    }
}

enum Stream {
    Session(switchboard::client::ChangeStream),
    Listen(switchboard::client::Subscription),
}

impl Stream {
    async fn next_task(&mut self) -> Raw {
        loop {
            let change = match self {
                Self::Session(changes) => changes.next().await,
                Self::Listen(changes) => changes.next().await,
            };
            if let Change::Task(raw) = change.unwrap() {
                return raw;
            }
        }
    }
}

async fn a_task_without_its_extension_is_waited_for() {
    for cell in cells().into_iter().filter(|cell| cell.client == Side::Modern) {
        let bench = open(cell).await;
        let client = RawClient::connect(bench.gateway.server(), Some("ada")).await;
        bench.host.call_tool("up", "release", json!({})).await.unwrap();
        let result = client.call("up__job", json!({})).await.unwrap();
        assert!(result.as_str().contains("done"), "{cell:?}: {}", result.as_str());
        let undeclared = client.request("tasks/get", r#""taskId":"7""#).await.unwrap_err();
        assert_eq!(undeclared.code, ErrorCode::MISSING_CLIENT_CAPABILITY, "{cell:?}");
        bench.close().await;
    }
}

async fn rules_of_a_tool_bind_its_tasks() {
    for cell in task_cells() {
        let bench = open(cell).await;
        let ada = TaskClient::connect(&bench, cell, "ada").await;
        let id = ada.start("up__job").await;
        let policy = "default = \"allow\"\n[[rule]]\neffect = \"deny\"\nserver = \"up\"\ntool = \"job\"\n";
        bench.gateway.set_policy(Policy::parse(policy).unwrap());
        for method in ["tasks/get", "tasks/cancel"] {
            let denied = ada.request(method, json!({ "taskId": id })).await.unwrap_err();
            assert_eq!(denied.message, format!("Unknown task: {id}"), "{cell:?} {method}");
        }
        if cell.client == Side::Modern {
            let session = connect(&bench, cell, &Person::new("ada")).await;
            let stream = session.listen(ListenFilter::new().with_task_ids([id.clone()])).await.unwrap();
            assert!(stream.accepted().task_ids.is_empty(), "{cell:?}");
        }
        bench.gateway.set_policy(Policy::allow_all());
        assert_eq!(ada.status(&id).await.unwrap(), "working", "{cell:?}");
        bench.close().await;
    }
}

async fn a_task_in_a_session_of_another_replica_says_so() {
    let keys = StateKeys::random();
    let cell = task_cells()[0];
    let options = |name: &str| GatewayOptions::default().with_state_keys(keys.clone()).with_replica(name);
    let (one, two) = (cell.open_tasks(options("one")).await, cell.open_tasks(options("two")).await);
    let id = TaskClient::connect(&one, cell, "ada").await.start("up__job").await;
    let error = TaskClient::connect(&two, cell, "ada").await.status(&id).await.unwrap_err();
    assert!(error.message.contains("another replica"), "{}", error.message);
    one.close().await;
    two.close().await;
}

/// The lines of an audit log.
#[derive(Clone, Default)]
struct AuditLines(Arc<Mutex<Vec<serde_json::Value>>>);

impl AuditSink for AuditLines {
    fn write(&mut self, lines: &[Vec<u8>]) -> std::io::Result<usize> {
        self.0.lock().extend(lines.iter().map(|line| serde_json::from_slice(line).unwrap()));
        Ok(lines.len())
    }

    fn sync(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

async fn requests_for_tasks_are_recorded() {
    for cell in task_cells() {
        let lines = AuditLines::default();
        let log = AuditLog::start(lines.clone(), AuditOptions::default());
        let bench = cell.open_tasks(GatewayOptions::default().with_audit(log.clone())).await;
        let ada = TaskClient::connect(&bench, cell, "ada").await;
        let bob = TaskClient::connect(&bench, cell, "bob").await;
        let id = ada.start("up__job").await;
        ada.status(&id).await.unwrap();
        bob.status(&id).await.unwrap_err();
        ada.request("tasks/cancel", json!({ "taskId": id })).await.unwrap();
        let recorded = || {
            let lines = lines.0.lock();
            let of_tasks = lines.iter().filter(|line| line["method"].as_str().unwrap().starts_with("tasks/"));
            let text = |line: &serde_json::Value, name: &str| line[name].as_str().unwrap_or("-").to_owned();
            let shown = |line| {
                ["method", "principal", "server", "kind", "outcome"].map(|name| text(line, name)).join(" ")
            };
            of_tasks.map(shown).collect::<Vec<_>>()
        };
        switchboard_testkit::wait_until(format!("the records of {cell:?}"), || recorded().len() == 3).await;
        assert_eq!(
            recorded(),
            ["tasks/get ada up task ok", "tasks/get bob - - unknown", "tasks/cancel ada up task ok"],
            "{cell:?}"
        );
        bench.close().await;
    }
}
