//! Starts tasks: decides whether a call becomes a task, and runs it to completion.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, OnceLock, Weak};
use std::task::{Context, Poll};

use parking_lot::Mutex;
use switchboard_design::TaskRule;
use switchboard_protocol::surface::TASKS_EXTENSION;
use switchboard_protocol::{
    CreateTaskResult, LegacyTaskState, Raw, RpcError, ServerCapabilities, Settings, TaskParams, TaskRequests,
    TasksCapability,
};
use switchboard_session::link::BoxFuture;
use switchboard_session::server::{
    CatchUnwind, HandlerOutcome, Publisher, Reply, RequestContext, TaskProtocol,
};
use tokio::sync::oneshot;
use tokio::task::AbortHandle;

use super::job::{Job, TaskQuestions};
use super::{MemoryTaskStore, TaskLimits, TaskStore};

/// The tasks of a server. Cheap to clone; dropping the last clone cancels running tasks.
#[derive(Clone)]
pub struct Tasks {
    pub(super) inner: Arc<TasksInner>,
}

pub(super) struct TasksInner {
    pub(super) limits: TaskLimits,
    pub(super) store: Arc<dyn TaskStore>,
    running: Mutex<HashMap<String, RunningTask>>,
    publisher: OnceLock<Publisher>,
}

struct RunningTask {
    job: Arc<Job>,
    task: AbortHandle,
}

/// Whether a tool call runs as a task.
#[derive(Debug, Clone, PartialEq)]
pub enum TaskDecision {
    /// The call is answered directly.
    Direct,
    /// The call becomes a task; pass it to [`Tasks::start`].
    Task,
    /// The call becomes a task when its method requests it; pass it to [`Tasks::run_detachable`].
    OnRequest,
    /// The call is rejected: the client does not support tasks, or the tool does not run as one.
    Rejected(RpcError),
}

impl Tasks {
    /// Creates tasks with an in-memory store.
    pub fn new(limits: TaskLimits) -> Self {
        Self::with_store(limits, Arc::new(MemoryTaskStore::default()))
    }

    /// Creates tasks with this store.
    pub fn with_store(limits: TaskLimits, store: Arc<dyn TaskStore>) -> Self {
        let inner = TasksInner { limits, store, running: Mutex::default(), publisher: OnceLock::new() };
        Self { inner: Arc::new(inner) }
    }

    /// Sets the publisher for status notifications. Only the first call has an effect, because tasks belong to one
    /// server.
    pub fn set_publisher(&self, publisher: Publisher) {
        let _ = self.inner.publisher.set(publisher);
    }

    /// Declares the task capabilities of all revisions.
    pub fn declare_capabilities(capabilities: &mut ServerCapabilities) {
        let call = Settings::from_iter([("call".to_owned(), Raw::empty_object())]);
        let tasks = TasksCapability::new()
            .with_list(Settings::new())
            .with_cancel(Settings::new())
            .with_requests(TaskRequests::new().with_tools(call));
        capabilities.tasks = Some(tasks);
        capabilities.extensions.get_or_insert_default().insert(TASKS_EXTENSION, Raw::empty_object());
    }

    /// Decides whether a call becomes a task. `requested` are the task parameters of the call.
    pub fn decide(
        &self,
        cx: &RequestContext,
        rule: TaskRule,
        requested: Option<&TaskParams>,
    ) -> TaskDecision {
        let rejected = |reason: &str| {
            let mut error = RpcError::method_not_found("tools/call");
            error.message = reason.to_owned();
            TaskDecision::Rejected(error)
        };
        match (cx.task_protocol(), rule) {
            (Some(TaskProtocol::Extension), TaskRule::Never) | (None, TaskRule::Never) => {
                TaskDecision::Direct
            }
            (None, TaskRule::Required) => rejected(
                "this tool runs as a task only, and the protocol revision of this session has no tasks",
            ),
            (None, TaskRule::Allowed | TaskRule::Later) => TaskDecision::Direct,
            (Some(TaskProtocol::Core), TaskRule::Never) => match requested {
                Some(_) => rejected("this tool does not run as a task: call it without `task`"),
                None => TaskDecision::Direct,
            },
            (Some(TaskProtocol::Core), TaskRule::Required) if requested.is_none() => {
                rejected("this tool runs as a task only: call it with `task`")
            }
            (Some(TaskProtocol::Core), _) => requested.map_or(TaskDecision::Direct, |_| TaskDecision::Task),
            (Some(TaskProtocol::Extension), rule) => match cx.require_extension(TASKS_EXTENSION) {
                Ok(()) if rule == TaskRule::Later => TaskDecision::OnRequest,
                Ok(()) => TaskDecision::Task,
                Err(error) if rule == TaskRule::Required => TaskDecision::Rejected(error),
                Err(_) => TaskDecision::Direct,
            },
        }
    }

