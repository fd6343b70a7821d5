//! The smallest useful client over stdio, written with switchboard: `minimal-switchboard COMMAND ARGS…`

use std::error::Error;

use switchboard::{Client, Stdio, json};

async fn run() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let command = Stdio::new(words.next().ok_or("a command must be given")?).args(words);
    let server = Client::new().connect(command).await?;
    for tool in server.list_tools().await?.iter() {
        println!("{}", tool.name);
    }
    println!("{}", server.call_tool("echo", json!({ "text": "hello" })).await?.text());
    server.close().await;
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(run())
}
