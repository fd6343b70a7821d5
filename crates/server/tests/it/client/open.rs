//! Sessions with a service, in both eras.

use std::sync::Arc;

use switchboard_server::client::{self, Caller};
use switchboard_server::{Dispatch, ServiceBuilder};
use switchboard_session::server::{InProcess, Server};
use switchboard_session::{Client, ClientSession, Offer};

pub const ERAS: [Offer; 2] = [Offer::ModernOnly, Offer::LegacyOnly];

pub async fn session(server: &Arc<Server>, offer: Offer) -> ClientSession {
    open(client::client(), server, offer).await
}

pub async fn open(client: Client, server: &Arc<Server>, offer: Offer) -> ClientSession {
    client.with_offer(offer).connect(InProcess::new(server)).await.unwrap()
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
    offer: Offer,
) -> Caller {
    let server = set(ServiceBuilder::new(service)).build().unwrap();
    Caller::new(session(&server, offer).await, Arc::clone(crate::client::bench::design()))
}
