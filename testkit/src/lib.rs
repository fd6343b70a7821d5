//! Shared code of the test programs. Depends on no crate of the workspace, so that each of them can use it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking; in a library clippy cannot tell")]

mod harness;
mod http_script;
mod output_reader;
mod processes;
mod program;
mod protected_server;
mod pseudo_terminal;
mod reserved_port;
mod subscriber;
mod trial;
mod wait;

pub use libtest_mimic::{Failed, Trial};

pub use harness::run;
pub use http_script::{HttpScript, RequestLog, http_response, ok_response, read_request};
pub use output_reader::OutputReader;
pub use processes::{
    child_count, descriptor_count, exits_in_time, is_running, memory_kib, processes_with_argument,
    unique_seconds, wait_for_exit, wait_for_processes, wait_for_reaping,
};
pub use program::{CommandOutput, RunningCommand, run_command, wait_for_child};
pub use protected_server::ProtectedServer;
pub use pseudo_terminal::PseudoTerminal;
pub use reserved_port::ReservedPort;
pub use subscriber::record_with;
pub use trial::{
    TEST_TIMEOUT, block_on, current_thread, task_count, trial, trial_leaving_tasks, trial_on, wait_for_tasks,
};
pub use wait::{STEP_TIMEOUT, wait_until};
