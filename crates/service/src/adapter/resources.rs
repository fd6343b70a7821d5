//! `resources/read`: resolves a URI to a method and its arguments, subject to the URI policy.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;
use switchboard_design::{
    Design, Error, InvalidParams, ItemKind, Operation, OutputDef, PatternError, Repair, RequestKind,
    ResourceDef, ResourceUri, Route, UriPolicy,
};
use switchboard_protocol::{
    CacheScope, Content, ErrorCode, Raw, ReadResourceParams, ReadResourceResult, ResourceBody,
    ResourceContents, RpcError,
};
use switchboard_session::server::{self, Caller, HandlerOutcome, Reply};

use super::Core;
use super::argument_validator::with_repair;
use super::method_future::MethodFuture;
use crate::{Call, Contents, Cx};

/// Lookup tables for the resources of a design.
pub(crate) struct ResourceTable {
    policy: UriPolicy,
    /// By index in the design.
    routes: Vec<Route>,
    /// Resources with a fixed URI.
    fixed: HashMap<String, usize, foldhash::fast::RandomState>,
}

impl ResourceTable {
    /// # Errors
    /// When a resource URI is not a valid pattern; the design check reports that first.
    pub(crate) fn new(design: &Design, policy: UriPolicy) -> Result<Self, PatternError> {
        let routes = design.resources.iter().map(Route::new).collect::<Result<Vec<_>, _>>()?;
        let fixed = routes.iter().enumerate().filter_map(|(index, route)| {
            let uri: ResourceUri = route.pattern().fixed_uri()?.parse().ok()?;
            Some((uri.base().to_owned(), index))
        });
        Ok(Self { policy, fixed: fixed.collect(), routes })
    }

    /// Returns the index of the resource that a URI matches.
    pub(crate) fn find(&self, uri: &ResourceUri) -> Option<usize> {
        let fixed = self.fixed.get(uri.base()).copied();
        fixed.or_else(|| self.routes.iter().position(|route| route.pattern().captures(uri).is_some()))
    }

    pub(crate) fn policy(&self) -> &UriPolicy {
        &self.policy
    }

    /// Returns the URI encoding of a resource's arguments.
    pub(crate) fn route(&self, resource: usize) -> &Route {
        &self.routes[resource]
    }
}

impl Core {
    pub(crate) fn read_resource(
        self: &Arc<Self>,
        params: ReadResourceParams,
        cx: server::RequestContext,
    ) -> HandlerOutcome {
        let ReadResourceParams { uri, meta, .. } = params;
        let (resource, args) = match self.find_resource(&uri, &cx).and_then(|found| {
            let args = self.resource_arguments(found.0, &found.1)?;
            Ok((found.0, args))
        }) {
            Ok(found) => found,
            Err(error) => {
                let reply = match error {
                    Error::InvalidParams(_) => self.service_error_reply(error, RequestKind::Resource, &cx),
                    other => self.adapter_error_reply(&other, RequestKind::Resource, &cx),
                };
                return HandlerOutcome::Now(reply);
            }
        };
        let span = tracing::debug_span!("resources/read", resource = self.design.resources[resource].name);
        let (reply_cx, prior_args) = (cx.clone(), args.clone());
        let cx = Cx::from_request(cx).with_meta(meta).with_timeout(self.options.timeout);
        let work = self.service.read_resource(resource, Call::new(cx, args));
        let core = Arc::clone(self);
        MethodFuture::new(work, span, move |outcome| match outcome {
            Ok(contents) => core.resource_reply(resource, &uri, contents),
            Err(error) => {
                let reply = core.service_error_reply(
                    core.explain_resource(resource, error, &prior_args),
                    RequestKind::Resource,
                    &reply_cx,
                );
                reply.map_err(|error| with_uri(error, &uri))
            }
        })
        .into_outcome()
    }

    /// Resolves a URI that the policy and the caller's scopes allow.
    pub(crate) fn find_resource(
        &self,
        text: &str,
        cx: &server::RequestContext,
    ) -> Result<(usize, ResourceUri), Error> {
        let (resource, uri) = self.resolve_uri(text)?;
        self.check_scopes(cx.caller(), &self.design.resources[resource].scopes, ItemKind::Resource, text)?;
        Ok((resource, uri))
    }

    /// Resolves a URI that the policy allows.
    fn resolve_uri(&self, text: &str) -> Result<(usize, ResourceUri), Error> {
        let unknown = || Error::unknown(ItemKind::Resource, text.to_owned());
        let uri: ResourceUri = text.parse().map_err(|_| unknown())?;
        if !self.resources.policy.allows(&uri) {
            return Err(Error::Denied { uri: text.to_owned() });
        }
        let resource = self.resources.find(&uri).ok_or_else(unknown)?;
        Ok((resource, uri))
    }

