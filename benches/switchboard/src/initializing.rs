//! Opening sessions of an HTTP service whose table of sessions is full: every one takes the place of the oldest.

use bench_kit::{ClientArgs, Fail, Session};
use hyper::Request;
use switchboard::json;
use switchboard::server::{HttpServerOptions, HttpService};

use crate::server;

/// A service with as many sessions as it takes.
pub struct Initializing {
    service: HttpService,
    body: String,
}

impl Initializing {
    /// A service with this many sessions.
    pub async fn new(tools: usize, sessions: usize) -> Result<Self, Fail> {
        let mut options = HttpServerOptions::default();
        options.sessions = sessions;
        let params = json!({
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "bench", "version": "1" },
        });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }).to_string();
        let this = Self { service: HttpService::new(&server(tools), options), body };
        for _ in 0..sessions {
            this.initialize().await?;
        }
        Ok(this)
    }

    async fn initialize(&self) -> Result<(), Fail> {
        let request = Request::post("http://localhost/mcp")
            .header("accept", "application/json, text/event-stream")
            .header("content-type", "application/json")
            .body(self.body.clone())?;
        let reply = self.service.handle(request).await;
        match reply.headers().contains_key("mcp-session-id") {
            true => Ok(()),
            false => Err(format!("no session was opened: {}", reply.status()).into()),
        }
    }
}

impl Session for Initializing {
    async fn open(_args: &ClientArgs) -> Result<Self, Fail> {
        Err("sessions are opened in one process only".into())
    }

    async fn echo(&self, text: &str) -> Result<usize, Fail> {
        self.initialize().await?;
        Ok(text.len())
    }

    async fn big(&self) -> Result<usize, Fail> {
        Err("sessions are opened, and nothing else".into())
    }

    async fn list(&self) -> Result<usize, Fail> {
        Err("sessions are opened, and nothing else".into())
    }

    async fn usage(&self) -> Result<String, Fail> {
        Err("sessions are opened, and nothing else".into())
    }

    async fn close(self) -> Result<(), Fail> {
        Ok(())
    }
}
