//! Runs the operator once: `cargo run -- "what you want"`.
//!
//! Written once by `switchboard new --agent`; it is yours.

use std::process::ExitCode;

use __crate___agents::bootstrap::Runtime;
use __crate___agents::operator::planner::{Operator, run};

fn main() -> ExitCode {
    // First of all: this process may be the one that supervises a server that was started as a program.
    switchboard::run_supervisor_if_requested();
    let goal = std::env::args().skip(1).collect::<Vec<_>>().join(" ");
    if goal.is_empty() {
        eprintln!("usage: cargo run -- \"what you want\"");
        return ExitCode::from(2);
    }
    work(&goal)
}

#[tokio::main]
async fn work(goal: &str) -> ExitCode {
    let runtime = match Runtime::start().await {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::FAILURE;
        }
    };
    let outcome = run(&runtime, &mut Operator, goal).await;
    runtime.close().await;
    match outcome {
        Ok(run) => {
            println!("{}", run.answer);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
