//! Tasks through the gateway, in both protocols: the tasks extension (modern) and the core tasks of 2025-11-25 (legacy).
//!
//! ```text
//!   tools/call ──▶ create ──▶ task id of the gateway: server, tool, upstream id, owner, replica; signed
//!   tasks/…    ──▶ requests ─┬▶ extension upstream: as it is
//!                            └▶ core upstream: core_task converts for owners that use the extension
//!   listen     ──▶ follow ──▶ notifications/tasks
//! ```
//!
//! **Invariants.** A server learns of the extension only in a call whose client can take a task. A task id is of use only to
//! the owner it was given to, and only in the same view; to everyone else, and when it is forged or expired, the task is
//! unknown. A task is in one session with its server, which is never opened for it. Rules of the tool apply to each request for its task.

mod core_task;
mod create;
mod follow;
mod requests;
mod task_handle;
mod task_session;

pub(crate) use create::{created, plan};
pub(crate) use follow::{follow, may_follow, notify_owner};
pub(crate) use requests::handle;
