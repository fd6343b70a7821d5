//! Bodies: too large, packed, packed wrong (F097, F104).

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use flate2::Compression;
use flate2::write::GzEncoder;
use switchboard_http::{ERROR_BODY_LIMIT, HttpError};
use switchboard_testkit::{HttpScript, STEP_TIMEOUT, http_response, ok_response, read_request};
use tokio::io::AsyncWriteExt;
use tokio::sync::mpsc;

use crate::requests::{client, get, send, text};

fn gzip(data: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test]
async fn of_a_huge_error_page_the_beginning_is_read() {
    let written = Arc::new(AtomicUsize::new(0));
    let (stopped, mut stops) = mpsc::unbounded_channel();
    let count = Arc::clone(&written);
    let server = HttpScript::per_connection(move |mut stream, _| {
        let (count, stopped) = (Arc::clone(&count), stopped.clone());
        async move {
            read_request(&mut stream).await.unwrap();
            let head =
                b"HTTP/1.1 502 Bad Gateway\r\ncontent-type: text/html\r\ncontent-length: 1073741824\r\n\r\n";
            stream.write_all(head).await.unwrap();
            let page = [b'<'; 64 * 1024];
            while stream.write_all(&page).await.is_ok() {
                count.fetch_add(page.len(), Ordering::SeqCst);
            }
            stopped.send(()).unwrap();
        }
    })
    .await;
    let response = send(&client(), get(server.url("/"))).await.unwrap();
    assert_eq!(response.status, 502);
    let beginning = response.body.prefix(ERROR_BODY_LIMIT).await;
    assert_eq!((beginning.bytes.len(), beginning.cut), (ERROR_BODY_LIMIT, true));
    tokio::time::timeout(STEP_TIMEOUT, stops.recv()).await.unwrap().unwrap();
    let written = written.load(Ordering::SeqCst);
    assert!(written < 64 << 20, "only what fits into the buffers of the sockets is sent: {written}");
}

#[tokio::test]
async fn a_body_beyond_the_limit_is_refused_announced_or_not() {
    let announced = HttpScript::per_request(|_| ok_response(&"x".repeat(2000))).await;
    let chunked = HttpScript::per_request(|_| {
        let mut reply = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n".to_vec();
        (0..20).for_each(|_| reply.extend_from_slice(format!("64\r\n{}\r\n", "x".repeat(100)).as_bytes()));
        reply.extend_from_slice(b"0\r\n\r\n");
        reply
    })
    .await;
    for server in [announced, chunked] {
        let response = send(&client(), get(server.url("/"))).await.unwrap();
        let error = response.body.collect(1999).await.unwrap_err();
        assert!(matches!(error, HttpError::TooLarge { limit: 1999 }), "{error:?}");
        let response = send(&client(), get(server.url("/"))).await.unwrap();
        assert_eq!(response.body.collect(2000).await.unwrap().len(), 2000);
        let mut body = send(&client(), get(server.url("/"))).await.unwrap().body.with_limit(10);
        assert!(matches!(body.chunk().await, Some(Err(HttpError::TooLarge { limit: 10 }))));
        assert!(body.chunk().await.is_none(), "after an error there is nothing more");
    }
}

#[tokio::test]
async fn gzip_is_unpacked() {
    let long: String = (0..20_000).map(|n| format!("{n},")).collect();
    let data = long.clone();
    let server = HttpScript::per_request(move |_| {
        http_response("200 OK", &["Content-Encoding: GZIP"], gzip(data.as_bytes()))
    })
    .await;
    assert_eq!(text(send(&client(), get(server.url("/"))).await.unwrap()).await, long);
    let empty = HttpScript::per_request(|_| http_response("200 OK", &["content-encoding: gzip"], b"")).await;
    assert_eq!(text(send(&client(), get(empty.url("/"))).await.unwrap()).await, "");
}

#[tokio::test]
async fn a_packed_stream_is_unpacked_as_it_comes() {
    let (more, mores) = mpsc::unbounded_channel::<()>();
    let mores = Arc::new(tokio::sync::Mutex::new(mores));
    let server = HttpScript::per_connection(move |mut stream, _| {
        let mores = Arc::clone(&mores);
        async move {
            read_request(&mut stream).await.unwrap();
            let head = b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\nconnection: close\r\n\r\n";
            stream.write_all(head).await.unwrap();
            let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
            for part in ["one", "two"] {
                encoder.write_all(part.as_bytes()).unwrap();
                encoder.flush().unwrap();
                stream.write_all(&std::mem::take(encoder.get_mut())).await.unwrap();
                mores.lock().await.recv().await;
            }
            stream.write_all(&encoder.finish().unwrap()).await.unwrap();
        }
    })
    .await;
    let mut body = send(&client(), get(server.url("/"))).await.unwrap().body;
    for part in ["one", "two"] {
        assert_eq!(body.chunk().await.unwrap().unwrap(), part);
        more.send(()).unwrap();
    }
    assert!(body.chunk().await.is_none());
}

#[tokio::test]
async fn a_gzip_bomb_meets_the_limit() {
    let bomb = gzip(&vec![0; 32 << 20]);
    assert!(bomb.len() < 64 << 10);
    let server =
        HttpScript::per_request(move |_| http_response("200 OK", &["content-encoding: gzip"], &bomb)).await;
    let response = send(&client(), get(server.url("/"))).await.unwrap();
    let error = response.body.collect(1 << 20).await.unwrap_err();
    assert!(matches!(error, HttpError::TooLarge { limit: 1_048_576 }), "{error:?}");
}

#[tokio::test]
async fn cut_and_wrong_gzip_are_told_apart() {
    let mut packed = gzip(b"hello, hello");
    packed.truncate(packed.len() - 3);
    let server =
        HttpScript::per_request(move |_| http_response("200 OK", &["content-encoding: gzip"], &packed)).await;
    let error = send(&client(), get(server.url("/"))).await.unwrap().body.collect(100).await.unwrap_err();
    assert!(matches!(error, HttpError::Broken { sent: true, .. }), "{error:?}");

    let server =
        HttpScript::per_request(|_| http_response("200 OK", &["content-encoding: gzip"], b"<html>")).await;
    let error = send(&client(), get(server.url("/"))).await.unwrap().body.collect(100).await.unwrap_err();
    assert!(matches!(error, HttpError::Protocol { .. }), "{error:?}");

    let server = HttpScript::per_request(|_| http_response("200 OK", &["content-encoding: br"], b"?")).await;
    let error = send(&client(), get(server.url("/"))).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the server broke the protocol: the body is packed as `br`, which was not offered"
    );
}
