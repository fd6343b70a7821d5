//! Who may knock: the host a request names, the page it comes from, the type and the size of what it brings.
//!
//! On by default. A browser on this machine must not be turned against a server on it (DNS rebinding, cross-site
//! posts), so both headers are checked after parsing, never by prefix.

use bytes::{Buf, Bytes, BytesMut};
use http::header::{CONTENT_ENCODING, CONTENT_TYPE, HOST, ORIGIN};
use http::uri::Authority;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri};
use http_body::Body;
use parking_lot::Mutex;
use std::net::IpAddr;
use std::pin::Pin;
use std::task::Poll;
use tokio::time::Instant;

use crate::http::server::options::HttpOptions;

/// Why a request is turned away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Turned {
    pub(crate) status: StatusCode,
    pub(crate) reason: String,
}

impl Turned {
    pub(crate) fn new(status: StatusCode, reason: impl Into<String>) -> Self {
        Self { status, reason: reason.into() }
    }
}

/// Says where a page's request comes from, in the browser's own words.
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The value of a header that was found good. Clients say the same in every request, and what is the same letter by
/// letter is as good as before.
#[derive(Debug, Default)]
pub(crate) struct Known(Mutex<Option<HeaderValue>>);

impl Known {
    /// Whether it is the value that was found good.
    pub(crate) fn is(&self, value: &HeaderValue) -> bool {
        // Whoever would have to wait checks for itself.
        self.0.try_lock().is_some_and(|known| known.as_ref() == Some(value))
    }

    /// It was found good.
    pub(crate) fn keep(&self, value: &HeaderValue) {
        *self.0.lock() = Some(value.clone());
    }
}

/// Checks the host and the origin. `known` is the host that was last found good with these options.
pub(crate) fn check_origin(
    options: &HttpOptions,
    known: &Known,
    uri: &Uri,
    headers: &HeaderMap,
) -> Result<(), Turned> {
    let forbidden = |reason: String| Turned::new(StatusCode::FORBIDDEN, reason);
    let mut named = headers.get_all(HOST).iter();
    let only = named.next().filter(|_| named.next().is_none() && uri.authority().is_none());
    if !only.is_some_and(|only| known.is(only)) {
        let host = host(uri, headers).map_err(forbidden)?;
        if !allowed_host(options, &host) {
            return Err(forbidden(format!(
                "the host {host} is not served here; add it to the allowed hosts"
            )));
        }
        only.inspect(|only| known.keep(only));
    }
    let mut origins = headers.get_all(ORIGIN).iter();
    if let Some(origin) = origins.next() {
        let origin = origin.to_str().unwrap_or_default();
        if origins.next().is_some() || !allowed_origin(options, origin) {
            return Err(forbidden(format!(
                "the origin {origin:?} is not allowed; add it to the allowed origins"
            )));
        }
    } else if headers.get(FETCH_SITE).is_some_and(|site| site == "cross-site") {
        return Err(forbidden("requests from other sites are not allowed".into()));
    }
    Ok(())
}