    /// Starts the work of a call as a task and answers the call with that task.
    pub fn start(
        &self,
        cx: RequestContext,
        requested: Option<&TaskParams>,
        work: BoxFuture<'static, Reply>,
    ) -> HandlerOutcome {
        // In the extension, the server alone sets the TTL.
        let requested = requested.filter(|_| cx.task_protocol() == Some(TaskProtocol::Core));
        HandlerOutcome::Later(self.spawn_task(cx, requested.and_then(|requested| requested.ttl), work))
    }

    /// Runs the work of a call, which becomes a task when it calls [`RequestContext::detach`].
    pub fn run_detachable(&self, cx: RequestContext, work: BoxFuture<'static, Reply>) -> HandlerOutcome {
        cx.allow_detach();
        HandlerOutcome::Later(Box::pin(DetachableCall {
            tasks: self.clone(),
            cx,
            stage: DetachStage::Attached(work),
        }))
    }

    fn spawn_task(
        &self,
        cx: RequestContext,
        ttl: Option<u64>,
        work: BoxFuture<'static, Reply>,
    ) -> BoxFuture<'static, Reply> {
        let TasksInner { limits, .. } = &*self.inner;
        let (id, ttl) = (random_id(), limits.ttl_for(ttl));
        let job = Arc::new(Job::new(id.clone(), cx, ttl, limits.poll_interval));
        let stored = match self.spawn_job(&id, &job, work) {
            Ok(stored) => stored,
            Err(error) => return Box::pin(async { Err(error) }),
        };
        Box::pin(async move {
            match stored.await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => return Err(error),
                Err(_) => return Err(RpcError::internal("the task could not be started")),
            }
            // Reports the initial status, whatever has happened since.
            let mut task = job.record().task.task;
            task.status = switchboard_protocol::TaskStatus::Working;
            task.status_message = None;
            Ok(CreateTaskResult::new(task).into())
        })
    }

    /// Spawns a job. The receiver resolves when the task is stored, so that its id can be returned.
    fn spawn_job(
        &self,
        id: &str,
        job: &Arc<Job>,
        work: BoxFuture<'static, Reply>,
    ) -> Result<oneshot::Receiver<Result<(), RpcError>>, RpcError> {
        let too_many = |scope: &str| {
            let reason = format!("too many tasks are running {scope}; wait for some to finish");
            Err(RpcError::internal(reason))
        };
        let TasksInner { limits, running, .. } = &*self.inner;
        // Held until the task is in the table, so that it cannot be removed before it is inserted.
        let mut running = running.lock();
        if running.len() >= limits.max_running {
            return too_many("on this server");
        }
        if running.values().filter(|other| other.job.owner == job.owner).count()
            >= limits.max_running_per_owner
        {
            return too_many("for this caller");
        }
        job.cx.detach_with(Arc::new(TaskQuestions(Arc::downgrade(job))));
        let (stored_tx, stored) = oneshot::channel();
        let store = Arc::clone(&self.inner.store);
        let tasks = Arc::downgrade(&self.inner);
        let runner = TaskRunner { tasks, store, job: Arc::clone(job), id: id.to_owned() };
        let task = tokio::spawn(runner.run(CatchUnwind::new(work), stored_tx));
        running.insert(id.to_owned(), RunningTask { job: Arc::clone(job), task: task.abort_handle() });
        Ok(stored)
    }

    /// Returns a task that runs in this instance.
    pub(super) fn find_running(&self, id: &str) -> Option<Arc<Job>> {
        self.inner.running.lock().get(id).map(|running| Arc::clone(&running.job))
    }

    /// Returns whether an owner may receive status notifications of a task.
    pub fn may_follow(&self, task: &str, owner: Option<&str>) -> bool {
        self.find_running(task).is_some_and(|job| job.owner.as_deref() == owner)
    }
}

