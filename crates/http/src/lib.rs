//! An HTTP client in which every wait has a timeout, every body has a limit, and nothing is sent to an origin that the
//! caller did not name.
//!
//! It knows no MCP; the HTTP bindings and the OAuth client are built on it.
//!
//! ```text
//!   Address ──▶ Request ──▶ HttpClient ──▶ Response { status, headers, Body }
//!   (checked)               │  pool ─▶ dial: TCP ─▶ proxy ─▶ TLS      │
//!                           │  redirect: same origin, 307 and 308      └─ chunks, decompressed, limited
//!                           └─ Authorizer ◀─ Challenge (401, 403)
//! ```
//!
//! # Invariants
//! - An address is validated before a connection is opened, and the validated form is the one that is used.
//! - No header and no byte of a body reaches an origin the caller did not name.
//! - Every wait has a timeout; the error names the phase and says whether the request may have reached the server.
//! - Limits count decompressed bytes and are checked before memory is allocated.
//! - A request is never sent twice when the server may have acted on the first, unless its method is safe.
//! - Secrets print as dots; no error and no `Debug` holds a header value, a query or a body.
//!
//! # Example
//! ```
//! use http::Method;
//! use switchboard::transport::http_client::{Address, HttpClient, HttpClientOptions, PlainHttp, Request};
//! # use tokio::io::{AsyncReadExt, AsyncWriteExt};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
//! # let url = format!("http://{}/hello", listener.local_addr()?);
//! # let server = tokio::spawn(async move {
//! #     let (mut stream, _) = listener.accept().await.unwrap();
//! #     let mut head = [0; 1024];
//! #     stream.read(&mut head).await.unwrap();
//! #     stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello").await.unwrap();
//! # });
//! let client = HttpClient::new(HttpClientOptions::from_environment())?;
//! let address = Address::parse(&url, PlainHttp::LoopbackOnly)?;
//! let response = client.send(Request::new(Method::GET, address)).await?;
//! assert_eq!(response.status, 200);
//! assert_eq!(response.body.collect(1024).await?, "hello");
//! # server.await?;
//! # Ok(()) }
//! ```
//!
//! # Features
//! `client` (default) is the client itself. Without it the crate holds [`Address`], [`Secret`] and [`Verifier`] alone and
//! depends on no async runtime.

#[cfg(feature = "client")]
mod authorize;
#[cfg(feature = "client")]
mod body;
mod boxed_future;
#[cfg(feature = "client")]
mod challenge;
#[cfg(feature = "client")]
mod client;
#[cfg(feature = "client")]
mod dial;
#[cfg(feature = "client")]
mod echoed_credentials;
#[cfg(feature = "client")]
mod error;
#[cfg(feature = "client")]
mod gzip;
#[cfg(feature = "client")]
mod host_scopes;
#[cfg(feature = "client")]
mod message;
#[cfg(feature = "client")]
mod network_scope;
#[cfg(feature = "client")]
mod options;
#[cfg(feature = "client")]
mod pool;
#[cfg(feature = "client")]
mod proxy;
#[cfg(feature = "client")]
mod redirect;
#[cfg(feature = "client")]
mod resolver;
mod sanitize;
mod secret;
#[cfg(feature = "client")]
mod source;
#[cfg(feature = "client")]
mod tls;
#[cfg(feature = "client")]
mod tunnel;
#[cfg_attr(
    not(feature = "client"),
    allow(dead_code, reason = "the client connects by these parts of an address")
)]
mod url;
mod verify;

pub use boxed_future::BoxFuture;
pub use secret::Secret;
pub use url::{Address, AddressError, Origin, PlainHttp};
pub use verify::{
    DpopSupport, PresentedToken, ProtectedResource, TokenScheme, VerifiedCaller, Verifier, VerifyError,
};
#[cfg(feature = "client")]
pub use {
    authorize::{
        AuthorizeError, Authorizer, Bearer, Credentials, MAX_AUTHORIZED_ATTEMPTS, NoAuth, RequestTarget,
        Retry, UnauthorizedResponse,
    },
    body::{Body, BodyPrefix, ERROR_BODY_LIMIT},
    challenge::Challenge,
    client::HttpClient,
    error::{ConnectKind, HttpError, RedirectReason, TimeoutPhase, TlsReason},
    message::{Request, Response, Timeouts},
    network_scope::{AddressPolicy, NetworkScope},
    options::HttpClientOptions,
    pool::{MAX_HEAD_BYTES, MAX_HEADERS},
    proxy::Proxies,
    redirect::MAX_REDIRECTS,
    source::ErrorSource,
};
