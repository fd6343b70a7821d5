//! Subscriptions to changes: per resource (legacy), or by a listen request with a filter (modern).

use crate::types::meta::Meta;
use crate::wire::wire;

/// The parameters of `resources/subscribe` and `resources/unsubscribe` (until 2025-11-25).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SubscribeParams {
    /// The URI.
    pub uri: String,
    /// The `_meta` object.
    pub meta: Option<Meta>,
}

wire!(SubscribeParams: required uri "uri"; optional meta "_meta", with_meta(Meta););

impl SubscribeParams {
    /// Creates the parameters for a URI.
    pub fn new(uri: impl Into<String>) -> Self {
        Self { uri: uri.into(), meta: None }
    }
}

/// The changes that a listen request subscribes to (from 2026-07-28).
///
/// ```
/// use switchboard::protocol::ListenFilter;
///
/// let filter = ListenFilter::new()
///     .with_tools_list_changed(true)
///     .with_resource_subscriptions(["note://today".to_owned()]);
/// assert!(!filter.is_empty());
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListenFilter {
    /// Changes of the list of tools.
    pub tools_list_changed: bool,
    /// Changes of the list of prompts.
    pub prompts_list_changed: bool,
    /// Changes of the list of resources.
    pub resources_list_changed: bool,
    /// Changes of these resources, by URI.
    pub resource_subscriptions: Vec<String>,
    /// Changes of these tasks, by id (tasks extension).
    pub task_ids: Vec<String>,
}

wire!(ListenFilter:
    or_false tools_list_changed "toolsListChanged", with_tools_list_changed(bool);
    or_false prompts_list_changed "promptsListChanged", with_prompts_list_changed(bool);
    or_false resources_list_changed "resourcesListChanged", with_resources_list_changed(bool);
    or_empty resource_subscriptions "resourceSubscriptions", with_resource_subscriptions(Vec<String>);
    or_empty task_ids "taskIds", with_task_ids(Vec<String>);
);

impl ListenFilter {
    /// Creates an empty filter.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns whether the filter is empty.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The parameters of `subscriptions/listen` (from 2026-07-28).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListenParams {
    /// The changes to subscribe to.
    pub notifications: ListenFilter,
    /// The `_meta` object.
    pub meta: Option<Meta>,
}

wire!(ListenParams:
    required notifications "notifications";
    optional meta "_meta", with_meta(Meta);
);

impl ListenParams {
    /// Creates the parameters.
    pub fn new(filter: ListenFilter) -> Self {
        Self { notifications: filter, meta: None }
    }
}

/// The parameters of `notifications/subscriptions/acknowledged`, the first message of a listen stream (from
/// 2026-07-28).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Acknowledged {
    /// The accepted part of the filter.
    pub notifications: ListenFilter,
    /// The `_meta` object, which contains the id of the listen request.
    pub meta: Option<Meta>,
}

wire!(Acknowledged:
    or_default notifications "notifications";
    optional meta "_meta", with_meta(Meta);
);

impl Acknowledged {
    /// Creates an acknowledgment.
    pub fn new(filter: ListenFilter) -> Self {
        Self { notifications: filter, meta: None }
    }
}

/// The parameters of `notifications/resources/updated`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResourceUpdated {
    /// The URI; may be a sub-resource of the subscribed one.
    pub uri: String,
    /// The `_meta` object.
    pub meta: Option<Meta>,
}

wire!(ResourceUpdated: required uri "uri"; optional meta "_meta", with_meta(Meta););

impl ResourceUpdated {
    /// Creates the parameters for a URI.
    pub fn new(uri: impl Into<String>) -> Self {
        Self { uri: uri.into(), meta: None }
    }
}
