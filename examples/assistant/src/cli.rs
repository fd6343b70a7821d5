//! Calls an assistant: `assistant-cli --url http://127.0.0.1:8080/mcp analyze-sentiment --text "I love it"`.

use std::process::ExitCode;

fn main() -> ExitCode {
    // First of all: this process may be the one that looks after a service started with `--stdio`.
    switchboard::run_supervisor_if_requested();
    match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime.block_on(assistant::AssistantCli::run()),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
