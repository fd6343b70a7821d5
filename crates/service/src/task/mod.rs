//! Tasks: tool calls that outlive their request. The caller gets a task at once and fetches the result later.
//!
//! ```text
//!   tools/call ─▶ Tasks::start ─▶ Job (work, input requests, status) ─▶ TaskStore
//!   tasks/…    ─▶ Tasks::answer ─▶ the Job while it runs, the TaskStore afterwards
//! ```
//!
//! The same work runs under both task protocols: input requests wait in the job and are delivered the way the
//! caller's protocol requires.
//!
//! **Invariants.** Only the owner of a task can access it. The number of tasks and their lifetime are bounded. A
//! finished task does not change. Dropping [`Tasks`] cancels running tasks.

mod job;
mod limits;
mod record;
mod requests;
mod store;
mod tasks;
mod timestamp;

pub use limits::TaskLimits;
pub use record::TaskRecord;
pub use store::{MemoryTaskStore, TaskBudget, TaskStore, TooManyTasks};
pub use tasks::{TaskDecision, Tasks};