/// The one host a request names.
fn host(uri: &Uri, headers: &HeaderMap) -> Result<Authority, String> {
    let mut named = headers.get_all(HOST).iter();
    let header = match named.next() {
        Some(host) => {
            let host = host.to_str().map_err(|_| "the host is not readable".to_owned())?;
            Some(host.parse::<Authority>().map_err(|_| format!("{host:?} is no host"))?)
        }
        None => None,
    };
    if named.next().is_some() {
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

/// Whether an authority is a host and at most a port: no user name, and nothing behind the bracket of an address.
fn is_host_and_port(authority: &Authority) -> bool {
    let rest = authority.as_str().strip_prefix(authority.host());
    rest.is_some_and(|rest| {
        let port = rest.strip_prefix(':');
        rest.is_empty() || port.is_some_and(|port| port.bytes().all(|digit| digit.is_ascii_digit()))
    })
}

fn allowed_host(options: &HttpOptions, host: &Authority) -> bool {
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

fn allowed_origin(options: &HttpOptions, origin: &str) -> bool {
    let Ok(uri) = origin.parse::<Uri>() else { return false };
    let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else { return false };
    // Scheme, host and port, and nothing else: `null`, paths and user names are no origins.
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
    if host.eq_ignore_ascii_case("localhost") {
        return true;
    }
    match host.parse::<IpAddr>() {
        Ok(IpAddr::V4(address)) => address.is_loopback(),
        Ok(IpAddr::V6(address)) => address.is_loopback(),
        Err(_) => false,
    }
}

/// Checks that a post brings JSON as it is: nothing a web page can send without asking first, and nothing packed.
pub(crate) fn check_type(headers: &HeaderMap) -> Result<(), Turned> {
    if headers.get_all(CONTENT_ENCODING).iter().any(|coding| coding != "identity") {
        let reason = "a request with a content encoding is not read: send it without one";
        return Err(Turned::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, reason));
    }
    let mut types = headers.get_all(CONTENT_TYPE).iter();
    let first = types.next();
    if first.is_some_and(|media| media == "application/json") && types.next().is_none() {
        return Ok(());
    }
    types = headers.get_all(CONTENT_TYPE).iter();
    let named = types.next().and_then(|value| value.to_str().ok()).unwrap_or_default();
    let mut parts = named.split(';').map(str::trim);
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
    Err(Turned::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, reason))
}

/// Reads the body within its limits.
pub(crate) async fn read_body<B>(options: &HttpOptions, headers: &HeaderMap, body: B) -> Result<Bytes, Turned>
where
    B: Body<Data: Send> + Send,
{
    // Most bodies know from their header how long they are; others are asked after it.
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
    // Most bodies came with their head and in one piece. They need no clock, and are not copied.
    let mut gathered = BytesMut::new();
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
                gathered.reserve(announced.unwrap_or(0).max(whole.len()));
                gathered.extend_from_slice(&whole);
            }
        }
        Poll::Ready(Some(Err(_))) => return Err(broken()),
        Poll::Ready(None) => return Ok(Bytes::new()),
        Poll::Pending => gathered.reserve(announced.unwrap_or(0)),
    }
    gather(options, body, gathered).await
}

fn too_large(options: &HttpOptions) -> Turned {
    let reason = format!("the body is larger than {} bytes", options.body_bytes);
    Turned::new(StatusCode::PAYLOAD_TOO_LARGE, reason)
}

fn broken() -> Turned {
    Turned::new(StatusCode::BAD_REQUEST, "the body broke off")
}

/// Reads the rest of a body that takes a while.
async fn gather<B>(
    options: &HttpOptions,
    mut body: Pin<&mut B>,
    mut gathered: BytesMut,
) -> Result<Bytes, Turned>
where
    B: Body<Data: Send> + Send,
{
    let start = Instant::now();
    loop {
        // Looked at again after each patience, so that a trickle is noticed while it trickles.
        let look =
            (start + options.body_time).min(Instant::now() + options.body_patience.min(options.body_time));
        let next = std::future::poll_fn(|cx| body.as_mut().poll_frame(cx));
        match tokio::time::timeout_at(look, next).await {
            Ok(Some(Ok(frame))) => {
                if let Ok(data) = frame.into_data() {
                    if gathered.len() + data.remaining() > options.body_bytes {
                        return Err(too_large(options));
                    }
                    let mut data = data;
                    while data.has_remaining() {
                        let chunk = data.chunk();
                        gathered.extend_from_slice(chunk);
                        let read = chunk.len();
                        data.advance(read);
                    }
                }
            }
            Ok(Some(Err(_))) => return Err(broken()),
            Ok(None) => return Ok(gathered.freeze()),
            Err(_) => {}
        }
        let spent = start.elapsed();
        let due = options.body_rate as u128 * spent.as_millis() / 1000;
        let is_slow = spent >= options.body_patience && (gathered.len() as u128) < due;
        if spent >= options.body_time || is_slow {
            return Err(Turned::new(StatusCode::REQUEST_TIMEOUT, "the body takes too long"));
        }
    }
}

#[cfg(test)]
mod tests;
