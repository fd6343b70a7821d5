//! The catalog: rows, definitions, pins, and why an item is not shown.

mod hidden;
mod permission_view;
mod routes;
mod rows;
mod why;

pub(super) use permission_view::tool_permission;
pub(super) use routes::routes;
pub(super) use rows::tokens_of_bytes;
