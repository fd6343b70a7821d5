//! `resources/list` for designs in which a resource template lists its members.
//!
//! Invariant: a member is listed only if it could be read: its URI matches its template, the policy allows it, and
//! the caller has the scopes.

use std::sync::Arc;

use switchboard_design::{Error, RequestKind, ResourceUri};
use switchboard_protocol::{CacheScope, ListResourcesResult, PageParams, Resource, RpcError};
use switchboard_session::server::{self, HandlerOutcome, Reply};

use super::Core;
use super::method_future::MethodFuture;
use crate::Cx;

/// Maximum number of members listed per template; a service with more should offer a search tool.
const MAX_MEMBERS: usize = 10_000;
/// Default page size.
const DEFAULT_PAGE_SIZE: usize = 1_000;

impl Core {
    /// Replies with a page of resources: those of the design and the members that methods list.
    pub(crate) fn list_resources(
        self: &Arc<Self>,
        params: PageParams,
        cx: server::RequestContext,
    ) -> HandlerOutcome {
        if self.design.resources.iter().all(|resource| resource.list.is_none()) {
            return self.list(&self.lists.resources, &params, &cx);
        }
        let (core, reply_cx) = (Arc::clone(self), cx.clone());
        let work = Box::pin(async move { core.collect_resources(cx).await });
        let core = Arc::clone(self);
        MethodFuture::new(work, tracing::debug_span!("resources/list"), move |outcome| match outcome {
            Ok(resources) => {
                page(resources, params.cursor.as_deref(), core.options.page_size.unwrap_or(DEFAULT_PAGE_SIZE))
            }
            Err(error) => core.service_error_reply(error, RequestKind::Other, &reply_cx),
        })
        .into_outcome()
    }

    async fn collect_resources(&self, cx: server::RequestContext) -> Result<Vec<Resource>, Error> {
        let access = self.access(cx.caller());
        let mut resources = self.lists.resources.visible_to(access);
        for (index, def) in self.design.resources.iter().enumerate() {
            if def.list.is_none() || !access.covers(&def.scopes) {
                continue;
            }
            let members = self.service.list_members(index, Cx::from_request(cx.clone())).await?;
            if members.len() > MAX_MEMBERS {
                tracing::warn!(
                    resource = def.name,
                    members = members.len(),
                    "too many members: only {MAX_MEMBERS} are listed"
                );
            }
            let is_readable = |member: &Resource| {
                let uri: Option<ResourceUri> = member.uri.parse().ok();
                let is_readable = uri.is_some_and(|uri| {
                    self.resources.policy().allows(&uri) && self.resources.find(&uri) == Some(index)
                });
                if !is_readable {
                    tracing::debug!(
                        resource = def.name,
                        uri = member.uri,
                        "member not listed: it cannot be read"
                    );
                }
                is_readable
            };
            resources.extend(members.into_iter().take(MAX_MEMBERS).filter(is_readable).map(|mut member| {
                member.mime_type = member.mime_type.or_else(|| def.mime.clone());
                member
            }));
        }
        Ok(resources)
    }
}

/// Returns the page of a cursor. Members change between requests, so a cursor identifies the first resource of its
/// page.
fn page(resources: Vec<Resource>, cursor: Option<&str>, size: usize) -> Reply {
    let start = match cursor {
        None => 0,
        Some(cursor) => {
            let found = resources
                .iter()
                .position(|resource| super::lists::cursor_for("resources/list", &resource.uri) == cursor);
            found.ok_or_else(|| {
                RpcError::invalid_params(
                    "Invalid cursor: its resource is no longer listed; start again without one",
                )
            })?
        }
    };
    let end = start.saturating_add(size.max(1)).min(resources.len());
    let next = resources.get(end).map(|resource| super::lists::cursor_for("resources/list", &resource.uri));
    let mut result = ListResourcesResult::new(resources[start..end].to_vec());
    // The listing method may have considered the caller.
    (result.next_cursor, result.cache_scope) = (next, Some(CacheScope::Private));
    Ok(result.into())
}
