//! Calls of tools that outlive their request: the caller gets a task at once, and comes back for its result.
//!
//! ```text
//!   tools/call ─▶ Tasks::start ─▶ a Job: the work, its questions, where it stands ─▶ TaskStore
//!   tasks/…    ─▶ Tasks::answer ─▶ the Job while it runs, the TaskStore afterwards
//! ```
//!
//! The same work runs under both protocols of tasks: what a method asks waits in the job, and is told where the caller
//! looks for it.
//!
//! **Invariants.** Only who made a task sees it. There is a bound to how many there are and how long each is kept. A task
//! that is over stays as it is. Dropping the [`Tasks`] ends what runs.

mod answer;
mod clock;
mod job;
mod limits;
mod record;
mod run;
mod store;

pub use limits::TaskLimits;
pub use record::TaskRecord;
pub use run::{Fate, Tasks};
pub use store::{MemoryTasks, TaskBudget, TaskStore, TooManyTasks};
