//! Tasks of servers.

mod routes;
mod task_table;

pub(super) use routes::routes;
pub(super) use task_table::{TaskTable, task_status};
