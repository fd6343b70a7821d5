//! Resources, prompts and what belongs to them, across servers.

use std::sync::Arc;

use switchboard_protocol::{
    CompleteParams, CompleteResult, GetPromptResult, Prompt, ReadResourceResult, Resource, ResourceTemplate,
};
use switchboard_session::client::{Listening, Listing};
use switchboard_session::link::BoxFuture;
use switchboard_session::{CallError, ClientSession};
use tokio::task::JoinSet;

use crate::error::{HostError, not_ready};
use crate::host::{Host, Inner};
use crate::slot::Slot;
use crate::status::Word;

/// What several servers list, each with its server, in configured order.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Gathered<T> {
    /// What they list.
    pub items: Vec<Of<T>>,
    /// Servers that did not answer, and why. The others are not harmed by them.
    pub errors: Vec<(Arc<str>, HostError)>,
}

/// One thing of one server.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Of<T> {
    /// The server.
    pub server: Arc<str>,
    /// The thing.
    pub item: T,
}

/// How one of the lists is asked for.
type Ask<T> = fn(&ClientSession) -> BoxFuture<'_, Result<Arc<Listing<T>>, CallError>>;

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
    pub async fn subscribe(&self, server: &str, uri: &str) -> Result<Listening, HostError> {
        let (slot, session) = self.inner.open(server).await?;
        seen(&slot, session.subscribe(uri).await)
    }

    /// What each connected server tells the model about itself, in configured order.
    pub fn instructions(&self) -> Vec<Of<String>> {
        let said = |slot: &Arc<Slot>| {
            let item = slot.status().terms()?.instructions.clone()?;
            Some(Of { server: Arc::clone(&slot.name), item })
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

impl Inner {
    pub(crate) async fn read_resource(
        &self,
        server: &str,
        uri: &str,
    ) -> Result<ReadResourceResult, HostError> {
        let (slot, session) = self.open(server).await?;
        seen(&slot, session.read_resource(uri).await)
    }

    pub(crate) async fn gather<T: Clone + Send + Sync + 'static>(
        &self,
        server: Option<&str>,
        ask: Ask<T>,
    ) -> Result<Gathered<T>, HostError> {
        if let Some(server) = server {
            let (slot, session) = self.open(server).await?;
            let listing = seen(&slot, ask(&session).await)?;
            let of = |item: &T| Of { server: Arc::clone(&slot.name), item: item.clone() };
            return Ok(Gathered { items: listing.iter().map(of).collect(), errors: Vec::new() });
        }
        let slots = self.slots();
        let connected = slots.iter().filter(|slot| slot.status().word() == Word::Connected);
        let mut asking = JoinSet::new();
        for (place, slot) in connected.cloned().enumerate() {
            asking.spawn(async move {
                let listing = match slot.current() {
                    Some(session) => seen(&slot, ask(&session).await),
                    None => Err(not_ready(&slot.name, slot.status())),
                };
                (place, slot, listing)
            });
        }
        let mut answers: Vec<_> = Vec::with_capacity(asking.len());
        while let Some(answer) = asking.join_next().await {
            answers.extend(answer.ok());
        }
        // In configured order, whoever was first.
        answers.sort_by_key(|(place, ..)| *place);
        let mut gathered = Gathered { items: Vec::new(), errors: Vec::new() };
        for (_, slot, listing) in answers {
            let name = || Arc::clone(&slot.name);
            match listing {
                Ok(listing) => {
                    gathered
                        .items
                        .extend(listing.iter().map(|item| Of { server: name(), item: item.clone() }));
                }
                Err(error) => gathered.errors.push((name(), error)),
            }
        }
        Ok(gathered)
    }

    /// A server's session, waiting for one that starts.
    async fn open(&self, server: &str) -> Result<(Arc<Slot>, ClientSession), HostError> {
        let slot = self.slot(server)?;
        match slot.session().await {
            Ok(session) => Ok((slot, session)),
            Err(status) => Err(not_ready(&slot.name, status)),
        }
    }
}

/// An outcome, after the slot has heard of it.
fn seen<T>(slot: &Slot, outcome: Result<T, CallError>) -> Result<T, HostError> {
    outcome.map_err(|error| {
        slot.note(&error);
        HostError::Session { server: Arc::clone(&slot.name), error: Box::new(error) }
    })
}
