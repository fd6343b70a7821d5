//! Checks of a request before it is parsed: `Host`, `Origin`, content type, and size and pace of the body.
//!
//! On by default. They keep web pages from reaching a local server through the browser (DNS rebinding, cross-site
//! posts), so both headers are checked after parsing, never by prefix.

use bytes::{Buf, BufMut, Bytes, BytesMut};
use http::header::{CONTENT_ENCODING, CONTENT_TYPE, HOST, ORIGIN};
use http::uri::Authority;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri};
use http_body::Body;
use parking_lot::Mutex;
use std::net::IpAddr;
use std::pin::Pin;
use std::task::Poll;
use tokio::time::Instant;

use crate::http::server::options::HttpServerOptions;

/// Why a request is rejected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rejection {
    pub(crate) status: StatusCode,
    pub(crate) reason: String,
}

impl Rejection {
    pub(crate) fn new(status: StatusCode, reason: impl Into<String>) -> Self {
        Self { status, reason: reason.into() }
    }
}

/// The browser's statement of how the requesting page relates to this server.
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The last host that passed its check. Clients repeat the same bytes in every request, which then need no second check:
/// parsing a host allocates.
#[derive(Debug, Default)]
pub(crate) struct LastAccepted(Mutex<Option<HeaderValue>>);

impl LastAccepted {
    /// Returns whether this is the last accepted value.
    pub(crate) fn matches(&self, value: &HeaderValue) -> bool {
        // Checking again is cheaper than waiting for the lock.
        self.0.try_lock().is_some_and(|last_accepted| last_accepted.as_ref() == Some(value))
    }

    /// Remembers an accepted value.
    pub(crate) fn store(&self, value: &HeaderValue) {
        *self.0.lock() = Some(value.clone());
    }
}

/// Checks the host and the origin. `last_accepted` is the host that last passed with these options.
pub(crate) fn check_origin(
    options: &HttpServerOptions,
    last_accepted: &LastAccepted,
    uri: &Uri,
    headers: &HeaderMap,
) -> Result<(), Rejection> {
    let forbidden = |reason: String| Rejection::new(StatusCode::FORBIDDEN, reason);
    let mut hosts = headers.get_all(HOST).iter();
    let single = hosts.next().filter(|_| hosts.next().is_none() && uri.authority().is_none());
    if !single.is_some_and(|single| last_accepted.matches(single)) {
        let host = host(uri, headers).map_err(forbidden)?;
        if !is_allowed_host(options, &host) {
            return Err(forbidden(format!(
                "the host {host} is not served here; add it to the allowed hosts"
            )));
        }
        single.inspect(|single| last_accepted.store(single));
    }
    let mut origins = headers.get_all(ORIGIN).iter();
    if let Some(origin) = origins.next() {
        let origin = origin.to_str().unwrap_or_default();
        if origins.next().is_some() || !is_allowed_origin(options, origin) {
            return Err(forbidden(format!(
                "the origin {origin:?} is not allowed; add it to the allowed origins"
            )));
        }
    } else if headers.get(FETCH_SITE).is_some_and(|site| site == "cross-site") {
        return Err(forbidden("requests from other sites are not allowed".into()));
    }
    Ok(())
}

/// Returns the single host of a request.
fn host(uri: &Uri, headers: &HeaderMap) -> Result<Authority, String> {
    let mut hosts = headers.get_all(HOST).iter();
    let header = match hosts.next() {
        Some(host) => {
            let host = host.to_str().map_err(|_| "the host is not readable".to_owned())?;
            Some(host.parse::<Authority>().map_err(|_| format!("{host:?} is no host"))?)
        }
        None => None,
    };
    if hosts.next().is_some() {
        return Err("two hosts are named".into());
    }
    let authority = match (header, uri.authority().cloned()) {
        (Some(header), Some(uri)) if header != uri => return Err("two different hosts are named".into()),
        (header, uri) => header.or(uri).ok_or_else(|| "no host is named".to_owned())?,
    };
    if !is_host_and_port(&authority) {
        return Err(format!("{:?} is no host", authority.as_str()));
    }
    Ok(authority)
}

/// Returns whether an authority is a host with an optional port: no user name, nothing after the bracket of an address.
fn is_host_and_port(authority: &Authority) -> bool {
    let rest = authority.as_str().strip_prefix(authority.host());
    rest.is_some_and(|rest| {
        let port = rest.strip_prefix(':');
        rest.is_empty() || port.is_some_and(|port| port.bytes().all(|digit| digit.is_ascii_digit()))
    })
}

fn is_allowed_host(options: &HttpServerOptions, host: &Authority) -> bool {
    if options.allowed_hosts.is_empty() {
        return is_loopback(host.host());
    }
    options.allowed_hosts.iter().any(|allowed| match allowed.parse::<Authority>() {
        Ok(allowed) if allowed.port_u16().is_some() => {
            allowed.host().eq_ignore_ascii_case(host.host()) && allowed.port_u16() == host.port_u16()
        }
        Ok(allowed) => allowed.host().eq_ignore_ascii_case(host.host()),
        Err(_) => false,
    })
}

