//! The refusal of a request that exceeds a limit.

use std::time::Duration;

use serde::Serialize;
use switchboard_protocol::{ErrorCode, Raw, RpcError};

/// A request was refused because of its rate. Nothing was sent, and nothing was taken from any bucket.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("rate limit `{limit}` exceeded; retry after {} ms", .retry_after.as_millis())]
#[non_exhaustive]
pub struct RateLimited {
    /// The name of the limit.
    pub limit: String,
    /// The time until the next request can pass.
    pub retry_after: Duration,
}

/// The data of the error response.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RateLimitData<'a> {
    retry_after_ms: u64,
    limit: &'a str,
}

impl RateLimited {
    /// The JSON-RPC error code: that of HTTP, which is outside the range that JSON-RPC reserves. The HTTP status of the
    /// response is 200, because clients read the body of no other, and treat a 4xx as the end of the session.
    pub const CODE: ErrorCode = ErrorCode(429);

    /// Returns the error response, with `retryAfterMs` and `limit` in its data.
    pub fn to_rpc_error(&self) -> RpcError {
        // Rounded up: a client that waits this long is not refused again.
        let milliseconds = self.retry_after.as_nanos().div_ceil(1_000_000);
        let data = RateLimitData {
            retry_after_ms: u64::try_from(milliseconds).unwrap_or(u64::MAX),
            limit: &self.limit,
        };
        let error = RpcError::new(Self::CODE, "Rate limit exceeded");
        match Raw::encode(&data) {
            Ok(data) => error.with_data(data),
            Err(_) => error,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_response_says_when_to_retry() {
        let refused = RateLimited { limit: "calls".into(), retry_after: Duration::from_micros(1500) };
        let error = refused.to_rpc_error();
        assert_eq!(error.code, ErrorCode(429));
        assert_eq!(error.data.unwrap().as_str(), r#"{"retryAfterMs":2,"limit":"calls"}"#);
    }
}
