//! Who knocks: the head of a request, and on whose behalf it is made. Handlers get both beside the message.

use std::any::{Any, TypeId};
use std::fmt;
use std::sync::Arc;

use http::request::Parts;
use http::{Extensions, HeaderMap, Method, Uri};
use switchboard_session::answering::Caller;

/// The head of the request that brought a message: what handlers may know of HTTP. They get it from
/// [`Cx::extension`](switchboard_session::answering::Cx::extension).
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
}

impl Visitor {
    pub(crate) fn headers(&self) -> &HeaderMap {
        &self.parts.headers
    }

    /// What is known of the visitor, for whoever handles the message. It can be taken once.
    pub(crate) fn take(&mut self, lifts: &Option<Arc<[Lift]>>) -> Known {
        let Parts { method, uri, headers, extensions, .. } = &mut self.parts;
        let head = RequestHead {
            method: std::mem::take(method),
            uri: std::mem::take(uri),
            headers: std::mem::take(headers),
            extensions: std::mem::take(extensions),
        };
        Known { head, caller: self.caller.take(), lifts: lifts.clone() }
    }
}

/// What is known of the visitor.
#[derive(Debug, Clone)]
pub(crate) struct Known {
    pub(crate) head: RequestHead,
    pub(crate) caller: Option<Caller>,
    lifts: Option<Arc<[Lift]>>,
}

impl Known {
    pub(crate) fn extension(&self, of: TypeId) -> Option<&(dyn Any + Send + Sync)> {
        if of == TypeId::of::<Caller>() {
            return self.caller.as_ref().map(|caller| caller as _);
        }
        if of == TypeId::of::<RequestHead>() {
            return Some(&self.head);
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
