//! The smallest useful client over stdio, written with rmcp: `minimal-rmcp COMMAND ARGS…`

use std::error::Error;

use rmcp::ServiceExt;
use rmcp::model::CallToolRequestParams;
use rmcp::transport::TokioChildProcess;
use serde_json::{Map, json};
use tokio::process::Command;

async fn run() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let mut command = Command::new(words.next().ok_or("a command must be given")?);
    command.args(words);
    let server = ().serve(TokioChildProcess::new(command)?).await?;
    for tool in server.list_all_tools().await? {
        println!("{}", tool.name);
    }
    let arguments = Map::from_iter([("text".to_owned(), json!("hello"))]);
    let result = server.call_tool(CallToolRequestParams::new("echo").with_arguments(arguments)).await?;
    for content in &result.content {
        if let Some(text) = content.as_text() {
            println!("{}", text.text);
        }
    }
    server.cancel().await?;
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(run())
}
