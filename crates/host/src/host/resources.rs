//! Resources, prompts and what belongs to them, as methods of the host.

use std::sync::Arc;

use switchboard_protocol::{
    CompleteParams, CompleteResult, GetPromptResult, Prompt, ReadResourceResult, Resource, ResourceTemplate,
};
use switchboard_session::ClientSession;
use switchboard_session::client::Subscription;

use crate::error::HostError;
use crate::host::Host;
use crate::resources::{FromServer, Gathered, seen};
use crate::slot::Slot;

impl Host {
    /// The resources of one server, or of all that are connected.
    ///
    /// # Errors
    /// When the one server is not there, not ready, or fails.
    pub async fn list_resources(&self, server: Option<&str>) -> Result<Gathered<Resource>, HostError> {
        self.inner.gather(server, |session| Box::pin(session.list_resources())).await
    }

    /// The resource templates of one server, or of all that are connected.
    ///
    /// # Errors
    /// As [`Self::list_resources`].
    pub async fn list_resource_templates(
        &self,
        server: Option<&str>,
    ) -> Result<Gathered<ResourceTemplate>, HostError> {
        self.inner.gather(server, |session| Box::pin(session.list_resource_templates())).await
    }

    /// The prompts of one server, or of all that are connected.
    ///
    /// # Errors
    /// As [`Self::list_resources`].
    pub async fn list_prompts(&self, server: Option<&str>) -> Result<Gathered<Prompt>, HostError> {
        self.inner.gather(server, |session| Box::pin(session.list_prompts())).await
    }

    /// Reads a resource of a server.
    ///
    /// # Errors
    /// When the server is not there, not ready, or does not know the resource.
    pub async fn read_resource(&self, server: &str, uri: &str) -> Result<ReadResourceResult, HostError> {
        self.inner.read_resource(server, uri).await
    }

    /// Gets a prompt of a server, filled in.
    ///
    /// # Errors
    /// As [`Self::read_resource`].
    pub async fn get_prompt<K: Into<String>, V: Into<String>>(
        &self,
        server: &str,
        name: &str,
        arguments: impl IntoIterator<Item = (K, V)>,
    ) -> Result<GetPromptResult, HostError> {
        let (slot, session) = self.inner.open(server).await?;
        seen(&slot, session.get_prompt(name, arguments).await)
    }

    /// Asks a server for values that would complete an argument.
    ///
    /// # Errors
    /// As [`Self::read_resource`].
    pub async fn complete(&self, server: &str, params: CompleteParams) -> Result<CompleteResult, HostError> {
        let (slot, session) = self.inner.open(server).await?;
        seen(&slot, session.complete(params).await)
    }

    /// Listens for updates of a resource. Drop what it returns to stop.
    ///
    /// # Errors
    /// As [`Self::read_resource`].
    pub async fn subscribe(&self, server: &str, uri: &str) -> Result<Subscription, HostError> {
        let (slot, session) = self.inner.open(server).await?;
        seen(&slot, session.subscribe(uri).await)
    }

    /// What each connected server tells the model about itself, in configured order.
    pub fn instructions(&self) -> Vec<FromServer<String>> {
        let said = |slot: &Arc<Slot>| {
            let item = slot.status().terms()?.instructions.clone()?;
            Some(FromServer { server: Arc::clone(&slot.name), item })
        };
        self.inner.slots().iter().filter_map(said).collect()
    }

    /// The session with a server, for what has no verb here. It ends when the server is reconnected.
    ///
    /// # Errors
    /// When the server is not there or not ready.
    pub async fn session(&self, server: &str) -> Result<ClientSession, HostError> {
        Ok(self.inner.open(server).await?.1)
    }
}
