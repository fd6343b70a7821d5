//! `resources/list` where a resource with variables in its URI lists its members.
//!
//! Invariant: a member is listed only where it could be read: its URI is one of its resource's, the policy allows it, and
//! the caller has the scopes.

use std::sync::Arc;

use switchboard_design::{Error, RequestKind, ResourceUri};
use switchboard_protocol::{CacheScope, ListResourcesResult, PageParams, Resource, RpcError};
use switchboard_session::server::{self, HandlerOutcome, Reply};

use super::Core;
use super::logging::{About, Logged};
use super::running::Running;
use crate::Cx;

/// Members that are listed of one resource; a service that has more offers a tool to search them.
const MOST_MEMBERS: usize = 10_000;
/// Resources on one page, when nothing says so.
const PAGE: usize = 1_000;

impl Core {
    /// Answers with a page of the resources: those of the design, and the members that methods list.
    pub(crate) fn list_resources(
        self: &Arc<Self>,
        params: PageParams,
        cx: server::RequestContext,
    ) -> HandlerOutcome {
        if self.design.resources.iter().all(|resource| resource.list.is_none()) {
            return self.list(&self.lists.resources, &params, &cx);
        }
        let log = Logged::begin(&self.options, About::just("resources/list").of(&cx), None);
        let (core, own) = (Arc::clone(self), cx.clone());
        let work = Box::pin(async move { core.gather_resources(cx).await });
        let core = Arc::clone(self);
        Running::new(work, log, tracing::debug_span!("resources/list"), move |outcome| match outcome {
            Ok(resources) => {
                page(resources, params.cursor.as_deref(), core.options.page_size.unwrap_or(PAGE))
            }
            Err(error) => core.fail(error, RequestKind::Other, &own),
        })
        .within(self.options.timeout)
        .handled()
    }

    async fn gather_resources(&self, cx: server::RequestContext) -> Result<Vec<Resource>, Error> {
        let access = self.access(cx.caller());
        let mut resources = self.lists.resources.seen_by(access);
        for (place, def) in self.design.resources.iter().enumerate() {
            if def.list.is_none() || !access.covers(&def.scopes) {
                continue;
            }
            let members = self.service.list_members(place, Cx::serving(cx.clone())).await?;
            if members.len() > MOST_MEMBERS {
                tracing::warn!(
                    resource = def.name,
                    members = members.len(),
                    "only {MOST_MEMBERS} members are listed"
                );
            }
            let is_readable = |member: &Resource| {
                let uri: Option<ResourceUri> = member.uri.parse().ok();
                let is_readable = uri.is_some_and(|uri| {
                    self.resources.policy().allows(&uri) && self.resources.find(&uri) == Some(place)
                });
                if !is_readable {
                    tracing::debug!(
                        resource = def.name,
                        uri = member.uri,
                        "a member cannot be read, so it is not listed"
                    );
                }
                is_readable
            };
            resources.extend(members.into_iter().take(MOST_MEMBERS).filter(is_readable).map(|mut member| {
                member.mime_type = member.mime_type.or_else(|| def.mime.clone());
                member
            }));
        }
        Ok(resources)
    }
}

/// The page that a cursor leads to. Members come and go, so a cursor names the resource that its page begins with.
fn page(resources: Vec<Resource>, cursor: Option<&str>, size: usize) -> Reply {
    let start = match cursor {
        None => 0,
        Some(cursor) => {
            let found = resources
                .iter()
                .position(|resource| super::listing::hashed("resources/list", &resource.uri) == cursor);
            found.ok_or_else(|| {
                RpcError::invalid_params(
                    "Invalid cursor: what it led to is no longer listed; begin again without one",
                )
            })?
        }
    };
    let end = start.saturating_add(size.max(1)).min(resources.len());
    let next = resources.get(end).map(|resource| super::listing::hashed("resources/list", &resource.uri));
    let mut result = ListResourcesResult::new(resources[start..end].to_vec());
    // Who lists them may have looked at who asks.
    (result.next_cursor, result.cache_scope) = (next, Some(CacheScope::Private));
    Ok(result.into())
}
