//! Sessions with a service, in both eras.

use std::sync::Arc;

use switchboard_service::client::{self, Caller};
use switchboard_service::{Dispatch, ServiceBuilder};
use switchboard_session::server::{InProcess, Server};
use switchboard_session::{Client, ClientSession, RevisionPolicy};

pub const ERAS: [RevisionPolicy; 2] = [RevisionPolicy::ModernOnly, RevisionPolicy::LegacyOnly];

pub async fn session(server: &Arc<Server>, offer: RevisionPolicy) -> ClientSession {
    open(client::client(), server, offer).await
}

pub async fn open(client: Client, server: &Arc<Server>, offer: RevisionPolicy) -> ClientSession {
    client.with_revisions(offer).connect(InProcess::new(server)).await.unwrap()
}

/// A caller of the bench in each era, set up by `set`.
pub async fn callers(set: impl Fn(ServiceBuilder) -> ServiceBuilder) -> Vec<Caller> {
    let mut callers = Vec::new();
    for offer in ERAS {
        callers.push(caller(Arc::new(crate::client::bench::Bench::default()), &set, offer).await);
    }
    callers
}

pub async fn caller(
    service: Arc<dyn Dispatch>,
    set: impl Fn(ServiceBuilder) -> ServiceBuilder,
    offer: RevisionPolicy,
) -> Caller {
    let server = set(ServiceBuilder::new(service)).build().unwrap();
    Caller::new(session(&server, offer).await, Arc::clone(crate::client::bench::design()))
}