fn is_allowed_origin(options: &HttpServerOptions, origin: &str) -> bool {
    let Ok(uri) = origin.parse::<Uri>() else { return false };
    let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else { return false };
    // Scheme, host and port, and nothing else: `null`, paths and user names are not origins.
    let is_plain = matches!(uri.path(), "" | "/") && uri.query().is_none() && is_host_and_port(authority);
    if !is_plain || origin.ends_with('/') {
        return false;
    }
    if options.allowed_origins.is_empty() {
        return matches!(scheme, "http" | "https") && is_loopback(authority.host());
    }
    options.allowed_origins.iter().any(|allowed| allowed.eq_ignore_ascii_case(origin))
}

fn is_loopback(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Checks that a post has uncompressed JSON: a content type that web pages cannot send without a preflight request.
pub(crate) fn check_type(headers: &HeaderMap) -> Result<(), Rejection> {
    if headers.get_all(CONTENT_ENCODING).iter().any(|coding| coding != "identity") {
        let reason = "a request with a content encoding is not read: send it without one";
        return Err(Rejection::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, reason));
    }
    let mut types = headers.get_all(CONTENT_TYPE).iter();
    if types.next().is_some_and(|media| media == "application/json") && types.next().is_none() {
        return Ok(());
    }
    types = headers.get_all(CONTENT_TYPE).iter();
    let first = types.next().and_then(|value| value.to_str().ok()).unwrap_or_default();
    let mut parts = first.split(';').map(str::trim);
    let is_json = parts.next().is_some_and(|media| media.eq_ignore_ascii_case("application/json"));
    let is_utf8 = parts.all(|parameter| {
        let charset =
            parameter.split_once('=').filter(|(name, _)| name.trim().eq_ignore_ascii_case("charset"));
        charset.is_none_or(|(_, value)| value.trim().trim_matches('"').eq_ignore_ascii_case("utf-8"))
    });
    if is_json && is_utf8 && types.next().is_none() {
        return Ok(());
    }
    let reason = "the content type must be application/json in UTF-8";
    Err(Rejection::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, reason))
}

/// Reads the body within its limits.
pub(crate) async fn read_body<B>(
    options: &HttpServerOptions,
    headers: &HeaderMap,
    body: B,
) -> Result<Bytes, Rejection>
where
    B: Body<Data: Send> + Send,
{
    // hyper knows the length of most bodies; otherwise the header tells.
    let announced = match body.size_hint().exact() {
        Some(length) => Some(usize::try_from(length).unwrap_or(usize::MAX)),
        None => {
            headers.get(http::header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok())
        }
    };
    if announced.is_some_and(|length| length > options.body_bytes) {
        return Err(too_large(options));
    }
    let mut body = std::pin::pin!(body);
    // Most bodies arrive with the head in one chunk. They need no timer and are not copied.
    let mut collected = BytesMut::new();
    match std::future::poll_fn(|cx| Poll::Ready(body.as_mut().poll_frame(cx))).await {
        Poll::Ready(Some(Ok(frame))) => {
            if let Ok(mut data) = frame.into_data() {
                if data.remaining() > options.body_bytes {
                    return Err(too_large(options));
                }
                let whole = data.copy_to_bytes(data.remaining());
                if body.is_end_stream() {
                    return Ok(whole);
                }
                collected.reserve(announced.unwrap_or(0).max(whole.len()));
                collected.extend_from_slice(&whole);
            }
        }
        Poll::Ready(Some(Err(_))) => return Err(body_aborted()),
        Poll::Ready(None) => return Ok(Bytes::new()),
        Poll::Pending => collected.reserve(announced.unwrap_or(0)),
    }
    read_rest(options, body, collected).await
}

fn too_large(options: &HttpServerOptions) -> Rejection {
    let reason = format!("the body is larger than {} bytes", options.body_bytes);
    Rejection::new(StatusCode::PAYLOAD_TOO_LARGE, reason)
}

fn body_aborted() -> Rejection {
    Rejection::new(StatusCode::BAD_REQUEST, "the body broke off")
}

/// Reads the rest of a body that did not arrive in one chunk, with a minimum rate.
async fn read_rest<B>(
    options: &HttpServerOptions,
    mut body: Pin<&mut B>,
    mut collected: BytesMut,
) -> Result<Bytes, Rejection>
where
    B: Body<Data: Send> + Send,
{
    let start = Instant::now();
    loop {
        // Checked at least once per `body_patience`, so that a trickling body is noticed early.
        let next_check =
            (start + options.body_time).min(Instant::now() + options.body_patience.min(options.body_time));
        let next = std::future::poll_fn(|cx| body.as_mut().poll_frame(cx));
        match tokio::time::timeout_at(next_check, next).await {
            Ok(Some(Ok(frame))) => {
                if let Ok(data) = frame.into_data() {
                    if collected.len() + data.remaining() > options.body_bytes {
                        return Err(too_large(options));
                    }
                    collected.put(data);
                }
            }
            Ok(Some(Err(_))) => return Err(body_aborted()),
            Ok(None) => return Ok(collected.freeze()),
            Err(_) => {}
        }
        let spent = start.elapsed();
        let required = options.body_rate as u128 * spent.as_millis() / 1000;
        let is_slow = spent >= options.body_patience && (collected.len() as u128) < required;
        if spent >= options.body_time || is_slow {
            return Err(Rejection::new(StatusCode::REQUEST_TIMEOUT, "the body takes too long"));
        }
    }
}

#[cfg(test)]
mod tests;
