//! A server with everything the official conformance suite asks a server for, built on the public API alone.
//!
//! `everything-server --http ADDRESS` prints its URL and serves every revision there until it is ended.

mod handler;
mod media;
mod prompts;
mod resources;
mod tools;

use std::io;
use std::sync::{Arc, OnceLock};

use switchboard::Server;
use switchboard::protocol::{Implementation, ServerCapabilities};
use switchboard::protocol::{ListCapability, ResourcesCapability, Settings};
use switchboard::server::{HttpListener, HttpServerOptions, HttpService, Publisher};

use crate::handler::Everything;

#[tokio::main]
async fn main() -> io::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [flag, address] = words.as_slice() else { return Err(usage()) };
    if flag != "--http" {
        return Err(usage());
    }
    let address = address.parse().map_err(io::Error::other)?;
    let listener = HttpListener::bind(address).await?;
    println!("http://{}/mcp", listener.address()?);
    listener.serve(HttpService::new(&server(), HttpServerOptions::default())).await;
    Ok(())
}

fn usage() -> io::Error {
    io::Error::other("usage: everything-server --http ADDRESS")
}

fn server() -> Arc<Server> {
    let offers = ServerCapabilities::new()
        .with_tools(ListCapability::new().with_list_changed(true))
        .with_prompts(ListCapability::new().with_list_changed(true))
        .with_resources(ResourcesCapability::new().with_subscribe(true))
        .with_completions(Settings::new())
        .with_logging(Settings::new());
    let publisher: Arc<OnceLock<Publisher>> = Arc::default();
    let server = Server::builder(Implementation::new("everything-server", "1.0.0"), offers)
        .build(Everything::new(Arc::clone(&publisher)));
    // The handler announces changes, and the server that carries them exists only now.
    publisher.get_or_init(|| server.publisher().clone());
    server
}
