//! Tokens and keys.

use std::time::Duration;

use crate::client::RunningConsole;

#[tokio::test]
async fn a_link_works_once() {
    let console = RunningConsole::start(|builder| builder).await;
    let token = console.token();
    let reply = console.exchange(&token).await;
    let key = reply.member("key");
    assert_eq!(reply.header("cache-control"), Some("no-store"));
    reply.assert_security_headers();
    console.exchange(&token).await.assert_error(401, "token_invalid");
    console.exchange(&key).await.assert_error(401, "token_invalid");
    console.exchange("").await.assert_error(401, "token_invalid");
    assert_eq!(console.get("/api/traffic", &format!("Authorization: Bearer {key}\r\n")).await.status, 200);
    console.stop().await;
}

#[tokio::test]
async fn a_link_that_is_too_old_is_refused() {
    let console = RunningConsole::start(|builder| builder.token_lifetime(Duration::ZERO)).await;
    console.exchange(&console.token()).await.assert_error(401, "token_invalid");
    console.stop().await;
}

#[tokio::test]
async fn a_key_that_was_not_used_expires() {
    let console = RunningConsole::start(|builder| builder.key_idle(Duration::ZERO)).await;
    let key = console.key_header().await;
    console.get("/api/traffic", &key).await.assert_error(401, "key_expired");
    console.stop().await;
}

#[tokio::test]
async fn every_request_needs_the_key_in_its_header() {
    let console = RunningConsole::start(|builder| builder).await;
    let header = console.key_header().await;
    let key = header.trim().rsplit(' ').next().unwrap();
    let token = console.token();
    for headers in [
        String::new(),
        format!("Cookie: key={key}; Authorization=Bearer {key}\r\n"),
        format!("Authorization: {key}\r\n"),
        format!("Authorization: Basic {key}\r\n"),
        format!("Authorization: Bearer {key}x\r\n"),
        format!("Authorization: Bearer {}\r\n", &key[..42]),
        format!("Authorization: Bearer {token}\r\n"),
        "Authorization: Bearer \r\n".to_owned(),
        format!("Authorization: Bearer x\r\nAuthorization: Bearer {key}\r\n"),
        format!("X-Api-Key: {key}\r\n"),
    ] {
        let reply = console.get(&format!("/api/traffic?key={key}&access_token={key}"), &headers).await;
        reply.assert_error(401, "key_expired");
        assert_eq!(reply.header("www-authenticate"), Some("Bearer"));
    }
    assert_eq!(console.get("/api/traffic", &header.replace("Bearer", "bearer")).await.status, 200);
    console.stop().await;
}

#[tokio::test]
async fn a_second_tab_has_a_token_of_its_own() {
    let console = RunningConsole::start(|builder| builder).await;
    console.post("/api/token", "", "{}").await.assert_error(401, "key_expired");
    let key = console.key_header().await;
    let token = console.post("/api/token", &key, "{}").await.member("token");
    let second = console.exchange(&token).await.member("key");
    assert_ne!(key.trim(), format!("Authorization: Bearer {second}"));
    for header in [key, format!("Authorization: Bearer {second}\r\n")] {
        assert_eq!(console.get("/api/traffic", &header).await.status, 200);
    }
    console.stop().await;
}

#[tokio::test]
async fn guesses_are_limited_and_lock_nobody_out() {
    let console = RunningConsole::start(|builder| builder).await;
    let key = console.key_header().await;
    let mut refused = 0;
    for guess in 0..25 {
        let reply = match guess % 2 {
            0 => console.exchange("guess").await,
            _ => console.get("/api/traffic", "Authorization: Bearer guess\r\n").await,
        };
        refused += u32::from(reply.status == 429);
    }
    assert!(refused > 0);
    let reply = console.exchange("guess").await;
    reply.assert_error(429, "too_many_attempts");
    assert!(reply.header("retry-after").is_some());
    assert_eq!(console.get("/api/traffic", &key).await.status, 200);
    assert_eq!(console.exchange(&console.token()).await.status, 200);
    console.stop().await;
}

#[tokio::test]
async fn keys_of_one_console_do_not_open_another() {
    let (first, second) =
        (RunningConsole::start(|builder| builder).await, RunningConsole::start(|builder| builder).await);
    let key = first.key_header().await;
    second.get("/api/traffic", &key).await.assert_error(401, "key_expired");
    second.exchange(&first.token()).await.assert_error(401, "token_invalid");
    first.stop().await;
    second.stop().await;
}
