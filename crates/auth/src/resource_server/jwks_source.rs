//! Where the keys of an issuer come from: its metadata names the URL of the key set.

use std::time::Duration;

use http::StatusCode;
use http::header::{CACHE_CONTROL, HeaderMap};
use parking_lot::Mutex;
use switchboard_http::Address;

use crate::discovery::find_issuer;
use crate::error::AuthError;
use crate::fetch::Fetcher;
use crate::jws::JwkSet;

/// How long a key set is fresh if the issuer does not say.
const DEFAULT_MAX_AGE: Duration = Duration::from_secs(600);
/// The least and the most time that a key set is fresh, whatever the issuer says.
const MAX_AGE_BOUNDS: (Duration, Duration) = (Duration::from_secs(60), Duration::from_secs(24 * 3600));

/// The key set of one issuer.
#[derive(Debug)]
pub(crate) struct JwksSource {
    fetcher: Fetcher,
    issuer: String,
    /// The URL of the key set; `None` until it is configured or discovered.
    url: Mutex<Option<Address>>,
    is_configured: bool,
}

/// A key set, and how long it is fresh.
pub(crate) struct FetchedKeys {
    pub(crate) keys: JwkSet,
    pub(crate) max_age: Duration,
}

impl JwksSource {
    /// Returns the source of an issuer. Without a URL, it is discovered with the first fetch.
    pub(crate) fn new(fetcher: Fetcher, issuer: String, url: Option<Address>) -> Self {
        let is_configured = url.is_some();
        Self { fetcher, issuer, url: Mutex::new(url), is_configured }
    }

    /// Fetches the key set.
    pub(crate) async fn fetch(&self) -> Result<FetchedKeys, AuthError> {
        let known = self.url.lock().clone();
        let address = match known {
            Some(address) => address,
            None => {
                let address = self.discover().await?;
                *self.url.lock() = Some(address.clone());
                address
            }
        };
        let outcome = self.fetch_from(address).await;
        if outcome.is_err() && !self.is_configured {
            // The issuer may have moved its keys.
            *self.url.lock() = None;
        }
        outcome
    }

    async fn discover(&self) -> Result<Address, AuthError> {
        let metadata = find_issuer(&self.fetcher, &self.issuer).await?;
        let url = metadata.jwks_uri.ok_or_else(|| AuthError::NoEndpoint {
            issuer: self.issuer.clone(),
            endpoint: "key set (`jwks_uri`)",
        })?;
        self.fetcher.check("key set", &url)
    }

    async fn fetch_from(&self, address: Address) -> Result<FetchedKeys, AuthError> {
        let url = format!("{address:?}");
        let answer = self.fetcher.get(address).await?;
        let malformed = |reason| AuthError::Malformed { url, status: answer.status.as_u16(), reason };
        if answer.status != StatusCode::OK {
            return Err(malformed("it is not a key set".to_owned()));
        }
        let keys = JwkSet::parse(&answer.body).map_err(|error| malformed(error.to_string()))?;
        Ok(FetchedKeys { keys, max_age: max_age(&answer.headers) })
    }
}

/// Returns how long a document is fresh, by its `Cache-Control`.
fn max_age(headers: &HeaderMap) -> Duration {
    let values = headers.get_all(CACHE_CONTROL).iter().filter_map(|value| value.to_str().ok());
    let directives = values.flat_map(|value| value.split(',')).map(str::trim);
    let mut max_age = DEFAULT_MAX_AGE;
    for directive in directives {
        let (name, value) = directive.split_once('=').unwrap_or((directive, ""));
        match name.trim().to_ascii_lowercase().as_str() {
            "no-store" | "no-cache" => return MAX_AGE_BOUNDS.0,
            "max-age" => {
                let value = value.trim().trim_matches('"');
                let is_number = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
                if is_number {
                    // Too many digits for a number: longer than the bound in any case.
                    max_age = value.parse().map_or(Duration::MAX, Duration::from_secs);
                }
            }
            _ => {}
        }
    }
    max_age.clamp(MAX_AGE_BOUNDS.0, MAX_AGE_BOUNDS.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cache_control_counts_within_bounds() {
        for (values, seconds) in [
            (&[][..], 600),
            (&["public, max-age=3600, must-revalidate"], 3600),
            (&["Max-Age=\"120\""], 120),
            (&["max-age=0"], 60),
            (&["no-store"], 60),
            (&["max-age=3600, no-cache"], 60),
            (&["max-age=99999999999999999999999"], 86_400),
            (&["max-age=-1"], 600),
            (&["max-age"], 600),
            (&["private", "max-age=300"], 300),
        ] {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(CACHE_CONTROL, value.parse().unwrap());
            }
            assert_eq!(max_age(&headers).as_secs(), seconds, "{values:?}");
        }
    }
}
