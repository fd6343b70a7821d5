//! How a session gets its link: one for each step of the era ladder.
//!
//! A transport opens links without knowing the reason for a step; the ladder takes steps without knowing the transport.

use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::link::{BoxFuture, Link, LinkError};

/// The step of the era ladder that a link is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DialStep {
    /// The modern era: self-contained requests.
    Modern,
    /// A session opened by a handshake.
    Legacy,
    /// A session opened by a handshake, over the oldest binding a server may have.
    Oldest,
}

/// Opens links to one server.
pub trait Dial: Send + Sync + 'static {
    /// Returns whether an unknown message may crash the server, so that a lost link indicates a legacy server. Where many
    /// clients share a server, a lost link is an outage and indicates nothing.
    fn probe_may_kill_server(&self) -> bool {
        true
    }

    /// Returns whether there is an older binding to try when the server does not understand a handshake over this one.
    fn has_oldest(&self) -> bool {
        false
    }

    /// Returns a link for this step. `previous` is the link of the step before, where one was tried: it may be returned
    /// again while it lives; otherwise a new one is made.
    fn dial(
        &self,
        step: DialStep,
        previous: Option<Arc<dyn Link>>,
    ) -> BoxFuture<'_, Result<Arc<dyn Link>, LinkError>>;
}

impl<D: Dial + ?Sized> Dial for Arc<D> {
    fn probe_may_kill_server(&self) -> bool {
        (**self).probe_may_kill_server()
    }

    fn has_oldest(&self) -> bool {
        (**self).has_oldest()
    }

    fn dial(
        &self,
        step: DialStep,
        previous: Option<Arc<dyn Link>>,
    ) -> BoxFuture<'_, Result<Arc<dyn Link>, LinkError>> {
        (**self).dial(step, previous)
    }
}

/// A [`Dial`] that hands out one existing link, once.
pub struct SingleLink(Mutex<Option<Arc<dyn Link>>>);

impl SingleLink {
    /// Hands out this link.
    pub fn new(link: Arc<dyn Link>) -> Self {
        Self(Mutex::new(Some(link)))
    }
}

impl Dial for SingleLink {
    fn dial(
        &self,
        _step: DialStep,
        previous: Option<Arc<dyn Link>>,
    ) -> BoxFuture<'_, Result<Arc<dyn Link>, LinkError>> {
        let link = match previous {
            Some(link) => link.ended().map_or(Ok(link), Err),
            None => self.0.lock().take().ok_or(LinkError::Closed),
        };
        Box::pin(async { link })
    }
}

impl fmt::Debug for SingleLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SingleLink")
    }
}
