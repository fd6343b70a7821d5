//! Calls an assistant: `assistant-cli --url http://127.0.0.1:8080/mcp analyze-sentiment --text "I love it"`.

use std::process::ExitCode;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    assistant::AssistantCli::run().await
}
