//! What goes wrong with a request, by what the caller can do about it.
//!
//! Invariants: nothing here holds a header value, a body or a query, so every error may be logged; foreign errors are
//! kept as a source and never named in a signature. An HTTP status is not an error: it is part of the response.

use std::time::Duration;

use http::StatusCode;
use http::header::HeaderName;

use crate::authorize::AuthorizeError;
use crate::source::ErrorSource;
use crate::url::AddressError;

/// Why a request brought no response, or a body did not arrive.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum HttpError {
    /// The address is no good; nothing was connected.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// A header was given that the client writes itself.
    #[error("the header `{name}` is written by the client and cannot be set")]
    Header {
        /// Its name.
        name: HeaderName,
    },
    /// A certificate that was to be trusted cannot be read.
    #[error("the extra root certificates cannot be read: {reason}")]
    Roots {
        /// What is wrong.
        reason: String,
    },
    /// No connection; the request was not sent.
    #[error("cannot connect to {host}: {kind}")]
    Connect {
        /// The host, or the proxy, that was called.
        host: String,
        /// What happened.
        kind: ConnectKind,
        /// The error underneath.
        source: Option<ErrorSource>,
    },
    /// The two ends could not agree on a secure connection; the request was not sent.
    #[error("no secure connection to {host}: {reason}")]
    Tls {
        /// The host.
        host: String,
        /// What is wrong.
        reason: TlsReason,
        /// The error underneath.
        source: Option<ErrorSource>,
    },
    /// Nothing came for too long.
    #[error("no {phase} within {after:?}")]
    Timeout {
        /// What was waited for.
        phase: TimeoutPhase,
        /// How long.
        after: Duration,
    },
    /// The body is larger than the caller takes.
    #[error("the response is larger than {limit} bytes")]
    TooLarge {
        /// The limit, counted after decompression.
        limit: usize,
    },
    /// The server points elsewhere, and that is not followed.
    #[error("{status} to {to} is not followed: {reason}")]
    Redirect {
        /// The status.
        status: StatusCode,
        /// Where it points, without its query.
        to: String,
        /// Why it is not followed.
        reason: RedirectReason,
    },
    /// The connection broke.
    #[error("the connection broke {}", if *sent { "after the request may have been sent" } else { "before the request was sent" })]
    Broken {
        /// Whether the server may have seen the request. When not, it is safe to send again.
        sent: bool,
        /// The error underneath.
        source: Option<ErrorSource>,
    },
    /// The server does not speak HTTP as it should.
    #[error("the server broke the protocol: {reason}")]
    Protocol {
        /// What is wrong.
        reason: String,
        /// The error underneath.
        source: Option<ErrorSource>,
    },
    /// No credentials could be had; the request was not sent.
    #[error(transparent)]
    Authorize(#[from] AuthorizeError),
}

/// Why there is no connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectKind {
    /// Nobody listens there.
    #[error("connection refused")]
    Refused,
    /// The name is not known.
    #[error("the name cannot be resolved")]
    Dns,
    /// Nobody answered in time.
    #[error("no answer in time")]
    Timeout,
    /// There is no way there.
    #[error("the network cannot be reached")]
    Unreachable,
    /// The proxy wants other credentials.
    #[error("the proxy asks for credentials (407)")]
    ProxyCredentials,
    /// The proxy did not open a connection.
    #[error("the proxy did not connect")]
    Proxy,
    /// The proxy named in the environment is of a kind that is not supported.
    #[error("only http:// proxies are supported")]
    ProxyKind,
    /// Something else.
    #[error("the connection failed")]
    Other,
}

/// Why there is no secure connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TlsReason {
    /// The certificate's time is over.
    #[error("its certificate has expired")]
    Expired,
    /// The certificate's time has not come.
    #[error("its certificate is not valid yet; is the clock right?")]
    NotYetValid,
    /// The certificate is of another host.
    #[error("its certificate is for another name")]
    WrongHost,
    /// Nobody trusted has signed the certificate.
    #[error("its certificate is signed by nobody we trust; add its root certificate if it is yours")]
    UnknownIssuer,
    /// The certificate was called back.
    #[error("its certificate is revoked")]
    Revoked,
    /// The certificate is wrong in another way.
    #[error("its certificate is not acceptable")]
    BadCertificate,
    /// There is no version or cipher that both ends take.
    #[error("it offers no TLS version or cipher that we take (TLS 1.2 and later)")]
    Version,
    /// What answers does not speak TLS.
    #[error("it does not answer in TLS")]
    NotTls,
    /// The other end gave up.
    #[error("it ended the handshake")]
    Ended,
    /// Something else.
    #[error("the handshake failed")]
    Other,
}

/// What was waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TimeoutPhase {
    /// The TLS handshake.
    #[error("TLS handshake")]
    Tls,
    /// The head of the response.
    #[error("response")]
    Headers,
    /// The next bytes of the body.
    #[error("further bytes of the response")]
    Body,
}

/// Why a redirect is not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RedirectReason {
    /// 301, 302 and 303 may turn a POST into a GET.
    #[error("only 307 and 308 keep the request as it is")]
    Method,
    /// It leaves the scheme, the host or the port.
    #[error("it leads to another origin")]
    OtherOrigin,
    /// There were too many already.
    #[error("there were too many in a row")]
    TooMany,
    /// There is no address in it, or none that can be read.
    #[error("it names no address that can be used")]
    NoAddress,
}

impl HttpError {
    /// Whether the server has certainly not seen the request, so that sending it again cannot do anything twice.
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
