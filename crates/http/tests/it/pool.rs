//! Connections that are kept, and what happens when they are not (F084).

use std::sync::atomic::{AtomicUsize, Ordering};

use switchboard_http::HttpError;
use switchboard_testkit::{HttpScript, STEP_TIMEOUT, http_response, ok_response, read_request};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::mpsc;

use crate::requests::{client, get, post, send, text};

#[tokio::test]
async fn one_connection_serves_many_requests() {
    let server = HttpScript::per_request(|request| {
        ok_response(if request.ends_with("\r\n\r\nping") { "pong" } else { "?" })
    })
    .await;
    let client = client();
    for _ in 0..20 {
        let response = send(&client, post(server.url("/"), "ping")).await.unwrap();
        assert_eq!(response.status, 200);
        assert_eq!(text(response).await, "pong");
    }
    assert_eq!((server.log.connections(), server.log.requests().len()), (1, 20));
    let first = server.log.requests().remove(0).to_ascii_lowercase();
    for header in ["accept-encoding: gzip\r\n", "user-agent: switchboard/", "content-length: 4\r\n"] {
        assert!(first.contains(header), "{first}");
    }
}

#[tokio::test]
async fn an_error_whose_body_is_read_keeps_the_connection() {
    let server = HttpScript::per_request(|_| http_response("500 Oh", &[], b"<html>sorry</html>")).await;
    let client = client();
    for _ in 0..3 {
        let response = send(&client, post(server.url("/"), "")).await.unwrap();
        assert_eq!(response.status, 500);
        response.body.drain(1024, STEP_TIMEOUT).await;
    }
    assert_eq!(server.log.connections(), 1);
}

#[tokio::test]
async fn many_requests_at_once() {
    let server = HttpScript::per_request(|request| ok_response(request.split(' ').nth(1).unwrap())).await;
    let client = client();
    let mut calls = tokio::task::JoinSet::new();
    for number in 0..100 {
        let (client, request) = (client.clone(), get(server.url(&format!("/{number}"))));
        calls.spawn(async move { (number, text(send(&client, request).await.unwrap()).await) });
    }
    while let Some(done) = calls.join_next().await {
        let (number, body) = done.unwrap();
        assert_eq!(body, format!("/{number}"));
    }
    assert_eq!(server.log.requests().len(), 100);
}

#[tokio::test]
async fn a_connection_the_server_closed_is_not_used_again() {
    let (closed, mut closings) = mpsc::unbounded_channel();
    let server = HttpScript::per_connection(move |mut stream, log| {
        let closed = closed.clone();
        async move {
            log.add(&read_request(&mut stream).await.unwrap());
            stream.write_all(&ok_response("once")).await.unwrap();
            stream.shutdown().await.unwrap();
            // The client has noticed when it closes its side too.
            let _ = stream.read(&mut [0; 16]).await;
            closed.send(()).unwrap();
        }
    })
    .await;
    let client = client();
    for _ in 0..3 {
        assert_eq!(text(send(&client, post(server.url("/"), "x")).await.unwrap()).await, "once");
        tokio::time::timeout(STEP_TIMEOUT, closings.recv()).await.unwrap().unwrap();
    }
    assert_eq!((server.log.connections(), server.log.requests().len()), (3, 3));
}

/// Answers the first request on a connection and closes on the second.
async fn forgetful() -> HttpScript {
    HttpScript::per_connection(|mut stream, log| async move {
        log.add(&read_request(&mut stream).await.unwrap());
        stream.write_all(&ok_response("first")).await.unwrap();
        if let Some(request) = read_request(&mut stream).await {
            log.add(&request);
        }
    })
    .await
}

#[tokio::test]
async fn a_request_that_may_have_been_seen_is_not_repeated() {
    let server = forgetful().await;
    let client = client();
    assert_eq!(text(send(&client, post(server.url("/"), "one")).await.unwrap()).await, "first");
    let error = send(&client, post(server.url("/"), "two")).await.unwrap_err();
    assert!(matches!(error, HttpError::Broken { sent: true, source: Some(_) }), "{error:?}");
    assert!(!error.is_unsent());
    let twice = server.log.requests().iter().filter(|request| request.ends_with("two")).count();
    assert_eq!(twice, 1);
}

#[tokio::test]
async fn a_safe_request_is_repeated_once_on_a_fresh_connection() {
    let server = forgetful().await;
    let client = client();
    assert_eq!(text(send(&client, get(server.url("/"))).await.unwrap()).await, "first");
    assert_eq!(text(send(&client, get(server.url("/"))).await.unwrap()).await, "first");
    assert_eq!((server.log.connections(), server.log.requests().len()), (2, 3));

    let closing = HttpScript::per_connection(|mut stream, log| async move {
        log.add(&read_request(&mut stream).await.unwrap());
    })
    .await;
    let error = send(&client, get(closing.url("/"))).await.unwrap_err();
    assert!(matches!(error, HttpError::Broken { .. }), "{error:?}");
    assert_eq!(closing.log.requests().len(), 2);
}

#[tokio::test]
async fn a_cut_body_is_a_broken_connection() {
    let turn = AtomicUsize::new(0);
    let server = HttpScript::per_connection(move |mut stream, _| {
        let chunked = turn.fetch_add(1, Ordering::SeqCst) > 0;
        async move {
            read_request(&mut stream).await.unwrap();
            let reply: &[u8] = if chunked {
                b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n"
            } else {
                b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhello"
            };
            stream.write_all(reply).await.unwrap();
        }
    })
    .await;
    for _ in 0..2 {
        let response = send(&client(), post(server.url("/"), "")).await.unwrap();
        let error = response.body.collect(100).await.unwrap_err();
        assert!(matches!(error, HttpError::Broken { sent: true, .. }), "{error:?}");
    }
}
