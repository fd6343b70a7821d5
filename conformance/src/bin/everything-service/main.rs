//! The fixture of the official conformance suite once more, written as services: traits, and what implements them.
//!
//! `everything-service --http ADDRESS` prints its URL and serves every revision there until it is ended. Several small
//! services make up one server.

mod asking;
mod content;
mod input;
mod jobs;
#[path = "../everything-server/media.rs"]
mod media;
mod news;
mod prompts;
mod resources;

use std::error::Error;
use std::sync::Arc;

use switchboard::Server;
use switchboard::protocol::Implementation;
use switchboard::server::{HttpListener, HttpServerOptions, HttpService};
use switchboard::service::EventPublisher;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [flag, address] = words.as_slice() else { return Err(USAGE.into()) };
    if flag != "--http" {
        return Err(USAGE.into());
    }
    let listener = HttpListener::bind(address.parse()?).await?;
    println!("http://{}/mcp", listener.address()?);
    listener.serve(HttpService::new(&server()?, HttpServerOptions::default())).await;
    Ok(())
}

const USAGE: &str = "usage: everything-service --http ADDRESS";

fn server() -> Result<Arc<Server>, Box<dyn Error>> {
    let (events, feed) = EventPublisher::channel(16);
    let server = content::AnswersServer::builder(content::Fixture)
        .and(news::NewsServer::builder(news::Fixture { events }))
        .and(asking::AskingServer::builder(asking::Fixture))
        .and(input::InputServer::builder(input::Fixture))
        .and(jobs::JobsServer::builder(jobs::Fixture))
        .and(resources::LibraryServer::builder(resources::Fixture))
        .and(prompts::PromptsServer::builder(prompts::Fixture))
        .info(Implementation::new("everything-service", "1.0.0"))
        .list_changed(true)
        .events(feed)
        .build()?;
    Ok(server)
}
