//! The programs of the benchmark, written with rmcp as its documentation shows.

mod handler;
mod session;

pub use handler::{Routes, Tools};
pub use session::Calling;