    fn resource_arguments(&self, resource: usize, uri: &ResourceUri) -> Result<Raw, Error> {
        match self.resources.routes[resource].decode(uri) {
            Some(Ok(values)) => Ok(Raw::from(Value::Object(values))),
            Some(Err(issues)) => {
                let invalid = InvalidParams::from_issues(issues).into();
                Err(self.explain_resource(resource, invalid, &Raw::null()))
            }
            None => Err(Error::unknown(ItemKind::Resource, uri.base().to_owned())),
        }
    }

    fn explain_resource(&self, resource: usize, error: Error, args: &Raw) -> Error {
        match error {
            Error::InvalidParams(invalid) => {
                let operation = Operation::ReadResource(self.design.resources[resource].name.clone());
                let repair = Repair::new(operation, invalid.message.clone(), Value::Null);
                with_repair(invalid, args, Some(repair)).into()
            }
            other => other,
        }
    }

    fn resource_reply(&self, resource: usize, uri: &str, contents: Contents) -> Reply {
        let def = &self.design.resources[resource];
        let blocks = contents.blocks.into_iter();
        let contents: Vec<ResourceContents> =
            blocks.map(|block| to_resource_contents(block, uri, def)).collect();
        let mut result = ReadResourceResult::new(contents);
        // A resource that requires scopes must not be cached for other callers, whatever the design says.
        let private = (!def.scopes.is_empty()).then_some(CacheScope::Private);
        (result.ttl_ms, result.cache_scope) = (def.ttl_ms, private.or(def.cache_scope));
        Ok(result.into())
    }

    /// Checks that a resource may be subscribed to: the policy allows reading it, and it can be watched.
    pub(crate) fn may_subscribe(&self, uri: &str, caller: Option<&Caller>) -> Result<(), RpcError> {
        let rules = self.options.rules;
        let reject = |error: &Error| match rules.respond(error, RequestKind::Resource) {
            switchboard_design::ErrorResponse::Rpc(error) => error,
            _ => RpcError::invalid_params(error.to_string()),
        };
        let (resource, _) = self.resolve_uri(uri).map_err(|error| reject(&error))?;
        let def = &self.design.resources[resource];
        self.check_scopes(caller, &def.scopes, ItemKind::Resource, uri).map_err(|error| reject(&error))?;
        if !def.watch {
            return Err(RpcError::invalid_params(format!("Resource cannot be subscribed to: {uri}")));
        }
        Ok(())
    }
}

/// Adds the requested URI to a not-found error.
fn with_uri(error: RpcError, uri: &str) -> RpcError {
    if error.code != ErrorCode::RESOURCE_NOT_FOUND {
        return error;
    }
    let data = error.data.as_ref().and_then(|data| data.decode::<serde_json::Map<String, Value>>().ok());
    let mut data = data.unwrap_or_default();
    data.entry("uri").or_insert_with(|| Value::from(uri));
    error.with_data(Value::Object(data))
}

/// Returns whether a resource consists of binary data.
fn is_bytes(output: &OutputDef) -> bool {
    output.schema().is_some_and(crate::bytes::is_base64)
}

/// Converts a content block to resource contents under the requested URI.
fn to_resource_contents(block: Content, uri: &str, def: &ResourceDef) -> ResourceContents {
    let mime = def.mime.as_deref();
    let typed = |contents: ResourceContents, own: Option<&str>| match own.or(mime) {
        Some(mime) => contents.with_mime_type(mime.to_owned()),
        None => contents,
    };
    match block {
        Content::Text(text) => typed(ResourceContents::text(uri, text.text), None),
        Content::Image(media) | Content::Audio(media) => {
            let mime = media.mime_type.clone();
            typed(ResourceContents::blob(uri, media.data), Some(&mime))
        }
        Content::Resource(embedded) => {
            let mut own = embedded.resource;
            if own.uri.is_empty() {
                uri.clone_into(&mut own.uri);
            }
            // The declared MIME type does not apply to a blob in a resource of another kind.
            let is_other = matches!(own.body, ResourceBody::Blob(_)) && !is_bytes(&def.output);
            if own.mime_type.is_none() && !is_other {
                own.mime_type = mime.map(str::to_owned);
            }
            own
        }
        Content::ResourceLink(link) => typed(ResourceContents::text(uri, link.uri), Some("text/uri-list")),
        // Other content is encoded as JSON text.
        other => {
            let text = Raw::encode(&other).unwrap_or_else(|_| Raw::null());
            typed(ResourceContents::text(uri, text.as_str()), Some("application/json"))
        }
    }
}
