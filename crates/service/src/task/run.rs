//! Starting tasks: whether a call becomes one, and the task of the runtime that runs it to its end.

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

use super::job::{Job, Questions};
use super::{MemoryTasks, TaskLimits, TaskStore};

/// The tasks of a server. Cheap to clone; the last clone to be dropped ends those that run.
#[derive(Clone)]
pub struct Tasks {
    pub(super) inner: Arc<Inner>,
}

pub(super) struct Inner {
    pub(super) limits: TaskLimits,
    pub(super) store: Arc<dyn TaskStore>,
    running: Mutex<HashMap<String, Running>>,
    publisher: OnceLock<Publisher>,
}

struct Running {
    job: Arc<Job>,
    task: AbortHandle,
}

/// What becomes of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Fate {
    /// It is answered as any other.
    Plain,
    /// It becomes a task: [`Tasks::start`] it.
    Task,
    /// It becomes a task if it wishes to: [`Tasks::watch`] it.
    Wish,
    /// It is refused: who calls cannot follow a task, or this tool is none.
    Refused(RpcError),
}

impl Tasks {
    /// Tasks kept in memory.
    pub fn new(limits: TaskLimits) -> Self {
        Self::with_store(limits, Arc::new(MemoryTasks::default()))
    }

    /// Tasks kept in this store.
    pub fn with_store(limits: TaskLimits, store: Arc<dyn TaskStore>) -> Self {
        let inner = Inner { limits, store, running: Mutex::default(), publisher: OnceLock::new() };
        Self { inner: Arc::new(inner) }
    }

    /// Tells those who listen how tasks are doing, through the server they are of.
    pub fn announce_through(&self, publisher: Publisher) {
        // The first counts: tasks are of one server.
        let _ = self.inner.publisher.set(publisher);
    }

    /// Declares what a server with tasks offers, in every revision that has them.
    pub fn declare(capabilities: &mut ServerCapabilities) {
        let call = Settings::from_iter([("call".to_owned(), Raw::empty_object())]);
        let tasks = TasksCapability::new()
            .with_list(Settings::new())
            .with_cancel(Settings::new())
            .with_requests(TaskRequests::new().with_tools(call));
        capabilities.tasks = Some(tasks);
        capabilities.extensions.get_or_insert_default().insert(TASKS_EXTENSION, Raw::empty_object());
    }

    /// What becomes of a call of a tool with this rule; `wanted` is what the call says of tasks.
    pub fn fate(&self, cx: &RequestContext, rule: TaskRule, wanted: Option<&TaskParams>) -> Fate {
        let refused = |reason: &str| {
            let mut error = RpcError::method_not_found("tools/call");
            error.message = reason.to_owned();
            Fate::Refused(error)
        };
        match (cx.task_protocol(), rule) {
            (Some(TaskProtocol::Extension), TaskRule::Never) | (None, TaskRule::Never) => Fate::Plain,
            (None, TaskRule::Required) => {
                refused("this tool runs as a task only, and the version of this session has none")
            }
            (None, TaskRule::Allowed | TaskRule::Later) => Fate::Plain,
            (Some(TaskProtocol::Core), TaskRule::Never) => match wanted {
                Some(_) => refused("this tool does not run as a task: call it without one"),
                None => Fate::Plain,
            },
            (Some(TaskProtocol::Core), TaskRule::Required) if wanted.is_none() => {
                refused("this tool runs as a task only: call it with one")
            }
            (Some(TaskProtocol::Core), _) => wanted.map_or(Fate::Plain, |_| Fate::Task),
            (Some(TaskProtocol::Extension), rule) => match cx.requires_extension(TASKS_EXTENSION) {
                Ok(()) if rule == TaskRule::Later => Fate::Wish,
                Ok(()) => Fate::Task,
                Err(error) if rule == TaskRule::Required => Fate::Refused(error),
                Err(_) => Fate::Plain,
            },
        }
    }

    /// Runs the work of a call as a task, and answers the call with that.
    pub fn start(
        &self,
        cx: RequestContext,
        wanted: Option<&TaskParams>,
        work: BoxFuture<'static, Reply>,
    ) -> HandlerOutcome {
        // In the extension the server alone decides.
        let wanted = wanted.filter(|_| cx.task_protocol() == Some(TaskProtocol::Core));
        HandlerOutcome::Later(self.begin(cx, wanted.and_then(|wanted| wanted.ttl), work))
    }

    /// Runs the work of a call, which becomes a task when it wishes to ([`RequestContext::detach`]).
    pub fn watch(&self, cx: RequestContext, work: BoxFuture<'static, Reply>) -> HandlerOutcome {
        cx.allow_detach();
        HandlerOutcome::Later(Box::pin(Watched { tasks: self.clone(), cx, stage: Stage::Asked(work) }))
    }

