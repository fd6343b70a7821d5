//! The metadata document of a protected resource (RFC 9728), at its well-known paths.
//!
//! It is public and the same for everybody, so it is served to any host and any origin, before a request is admitted: a
//! client reads it in order to log in.

use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN, CACHE_CONTROL,
};
use http::{HeaderValue, Method, StatusCode};
use switchboard_http::ProtectedResource;

use crate::http::server::body::ReplyBody;
use crate::http::server::reply::{self, Reply};

const ANY: HeaderValue = HeaderValue::from_static("*");
/// Long enough to spare requests, short enough that a new issuer is noticed.
const FIVE_MINUTES: HeaderValue = HeaderValue::from_static("max-age=300");

/// Returns the response to a request for the document; `None` for any other path.
pub(crate) fn respond(resource: &ProtectedResource, method: &Method, path: &str) -> Option<Reply> {
    if !resource.paths.iter().any(|own| own == path) {
        return None;
    }
    let mut reply = match *method {
        Method::GET | Method::HEAD => {
            let body = ReplyBody::full(resource.document.clone());
            let mut reply = reply::json_response(body);
            reply.headers_mut().insert(CACHE_CONTROL, FIVE_MINUTES);
            reply
        }
        Method::OPTIONS => {
            let mut reply = reply::status_response(StatusCode::NO_CONTENT);
            let headers = reply.headers_mut();
            headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET"));
            headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, ANY);
            reply
        }
        _ => reply::not_allowed("GET, HEAD, OPTIONS"),
    };
    reply.headers_mut().insert(ACCESS_CONTROL_ALLOW_ORIGIN, ANY);
    Some(reply)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_is_public_at_its_paths_only() {
        let resource = ProtectedResource::new("https://h/w/mcp", ["/w/mcp", "/w"], "{}");
        for path in ["/w/mcp", "/w"] {
            let reply = respond(&resource, &Method::GET, path).unwrap();
            assert_eq!(reply.status(), 200);
            assert_eq!(reply.headers()["content-type"], "application/json");
            assert_eq!(reply.headers()["access-control-allow-origin"], "*");
            assert_eq!(respond(&resource, &Method::OPTIONS, path).unwrap().status(), 204);
            assert_eq!(respond(&resource, &Method::POST, path).unwrap().status(), 405);
        }
        for path in ["/", "/w/", "/w/mcp/x", "/mcp"] {
            assert!(respond(&resource, &Method::GET, path).is_none(), "{path}");
        }
    }
}
