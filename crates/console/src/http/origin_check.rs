//! Checks of `Host`, `Origin` and `Sec-Fetch-Site`: against DNS rebinding, and against pages of other origins.

use http::header::{HOST, ORIGIN};
use http::{HeaderMap, HeaderName, Method, Request, StatusCode};

use crate::contract::ApiError;

const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
const FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");

/// Checks that a request was made for this console, by its own page.
#[derive(Clone, Debug)]
pub(super) struct OriginCheck {
    hosts: [String; 3],
}

impl OriginCheck {
    /// Creates the check of a console on this port.
    pub(super) fn new(port: u16) -> Self {
        Self { hosts: [format!("127.0.0.1:{port}"), format!("localhost:{port}"), format!("[::1]:{port}")] }
    }

    /// Checks a request.
    ///
    /// # Errors
    /// `421 host_rejected`, `403 origin_rejected`.
    pub(super) fn check<B>(&self, request: &Request<B>) -> Result<(), ApiError> {
        let host = self.check_host(request)?;
        check_origin(request.headers(), host)?;
        check_fetch_site(request)
    }

    /// Returns the host that the request is for, if it is this console.
    fn check_host<B>(&self, request: &Request<B>) -> Result<&str, ApiError> {
        // HTTP/2 has the host in `:authority`, which is part of the URI.
        let authority = request.uri().authority().map(http::uri::Authority::as_str);
        let mut hosts = authority.into_iter().map(str::as_bytes).chain(values(request.headers(), &HOST));
        let first = hosts.next().and_then(|host| self.find(host));
        let are_all_same = |found: &&str| hosts.all(|host| self.find(host) == Some(*found));
        let found = first.filter(are_all_same);
        found.ok_or_else(|| {
            let message = "the header `Host` is not the address of this console";
            ApiError::new(StatusCode::MISDIRECTED_REQUEST, "host_rejected", message)
                .with_next_step("Open the console with the link that it printed.")
        })
    }

    fn find(&self, host: &[u8]) -> Option<&str> {
        self.hosts.iter().find(|known| known.as_bytes().eq_ignore_ascii_case(host)).map(String::as_str)
    }
}

fn check_origin(headers: &HeaderMap, host: &str) -> Result<(), ApiError> {
    let is_own = |origin: &[u8]| origin.strip_prefix(b"http://").is_some_and(|rest| rest == host.as_bytes());
    match values(headers, &ORIGIN).all(is_own) {
        true => Ok(()),
        false => Err(rejected("the header `Origin` is not the origin of this console")),
    }
}

fn check_fetch_site<B>(request: &Request<B>) -> Result<(), ApiError> {
    let is_page = !request.uri().path().starts_with("/api");
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    let headers = request.headers();
    let is = |name: &HeaderName, value: &[u8]| values(headers, name).all(|found| found == value);
    // The file that opens the browser is of another site. The page itself holds nothing, and cannot be framed.
    let is_navigation =
        request.uri().path() == "/" && is(&FETCH_MODE, b"navigate") && is(&FETCH_DEST, b"document");
    let is_allowed = |site: &[u8]| match site {
        b"same-origin" => true,
        b"none" => is_page && is_read,
        _ => is_navigation && is_read && headers.contains_key(FETCH_MODE) && headers.contains_key(FETCH_DEST),
    };
    match values(headers, &FETCH_SITE).all(is_allowed) {
        true => Ok(()),
        false => Err(rejected("the request is of another site")),
    }
}

fn values<'h>(headers: &'h HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'h [u8]> {
    headers.get_all(name).into_iter().map(http::HeaderValue::as_bytes)
}

fn rejected(message: &str) -> ApiError {
    ApiError::new(StatusCode::FORBIDDEN, "origin_rejected", message).with_next_step(
        "Use the console's own page, or a program that sends neither `Origin` nor `Sec-Fetch-Site`.",
    )
}
