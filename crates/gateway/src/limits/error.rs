//! The refusal of a request that exceeds a limit.

use std::fmt;
use std::time::Duration;

use serde::Serialize;
use switchboard_protocol::{ErrorCode, Raw, RpcError};

/// A request was refused because of its rate. Nothing was sent, and nothing was taken from any bucket.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RateLimited {
    /// The name of the limit.
    pub limit: String,
    /// The time until the next request can pass.
    pub retry_after: Duration,
    /// The most that the limit allows at once, if the request needs more: a retry cannot pass.
    pub largest: Option<u32>,
}

/// The data of the error response.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RateLimitData<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    largest: Option<u32>,
    limit: &'a str,
}

impl RateLimited {
    /// The JSON-RPC error code: that of HTTP, which is outside the range that JSON-RPC reserves. The HTTP status of the
    /// response is 200, because clients read the body of no other, and treat a 4xx as the end of the session.
    pub const CODE: ErrorCode = ErrorCode(429);

    /// Returns the error response, with `limit` and `retryAfterMs` in its data, or `largest` if a retry cannot pass.
    pub fn to_rpc_error(&self) -> RpcError {
        let data = RateLimitData {
            retry_after_ms: self.largest.is_none().then(|| self.retry_after_ms()),
            largest: self.largest,
            limit: &self.limit,
        };
        let error = RpcError::new(Self::CODE, self.to_string());
        match Raw::encode(&data) {
            Ok(data) => error.with_data(data),
            Err(_) => error,
        }
    }

    /// Rounded up: a client that waits this long is not refused again.
    fn retry_after_ms(&self) -> u64 {
        u64::try_from(self.retry_after.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
    }
}

impl fmt::Display for RateLimited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rate limit {:?} exceeded\nNothing was sent; ", self.limit)?;
        match (self.largest, self.retry_after_ms()) {
            (Some(largest), _) => write!(f, "the limit allows {largest} at once: ask for fewer."),
            (None, wait @ ..10_000) => write!(f, "try again in {wait} ms."),
            (None, wait) => write!(f, "try again in {} s.", wait.div_ceil(1_000)),
        }
    }
}

impl std::error::Error for RateLimited {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_response_names_the_limit_and_says_when_to_retry() {
        let refused =
            RateLimited { limit: "calls".into(), retry_after: Duration::from_micros(1500), largest: None };
        let error = refused.to_rpc_error();
        assert_eq!(error.code, ErrorCode(429));
        assert_eq!(error.data.unwrap().as_str(), r#"{"retryAfterMs":2,"limit":"calls"}"#);
        assert_eq!(error.message, "rate limit \"calls\" exceeded\nNothing was sent; try again in 2 ms.");
        let long = RateLimited { retry_after: Duration::from_millis(59_001), ..refused };
        assert!(long.to_string().ends_with("try again in 60 s."), "{long}");
    }

    #[test]
    fn the_response_does_not_promise_a_retry_that_cannot_pass() {
        let refused = RateLimited { limit: "calls".into(), retry_after: Duration::ZERO, largest: Some(5) };
        let error = refused.to_rpc_error();
        assert_eq!(error.data.unwrap().as_str(), r#"{"largest":5,"limit":"calls"}"#);
        assert!(error.message.ends_with("the limit allows 5 at once: ask for fewer."), "{}", error.message);
    }
}
