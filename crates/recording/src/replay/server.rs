//! The server made from a recording.

use std::sync::Arc;

use serde_json::Value;
use switchboard_protocol::{FromRaw, Implementation, Meta, Raw, Revision};
use switchboard_session::RevisionPolicy;
use switchboard_session::server::{Publisher, Server};

use crate::conversation::Conversation;
use crate::recording::Recording;
use crate::replay::capabilities::replayed_capabilities;
use crate::replay::follow_ups::FollowUps;
use crate::replay::handler::ReplayHandler;

/// Builds a server that answers as a recorded one did.
///
/// A request is answered by the recorded request with the same method and parameters; ids, progress tokens and what clients
/// say of themselves do not matter. If it was recorded several times, the answers follow in order, and the last one again.
///
/// ```
/// use switchboard_recording::{Recording, ReplayServer};
///
/// let recording = Recording::parse(
///     br#"
/// > {"jsonrpc":"2.0","id":1,"method":"tools/list"}
/// < {"jsonrpc":"2.0","id":1,"result":{"tools":[]}}
/// "#,
/// )?;
/// let server = ReplayServer::new(&recording, None)?.build();
/// assert!(server.capabilities().tools.is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ReplayServer {
    conversation: Conversation,
    revisions: RevisionPolicy,
}

/// A recording that cannot be replayed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// There are several servers, and none was chosen.
    #[error("the recording has several servers: {}\nchoose one of them", names.join(", "))]
    SeveralServers {
        /// Their names.
        names: Vec<String>,
    },
    /// The server is not in the recording.
    #[error("the recording has no server {name:?}\nit has: {}", names.join(", "))]
    UnknownServer {
        /// The name that was given.
        name: String,
        /// The names in the recording.
        names: Vec<String>,
    },
    /// The server was asked nothing.
    #[error("the recording has no request to server {name:?}\nrecord a session in which it is called")]
    NoRequests {
        /// The name of the server.
        name: String,
    },
}

impl Recording {
    /// Returns the name of the only server, or of the one that is named.
    ///
    /// # Errors
    /// Returns an error if there are several and none is named, or there is none of this name.
    pub fn choose_server(&self, name: Option<&str>) -> Result<Arc<str>, ReplayError> {
        let names = || self.servers.iter().map(|server| server.name.to_string()).collect();
        match (name, &self.servers[..]) {
            (Some(name), servers) => match servers.iter().find(|server| *server.name == *name) {
                Some(server) => Ok(Arc::clone(&server.name)),
                None => Err(ReplayError::UnknownServer { name: name.to_owned(), names: names() }),
            },
            (None, [server]) => Ok(Arc::clone(&server.name)),
            (None, []) => Err(ReplayError::NoRequests { name: String::new() }),
            (None, _) => Err(ReplayError::SeveralServers { names: names() }),
        }
    }

    /// Sets the revision of each server for which none is set, as far as its frames tell it.
    pub fn detect_revisions(&mut self) {
        for index in 0..self.servers.len() {
            if self.servers[index].revision.is_none() {
                let name = Arc::clone(&self.servers[index].name);
                self.servers[index].revision = Conversation::read(self.frames_of(&name)).revision;
            }
        }
    }

    /// Returns the revision of a server: that of the header, else that of its frames.
    pub fn revision_of(&self, server: &str) -> Option<Revision> {
        let known = self.servers.iter().find(|known| *known.name == *server);
        known.and_then(|known| known.revision).or_else(|| Conversation::read(self.frames_of(server)).revision)
    }
}

impl ReplayServer {
    /// Reads what one server of a recording answered: the one with this name, or the only one.
    ///
    /// # Errors
    /// Returns an error if it is not clear which server is meant, or it was asked nothing.
    pub fn new(recording: &Recording, server: Option<&str>) -> Result<Self, ReplayError> {
        let name = recording.choose_server(server)?;
        let mut conversation = Conversation::read(recording.frames_of(&name));
        if conversation.exchanges.is_empty() {
            return Err(ReplayError::NoRequests { name: name.to_string() });
        }
        conversation.revision = recording.revision_of(&name);
        Ok(Self { conversation, revisions: RevisionPolicy::Any })
    }

    /// Sets the revisions that are served; all by default, whichever was recorded.
    #[must_use]
    pub fn with_revisions(mut self, revisions: RevisionPolicy) -> Self {
        self.revisions = revisions;
        self
    }

    /// Returns the revision that was recorded.
    pub fn recorded_revision(&self) -> Option<Revision> {
        self.conversation.revision
    }

    /// Returns the number of requests that have an answer.
    pub fn request_count(&self) -> usize {
        self.conversation.exchanges.iter().filter(|exchange| exchange.outcome.is_some()).count()
    }

    /// Builds the server. Serve it like any other, on any binding.
    pub fn build(self) -> Arc<Server> {
        let Self { conversation, revisions } = self;
        let handshake = conversation.handshake.as_ref();
        let instructions = handshake.and_then(|handshake| handshake.get("instructions")?.as_str());
        let publisher = Publisher::default();
        let mut builder = Server::builder(server_info(handshake), replayed_capabilities(&conversation))
            .revisions(revisions)
            .publisher(publisher.clone());
        if let Some(instructions) = instructions {
            builder = builder.instructions(instructions);
        }
        let follow_ups = FollowUps::new(&conversation, publisher.clone());
        builder.layer(follow_ups).build(ReplayHandler::new(conversation, publisher))
    }
}

/// Returns the name and version with which the server described itself, in either era.
fn server_info(handshake: Option<&Value>) -> Implementation {
    let described = handshake.and_then(|handshake| {
        handshake.get("serverInfo").or_else(|| handshake.get("_meta")?.get(Meta::SERVER_INFO))
    });
    let read = described.and_then(|info| Implementation::from_raw(&Raw::from(info.clone())).ok());
    read.unwrap_or_else(|| Implementation::new("replay", env!("CARGO_PKG_VERSION")))
}
