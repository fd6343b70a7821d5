//! Errors of a request, one variant for each way a caller can react.
//!
//! Invariants: nothing here holds a header value, a body or a query, so every error may be logged; foreign errors are
//! kept as a source and never named in a signature. An HTTP status is not an error: it is part of the response.

use std::time::Duration;

use http::StatusCode;
use http::header::HeaderName;

use crate::authorize::AuthorizeError;
use crate::source::ErrorSource;
use crate::url::AddressError;

/// The error of a request without a response, or of a response whose body could not be read.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum HttpError {
    /// The address is invalid; no connection was opened.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// The request sets a header that is reserved for the client.
    #[error("the header `{name}` is written by the client and cannot be set")]
    Header {
        /// The name of the header.
        name: HeaderName,
    },
    /// An extra root certificate cannot be read.
    #[error("the extra root certificates cannot be read: {reason}")]
    Roots {
        /// The reason, for display.
        reason: String,
    },
    /// The connection could not be opened; the request was not sent.
    #[error("cannot connect to {host}: {kind}")]
    Connect {
        /// The host or proxy to connect to.
        host: String,
        /// The cause.
        kind: ConnectKind,
        /// The underlying error.
        source: Option<ErrorSource>,
    },
    /// The TLS handshake failed; the request was not sent.
    #[error("no secure connection to {host}: {reason}")]
    Tls {
        /// The host.
        host: String,
        /// The cause.
        reason: TlsReason,
        /// The underlying error.
        source: Option<ErrorSource>,
    },
    /// A timeout expired.
    #[error("no {phase} within {after:?}")]
    Timeout {
        /// The phase that timed out.
        phase: TimeoutPhase,
        /// The duration of the timeout.
        after: Duration,
    },
    /// The body exceeds the limit of the caller.
    #[error("the response is larger than {limit} bytes")]
    TooLarge {
        /// The limit, counted after decompression.
        limit: usize,
    },
    /// The server sent a redirect that is not followed.
    #[error("{status} to {to} is not followed: {reason}")]
    Redirect {
        /// The status.
        status: StatusCode,
        /// The target, without its query.
        to: String,
        /// Why it is not followed.
        reason: RedirectReason,
    },
    /// The connection broke.
    #[error("the connection broke {}", if *sent { "after the request may have been sent" } else { "before the request was sent" })]
    Broken {
        /// Whether the server may have seen the request. When not, it is safe to send again.
        sent: bool,
        /// The underlying error.
        source: Option<ErrorSource>,
    },
    /// The server violated the HTTP protocol.
    #[error("the server broke the protocol: {reason}")]
    Protocol {
        /// The reason, for display.
        reason: String,
        /// The underlying error.
        source: Option<ErrorSource>,
    },
    /// The authorizer failed; the request was not sent.
    #[error(transparent)]
    Authorize(#[from] AuthorizeError),
}

/// Why a connection could not be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectKind {
    /// The connection was refused: no process listens on the port.
    #[error("connection refused")]
    Refused,
    /// The host name cannot be resolved.
    #[error("the name cannot be resolved")]
    Dns,
    /// The address of the host is outside the [`AddressPolicy`](crate::AddressPolicy) of the request.
    #[error("its address is in a private network or on this machine, where this request must not go")]
    Forbidden,
    /// The connect timeout expired.
    #[error("no answer in time")]
    Timeout,
    /// The network or host is unreachable.
    #[error("the network cannot be reached")]
    Unreachable,
    /// The proxy requires credentials, or rejected them (407).
    #[error("the proxy asks for credentials (407)")]
    ProxyCredentials,
    /// The proxy did not open a connection.
    #[error("the proxy did not connect")]
    Proxy,
    /// The proxy configured in the environment has an unsupported scheme.
    #[error("only http:// proxies are supported")]
    ProxyKind,
    /// Any other cause.
    #[error("the connection failed")]
    Other,
}

/// Why a TLS handshake failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TlsReason {
    /// The certificate has expired.
    #[error("its certificate has expired")]
    Expired,
    /// The certificate is not valid yet.
    #[error("its certificate is not valid yet; is the clock right?")]
    NotYetValid,
    /// The certificate is for another host.
    #[error("its certificate is for another name")]
    WrongHost,
    /// The issuer of the certificate is not trusted.
    #[error("its certificate is signed by nobody we trust; add its root certificate if it is yours")]
    UnknownIssuer,
    /// The certificate is revoked.
    #[error("its certificate is revoked")]
    Revoked,
    /// The certificate is invalid in another way.
    #[error("its certificate is not acceptable")]
    BadCertificate,
    /// Client and server share no TLS version or cipher suite.
    #[error("it offers no TLS version or cipher that we take (TLS 1.2 and later)")]
    Version,
    /// The server does not speak TLS.
    #[error("it does not answer in TLS")]
    NotTls,
    /// The server aborted the handshake.
    #[error("it ended the handshake")]
    Ended,
    /// Any other cause.
    #[error("the handshake failed")]
    Other,
}

/// The phase of a request that can time out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TimeoutPhase {
    /// The TLS handshake.
    #[error("TLS handshake")]
    Tls,
    /// Waiting for the head of the response.
    #[error("response")]
    Headers,
    /// Waiting for the next bytes of the body.
    #[error("further bytes of the response")]
    Body,
}

/// Why a redirect is not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RedirectReason {
    /// The status is 301, 302 or 303, which may change the method to GET.
    #[error("only 307 and 308 keep the request as it is")]
    Method,
    /// The target has another scheme, host or port.
    #[error("it leads to another origin")]
    OtherOrigin,
    /// The limit of consecutive redirects is exceeded.
    #[error("there were too many in a row")]
    TooMany,
    /// The `Location` header is missing or invalid.
    #[error("it names no address that can be used")]
    NoAddress,
}

impl HttpError {
    /// Returns whether the request certainly did not reach the server, so that it is safe to send it again.
    pub fn is_unsent(&self) -> bool {
        match self {
            Self::Address(_) | Self::Header { .. } | Self::Roots { .. } | Self::Authorize(_) => true,
            Self::Connect { .. } | Self::Tls { .. } => true,
            Self::Timeout { phase, .. } => *phase == TimeoutPhase::Tls,
            Self::Broken { sent, .. } => !sent,
            Self::TooLarge { .. } | Self::Redirect { .. } | Self::Protocol { .. } => false,
        }
    }

    pub(crate) fn protocol(reason: impl Into<String>) -> Self {
        Self::Protocol { reason: reason.into(), source: None }
    }

    pub(crate) fn connect(host: impl Into<String>, kind: ConnectKind) -> Self {
        Self::Connect { host: host.into(), kind, source: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_say_whether_the_request_left() {
        assert!(HttpError::connect("a", ConnectKind::Refused).is_unsent());
        assert!(HttpError::Broken { sent: false, source: None }.is_unsent());
        assert!(!HttpError::Broken { sent: true, source: None }.is_unsent());
        let after = Duration::from_secs(1);
        assert!(!HttpError::Timeout { phase: TimeoutPhase::Headers, after }.is_unsent());
    }
}
