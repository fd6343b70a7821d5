//! Being told of changes: per resource (legacy), or by one listen request with a filter (modern).

use crate::setter::setters;
use crate::types::meta::Meta;
use crate::wire::wire;

/// Which resource to watch, or to watch no longer (until 2025-11-25).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SubscribeParams {
    /// Its URI.
    pub uri: String,
    /// Anything else.
    pub meta: Option<Meta>,
}

wire!(SubscribeParams: required uri "uri"; optional meta "_meta";);

impl SubscribeParams {
    /// This resource.
    pub fn new(uri: impl Into<String>) -> Self {
        Self { uri: uri.into(), meta: None }
    }
}

setters!(SubscribeParams: some with_meta meta Meta;);

/// Which changes to be told of (from 2026-07-28).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListenFilter {
    /// The list of tools.
    pub tools_list_changed: bool,
    /// The list of prompts.
    pub prompts_list_changed: bool,
    /// The list of resources.
    pub resources_list_changed: bool,
    /// These resources, by URI.
    pub resource_subscriptions: Vec<String>,
    /// These tasks, by id (tasks extension).
    pub task_ids: Vec<String>,
}

wire!(ListenFilter:
    or_false tools_list_changed "toolsListChanged";
    or_false prompts_list_changed "promptsListChanged";
    or_false resources_list_changed "resourcesListChanged";
    or_empty resource_subscriptions "resourceSubscriptions";
    or_empty task_ids "taskIds";
);

impl ListenFilter {
    /// Nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether nothing is asked for.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

setters!(ListenFilter:
    set with_tools_list_changed tools_list_changed bool;
    set with_prompts_list_changed prompts_list_changed bool;
    set with_resources_list_changed resources_list_changed bool;
    set with_resource_subscriptions resource_subscriptions Vec<String>;
    set with_task_ids task_ids Vec<String>;
);

/// Opens a stream of changes (from 2026-07-28).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListenParams {
    /// Which changes.
    pub notifications: ListenFilter,
    /// Anything else.
    pub meta: Option<Meta>,
}

wire!(ListenParams: required notifications "notifications"; optional meta "_meta";);

impl ListenParams {
    /// Listens for what the filter names.
    pub fn new(filter: ListenFilter) -> Self {
        Self { notifications: filter, meta: None }
    }
}

setters!(ListenParams: some with_meta meta Meta;);

/// The first message of a stream: which changes the server will really tell of (from 2026-07-28).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Acknowledged {
    /// What was accepted of the filter.
    pub notifications: ListenFilter,
    /// Names the listen request.
    pub meta: Option<Meta>,
}

wire!(Acknowledged: or_default notifications "notifications"; optional meta "_meta";);

impl Acknowledged {
    /// Accepts this much.
    pub fn new(filter: ListenFilter) -> Self {
        Self { notifications: filter, meta: None }
    }
}

setters!(Acknowledged: some with_meta meta Meta;);

/// A resource has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResourceUpdated {
    /// Its URI; it may be below the one that is watched.
    pub uri: String,
    /// Anything else.
    pub meta: Option<Meta>,
}

wire!(ResourceUpdated: required uri "uri"; optional meta "_meta";);

impl ResourceUpdated {
    /// This resource.
    pub fn new(uri: impl Into<String>) -> Self {
        Self { uri: uri.into(), meta: None }
    }
}

setters!(ResourceUpdated: some with_meta meta Meta;);
