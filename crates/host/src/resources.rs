//! Resources, prompts and what belongs to them, across servers.

use std::sync::Arc;

use switchboard_protocol::ReadResourceResult;
use switchboard_session::client::List;
use switchboard_session::link::BoxFuture;
use switchboard_session::{CallError, ClientSession};
use tokio::task::JoinSet;

use crate::error::{HostError, not_ready};
use crate::set::Inner;
use crate::slot::Slot;
use crate::status::StatusKind;

/// What several servers list, each with its server, in configured order.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Gathered<T> {
    /// What they list.
    pub items: Vec<FromServer<T>>,
    /// Servers that did not answer, and why. The others are not harmed by them.
    pub errors: Vec<(Arc<str>, HostError)>,
}

/// One thing of one server.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FromServer<T> {
    /// The server.
    pub server: Arc<str>,
    /// The thing.
    pub item: T,
}

/// How one of the lists is asked for.
type Ask<T> = fn(&ClientSession) -> BoxFuture<'_, Result<Arc<List<T>>, CallError>>;

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
            let of = |item: &T| FromServer { server: Arc::clone(&slot.name), item: item.clone() };
            return Ok(Gathered { items: listing.iter().map(of).collect(), errors: Vec::new() });
        }
        let slots = self.slots();
        let connected = slots.iter().filter(|slot| slot.status().kind() == StatusKind::Connected);
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
                        .extend(listing.iter().map(|item| FromServer { server: name(), item: item.clone() }));
                }
                Err(error) => gathered.errors.push((name(), error)),
            }
        }
        Ok(gathered)
    }

    /// A server's session, waiting for one that starts.
    pub(crate) async fn open(&self, server: &str) -> Result<(Arc<Slot>, ClientSession), HostError> {
        let slot = self.slot(server)?;
        match slot.session().await {
            Ok(session) => Ok((slot, session)),
            Err(status) => Err(not_ready(&slot.name, status)),
        }
    }
}

/// An outcome, after the slot has heard of it.
pub(crate) fn seen<T>(slot: &Slot, outcome: Result<T, CallError>) -> Result<T, HostError> {
    outcome.map_err(|error| {
        slot.note(&error);
        HostError::Session { server: Arc::clone(&slot.name), error: Box::new(error) }
    })
}
