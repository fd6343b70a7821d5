//! The prompts, resources and templates of one server, kept beside its tools.

use std::sync::Arc;
use std::time::Duration;

use switchboard_protocol::{Prompt, Resource, ResourceTemplate};

use crate::manifest::Manifest;

/// The lists of one server other than its tools, as it last sent them. Empty unless the host was built with
/// [`HostBuilder::with_all_lists`](crate::HostBuilder::with_all_lists).
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ServerLists {
    /// The prompts, in the server's order.
    pub prompts: Arc<[Prompt]>,
    /// The resources, in the server's order.
    pub resources: Arc<[Resource]>,
    /// The resource templates, in the server's order.
    pub templates: Arc<[ResourceTemplate]>,
    /// How long the server said that each list is fresh.
    pub lifetimes: ListLifetimes,
}

/// How long a server said that its lists are fresh; zero where it said nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListLifetimes {
    /// The tools.
    pub tools: Duration,
    /// The prompts.
    pub prompts: Duration,
    /// The resources.
    pub resources: Duration,
    /// The resource templates.
    pub templates: Duration,
}

impl ServerLists {
    pub(crate) fn from_manifest(manifest: &Manifest) -> Self {
        Self {
            prompts: manifest.prompts.clone().into(),
            resources: manifest.resources.clone().into(),
            templates: manifest.resource_templates.clone().into(),
            lifetimes: ListLifetimes::default(),
        }
    }
}
