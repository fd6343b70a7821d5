//! Limit on listening streams, in total, per client and per address, so that connections remain for ordinary requests.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use http::StatusCode;
use parking_lot::Mutex;

use crate::http::server::client_id::{ClientId, network};
use crate::http::server::options::HttpServerOptions;
use crate::http::server::request_checks::Rejection;

/// Counts listening streams against their limits.
#[derive(Debug, Clone)]
pub(crate) struct StreamLimit {
    most: usize,
    per_client: usize,
    per_address: usize,
    counts: Arc<Mutex<StreamCounts>>,
}

#[derive(Debug, Default)]
struct StreamCounts {
    all: usize,
    clients: HashMap<ClientId, usize>,
    addresses: HashMap<IpAddr, usize>,
}

impl StreamLimit {
    pub(crate) fn new(options: &HttpServerOptions) -> Self {
        Self {
            most: options.streams,
            per_client: options.streams_per_client,
            per_address: options.streams_per_address,
            counts: Arc::default(),
        }
    }

    /// Admits one more stream; it is counted until the permit is dropped.
    pub(crate) fn admit(
        &self,
        client: Option<ClientId>,
        address: Option<IpAddr>,
    ) -> Result<StreamPermit, Rejection> {
        let address = address.map(network);
        let mut counts = self.counts.lock();
        let of_client = client.as_ref().and_then(|client| counts.clients.get(client)).copied().unwrap_or(0);
        let at_address = address.and_then(|address| counts.addresses.get(&address)).copied().unwrap_or(0);
        if of_client >= self.per_client || at_address >= self.per_address {
            let reason = format!(
                "too many streams of this client are open: at most {} for one client and {} from one address",
                self.per_client, self.per_address
            );
            return Err(Rejection::new(StatusCode::TOO_MANY_REQUESTS, reason));
        }
        if counts.all >= self.most {
            let reason = "too many streams are open; try again later";
            return Err(Rejection::new(StatusCode::SERVICE_UNAVAILABLE, reason));
        }
        counts.all += 1;
        if let Some(client) = &client {
            *counts.clients.entry(client.clone()).or_default() += 1;
        }
        if let Some(address) = address {
            *counts.addresses.entry(address).or_default() += 1;
        }
        drop(counts);
        Ok(StreamPermit { limit: self.clone(), client, address })
    }
}

/// Permission for one listening stream. Dropping it frees the slot.
#[derive(Debug)]
pub(crate) struct StreamPermit {
    limit: StreamLimit,
    client: Option<ClientId>,
    address: Option<IpAddr>,
}

impl Drop for StreamPermit {
    fn drop(&mut self) {
        let mut counts = self.limit.counts.lock();
        counts.all -= 1;
        if let Some(client) = &self.client {
            decrement(&mut counts.clients, client);
        }
        if let Some(address) = &self.address {
            decrement(&mut counts.addresses, address);
        }
    }
}

/// Decrements a count; removes it at zero.
pub(crate) fn decrement<K: std::hash::Hash + Eq>(counts: &mut HashMap<K, usize>, key: &K) {
    if let Some(count) = counts.get_mut(key) {
        *count -= 1;
        if *count == 0 {
            counts.remove(key);
        }
    }
}
