//! Metadata of the authorization server: RFC 8414 and OpenID Connect forms of the well-known URL.
//!
//! Invariant: a document is used only if its issuer is the one that was looked for. They are compared as strings; an
//! issuer with an empty path may differ by the trailing slash, which several large servers get wrong. The string of the
//! document is what counts from then on.

use switchboard_http::{Address, PlainHttp};

use crate::attempt::{DiscoveryAttempt, DocumentKind};
use crate::error::{AuthError, printable};
use crate::fetch::Fetcher;
use crate::metadata::ServerMetadata;

/// Returns the metadata of an issuer.
///
/// # Errors
/// [`AuthError::IssuerMismatch`] if the only readable document names another issuer, [`AuthError::Discovery`] if none is
/// readable.
pub(super) async fn find(
    fetcher: &Fetcher,
    issuer: &str,
    attempts: &mut Vec<DiscoveryAttempt>,
) -> Result<ServerMetadata, AuthError> {
    let address = fetcher.check("authorization server", issuer).inspect_err(|error| {
        attempts.push(DiscoveryAttempt::failed(DocumentKind::AuthorizationServer, printable(issuer), error));
    })?;
    let mut mismatch = None;
    for url in candidates(&address) {
        let found = match fetch(fetcher, &url).await {
            Ok(found) => found,
            Err(why) => {
                attempts.push(DiscoveryAttempt::failed(DocumentKind::AuthorizationServer, url, why));
                continue;
            }
        };
        if is_same_issuer(issuer, &found.issuer) {
            if issuer != found.issuer {
                fetcher.warn_about_slash(issuer, &found.issuer);
            }
            attempts.push(DiscoveryAttempt::found(DocumentKind::AuthorizationServer, url));
            return Ok(found);
        }
        let why = format!("it names the issuer {:?}", printable(&found.issuer));
        attempts.push(DiscoveryAttempt::failed(DocumentKind::AuthorizationServer, &url, why));
        mismatch.get_or_insert(AuthError::IssuerMismatch {
            expected: issuer.to_owned(),
            found: printable(&found.issuer),
            url,
            attempts: Vec::new(),
        });
    }
    Err(mismatch.unwrap_or_else(|| AuthError::Discovery {
        what: "no metadata of an authorization server",
        url: issuer.to_owned(),
        attempts: Vec::new(),
    }))
}

/// Returns the metadata of a configured issuer.
///
/// # Errors
/// As [`find`].
pub(crate) async fn find_issuer(fetcher: &Fetcher, issuer: &str) -> Result<ServerMetadata, AuthError> {
    let mut attempts = Vec::new();
    find(fetcher, issuer, &mut attempts).await.map_err(|error| error.with_attempts(&attempts))
}

/// Returns the metadata at a configured URL, whatever its issuer.
pub(super) async fn at(
    fetcher: &Fetcher,
    url: &str,
    attempts: &mut Vec<DiscoveryAttempt>,
) -> Result<ServerMetadata, AuthError> {
    match fetch(fetcher, url).await {
        Ok(found) => {
            attempts.push(DiscoveryAttempt::found(DocumentKind::AuthorizationServer, url));
            Ok(found)
        }
        Err(why) => {
            attempts.push(DiscoveryAttempt::failed(DocumentKind::AuthorizationServer, url, why));
            Err(AuthError::Discovery {
                what: "no metadata of an authorization server",
                url: url.to_owned(),
                attempts: Vec::new(),
            })
        }
    }
}

/// Returns whether two issuers are the same: equal strings, or equal but for the slash of an empty path.
pub(crate) fn is_same_issuer(expected: &str, found: &str) -> bool {
    let is_root = |issuer: &str| {
        Address::parse(issuer, PlainHttp::Allowed)
            .is_ok_and(|address| address.uri().path() == "/" && address.uri().query().is_none())
    };
    let bare = |issuer| str::strip_suffix(issuer, "/").unwrap_or(issuer).to_owned();
    expected == found || (is_root(expected) && is_root(found) && bare(expected) == bare(found))
}

/// Returns the well-known URLs of an issuer, in the order of the specification.
fn candidates(issuer: &Address) -> Vec<String> {
    let origin = issuer.origin();
    match issuer.uri().path().trim_end_matches('/') {
        "" => vec![
            format!("{origin}/.well-known/oauth-authorization-server"),
            format!("{origin}/.well-known/openid-configuration"),
        ],
        path => vec![
            format!("{origin}/.well-known/oauth-authorization-server{path}"),
            format!("{origin}/.well-known/openid-configuration{path}"),
            format!("{origin}{path}/.well-known/openid-configuration"),
        ],
    }
}

async fn fetch(fetcher: &Fetcher, url: &str) -> Result<ServerMetadata, String> {
    fetcher.get_metadata("server metadata", url).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b01_an_issuer_without_a_path_may_differ_by_its_slash() {
        for (expected, found, is_same) in [
            ("https://a.example", "https://a.example", true),
            ("https://a.example/", "https://a.example", true),
            ("https://a.example", "https://a.example/", true),
            ("https://a.example:8443/", "https://a.example:8443", true),
            ("https://a.example/t1", "https://a.example/t1/", false),
            ("https://a.example/", "https://a.example//", false),
            ("https://a.example", "https://A.example", false),
            ("https://a.example", "http://a.example", false),
            ("https://a.example", "https://a.example?", false),
            ("https://a.example", "https://evil.example", false),
        ] {
            assert_eq!(is_same_issuer(expected, found), is_same, "{expected} {found}");
        }
    }

    #[test]
    fn well_known_urls_insert_the_path() {
        let issuer = |url| Address::parse(url, PlainHttp::LoopbackOnly).unwrap();
        assert_eq!(
            candidates(&issuer("https://a.example/t1/")),
            [
                "https://a.example/.well-known/oauth-authorization-server/t1",
                "https://a.example/.well-known/openid-configuration/t1",
                "https://a.example/t1/.well-known/openid-configuration",
            ]
        );
        assert_eq!(candidates(&issuer("https://a.example")).len(), 2);
    }
}
