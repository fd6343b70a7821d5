//! HTTP/2, agreed on in the TLS handshake.

use std::convert::Infallible;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use switchboard_http::HttpError;
use switchboard_testkit::HttpScript;

use crate::requests::{post, send, text};
use crate::tls::Authority;

/// Echoes bodies; `/many` has too many headers and `/large` one that is too large.
async fn answer(request: http::Request<Incoming>) -> Result<http::Response<Full<Bytes>>, Infallible> {
    let path = request.uri().path().to_owned();
    let body = request.into_body().collect().await.unwrap().to_bytes();
    let mut response = http::Response::new(Full::new(body));
    if path == "/many" {
        for number in 0..101 {
            let name = http::HeaderName::from_bytes(format!("h{number}").as_bytes()).unwrap();
            response.headers_mut().insert(name, http::HeaderValue::from_static("x"));
        }
    }
    if path == "/large" {
        let value = http::HeaderValue::from_str(&"x".repeat(80_000)).unwrap();
        response.headers_mut().insert("large", value);
    }
    Ok(response)
}

async fn start(authority: &Authority) -> HttpScript {
    let acceptor = authority.acceptor("127.0.0.1", &["h2", "http/1.1"], |_| {});
    HttpScript::per_connection(move |stream, _| {
        let acceptor = acceptor.clone();
        async move {
            let Ok(stream) = acceptor.accept(stream).await else { return };
            let server = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
            let _ = server.serve_connection(TokioIo::new(stream), service_fn(answer)).await;
        }
    })
    .await
}

#[tokio::test]
async fn many_requests_share_one_connection() {
    let authority = Authority::new();
    let server = start(&authority).await;
    let client = authority.client();
    let url = format!("https://{}/", server.address);
    let first = send(&client, post(&url, "hello")).await.unwrap();
    assert_eq!(first.version, http::Version::HTTP_2);
    assert_eq!(text(first).await, "hello");
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..50 {
        let (client, request) = (client.clone(), post(&url, "again"));
        calls.spawn(async move { text(send(&client, request).await.unwrap()).await });
    }
    while let Some(body) = calls.join_next().await {
        assert_eq!(body.unwrap(), "again");
    }
    assert_eq!(server.log.connections(), 1);
}

#[tokio::test]
async fn heads_are_limited_here_too() {
    let authority = Authority::new();
    let server = start(&authority).await;
    let many = format!("https://{}/many", server.address);
    let error = send(&authority.client(), post(many, "")).await.unwrap_err();
    assert!(matches!(error, HttpError::Protocol { .. }), "{error:?}");
    let large = format!("https://{}/large", server.address);
    let error = send(&authority.client(), post(large, "")).await.unwrap_err();
    assert!(matches!(error, HttpError::Protocol { .. }), "{error:?}");
}
