//! Redirect policy: follows 307 and 308 at the same origin, a few in a row.
//!
//! Invariant: no header and no byte of a body reaches an origin the caller did not name, and the method of a
//! request never changes. Only decides; the client sends.

use http::StatusCode;
use http::header::{HeaderMap, LOCATION};

use crate::error::{HttpError, RedirectReason};
use crate::sanitize::printable;
use crate::url::{Address, AddressError};

/// The maximum number of redirects in a row.
pub const MAX_REDIRECTS: usize = 3;

/// Returns the address to follow, or `None` if the response is not a redirect.
pub(crate) fn next(
    from: &Address,
    status: StatusCode,
    headers: &HeaderMap,
    followed: usize,
) -> Result<Option<Address>, HttpError> {
    let keeps_method = match status.as_u16() {
        301..=303 => false,
        307 | 308 => true,
        _ => return Ok(None),
    };
    let location = headers.get(LOCATION).and_then(|value| value.to_str().ok());
    let refused = |reason| {
        let to = match location {
            Some(location) => printable(without_secrets(location)),
            None => "nowhere".to_owned(),
        };
        HttpError::Redirect { status, to, reason }
    };
    let joined = from.join(location.ok_or_else(|| refused(RedirectReason::NoAddress))?);
    let address = joined.map_err(|error| {
        refused(match error {
            AddressError::OtherOrigin { .. } => RedirectReason::OtherOrigin,
            _ => RedirectReason::NoAddress,
        })
    })?;
    if !keeps_method {
        return Err(refused(RedirectReason::Method));
    }
    if followed >= MAX_REDIRECTS {
        return Err(refused(RedirectReason::TooMany));
    }
    Ok(Some(address))
}

/// Returns a location without query, fragment and user info.
fn without_secrets(location: &str) -> &str {
    let end = location.find(['?', '#']).unwrap_or(location.len());
    let location = &location[..end];
    match location.split_once("//") {
        Some((_, rest)) if rest.split('/').next().is_some_and(|authority| authority.contains('@')) => {
            "an address with a user name"
        }
        _ => location,
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;
    use crate::PlainHttp;

    #[test]
    fn only_same_origin_307_and_308_are_followed() {
        use RedirectReason::{Method, NoAddress, OtherOrigin, TooMany};
        let from = Address::parse("https://a.example/x/y", PlainHttp::LoopbackOnly).unwrap();
        let cases = [
            (200, "/z", 0, Ok(None)),
            (304, "/z", 0, Ok(None)),
            (307, "/z", 0, Ok(Some("https://a.example/z"))),
            (308, "z?q", 2, Ok(Some("https://a.example/x/z?q"))),
            (308, "https://a.example:443/z", 0, Ok(Some("https://a.example/z"))),
            (308, "/z", 3, Err(("/z", TooMany))),
            (301, "/z", 0, Err(("/z", Method))),
            (302, "/z?token=1", 0, Err(("/z", Method))),
            (303, "/z", 0, Err(("/z", Method))),
            (302, "https://b.example/", 0, Err(("https://b.example/", OtherOrigin))),
            (307, "https://b.example/?t=1", 0, Err(("https://b.example/", OtherOrigin))),
            (307, "//b.example/", 0, Err(("//b.example/", OtherOrigin))),
            (307, "http://a.example/", 0, Err(("http://a.example/", OtherOrigin))),
            (308, "https://a.example:8443/", 0, Err(("https://a.example:8443/", OtherOrigin))),
            (307, "https://u:p@a.example/", 0, Err(("an address with a user name", NoAddress))),
            (307, "javascript:x", 0, Err(("javascript:x", NoAddress))),
        ];
        for (status, location, followed, expected) in cases {
            let mut headers = HeaderMap::new();
            headers.insert(LOCATION, HeaderValue::from_static(location));
            let got = next(&from, StatusCode::from_u16(status).unwrap(), &headers, followed);
            match (got, expected) {
                (Ok(got), Ok(expected)) => assert_eq!(got.as_ref().map(Address::as_str), expected),
                (Err(HttpError::Redirect { to, reason, .. }), Err(expected)) => {
                    assert_eq!((to.as_str(), reason), expected);
                }
                (got, expected) => panic!("{status} {location}: {got:?} instead of {expected:?}"),
            }
        }
        let nowhere = next(&from, StatusCode::TEMPORARY_REDIRECT, &HeaderMap::new(), 0);
        assert!(matches!(nowhere, Err(HttpError::Redirect { reason: NoAddress, .. })));
    }
}
