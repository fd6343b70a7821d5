//! How many streams only listen, in all and for each client: the other connections are left to ordinary requests.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use http::StatusCode;
use parking_lot::Mutex;

use crate::http::server::client_id::{ClientId, network};
use crate::http::server::guard::Turned;
use crate::http::server::options::HttpOptions;

/// The streams that only listen.
#[derive(Debug, Clone)]
pub(crate) struct StreamLimit {
    most: usize,
    per_client: usize,
    per_address: usize,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    all: usize,
    clients: HashMap<ClientId, usize>,
    addresses: HashMap<IpAddr, usize>,
}

impl StreamLimit {
    pub(crate) fn new(options: &HttpOptions) -> Self {
        Self {
            most: options.streams,
            per_client: options.streams_per_client,
            per_address: options.streams_per_address,
            state: Arc::default(),
        }
    }

    /// Admits one more stream; it is counted until the permit is dropped.
    pub(crate) fn admit(
        &self,
        client: Option<ClientId>,
        address: Option<IpAddr>,
    ) -> Result<StreamPermit, Turned> {
        let address = address.map(network);
        let mut state = self.state.lock();
        let of_client = client.as_ref().and_then(|client| state.clients.get(client)).copied().unwrap_or(0);
        let at_address = address.and_then(|address| state.addresses.get(&address)).copied().unwrap_or(0);
        if of_client >= self.per_client || at_address >= self.per_address {
            let reason = format!(
                "too many streams of this client are open: at most {} for one client and {} from one address",
                self.per_client, self.per_address
            );
            return Err(Turned::new(StatusCode::TOO_MANY_REQUESTS, reason));
        }
        if state.all >= self.most {
            return Err(Turned::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "too many streams are open; try again later",
            ));
        }
        state.all += 1;
        if let Some(client) = &client {
            *state.clients.entry(client.clone()).or_default() += 1;
        }
        if let Some(address) = address {
            *state.addresses.entry(address).or_default() += 1;
        }
        drop(state);
        Ok(StreamPermit { limit: self.clone(), client, address })
    }
}

/// One stream that only listens.
#[derive(Debug)]
pub(crate) struct StreamPermit {
    limit: StreamLimit,
    client: Option<ClientId>,
    address: Option<IpAddr>,
}

impl Drop for StreamPermit {
    fn drop(&mut self) {
        let mut state = self.limit.state.lock();
        state.all -= 1;
        if let Some(client) = &self.client {
            count_down(&mut state.clients, client);
        }
        if let Some(address) = &self.address {
            count_down(&mut state.addresses, address);
        }
    }
}

fn count_down<K: std::hash::Hash + Eq>(counts: &mut HashMap<K, usize>, key: &K) {
    if let Some(count) = counts.get_mut(key) {
        *count -= 1;
        if *count == 0 {
            counts.remove(key);
        }
    }
}
