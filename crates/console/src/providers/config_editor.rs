//! Editor of configuration files: describes entries, plans and adds servers, offers the first ones.

use std::fmt::Debug;

use super::{BoxFuture, ProviderError};
use crate::contract::{AddPlan, AddRequest, FirstRun};

/// A configured server, secrets masked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerEntry {
    /// The scope of its file; `None` if it is not from a file.
    pub scope: Option<String>,
    /// The entry as JSON.
    pub config_json: String,
    /// The command that approves it.
    pub approve_command: String,
}

impl ServerEntry {
    /// Creates an entry.
    pub fn new(
        scope: Option<String>,
        config_json: impl Into<String>,
        approve_command: impl Into<String>,
    ) -> Self {
        Self { scope, config_json: config_json.into(), approve_command: approve_command.into() }
    }
}

/// Editor of configuration files.
pub trait ConfigEditor: Debug + Send + Sync {
    /// Returns the entry of a server, as it is applied now.
    fn entry(&self, server: &str) -> Option<ServerEntry>;

    /// Returns what is offered while no server is configured; `None` if one is.
    fn first_run(&self) -> Option<FirstRun>;

    /// Returns what adding a server would do. Changes nothing.
    ///
    /// # Errors
    /// Returns an error if the server is not valid.
    fn plan<'a>(&'a self, request: &'a AddRequest) -> BoxFuture<'a, Result<AddPlan, ProviderError>>;

    /// Adds a server to its file, and applies the file.
    ///
    /// # Errors
    /// Returns an error if the server is not valid, exists already, or the console must not add it.
    fn add<'a>(&'a self, request: &'a AddRequest) -> BoxFuture<'a, Result<(), ProviderError>>;

    /// Starts a demo server. It is in no file and ends with the console.
    ///
    /// # Errors
    /// Returns an error if there is no demo server of this name, or it is running.
    fn add_demo<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<(), ProviderError>>;
}
