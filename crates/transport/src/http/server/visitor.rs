//! Who knocks: the head of a request, and on whose behalf it is made. Handlers get both beside the message.

use std::any::{Any, TypeId};
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use http::request::Parts;
use http::{Extensions, HeaderMap, Method, Uri};
use switchboard_session::server::Caller;

use crate::http::server::client_id::{ClientAddress, ClientId, PeerAddress, client_address, network};
use crate::http::server::options::HttpOptions;

/// The head of the request that brought a message: what handlers may know of HTTP. They get it from
/// [`RequestContext::extension`](switchboard_session::server::RequestContext::extension).
///
/// Where [callers are told apart](crate::http::server::HttpOptions::with_authenticate) it has no `Authorization`: that
/// was for this server, and must not travel on.
#[derive(Clone)]
#[non_exhaustive]
pub struct RequestHead {
    /// The method.
    pub method: Method,
    /// The address.
    pub uri: Uri,
    /// The headers.
    pub headers: HeaderMap,
    /// What layers in front of the service have put there.
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

/// A type of value that layers put into requests and handlers ask for, and how it is found.
#[derive(Clone, Copy)]
pub(crate) struct Lift {
    of: TypeId,
    find: fn(&Extensions) -> Option<&(dyn Any + Send + Sync)>,
}

impl Lift {
    pub(crate) fn of<T: Send + Sync + 'static>() -> Self {
        Self { of: TypeId::of::<T>(), find: |extensions| extensions.get::<T>().map(|value| value as _) }
    }
}

/// Who knocks, while the request is looked at.
pub(crate) struct Visitor {
    pub(crate) parts: Parts,
    pub(crate) caller: Option<Caller>,
    /// The other end of its connection, where it is known.
    pub(crate) peer: Option<IpAddr>,
}

impl Visitor {
    pub(crate) fn headers(&self) -> &HeaderMap {
        &self.parts.headers
    }

    /// The address of the client: what trusted proxies say of it, or else the other end of its connection.
    pub(crate) fn address(&self, options: &HttpOptions) -> Option<IpAddr> {
        let peer = self.peer.or_else(|| self.parts.extensions.get::<PeerAddress>().map(|peer| peer.0))?;
        let header = options.forwarded_header;
        Some(client_address(peer, &options.trusted_proxies, header, &self.parts.headers))
    }

    /// Whom the request is counted against. To be asked before the request is taken.
    pub(crate) fn client(&self, options: &HttpOptions) -> Option<ClientId> {
        ClientId::of(self.caller.as_ref(), self.address(options))
    }

    /// What is known of the visitor, for whoever handles the message. It can be taken once.
    pub(crate) fn take(&mut self, options: &HttpOptions) -> Known {
        let address = self.address(options).map(|address| ClientAddress(network(address)));
        let Parts { method, uri, headers, extensions, .. } = &mut self.parts;
        let head = RequestHead {
            method: std::mem::take(method),
            uri: std::mem::take(uri),
            headers: std::mem::take(headers),
            extensions: std::mem::take(extensions),
        };
        Known { head, caller: self.caller.take(), address, lifts: options.lifts.clone() }
    }
}

/// What is known of the visitor.
#[derive(Debug, Clone)]
pub(crate) struct Known {
    pub(crate) head: RequestHead,
    pub(crate) caller: Option<Caller>,
    pub(crate) address: Option<ClientAddress>,
    lifts: Option<Arc<[Lift]>>,
}

impl Known {
    /// Whom the request is counted against.
    pub(crate) fn client(&self) -> Option<ClientId> {
        ClientId::of(self.caller.as_ref(), self.address.map(|address| address.0))
    }

    pub(crate) fn extension(&self, of: TypeId) -> Option<&(dyn Any + Send + Sync)> {
        if of == TypeId::of::<Caller>() {
            return self.caller.as_ref().map(|caller| caller as _);
        }
        if of == TypeId::of::<RequestHead>() {
            return Some(&self.head);
        }
        if of == TypeId::of::<ClientAddress>() {
            return self.address.as_ref().map(|address| address as _);
        }
        let lift = self.lifts.as_ref()?.iter().find(|lift| lift.of == of)?;
        (lift.find)(&self.head.extensions)
    }
}

impl fmt::Debug for Lift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Lift")
    }
}
