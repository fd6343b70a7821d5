//! Metadata of the protected resource: at the URL in the challenge, at the path form, at the root.
//!
//! Invariants: a candidate that cannot be read is skipped and its reason kept; one that describes another resource ends
//! the search, because nothing it says may be used (RFC 9728, 3.3).

use switchboard_http::{Address, Challenge, PlainHttp};

use crate::attempt::{DiscoveryAttempt, DocumentKind};
use crate::error::{AuthError, printable};
use crate::fetch::{Fetcher, canonical_resource, resolve};
use crate::metadata::ResourceMetadata;
use crate::sizes::{MAX_URL, check_size};

const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// Returns the metadata of an MCP server; `None` if it has none.
pub(super) async fn find(
    fetcher: &Fetcher,
    server: &Address,
    challenges: &[Challenge],
    attempts: &mut Vec<DiscoveryAttempt>,
) -> Result<Option<ResourceMetadata>, AuthError> {
    for url in candidates(server, challenges, attempts) {
        match fetcher.get_metadata::<ResourceMetadata>("resource metadata", &url).await {
            Ok(found) => {
                let checked = check_resource(server, &found.resource, &url);
                attempts.push(match &checked {
                    Ok(()) => DiscoveryAttempt::found(DocumentKind::ProtectedResource, &url),
                    Err(_) => {
                        let why = format!("it is about {:?}", printable(&found.resource));
                        DiscoveryAttempt::failed(DocumentKind::ProtectedResource, &url, why)
                    }
                });
                return checked.map(|()| Some(found));
            }
            Err(why) => {
                attempts.push(DiscoveryAttempt::failed(DocumentKind::ProtectedResource, url, why));
            }
        }
    }
    Ok(None)
}

/// Returns the URLs to try, in order. A URL of the challenge that cannot be resolved is recorded as an attempt.
fn candidates(
    server: &Address,
    challenges: &[Challenge],
    attempts: &mut Vec<DiscoveryAttempt>,
) -> Vec<String> {
    let mut urls: Vec<String> = Vec::new();
    if let Some(named) = challenges.iter().find_map(|challenge| challenge.resource_metadata.as_deref()) {
        match resolve(server, named) {
            Ok(url) => urls.push(url),
            Err(error) => attempts.push(DiscoveryAttempt::failed(
                DocumentKind::ProtectedResource,
                printable(named),
                error,
            )),
        }
    }
    let origin = server.origin();
    let path = server.uri().path().trim_end_matches('/');
    for url in [format!("{origin}{WELL_KNOWN}{path}"), format!("{origin}{WELL_KNOWN}")] {
        if !urls.contains(&url) {
            urls.push(url);
        }
    }
    urls
}

/// Checks that a document is about this server: same origin, and its path is the server's or a parent of it.
fn check_resource(server: &Address, resource: &str, url: &str) -> Result<(), AuthError> {
    check_size("resource identifier", resource, MAX_URL)?;
    let described = Address::parse(resource.split('#').next().unwrap_or_default(), PlainHttp::Allowed);
    let covers = |described: &Address| {
        let parent = described.uri().path().trim_end_matches('/');
        let below = server.uri().path().strip_prefix(parent);
        described.origin() == server.origin()
            && below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    match described.is_ok_and(|described| covers(&described)) {
        true => Ok(()),
        false => Err(AuthError::ResourceMismatch {
            expected: canonical_resource(server),
            found: printable(resource),
            url: url.to_owned(),
            attempts: Vec::new(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(url: &str) -> Address {
        Address::parse(url, PlainHttp::LoopbackOnly).unwrap()
    }

    fn challenge(metadata: &str) -> Vec<Challenge> {
        let mut headers = http::HeaderMap::new();
        let value = format!("Bearer resource_metadata=\"{metadata}\"");
        headers.insert(http::header::WWW_AUTHENTICATE, value.parse().unwrap());
        Challenge::from_headers(&headers)
    }

    #[test]
    fn candidates_are_header_path_and_root() {
        let server = server("https://h.example/public/mcp");
        let mut attempts = Vec::new();
        assert_eq!(
            candidates(&server, &challenge("https://m.example/meta"), &mut attempts),
            [
                "https://m.example/meta",
                "https://h.example/.well-known/oauth-protected-resource/public/mcp",
                "https://h.example/.well-known/oauth-protected-resource",
            ]
        );
        let root = super::tests::server("https://h.example");
        assert_eq!(
            candidates(&root, &[], &mut attempts),
            ["https://h.example/.well-known/oauth-protected-resource"]
        );
        assert!(attempts.is_empty());
    }

    #[test]
    fn b08_a_relative_metadata_url_is_resolved_at_the_same_origin() {
        let server = server("https://h.example/public/mcp");
        let mut attempts = Vec::new();
        let found = candidates(&server, &challenge("/meta?x=1"), &mut attempts);
        assert_eq!(found[0], "https://h.example/meta?x=1");
        let found = candidates(&server, &challenge("//evil.example/meta"), &mut attempts);
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(attempts.len(), 1);
    }

    #[test]
    fn b09_a_resource_must_cover_the_server() {
        let server = server("https://h.example/a/mcp");
        for fits in [
            "https://h.example",
            "https://h.example/",
            "https://H.example:443/a",
            "https://h.example/a/",
            "https://h.example/a/mcp",
            "https://h.example/a/mcp/",
        ] {
            assert!(check_resource(&server, fits, "u").is_ok(), "{fits}");
        }
        for wrong in [
            "https://evil.example/a/mcp",
            "http://h.example/a/mcp",
            "https://h.example:8443/a/mcp",
            "https://h.example/a/mc",
            "https://h.example/a/mcp/b",
            "https://h.example/b",
            "not a url",
            "",
        ] {
            let error = check_resource(&server, wrong, "u").unwrap_err();
            assert!(matches!(error, AuthError::ResourceMismatch { .. }), "{wrong}");
        }
    }
}
