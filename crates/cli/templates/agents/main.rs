//! Runs the scribe once: `cargo run -p __package__-agents -- "Oslo is rainy"`.
//!
//! Written once by `switchboard new --agent`; it is yours.

use std::process::ExitCode;

use __crate___agents::bootstrap::Runtime;
use __crate___agents::planner::{Scribe, run};

fn main() -> ExitCode {
    // First of all: this process may be the one that looks after a server that was started as a program.
    switchboard::enter_if_asked();
    let goal = std::env::args().skip(1).collect::<Vec<_>>().join(" ");
    if goal.is_empty() {
        eprintln!("say what to remember: cargo run -p __package__-agents -- \"Oslo is rainy\"");
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
    let outcome = run(&runtime, &mut Scribe::default(), goal).await;
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
