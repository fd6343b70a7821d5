//! Provider of a gateway: its state, and the search of its audit log.

use std::fmt::Debug;

use super::{BoxFuture, ProviderError};
use crate::contract::{AuditPage, GatewaySnapshot};

/// Search of an audit log, newest records first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditQuery {
    /// Words such as `principal:ada` or `outcome:denied`; others match any text of a record.
    pub words: Vec<String>,
    /// Return only records before this position, which is `next` of an earlier page.
    pub before: Option<String>,
    /// The maximum number of records.
    pub limit: usize,
}

/// Provider of a gateway.
pub trait GatewayProvider: Debug + Send + Sync {
    /// Returns the state of the gateway.
    fn snapshot(&self) -> BoxFuture<'_, GatewaySnapshot>;

    /// Searches the audit log.
    ///
    /// # Errors
    /// Returns an error if there is no audit log, or it cannot be read.
    fn search_audit<'a>(&'a self, query: &'a AuditQuery) -> BoxFuture<'a, Result<AuditPage, ProviderError>>;

    /// Waits until the state has changed since the last call. Only the console waits.
    fn changed(&self) -> BoxFuture<'_, ()>;
}
