//! Redirects: which are followed, and that nothing is sent where they are not (F098 to F100).

use http::header::{AUTHORIZATION, HeaderName, HeaderValue};
use switchboard_http::{HttpError, RedirectReason};
use switchboard_testkit::{HttpScript, http_response, ok_response};

use crate::requests::{client, post, send, text};

#[tokio::test]
async fn the_same_origin_is_followed_with_method_body_and_headers() {
    let server = HttpScript::per_request(|request| match request.split(' ').nth(1).unwrap() {
        "/1" => http_response("307 Temporary Redirect", &["location: /2?x=1"], b"gone"),
        "/2?x=1" => http_response("308 Permanent Redirect", &["location: 3"], b""),
        "/3" => ok_response("here"),
        other => panic!("{other}"),
    })
    .await;
    let request = post(server.url("/1"), "the body")
        .with_header(AUTHORIZATION, HeaderValue::from_static("Bearer t"))
        .with_header(HeaderName::from_static("x-api-key"), HeaderValue::from_static("k"));
    let response = send(&client(), request).await.unwrap();
    assert_eq!(response.address.as_str(), server.url("/3"));
    assert_eq!(text(response).await, "here");
    let requests = server.log.requests();
    assert_eq!((requests.len(), server.log.connections()), (3, 1));
    for request in requests {
        let request = request.to_ascii_lowercase();
        assert!(request.starts_with("post ") && request.ends_with("\r\n\r\nthe body"), "{request}");
        assert!(request.contains("authorization: bearer t") && request.contains("x-api-key: k"), "{request}");
    }
}

#[tokio::test]
async fn other_redirects_are_refused_and_nothing_is_sent_there() {
    let elsewhere = HttpScript::per_request(|_| ok_response("stolen")).await;
    let away = elsewhere.url("/steal?code=1");
    let cases = [
        ("301 Moved", "/x".to_owned(), RedirectReason::Method),
        ("302 Found", "/x".to_owned(), RedirectReason::Method),
        ("303 See Other", "/x".to_owned(), RedirectReason::Method),
        ("307 Temporary Redirect", away.clone(), RedirectReason::OtherOrigin),
        ("308 Permanent Redirect", away.clone(), RedirectReason::OtherOrigin),
        ("302 Found", away, RedirectReason::OtherOrigin),
        ("307 Temporary Redirect", "ftp://x/".to_owned(), RedirectReason::NoAddress),
    ];
    for (status, location, expected) in cases {
        let header = format!("location: {location}");
        let server = HttpScript::per_request(move |_| http_response(status, &[&header], b"")).await;
        let request =
            post(server.url("/"), "secret").with_header(AUTHORIZATION, HeaderValue::from_static("Bearer t"));
        let error = send(&client(), request).await.unwrap_err();
        let HttpError::Redirect { to, reason, .. } = error else { panic!("{error:?}") };
        assert_eq!((reason, to.as_str()), (expected, location.split('?').next().unwrap()));
        assert_eq!(server.log.requests().len(), 1, "{status} to {location}");
    }
    assert_eq!(elsewhere.log.connections(), 0);
}

#[tokio::test]
async fn a_loop_ends() {
    let server =
        HttpScript::per_request(|_| http_response("308 Permanent Redirect", &["location: /"], b"")).await;
    let error = send(&client(), post(server.url("/"), "x")).await.unwrap_err();
    assert!(matches!(error, HttpError::Redirect { reason: RedirectReason::TooMany, .. }), "{error:?}");
    assert_eq!(server.log.requests().len(), 4);
}
