//! One HTTP request, bounded: a client whose every wait and every body has a limit, and that sends nothing where the
//! caller did not say. It knows no MCP; the bindings and the OAuth client are built on it.
//!
//! ```text
//!   Address ──▶ Request ──▶ HttpClient ──▶ Response { status, headers, Body }
//!   (checked)               │  pool ─▶ dial: TCP ─▶ proxy ─▶ TLS      │
//!                           │  redirect: same origin, 307 and 308      └─ chunks, unpacked, limited
//!                           └─ Authorizer ◀─ Challenge (401, 403)
//! ```
//!
//! # Invariants
//! - An address is checked before anything is connected, and what was checked is what is connected to.
//! - No header and no byte of a body reaches an origin the caller did not name.
//! - Every wait ends, and the error says which one it was and whether the server can have seen the request.
//! - Limits count unpacked bytes and hold before memory is used.
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
mod error;
#[cfg(feature = "client")]
mod gzip;
#[cfg(feature = "client")]
mod message;
#[cfg(feature = "client")]
mod options;
#[cfg(feature = "client")]
mod pool;
#[cfg(feature = "client")]
mod proxy;
#[cfg(feature = "client")]
mod redirect;
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

#[cfg(feature = "client")]
pub use authorize::{
    AuthorizeError, Authorizer, Bearer, Credentials, MAX_AUTHORIZED_ATTEMPTS, NoAuth, RequestTarget, Retry,
    UnauthorizedResponse,
};
#[cfg(feature = "client")]
pub use body::{Body, BodyPrefix, ERROR_BODY_LIMIT};
pub use boxed_future::BoxFuture;
#[cfg(feature = "client")]
pub use challenge::Challenge;
#[cfg(feature = "client")]
pub use client::HttpClient;
#[cfg(feature = "client")]
pub use error::{ConnectKind, HttpError, RedirectReason, TimeoutPhase, TlsReason};
#[cfg(feature = "client")]
pub use message::{Request, Response, Timeouts};
#[cfg(feature = "client")]
pub use options::HttpClientOptions;
#[cfg(feature = "client")]
pub use pool::{MAX_HEAD_BYTES, MAX_HEADERS};
#[cfg(feature = "client")]
pub use proxy::Proxies;
#[cfg(feature = "client")]
pub use redirect::MAX_REDIRECTS;
pub use secret::Secret;
#[cfg(feature = "client")]
pub use source::ErrorSource;
pub use url::{Address, AddressError, Origin, PlainHttp};
pub use verify::{PresentedToken, ProtectedResource, VerifiedCaller, Verifier, VerifyError};
