//! No connection, or one on which nothing comes (F079, F080, F082, F083, F105).

use std::time::Instant;

use switchboard_http::{ConnectKind, HttpClient, HttpClientOptions, HttpError, TimeoutPhase};
use switchboard_testkit::{HttpScript, STEP_TIMEOUT, http_response, ok_response, read_request};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::mpsc;

use crate::requests::{SHORT, client, get, impatient, post, send, text};

#[tokio::test]
async fn nobody_listens_and_that_is_known_at_once() {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let place = socket.local_addr().unwrap().to_string();
    let url = format!("http://{place}/");
    let begun = Instant::now();
    let error = send(&client(), post(&url, "x")).await.unwrap_err();
    assert!(
        matches!(&error, HttpError::Connect { host, kind: ConnectKind::Refused, source: Some(_) } if *host == place),
        "{error:?}"
    );
    assert!(error.is_unsent() && begun.elapsed() < STEP_TIMEOUT);
    assert_eq!(error.to_string(), format!("cannot connect to {place}: connection refused"));
}

#[tokio::test]
async fn a_name_that_is_not_known() {
    // Reserved never to exist (RFC 6761).
    let error = send(&client(), get("http://no-such-host.invalid/")).await.unwrap_err();
    assert!(
        matches!(error, HttpError::Connect { kind: ConnectKind::Dns | ConnectKind::Timeout, .. }),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_black_hole_is_given_up_in_time() {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let at = listener.local_addr().unwrap();
    // Once the queue of connections nobody accepts is full, the kernel answers no more.
    let mut waiting = Vec::new();
    while let Ok(stream) = tokio::time::timeout(SHORT, TcpStream::connect(at)).await {
        waiting.push(stream.unwrap());
    }
    let client = HttpClient::new(HttpClientOptions::default().with_connect_timeout(SHORT)).unwrap();
    let error = send(&client, get(format!("http://{at}/"))).await.unwrap_err();
    assert!(matches!(error, HttpError::Connect { kind: ConnectKind::Timeout, .. }), "{error:?}");
}

#[tokio::test]
async fn a_server_that_never_answers_and_sees_the_request_given_up() {
    let (ended, mut endings) = mpsc::unbounded_channel();
    let server = HttpScript::per_connection(move |mut stream, _| {
        let ended = ended.clone();
        async move {
            read_request(&mut stream).await.unwrap();
            let end = stream.read(&mut [0; 16]).await;
            ended.send(matches!(end, Ok(0) | Err(_))).unwrap();
        }
    })
    .await;
    let request = post(server.url("/"), "x").with_timeouts(impatient());
    let error = send(&client(), request).await.unwrap_err();
    assert!(
        matches!(error, HttpError::Timeout { phase: TimeoutPhase::Headers, after } if after == SHORT),
        "{error:?}"
    );
    assert!(!error.is_unsent());
    let given_up = tokio::time::timeout(STEP_TIMEOUT, endings.recv()).await.unwrap();
    assert_eq!(given_up, Some(true), "the connection is closed, which is how a server learns of it");
}

#[tokio::test]
async fn dropping_a_call_or_a_body_closes_the_connection() {
    let (ended, mut endings) = mpsc::unbounded_channel();
    let server = HttpScript::per_connection(move |mut stream, log| {
        let ended = ended.clone();
        async move {
            let request = read_request(&mut stream).await.unwrap();
            if request.starts_with("GET /body") {
                stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nbegun").await.unwrap();
            }
            log.add(&request);
            ended.send("request").unwrap();
            let _ = stream.read(&mut [0; 16]).await;
            ended.send("end").unwrap();
        }
    })
    .await;
    let client = client();
    let call = tokio::spawn({
        let (client, request) = (client.clone(), get(server.url("/call")));
        async move { client.send(request).await.map(drop) }
    });
    assert_eq!(endings.recv().await, Some("request"));
    call.abort();
    assert_eq!(tokio::time::timeout(STEP_TIMEOUT, endings.recv()).await.unwrap(), Some("end"));

    let mut response = send(&client, get(server.url("/body"))).await.unwrap();
    assert_eq!(response.body.chunk().await.unwrap().unwrap(), "begun");
    assert_eq!(endings.recv().await, Some("request"));
    drop(response);
    assert_eq!(tokio::time::timeout(STEP_TIMEOUT, endings.recv()).await.unwrap(), Some("end"));
}

#[tokio::test]
async fn headers_and_then_silence() {
    let server =
        HttpScript::per_request(|_| b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf".to_vec()).await;
    let response = send(&client(), get(server.url("/")).with_timeouts(impatient())).await.unwrap();
    let error = tokio::time::timeout(STEP_TIMEOUT, response.body.collect(100)).await.unwrap().unwrap_err();
    assert!(
        matches!(error, HttpError::Timeout { phase: TimeoutPhase::Body, after } if after == SHORT),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_slow_body_is_not_an_idle_one() {
    let server = HttpScript::per_connection(|mut stream, _| async move {
        read_request(&mut stream).await.unwrap();
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\n").await.unwrap();
        for byte in b"slowness" {
            tokio::time::sleep(SHORT / 4).await;
            stream.write_all(&[*byte]).await.unwrap();
        }
    })
    .await;
    let response = send(&client(), get(server.url("/")).with_timeouts(impatient())).await.unwrap();
    assert_eq!(text(response).await, "slowness");
}

#[tokio::test]
async fn heads_are_limited() {
    let many: String = (0..10_000).map(|n| format!("h{n}: x\r\n")).collect();
    let long = format!("long: {}\r\n", "x".repeat(1 << 20));
    let just_too_many: String = (0..101).map(|n| format!("h{n}: x\r\n")).collect();
    for headers in [many, long, just_too_many] {
        let head = format!("HTTP/1.1 200 OK\r\n{headers}content-length: 0\r\n\r\n");
        let server = HttpScript::per_request(move |_| head.clone().into_bytes()).await;
        let error = send(&client(), post(server.url("/"), "x")).await.unwrap_err();
        let HttpError::Protocol { reason, .. } = error else { panic!("{error:?}") };
        assert_eq!(reason, "the response is not HTTP, or its head has more than 100 headers or 65536 bytes");
    }
    let enough: String = (0..99).map(|n| format!("h{n}: x\r\n")).collect();
    let server = HttpScript::per_request(move |_| http_response("200 OK", &[enough.trim_end()], b"")).await;
    assert_eq!(send(&client(), get(server.url("/"))).await.unwrap().headers.len(), 100);
}

#[tokio::test]
async fn what_does_not_speak_http() {
    let server = HttpScript::per_request(|_| b"SSH-2.0-OpenSSH\r\n\r\n".to_vec()).await;
    let error = send(&client(), post(server.url("/"), "x")).await.unwrap_err();
    assert!(matches!(error, HttpError::Protocol { .. }), "{error:?}");
}

#[tokio::test]
async fn headers_of_the_client_cannot_be_set() {
    let server = HttpScript::per_request(|_| ok_response("")).await;
    for name in [http::header::HOST, http::header::CONTENT_LENGTH, http::header::TRANSFER_ENCODING] {
        let request = post(server.url("/"), "x").with_header(name.clone(), "1".parse().unwrap());
        let error = send(&client(), request).await.unwrap_err();
        assert!(matches!(error, HttpError::Header { name: refused } if refused == name));
    }
    assert_eq!(server.log.connections(), 0);
}
