//! A service of ours with scoped tools, protected by a resource server that trusts an authorization server of others.

use std::sync::Arc;

use switchboard::auth::{OAuthClient, ResourceServer};
use switchboard::server::{HttpListener, HttpServerOptions};
use switchboard::service::prelude::*;
use switchboard::service::rpc::CombinedService;
use tokio::task::JoinHandle;

/// Notes of one user.
#[service(name = "notes", version = "1.0.0", rpc = "/rpc")]
trait Notes {
    /// Returns who calls, and with which scopes.
    #[tool(scopes("notes:read"))]
    async fn whoami(&self, cx: &Cx) -> Result<String>;
    /// Deletes all notes.
    #[tool(scopes("notes:read", "notes:delete"))]
    async fn clear(&self) -> Result<String>;
}

struct NoteStore;

impl Notes for NoteStore {
    async fn whoami(&self, cx: &Cx) -> Result<String> {
        let caller = cx.caller().expect("the resource server admits no anonymous request");
        Ok(format!("{} with {}", caller.subject, caller.scopes.join(" ")))
    }

    async fn clear(&self) -> Result<String> {
        Ok("cleared".to_owned())
    }
}

/// The running service.
pub(crate) struct NotesService {
    url: String,
    task: JoinHandle<()>,
}

impl NotesService {
    /// Serves with the signed tokens of this issuer.
    pub(crate) async fn start(issuer: &str) -> Self {
        Self::start_with(issuer, |settings| settings).await
    }

    /// Serves with opaque tokens, which this endpoint introspects.
    pub(crate) async fn start_introspecting(issuer: &str, (endpoint, client): (String, OAuthClient)) -> Self {
        Self::start_with(issuer, |settings| settings.introspection(endpoint, client)).await
    }

    /// Serves with changed settings.
    pub(crate) async fn start_with(
        issuer: &str,
        change: impl FnOnce(ResourceServer) -> ResourceServer,
    ) -> Self {
        let listener = HttpListener::bind(([127, 0, 0, 1], 0).into()).await.unwrap();
        let url = format!("http://{}/mcp", listener.address().unwrap());
        let settings = ResourceServer::new(&url).issuer(issuer).scopes(["notes:read"]);
        let verifier = change(settings).build().unwrap();
        let options = HttpServerOptions::default().with_verifier(Arc::new(verifier));
        let builder = NotesServer::builder(NoteStore).reveal_scopes(true);
        let task = tokio::spawn(listener.serve(CombinedService::from_builder(&builder, options).unwrap()));
        Self { url, task }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for NotesService {
    fn drop(&mut self) {
        self.task.abort();
    }
}