impl Drop for TasksInner {
    fn drop(&mut self) {
        for (_, running) in self.running.get_mut().drain() {
            running.job.cx.end();
            running.task.abort();
        }
    }
}

impl std::fmt::Debug for Tasks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let running = self.inner.running.lock().len();
        f.debug_struct("Tasks").field("running", &running).finish_non_exhaustive()
    }
}

/// Returns a random 256-bit task id, which cannot be guessed.
fn random_id() -> String {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).expect("the system gives random bytes");
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Runs one job to completion and publishes its state.
struct TaskRunner {
    tasks: Weak<TasksInner>,
    store: Arc<dyn TaskStore>,
    job: Arc<Job>,
    id: String,
}

impl TaskRunner {
    async fn run(
        self,
        work: CatchUnwind<BoxFuture<'static, Reply>>,
        stored_tx: oneshot::Sender<Result<(), RpcError>>,
    ) {
        if let Err(error) = self.store.save(self.job.record(), self.job.remaining_ttl()).await {
            let _ = stored_tx.send(Err(RpcError::internal(error.to_string())));
            return self.remove();
        }
        if stored_tx.send(Ok(())).is_err() {
            // The caller cancelled before it learned the task id, so nobody can ever fetch the result.
            self.job.cancel();
        }
        let mut changes = self.job.changes();
        // Dropped as soon as the task is finished or cancelled; the drop cancels the work.
        let mut work = Some(work);
        while !self.job.record().is_finished() {
            let Some(running) = &mut work else { break };
            tokio::select! {
                biased;
                _ = changes.changed() => if !self.job.record().is_finished() {
                    self.publish_state().await;
                },
                reply = running => {
                    self.job.finish(reply.unwrap_or_else(|_| Err(panic_error())));
                    work = None;
                }
                () = self.job.wait_until_abandoned() => {
                    self.job.cancel();
                }
            }
        }
        drop(work);
        self.publish_state().await;
        self.remove();
    }

    /// Stores the current state and notifies listeners.
    async fn publish_state(&self) {
        let record = self.job.record();
        // Updating a known task cannot exceed the limit.
        let _ = self.store.save(record.clone(), self.job.remaining_ttl()).await;
        let publisher = self.tasks.upgrade().and_then(|tasks| tasks.publisher.get().cloned());
        let Some(publisher) = publisher else { return };
        // To the session, because the response to the call has ended its own stream.
        if let Some(session) = self.job.cx.session_key()
            && let Ok(state) = Raw::encode(&LegacyTaskState::new(record.task.task.clone()))
        {
            publisher.notify_session(session, "notifications/tasks/status", state);
        }
        publisher.task_changed(record.task);
    }

    fn remove(&self) {
        if let Some(tasks) = self.tasks.upgrade() {
            tasks.running.lock().remove(&self.id);
        }
    }
}

/// Creates the error of a task that panicked.
fn panic_error() -> RpcError {
    tracing::error!("task panicked");
    RpcError::internal("Internal error: the task failed")
}

/// A call that becomes a task when its method requests it.
struct DetachableCall {
    tasks: Tasks,
    cx: RequestContext,
    stage: DetachStage,
}

enum DetachStage {
    /// The work belongs to its request.
    Attached(BoxFuture<'static, Reply>),
    /// The work is being started as a task.
    Starting(BoxFuture<'static, Reply>),
    Done,
}

impl Future for DetachableCall {
    type Output = Reply;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Reply> {
        loop {
            match &mut self.stage {
                DetachStage::Attached(work) => {
                    if let Poll::Ready(reply) = work.as_mut().poll(cx) {
                        self.stage = DetachStage::Done;
                        return Poll::Ready(reply);
                    }
                    if self.cx.poll_detach_request(cx).is_pending() {
                        return Poll::Pending;
                    }
                    let DetachStage::Attached(work) = std::mem::replace(&mut self.stage, DetachStage::Done)
                    else {
                        continue;
                    };
                    self.stage = DetachStage::Starting(self.tasks.spawn_task(self.cx.clone(), None, work));
                }
                DetachStage::Starting(answer) => return answer.as_mut().poll(cx),
                DetachStage::Done => return Poll::Pending,
            }
        }
    }
}
