//! Sessions with a service, in both eras.

use std::sync::Arc;

use switchboard_service::client::{self, ServiceCaller};
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

/// Returns a caller of the sample service in each era, with a builder configured by `configure`.
pub async fn callers(set: impl Fn(ServiceBuilder) -> ServiceBuilder) -> Vec<ServiceCaller> {
    let mut callers = Vec::new();
    for offer in ERAS {
        callers.push(caller(Arc::new(crate::client::sample::SampleService::default()), &set, offer).await);
    }
    callers
}

pub async fn caller(
    service: Arc<dyn Dispatch>,
    set: impl Fn(ServiceBuilder) -> ServiceBuilder,
    offer: RevisionPolicy,
) -> ServiceCaller {
    let server = set(ServiceBuilder::new(service)).build().unwrap();
    ServiceCaller::new(session(&server, offer).await, Arc::clone(crate::client::sample::design()))
}
