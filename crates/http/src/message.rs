//! HTTP requests and responses.
//!
//! Invariant: `Debug` prints no header value, no query and no body.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use http::header::{HeaderMap, HeaderName, HeaderValue};
use http::{Method, StatusCode, Version};

use crate::body::Body;
use crate::network_scope::AddressPolicy;
use crate::url::Address;

/// An HTTP request with its timeouts.
#[derive(Clone)]
#[non_exhaustive]
pub struct Request {
    /// The method.
    pub method: Method,
    /// The address.
    pub address: Address,
    /// The headers, without those that the client sets itself.
    pub headers: HeaderMap,
    /// The body; may be empty.
    pub body: Bytes,
    /// The timeouts.
    pub timeouts: Timeouts,
    /// Which addresses it may be sent to.
    pub address_policy: AddressPolicy,
}

/// Timeouts of a response. `None` waits forever.
///
/// The timeouts of a connection are in [`HttpClientOptions`](crate::HttpClientOptions).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Timeouts {
    /// The time until the head of the response, including the time to connect. 60 s by default.
    pub headers: Option<Duration>,
    /// The time until the next bytes of the body, while the caller reads. 30 s by default.
    pub idle: Option<Duration>,
}

/// An HTTP response: its head, and its body as a stream.
#[non_exhaustive]
pub struct Response {
    /// The status.
    pub status: StatusCode,
    /// The protocol version: HTTP/1.1 or HTTP/2.
    pub version: Version,
    /// The headers.
    pub headers: HeaderMap,
    /// The address of the response, after redirects.
    pub address: Address,
    /// The body.
    pub body: Body,
}

impl Request {
    /// Creates a request without headers and body.
    pub fn new(method: Method, address: Address) -> Self {
        Self {
            method,
            address,
            headers: HeaderMap::new(),
            body: Bytes::new(),
            timeouts: Timeouts::default(),
            address_policy: AddressPolicy::default(),
        }
    }

    /// Adds a header.
    #[must_use]
    pub fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.append(name, value);
        self
    }

    /// Sets the body.
    #[must_use]
    pub fn with_body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    /// Sets the timeouts.
    #[must_use]
    pub fn with_timeouts(mut self, timeouts: Timeouts) -> Self {
        self.timeouts = timeouts;
        self
    }

    /// Sets which addresses it may be sent to: any by default.
    #[must_use]
    pub fn with_address_policy(mut self, policy: AddressPolicy) -> Self {
        self.address_policy = policy;
        self
    }
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { headers: Some(Duration::from_secs(60)), idle: Some(Duration::from_secs(30)) }
    }
}

impl Timeouts {
    /// Sets the timeout of the response head.
    #[must_use]
    pub fn with_headers(mut self, headers: Option<Duration>) -> Self {
        self.headers = headers;
        self
    }

    /// Sets the idle timeout of the body.
    #[must_use]
    pub fn with_idle(mut self, idle: Option<Duration>) -> Self {
        self.idle = idle;
        self
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("method", &self.method)
            .field("address", &self.address)
            .field("headers", &HeaderNames(&self.headers))
            .field("body", &format_args!("{} bytes", self.body.len()))
            .field("timeouts", &self.timeouts)
            .finish()
    }
}

impl fmt::Debug for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Response")
            .field("status", &self.status)
            .field("version", &self.version)
            .field("headers", &HeaderNames(&self.headers))
            .field("address", &self.address)
            .field("body", &self.body)
            .finish()
    }
}

struct HeaderNames<'a>(&'a HeaderMap);

impl fmt::Debug for HeaderNames<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.keys().map(HeaderName::as_str)).finish()
    }
}

#[cfg(test)]
mod tests {
    use http::header::AUTHORIZATION;

    use super::*;
    use crate::PlainHttp;

    #[test]
    fn a_printed_request_shows_no_secret() {
        let address = Address::parse("https://a.example/b?token=t0ken", PlainHttp::LoopbackOnly).unwrap();
        let request = Request::new(Method::POST, address)
            .with_header(AUTHORIZATION, HeaderValue::from_static("Bearer t0ken"))
            .with_body("t0ken")
            .with_timeouts(Timeouts::default().with_headers(None).with_idle(None));
        assert_eq!(
            format!("{request:?}"),
            "Request { method: POST, address: https://a.example/b, headers: [\"authorization\"], body: 5 bytes, \
             timeouts: Timeouts { headers: None, idle: None } }"
        );
    }
}