    fn begin(
        &self,
        cx: RequestContext,
        ttl: Option<u64>,
        work: BoxFuture<'static, Reply>,
    ) -> BoxFuture<'static, Reply> {
        let Inner { limits, .. } = &*self.inner;
        let (id, ttl) = (random_id(), limits.keep(ttl));
        let job = Arc::new(Job::new(id.clone(), cx, ttl, limits.poll_interval));
        let kept = match self.run(&id, &job, work) {
            Ok(kept) => kept,
            Err(error) => return Box::pin(async { Err(error) }),
        };
        Box::pin(async move {
            match kept.await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => return Err(error),
                Err(_) => return Err(RpcError::internal("the task could not be started")),
            }
            // As it was made: it has begun, whatever became of it meanwhile.
            let mut task = job.record().task.task;
            task.status = switchboard_protocol::TaskStatus::Working;
            task.status_message = None;
            Ok(CreateTaskResult::new(task).into())
        })
    }

    /// Runs a job; says when it is kept, and its caller may hear of it.
    fn run(
        &self,
        id: &str,
        job: &Arc<Job>,
        work: BoxFuture<'static, Reply>,
    ) -> Result<oneshot::Receiver<Result<(), RpcError>>, RpcError> {
        let too_many = |what: &str| {
            let reason = format!("too many tasks are running {what}; wait for some to be over");
            Err(RpcError::internal(reason))
        };
        let Inner { limits, running, .. } = &*self.inner;
        // Held until the task is in the table, so that it cannot leave before it has entered.
        let mut running = running.lock();
        if running.len() >= limits.running {
            return too_many("here");
        }
        if running.values().filter(|other| other.job.owner == job.owner).count() >= limits.running_for_one {
            return too_many("for this caller");
        }
        job.cx.detach_with(Arc::new(Questions(Arc::downgrade(job))));
        let (told, kept) = oneshot::channel();
        let store = Arc::clone(&self.inner.store);
        let tasks = Arc::downgrade(&self.inner);
        let runner = Runner { tasks, store, job: Arc::clone(job), id: id.to_owned() };
        let task = tokio::spawn(runner.run(CatchUnwind::new(work), told));
        running.insert(id.to_owned(), Running { job: Arc::clone(job), task: task.abort_handle() });
        Ok(kept)
    }

    /// A task that runs here.
    pub(super) fn running(&self, id: &str) -> Option<Arc<Job>> {
        self.inner.running.lock().get(id).map(|running| Arc::clone(&running.job))
    }

    /// Whether an owner may hear how a task is doing.
    pub fn may_follow(&self, task: &str, owner: Option<&str>) -> bool {
        self.running(task).is_some_and(|job| job.owner.as_deref() == owner)
    }
}

impl Drop for Inner {
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

/// 256 random bits: a task id cannot be guessed.
fn random_id() -> String {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).expect("the system gives random bytes");
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Runs one job to its end, and keeps it up to date for everybody else.
struct Runner {
    tasks: Weak<Inner>,
    store: Arc<dyn TaskStore>,
    job: Arc<Job>,
    id: String,
}

impl Runner {
    async fn run(
        self,
        work: CatchUnwind<BoxFuture<'static, Reply>>,
        told: oneshot::Sender<Result<(), RpcError>>,
    ) {
        if let Err(error) = self.store.save(self.job.record(), self.job.left()).await {
            let _ = told.send(Err(RpcError::internal(error.to_string())));
            return self.leave();
        }
        if told.send(Ok(())).is_err() {
            // The caller has left before it heard of the task, so nobody ever will.
            self.job.cancel();
        }
        let mut changes = self.job.changes();
        // Dropped as soon as it is over or cancelled: that is how it is cancelled.
        let mut work = Some(work);
        while !self.job.record().is_over() {
            let Some(running) = &mut work else { break };
            tokio::select! {
                biased;
                _ = changes.changed() => if !self.job.record().is_over() {
                    self.tell().await;
                },
                reply = running => {
                    self.job.finish(reply.unwrap_or_else(|_| Err(panic_error())));
                    work = None;
                }
                () = self.job.given_up() => {
                    self.job.cancel();
                }
            }
        }
        drop(work);
        self.tell().await;
        self.leave();
    }

    /// Keeps how it stands, and tells those who listen.
    async fn tell(&self) {
        let record = self.job.record();
        // There is room: it is known already.
        let _ = self.store.save(record.clone(), self.job.left()).await;
        if let Ok(state) = Raw::encode(&LegacyTaskState::new(record.task.task.clone())) {
            // Sent where the revision has it.
            self.job.cx.notify("notifications/tasks/status", Some(&state));
        }
        let publisher = self.tasks.upgrade().and_then(|tasks| tasks.publisher.get().cloned());
        if let Some(publisher) = publisher {
            publisher.task_changed(record.task);
        }
    }

    fn leave(&self) {
        if let Some(tasks) = self.tasks.upgrade() {
            tasks.running.lock().remove(&self.id);
        }
    }
}

/// What is told of work that panicked.
fn panic_error() -> RpcError {
    tracing::error!("the work of a task panicked");
    RpcError::internal("Internal error: the task could not be carried out")
}

/// A call that becomes a task when it wishes to.
struct Watched {
    tasks: Tasks,
    cx: RequestContext,
    stage: Stage,
}

enum Stage {
    /// The work is part of its request.
    Asked(BoxFuture<'static, Reply>),
    /// It becomes a task.
    Leaving(BoxFuture<'static, Reply>),
    Over,
}

impl Future for Watched {
    type Output = Reply;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Reply> {
        loop {
            match &mut self.stage {
                Stage::Asked(work) => {
                    if let Poll::Ready(reply) = work.as_mut().poll(cx) {
                        self.stage = Stage::Over;
                        return Poll::Ready(reply);
                    }
                    if self.cx.poll_detach_request(cx).is_pending() {
                        return Poll::Pending;
                    }
                    let Stage::Asked(work) = std::mem::replace(&mut self.stage, Stage::Over) else {
                        continue;
                    };
                    self.stage = Stage::Leaving(self.tasks.begin(self.cx.clone(), None, work));
                }
                Stage::Leaving(answer) => return answer.as_mut().poll(cx),
                Stage::Over => return Poll::Pending,
            }
        }
    }
}
