//! The page and its files.

use std::fs;

use crate::client::RunningConsole;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/");

#[tokio::test]
async fn the_page_is_the_committed_one() {
    let console = RunningConsole::start(|builder| builder).await;
    let page = fs::read_to_string(format!("{FOLDER}index.html")).unwrap();
    for path in ["/", "/index.html"] {
        let reply = console.get(path, "").await;
        assert_eq!(String::from_utf8(reply.body.clone()).unwrap(), page);
        assert_eq!(reply.header("cache-control"), Some("no-store"));
        assert_eq!(reply.header("content-type"), Some("text/html; charset=utf-8"));
        reply.assert_security_headers();
    }
    let links = page.split('"').filter(|text| text.starts_with("/assets/"));
    let mut count = 0;
    for path in links {
        let reply = console.get(path, "").await;
        assert_eq!(reply.body, fs::read(format!("{FOLDER}{path}")).unwrap());
        assert_eq!(reply.header("cache-control"), Some("public, max-age=31536000, immutable"));
        reply.assert_security_headers();
        let compressed = console.get(path, "Accept-Encoding: gzip, br\r\n").await;
        assert_eq!(compressed.header("content-encoding"), Some("gzip"));
        assert_eq!(compressed.header("vary"), Some("accept-encoding"));
        assert!(compressed.body.starts_with(&[0x1f, 0x8b]) && compressed.body.len() < reply.body.len() / 2);
        count += 1;
    }
    assert_eq!(count, 2, "a script and a style");
    console.stop().await;
}

#[tokio::test]
async fn a_head_request_has_the_headers_only() {
    let console = RunningConsole::start(|builder| builder).await;
    let key = console.key_header().await;
    for (path, headers) in [("/", ""), ("/api/traffic", key.as_str()), ("/api/events", key.as_str())] {
        let address = console.address;
        let request =
            format!("HEAD {path} HTTP/1.1\r\nHost: {address}\r\n{headers}Connection: close\r\n\r\n");
        let reply = console.send(request).await;
        assert_eq!((reply.status, reply.body.len()), (200, 0), "{path}");
        reply.assert_security_headers();
    }
    let length = console.get("/", "").await.body.len().to_string();
    let request = format!("HEAD / HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", console.address);
    assert_eq!(console.send(request).await.header("content-length"), Some(length.as_str()));
    console.stop().await;
}

#[tokio::test]
async fn nothing_outside_of_the_page_is_reached() {
    let console = RunningConsole::start(|builder| builder).await;
    for path in [
        "/../Cargo.toml",
        "/assets/../index.html",
        "/assets/../../Cargo.toml",
        "/assets/%2e%2e/%2e%2e/Cargo.toml",
        "/%2e%2e%2fCargo.toml",
        "/..%5cCargo.toml",
        "//index.html",
        "/assets//",
        "/assets",
        "/digest.txt",
        "/assets/..;/index.html",
        "/index.html/",
        "/index.html%00",
        "/etc/passwd",
        "/favicon.ico",
        "/API/snapshot",
    ] {
        console.get(path, "").await.assert_error(404, "not_found");
    }
    console.stop().await;
}

#[tokio::test]
async fn unknown_paths_of_the_api_are_errors_and_never_the_page() {
    let console = RunningConsole::start(|builder| builder).await;
    let key = console.key_header().await;
    for path in
        ["/api", "/api/", "/api/unknown", "/api/traffic/", "/api/../", "/api//traffic", "/api/servers/a/b/c"]
    {
        console.get(path, &key).await.assert_error(404, "not_found");
        console.get(path, "").await.assert_error(401, "key_expired");
    }
    console.stop().await;
}

#[tokio::test]
async fn other_methods_name_the_allowed_ones() {
    let console = RunningConsole::start(|builder| builder).await;
    let key = console.key_header().await;
    for (method, path, allowed) in [
        ("POST", "/", "GET, HEAD"),
        ("DELETE", "/icon.svg", "GET, HEAD"),
        ("GET", "/api/key", "POST"),
        ("GET", "/api/token", "POST"),
        ("POST", "/api/events", "GET, HEAD"),
        ("PUT", "/api/traffic", "GET, HEAD"),
        ("GET", "/api/traffic/export", "POST"),
        ("OPTIONS", "/api/traffic/clear", "POST"),
    ] {
        let address = console.address;
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {address}\r\n{key}Content-Length: 0\r\nConnection: close\r\n\r\n"
        );
        let reply = console.send(request).await;
        reply.assert_error(405, "method_not_allowed");
        assert_eq!(reply.header("allow"), Some(allowed), "{method} {path}");
    }
    console.stop().await;
}
