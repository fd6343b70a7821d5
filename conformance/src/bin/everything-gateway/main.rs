//! A gateway in front of one server, for the official conformance suite: what the server does, a client of the gateway sees.
//!
//! `everything-gateway --http ADDRESS --upstream URL --era legacy|modern` prints its URL and serves every revision there,
//! while it speaks to the server at `URL` in revisions of one era.

use std::io;

use switchboard::Http;
use switchboard::client::RevisionPolicy;
use switchboard::gateway::{Gateway, GatewayEndpoint, GatewayOptions, PrefixPolicy};
use switchboard::server::{HttpListener, HttpServerOptions};

#[tokio::main]
async fn main() -> io::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let ["--http", address, "--upstream", url, "--era", era] = words.as_slice() else { return Err(usage()) };
    let revisions = match *era {
        "legacy" => RevisionPolicy::LegacyOnly,
        "modern" => RevisionPolicy::ModernOnly,
        _ => return Err(usage()),
    };
    let host = Gateway::host_builder().with_revisions(revisions).build();
    host.connect("everything", Http::new(*url)).await.map_err(io::Error::other)?;
    let gateway = Gateway::new(host, GatewayOptions::default().with_prefix(PrefixPolicy::Never));
    let listener = HttpListener::bind(address.parse().map_err(io::Error::other)?).await?;
    println!("http://{}/mcp", listener.address()?);
    listener.serve(GatewayEndpoint::new(&gateway, HttpServerOptions::default())).await;
    Ok(())
}

fn usage() -> io::Error {
    io::Error::other("usage: everything-gateway --http ADDRESS --upstream URL --era legacy|modern")
}
