//! An HTTP request whose head was admitted, and the metadata of it that handlers can see: head, caller, address.

use std::any::{Any, TypeId};
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use http::{Extensions, HeaderMap, Method, Uri, Version};
use switchboard_session::server::Caller;

use crate::http::server::client_id::{ClientAddress, ClientId, PeerAddress, client_address, network};
use crate::http::server::options::HttpServerOptions;

/// The head of the HTTP request that carried a message. Handlers get it from
/// [`RequestContext::extension`](switchboard_session::server::RequestContext::extension).
///
/// With [authentication](crate::http::server::HttpServerOptions::with_authenticate) it has no `Authorization`: the credentials
/// are for this server and must not be forwarded.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct RequestHead {
    /// The method.
    pub method: Method,
    /// The URI.
    pub uri: Uri,
    /// The version of HTTP.
    pub version: Version,
    /// The headers.
    pub headers: HeaderMap,
    /// The extensions that layers in front of the service have added.
    pub extensions: Extensions,
}

impl fmt::Debug for RequestHead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // No header and no query: either may hold a secret.
        f.debug_struct("RequestHead")
            .field("method", &self.method)
            .field("path", &self.uri.path())
            .finish_non_exhaustive()
    }
}

/// A type of request extension that handlers can ask for, and how to look it up.
#[derive(Clone, Copy)]
pub(crate) struct ForwardedExtension {
    type_id: TypeId,
    find: fn(&Extensions) -> Option<&(dyn Any + Send + Sync)>,
}

impl ForwardedExtension {
    /// Forwards extensions of type `T`.
    pub(crate) fn of<T: Send + Sync + 'static>() -> Self {
        Self { type_id: TypeId::of::<T>(), find: |extensions| extensions.get::<T>().map(|value| value as _) }
    }
}

/// A request whose head was admitted; its body is not read or not parsed yet.
pub(crate) struct PendingRequest {
    pub(crate) head: RequestHead,
    pub(crate) caller: Option<Arc<Caller>>,
    /// The peer address of the connection, if known.
    pub(crate) peer: Option<IpAddr>,
}

impl PendingRequest {
    pub(crate) fn headers(&self) -> &HeaderMap {
        &self.head.headers
    }

    /// Returns the client address: the one that trusted proxies report, or else the peer address.
    pub(crate) fn client_address(&self, options: &HttpServerOptions) -> Option<IpAddr> {
        let peer = self.peer.or_else(|| self.head.extensions.get::<PeerAddress>().map(|peer| peer.0))?;
        let header = options.forwarded_header;
        Some(client_address(peer, &options.trusted_proxies, header, &self.head.headers))
    }

    /// Returns the client that limits count the request against. Call it before [`take_metadata`](Self::take_metadata).
    pub(crate) fn client_id(&self, options: &HttpServerOptions) -> Option<ClientId> {
        ClientId::of(self.caller.as_deref(), self.client_address(options))
    }

    /// Takes the metadata out of the request, for the handler of the message. Can be called once.
    pub(crate) fn take_metadata(&mut self, options: &HttpServerOptions) -> RequestMetadata {
        let address = self.client_address(options).map(|address| ClientAddress(network(address)));
        RequestMetadata {
            head: std::mem::take(&mut self.head),
            caller: self.caller.take(),
            address,
            forwarded_extensions: options.forwarded_extensions.clone(),
        }
    }
}

/// The metadata of a request that handlers can see.
#[derive(Debug, Clone)]
pub(crate) struct RequestMetadata {
    pub(crate) head: RequestHead,
    pub(crate) caller: Option<Arc<Caller>>,
    pub(crate) address: Option<ClientAddress>,
    forwarded_extensions: Option<Arc<[ForwardedExtension]>>,
}

impl RequestMetadata {
    /// Returns the client that limits count the request against.
    pub(crate) fn client_id(&self) -> Option<ClientId> {
        ClientId::of(self.caller.as_deref(), self.address.map(|address| address.0))
    }

    pub(crate) fn extension(&self, of: TypeId) -> Option<&(dyn Any + Send + Sync)> {
        if of == TypeId::of::<Caller>() {
            return self.caller.as_deref().map(|caller| caller as _);
        }
        if of == TypeId::of::<RequestHead>() {
            return Some(&self.head);
        }
        if of == TypeId::of::<ClientAddress>() {
            return self.address.as_ref().map(|address| address as _);
        }
        let extension_type =
            self.forwarded_extensions.as_ref()?.iter().find(|extension_type| extension_type.type_id == of)?;
        (extension_type.find)(&self.head.extensions)
    }
}

impl fmt::Debug for ForwardedExtension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ForwardedExtension")
    }
}
