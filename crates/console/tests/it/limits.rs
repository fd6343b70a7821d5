//! Limits of bodies.

use crate::client::RunningConsole;

const JSON: usize = 4 * 1024 * 1024;

#[tokio::test]
async fn large_bodies_are_refused_before_they_are_read() {
    let console = RunningConsole::start(|builder| builder).await;
    let (key, address) = (console.key_header().await, console.address);
    for (path, media, length) in [
        ("/api/traffic/clear", "application/json", JSON + 1),
        ("/api/recordings?name=a", "application/octet-stream", 64 * 1024 * 1024 + 1),
        ("/api/key", "application/json", 4097),
    ] {
        let reply = console
            .send(format!(
                "POST {path} HTTP/1.1\r\nHost: {address}\r\nContent-Type: {media}\r\nContent-Length: {length}\r\n{key}\r\n"
            ))
            .await;
        reply.assert_error(413, "too_large");
        assert_eq!(reply.header("connection"), Some("close"));
    }
    console.stop().await;
}

#[tokio::test]
async fn bodies_without_a_length_are_limited_too() {
    let console = RunningConsole::start(|builder| builder).await;
    let (key, address) = (console.key_header().await, console.address);
    let mut request = format!(
        "POST /api/traffic/clear HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n{key}\
         Transfer-Encoding: chunked\r\n\r\n{:x}\r\n",
        JSON + 1
    )
    .into_bytes();
    request.resize(request.len() + JSON + 1, b' ');
    request.extend_from_slice(b"\r\n0\r\n\r\n");
    console.send(request).await.assert_error(413, "too_large");
    console.stop().await;
}

#[tokio::test]
async fn a_body_of_the_greatest_size_is_read() {
    let console = RunningConsole::start(|builder| builder).await;
    let key = console.key_header().await;
    let body = format!("{{{}}}", " ".repeat(JSON - 2));
    assert_eq!(console.post("/api/traffic/clear", &key, &body).await.status, 200);
    console.stop().await;
}

#[tokio::test]
async fn bodies_that_are_not_what_a_request_takes_are_refused() {
    let console = RunningConsole::start(|builder| builder).await;
    let key = console.key_header().await;
    for body in ["", "{", "[]", "{\"token\":1}", "\u{0}"] {
        console.post("/api/key", "", body).await.assert_error(400, "invalid_request");
    }
    console
        .post("/api/traffic/export", &key, "{\"frames\":\"all\"}")
        .await
        .assert_error(400, "invalid_request");
    console.stop().await;
}
