//! Name resolution: the system's resolver, whose answers are filtered by an address policy.
//!
//! Invariant: the addresses that pass are the ones that are connected to; the name is not resolved again.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use hyper_util::client::legacy::connect::dns::{GaiResolver, Name};
use tower_service::Service;

use crate::network_scope::{AddressPolicy, NetworkScope};

/// Resolves names, and drops the addresses that a policy does not permit.
#[derive(Clone)]
pub(crate) struct Resolver {
    lookup: NameLookup,
    policy: AddressPolicy,
}

/// Answers by name.
pub(crate) type Script = Arc<dyn Fn(&str) -> Vec<IpAddr> + Send + Sync>;

/// Finds the addresses of a name.
#[derive(Clone)]
pub(crate) enum NameLookup {
    System,
    /// Answers of a test.
    #[cfg_attr(not(test), expect(dead_code, reason = "tests script the answers"))]
    Scripted(Script),
}

/// Why a name has no address.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ResolveError {
    #[error("the name cannot be resolved")]
    Failed(#[source] io::Error),
    /// All addresses are outside the policy.
    #[error("the address is not permitted")]
    Forbidden,
}

impl NameLookup {
    /// Returns the addresses of a name, with port 0.
    pub(crate) async fn addresses(&self, host: &str) -> Result<Vec<SocketAddr>, ResolveError> {
        match self {
            Self::System => {
                let name = host.parse::<Name>().map_err(|error| {
                    ResolveError::Failed(io::Error::new(io::ErrorKind::InvalidInput, error))
                })?;
                let found = GaiResolver::new().call(name).await;
                found.map(Iterator::collect).map_err(ResolveError::Failed)
            }
            Self::Scripted(answers) => {
                Ok(answers(host).into_iter().map(|ip| SocketAddr::new(ip, 0)).collect())
            }
        }
    }
}

impl Resolver {
    pub(crate) fn new(lookup: NameLookup, policy: AddressPolicy) -> Self {
        Self { lookup, policy }
    }
}

impl Service<Name> for Resolver {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = ResolveError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, ResolveError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ResolveError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let Self { lookup, policy } = self.clone();
        Box::pin(async move {
            let found = lookup.addresses(name.as_str()).await?;
            let is_known = !found.is_empty();
            let permitted: Vec<_> =
                found.into_iter().filter(|address| policy.permits(NetworkScope::of(address.ip()))).collect();
            match permitted.is_empty() && is_known {
                true => Err(ResolveError::Forbidden),
                false => Ok(permitted.into_iter()),
            }
        })
    }
}
