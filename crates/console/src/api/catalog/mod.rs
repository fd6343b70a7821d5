//! The catalog: rows, definitions, pins, and why an item is not shown.

mod routes;

pub(super) use routes::routes;
