//! Addresses taken, addresses refused, references joined.

use proptest::prelude::*;

use super::*;

fn parse(text: &str) -> Result<Address, AddressError> {
    Address::parse(text, PlainHttp::LoopbackOnly)
}

#[test]
fn addresses_get_their_plain_form() {
    let cases = [
        ("https://example.com", "https://example.com/"),
        ("HTTPS://EXAMPLE.com:443/MCP", "https://example.com/MCP"),
        ("https://example.com?x=1", "https://example.com/?x=1"),
        ("https://example.com:8443/a/../b", "https://example.com:8443/a/../b"),
        ("http://localhost:80/", "http://localhost/"),
        ("http://LocalHost:3000/mcp", "http://localhost:3000/mcp"),
        ("http://127.9.9.9/", "http://127.9.9.9/"),
        ("http://[0:0::1]:8080/x", "http://[::1]:8080/x"),
        ("http://[::ffff:127.0.0.1]/", "http://[::ffff:127.0.0.1]/"),
        ("https://example.com:/", "https://example.com/"),
        ("https://my_host.internal/%20?a=%0A", "https://my_host.internal/%20?a=%0A"),
    ];
    for (text, plain) in cases {
        assert_eq!(parse(text).map(|address| address.as_str().to_owned()), Ok(plain.to_owned()), "{text}");
    }
}

#[test]
fn what_is_wrong_is_named() {
    let host = |host: &str| AddressError::Host { host: host.into() };
    let port = |port: &str| AddressError::Port { port: port.into() };
    let cases = [
        ("", AddressError::NoScheme { text: String::new() }),
        ("example.com/mcp", AddressError::NoScheme { text: "example.com/mcp".into() }),
        ("file:///etc/passwd", AddressError::Scheme { scheme: "file".into() }),
        ("ws://localhost/", AddressError::Scheme { scheme: "ws".into() }),
        ("https://", host("")),
        ("https:///path", host("")),
        ("https://.example.com/", host(".example.com")),
        ("https://a,b/", host("a,b")),
        ("https://[::1/", host("[::1")),
        ("https://[fe80::1%25eth0]/", host("[fe80::1%25eth0]")),
        ("https://[::1]x/", port("x")),
        ("https://a:b/", port("b")),
        ("https://a:0/", port("0")),
        ("https://a:65536/", port("65536")),
        ("https://a:+1/", port("+1")),
        ("https://user@example.com/", AddressError::UserInfo),
        ("https://user:pass@example.com/", AddressError::UserInfo),
        ("https://example.com@evil.example/", AddressError::UserInfo),
        ("https://example.com/#top", AddressError::Fragment),
        ("https://example.com#top", AddressError::Fragment),
        ("https://example.com/a b", AddressError::Character { character: ' ', at: 21 }),
        ("https://example.com/\r\nX: y", AddressError::Character { character: '\r', at: 20 }),
        ("https://example.com/\0", AddressError::Character { character: '\0', at: 20 }),
        ("https:\\\\evil.example/", AddressError::Character { character: '\\', at: 6 }),
        ("https://exämple.com/", AddressError::Character { character: 'ä', at: 10 }),
        ("http://example.com/", AddressError::Plain { host: "example.com".into() }),
        ("http://127.1/", AddressError::Plain { host: "127.1".into() }),
        ("http://localhost.evil.example/", AddressError::Plain { host: "localhost.evil.example".into() }),
        ("http://0.0.0.0/", AddressError::Plain { host: "0.0.0.0".into() }),
    ];
    for (text, error) in cases {
        assert_eq!(parse(text), Err(error), "{text}");
    }
    assert!(matches!(parse(&format!("https://a/{}", "x".repeat(70_000))), Err(AddressError::TooLong { .. })));
    assert!(Address::parse("http://example.com/", PlainHttp::Allowed).is_ok());
}

#[test]
fn origins_are_scheme_host_and_port() {
    let allowed = |text| Address::parse(text, PlainHttp::Allowed).unwrap().origin();
    assert_eq!(allowed("https://A.example/x"), allowed("https://a.example:443/y?z"));
    assert_ne!(allowed("https://a.example/"), allowed("http://a.example/"));
    assert_ne!(allowed("https://a.example/"), allowed("https://a.example:8443/"));
    assert_ne!(allowed("https://a.example/"), allowed("https://b.a.example/"));
    assert_eq!(allowed("http://a.example:8080/").to_string(), "http://a.example:8080");
}

#[test]
fn references_are_resolved_as_rfc_3986_says() {
    // The examples of its section 5.4, as far as they stay at the origin.
    let base = parse("https://a/b/c/d;p?q").unwrap();
    let cases = [
        ("g", "/b/c/g"),
        ("./g", "/b/c/g"),
        ("g/", "/b/c/g/"),
        ("/g", "/g"),
        ("?y", "/b/c/d;p?y"),
        ("g?y", "/b/c/g?y"),
        ("#s", "/b/c/d;p?q"),
        ("g#s", "/b/c/g"),
        (";x", "/b/c/;x"),
        ("g;x=1/./y", "/b/c/g;x=1/y"),
        ("g;x=1/../y", "/b/c/y"),
        ("", "/b/c/d;p?q"),
        (".", "/b/c/"),
        ("./", "/b/c/"),
        ("..", "/b/"),
        ("../g", "/b/g"),
        ("../..", "/"),
        ("../../../g", "/g"),
        ("/./g", "/g"),
        ("/../g", "/g"),
        ("g.", "/b/c/g."),
        ("..g", "/b/c/..g"),
        ("g?y/../x", "/b/c/g?y/../x"),
        ("//a/x", "/x"),
        ("https://A:443/x", "/x"),
    ];
    for (reference, path) in cases {
        let joined = base.join(reference).unwrap();
        assert_eq!(joined.as_str(), format!("https://a{path}"), "{reference}");
    }
}

#[test]
fn a_reference_may_not_leave_the_origin() {
    let base = parse("https://a.example/x").unwrap();
    for reference in ["https://b.example/", "//b.example/", "http://a.example/", "https://a.example:444/"] {
        assert!(matches!(base.join(reference), Err(AddressError::OtherOrigin { .. })), "{reference}");
    }
    assert_eq!(
        base.join("//b.example:8443/y").unwrap_err().to_string(),
        "https://b.example:8443 is not at https://a.example; \
         only addresses of the same scheme, host and port are followed"
    );
    assert_eq!(
        base.join("javascript:alert(1)"),
        Err(AddressError::NoScheme { text: "javascript:alert(1)".into() })
    );
    assert_eq!(base.join("//u:p@a.example/"), Err(AddressError::UserInfo));
    assert!(matches!(base.join("/\\b.example"), Err(AddressError::Character { .. })));
}

#[test]
fn debug_shows_no_query() {
    assert_eq!(format!("{:?}", parse("https://a/b?token=1").unwrap()), "https://a/b");
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in ".{0,60}", tail in "[ -~]{0,40}") {
        let _ = parse(&text);
        let _ = parse(&format!("https://{tail}"));
        let base = parse("https://a.example/b/c?d").unwrap();
        if let Ok(joined) = base.join(&tail) {
            prop_assert_eq!(joined.origin(), base.origin());
        }
    }

    #[test]
    fn a_parsed_address_parses_to_itself(tail in "[a-z0-9/?&=.:;%-]{0,40}") {
        if let Ok(address) = parse(&format!("https://example.com/{tail}")) {
            prop_assert_eq!(parse(address.as_str()), Ok(address));
        }
    }
}
