//! Questions of servers: elicitation, sampling and roots, answered by the page.

mod answer;
mod console_handler;
mod form_answer;
mod pending_questions;
mod routes;

pub(super) use console_handler::CallHandler;
pub use console_handler::ConsoleHandler;
pub(super) use pending_questions::{AskingCall, PendingQuestions};
pub(super) use routes::routes;
