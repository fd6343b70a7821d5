//! Hosts and origins that only look local, and content types that web pages can send without a preflight request.

use super::*;

fn passes_origin_check(options: &HttpServerOptions, host: Option<&str>, origin: Option<&str>) -> bool {
    let mut headers = HeaderMap::new();
    if let Some(host) = host {
        headers.insert(HOST, host.parse().unwrap());
    }
    if let Some(origin) = origin {
        headers.insert(ORIGIN, origin.parse().unwrap());
    }
    check_origin(options, &LastAccepted::default(), &"/mcp".parse().unwrap(), &headers).is_ok()
}

#[test]
fn only_loopback_names_are_served_unless_others_are_named() {
    let options = HttpServerOptions::default();
    for host in ["localhost", "LOCALHOST:8080", "127.0.0.1:1", "[::1]:80", "127.0.0.2"] {
        assert!(passes_origin_check(&options, Some(host), None), "{host}");
    }
    for host in [
        "evil.com",
        "localhost.evil.com",
        "127.0.0.1.nip.io",
        "localhost@evil.com",
        "evil.com@localhost",
        "127.1",
        "0x7f000001",
        "2130706433",
        "[::ffff:10.0.0.1]",
        "0.0.0.0",
        "169.254.169.254",
    ] {
        assert!(!passes_origin_check(&options, Some(host), None), "{host}");
    }
    assert!(!passes_origin_check(&options, None, None));
    let options =
        HttpServerOptions { allowed_hosts: vec!["mcp.example.org".into()], ..HttpServerOptions::default() };
    assert!(passes_origin_check(&options, Some("MCP.example.org:443"), None));
    assert!(!passes_origin_check(&options, Some("localhost"), None));
}

#[test]
fn origins_are_compared_whole() {
    let options = HttpServerOptions::default();
    for origin in ["http://localhost:3000", "https://127.0.0.1", "http://[::1]:8080"] {
        assert!(passes_origin_check(&options, Some("localhost"), Some(origin)), "{origin}");
    }
    for origin in [
        "null",
        "http://evil.com",
        "http://localhost.evil.com",
        "file://",
        "http://localhost/x",
        "localhost",
        "http://u@localhost",
    ] {
        assert!(!passes_origin_check(&options, Some("localhost"), Some(origin)), "{origin}");
    }
    let options = HttpServerOptions {
        allowed_origins: vec!["https://app.example.org".into()],
        ..HttpServerOptions::default()
    };
    assert!(passes_origin_check(&options, Some("localhost"), Some("https://app.example.org")));
    assert!(!passes_origin_check(&options, Some("localhost"), Some("https://app.example.org.evil.com")));
    assert!(!passes_origin_check(&options, Some("localhost"), Some("http://localhost")));
}

#[test]
fn two_hosts_or_two_origins_are_rejected() {
    let mut headers = HeaderMap::new();
    headers.append(HOST, "localhost".parse().unwrap());
    headers.append(HOST, "localhost".parse().unwrap());
    assert!(
        check_origin(
            &HttpServerOptions::default(),
            &LastAccepted::default(),
            &"/".parse().unwrap(),
            &headers
        )
        .is_err()
    );
    let mut headers = HeaderMap::new();
    headers.append(HOST, "localhost".parse().unwrap());
    assert!(
        check_origin(
            &HttpServerOptions::default(),
            &LastAccepted::default(),
            &"http://evil.com/".parse().unwrap(),
            &headers
        )
        .is_err()
    );
    headers.append(ORIGIN, "http://localhost".parse().unwrap());
    headers.append(ORIGIN, "http://evil.com".parse().unwrap());
    assert!(
        check_origin(
            &HttpServerOptions::default(),
            &LastAccepted::default(),
            &"/".parse().unwrap(),
            &headers
        )
        .is_err()
    );
}

#[test]
fn only_json_is_accepted() {
    let takes = |text: Option<&str>| {
        let mut headers = HeaderMap::new();
        if let Some(text) = text {
            headers.insert(CONTENT_TYPE, text.parse().unwrap());
        }
        check_type(&headers).is_ok()
    };
    for text in ["application/json", "Application/JSON; charset=utf-8", "application/json;charset=\"UTF-8\""]
    {
        assert!(takes(Some(text)), "{text}");
    }
    for text in
        ["text/plain", "application/jsonx", "application/json; charset=latin1", "multipart/form-data", ""]
    {
        assert!(!takes(Some(text)), "{text}");
    }
    assert!(!takes(None));
}

#[test]
fn an_accepted_host_does_not_admit_another() {
    let (options, known) = (HttpServerOptions::default(), LastAccepted::default());
    let passes_origin_check = |hosts: &[&str], uri: &str| {
        let mut headers = HeaderMap::new();
        hosts.iter().for_each(|host| _ = headers.append(HOST, host.parse().unwrap()));
        check_origin(&options, &known, &uri.parse().unwrap(), &headers).is_ok()
    };
    for _ in 0..2 {
        assert!(passes_origin_check(&["localhost:80"], "/mcp"));
        assert!(!passes_origin_check(&["evil.com"], "/mcp"));
        assert!(!passes_origin_check(&["localhost:80", "evil.com"], "/mcp"));
        assert!(!passes_origin_check(&["localhost:80", "localhost:80"], "/mcp"));
        assert!(!passes_origin_check(&["localhost:80"], "http://evil.com/mcp"));
    }
}

#[test]
fn s10_an_address_with_more_behind_it_is_no_loopback() {
    let options = HttpServerOptions::default();
    for host in
        ["[::1].evil.com", "[::1]evil.com", "[::1].evil.com:80", "[::1]:80.evil.com", "127.0.0.1:80@evil.com"]
    {
        assert!(!passes_origin_check(&options, Some(host), None), "{host}");
        let origin = format!("http://{host}");
        assert!(!passes_origin_check(&options, Some("localhost"), Some(&origin)), "{origin}");
    }
    let options =
        HttpServerOptions { allowed_hosts: vec!["[2001:db8::1]".into()], ..HttpServerOptions::default() };
    assert!(passes_origin_check(&options, Some("[2001:db8::1]:443"), None));
    assert!(!passes_origin_check(&options, Some("[2001:db8::1].evil.com"), None));
}

#[test]
fn s10_a_packed_body_is_an_unsupported_type() {
    for (coding, is_taken) in
        [("gzip", false), ("identity", true), ("br, gzip", false), ("identity, gzip", false)]
    {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, "application/json".parse().unwrap());
        headers.insert(CONTENT_ENCODING, coding.parse().unwrap());
        let checked = check_type(&headers).map_err(|rejected| rejected.status.as_u16());
        assert_eq!(checked, if is_taken { Ok(()) } else { Err(415) }, "{coding}");
    }
}
