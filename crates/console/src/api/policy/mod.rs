//! Policy: the rules, test decisions, and the last denials.

mod denial_log;
mod routes;

pub(crate) use denial_log::DenialLog;
pub(super) use routes::{follow_denials, routes};
