//! Requests that the console's own page did not make are refused.

use switchboard::Host;
use switchboard_console::{Console, ConsoleBindError};

use crate::client::RunningConsole;

#[tokio::test]
async fn only_loopback_addresses_are_bound() {
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0", "[::ffff:192.0.2.1]:0"] {
        let outcome = Console::builder(Host::new()).bind(address.parse().unwrap()).await;
        assert!(matches!(outcome, Err(ConsoleBindError::NotLoopback(_))), "{address}");
    }
}

#[tokio::test]
async fn dns_rebinding_is_refused() {
    let console = RunningConsole::start(|builder| builder).await;
    let key = console.key_header().await;
    let port = console.address.port();
    let foreign = [
        format!("Host: attacker.example:{port}\r\n"),
        format!("Host: 127.0.0.1.attacker.example:{port}\r\n"),
        format!("Host: 127.0.0.2:{port}\r\n"),
        format!("Host: 127.0.0.1:{}\r\n", port ^ 1),
        "Host: 127.0.0.1\r\n".to_owned(),
        "Host: localhost\r\n".to_owned(),
        format!("Host: localhost:{port}@attacker.example\r\n"),
        format!("Host: attacker.example:{port}\r\nX-Forwarded-Host: 127.0.0.1:{port}\r\n"),
        format!("Host: 127.0.0.1:{port}\r\nHost: attacker.example\r\n"),
        "Host: \r\n".to_owned(),
        String::new(),
    ];
    for path in ["/", "/api/traffic", "/api/unknown"] {
        for host in &foreign {
            let request = format!("GET {path} HTTP/1.1\r\n{host}{key}Connection: close\r\n\r\n");
            console.send(request).await.assert_error(421, "host_rejected");
        }
    }
    let absolute = format!(
        "GET http://attacker.example/ HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n"
    );
    console.send(absolute).await.assert_error(421, "host_rejected");
    for host in [format!("127.0.0.1:{port}"), format!("LocalHost:{port}"), format!("[::1]:{port}")] {
        let request = format!("GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        assert_eq!(console.send(request).await.status, 200, "{host}");
    }
    console.stop().await;
}

#[tokio::test]
async fn other_origins_are_refused() {
    let console = RunningConsole::start(|builder| builder).await;
    let key = console.key_header().await;
    let port = console.address.port();
    for origin in [
        "null".to_owned(),
        "https://attacker.example".to_owned(),
        format!("https://127.0.0.1:{port}"),
        format!("http://127.0.0.1:{}", port ^ 1),
        // The same console by another name: a page has one origin.
        format!("http://localhost:{port}"),
        format!("http://127.0.0.1:{port}\r\nOrigin: null"),
    ] {
        let headers = format!("{key}Origin: {origin}\r\n");
        console.get("/api/traffic", &headers).await.assert_error(403, "origin_rejected");
        console.post("/api/traffic/clear", &headers, "{}").await.assert_error(403, "origin_rejected");
        console
            .post("/api/key", &format!("Origin: {origin}\r\n"), "{}")
            .await
            .assert_error(403, "origin_rejected");
    }
    let own = format!("{key}Origin: http://127.0.0.1:{port}\r\nSec-Fetch-Site: same-origin\r\n");
    assert_eq!(console.post("/api/traffic/clear", &own, "{}").await.status, 200);
    let preflight = format!(
        "OPTIONS /api/traffic/clear HTTP/1.1\r\nHost: {}\r\nOrigin: https://attacker.example\r\n\
         Access-Control-Request-Method: POST\r\nConnection: close\r\n\r\n",
        console.address
    );
    console.send(preflight).await.assert_error(403, "origin_rejected");
    console.stop().await;
}

#[tokio::test]
async fn requests_of_other_sites_are_refused() {
    let console = RunningConsole::start(|builder| builder).await;
    let key = console.key_header().await;
    for site in ["cross-site", "same-site", "none", "anything"] {
        let headers = format!(
            "{key}Sec-Fetch-Site: {site}\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n"
        );
        console.get("/api/traffic", &headers).await.assert_error(403, "origin_rejected");
        console.post("/api/traffic/clear", &headers, "{}").await.assert_error(403, "origin_rejected");
    }
    let site = |site: &str, mode: &str, dest: &str| {
        format!("Sec-Fetch-Site: {site}\r\nSec-Fetch-Mode: {mode}\r\nSec-Fetch-Dest: {dest}\r\n")
    };
    // A frame, a script and a fetch of another site.
    for (mode, dest) in
        [("navigate", "iframe"), ("no-cors", "script"), ("no-cors", "document"), ("cors", "empty")]
    {
        console.get("/", &site("cross-site", mode, dest)).await.assert_error(403, "origin_rejected");
        console.get("/icon.svg", &site("same-site", mode, dest)).await.assert_error(403, "origin_rejected");
    }
    console.get("/", "Sec-Fetch-Site: cross-site\r\n").await.assert_error(403, "origin_rejected");
    // The address bar, and the file that opens the browser.
    assert_eq!(console.get("/", &site("none", "navigate", "document")).await.status, 200);
    assert_eq!(console.get("/", &site("cross-site", "navigate", "document")).await.status, 200);
    console.stop().await;
}

#[tokio::test]
async fn forms_of_other_pages_cannot_post() {
    let console = RunningConsole::start(|builder| builder).await;
    let key = console.key_header().await;
    for media in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "text/plain; application/json",
        "application/json-patch+json",
        "application/json\r\nContent-Type: text/plain",
        "application/octet-stream",
    ] {
        console.post_as(media, "/api/traffic/clear", &key, "{}").await.assert_error(415, "content_type");
        console.post_as(media, "/api/token", &key, "{}").await.assert_error(415, "content_type");
        console.post_as(media, "/api/key", "", "{}").await.assert_error(415, "content_type");
    }
    console.post("/api/recordings?name=a", &key, "{}").await.assert_error(415, "content_type");
    let media = "Application/JSON; charset=utf-8";
    assert_eq!(console.post_as(media, "/api/traffic/clear", &key, "{}").await.status, 200);
    console.stop().await;
}

#[tokio::test]
async fn text_of_a_request_reaches_no_header() {
    let console = RunningConsole::start(|builder| builder).await;
    let key = console.key_header().await;
    for path in
        ["/%0d%0aSet-Cookie:%20a=b", "/api/%0d%0aX-Injected:%201", "/api/traffic/%0d%0aX-Injected:%201"]
    {
        let reply = console.get(path, &key).await;
        assert_eq!(reply.status, 404, "{path}");
        reply.assert_security_headers();
        assert_eq!(reply.header("x-injected"), None);
    }
    console.stop().await;
}
