//! Credentials: sent, refused, renewed once (the part of F087 to F089 that is ours).

use std::future::ready;
use std::sync::Mutex;

use http::StatusCode;
use http::header::HeaderValue;
use switchboard_http::{
    Address, AuthorizeError, Authorizer, Bearer, BoxFuture, HttpError, NoAuth, Retry, Secret,
    UnauthorizedResponse,
};
use switchboard_testkit::{HttpScript, http_response, ok_response};

use crate::requests::{client, post};

/// Has a new token each time the last one was refused, and writes down what it was told.
#[derive(Debug, Default)]
struct Renewing {
    token: Mutex<u32>,
    told: Mutex<Vec<String>>,
}

impl Authorizer for Renewing {
    fn authorize<'a>(&'a self, _: &'a Address) -> BoxFuture<'a, Result<Option<HeaderValue>, AuthorizeError>> {
        let value = format!("Bearer t{}", self.token.lock().unwrap());
        Box::pin(ready(Ok(Some(HeaderValue::from_str(&value).unwrap()))))
    }

    fn handle_unauthorized<'a>(
        &'a self,
        response: UnauthorizedResponse<'a>,
    ) -> BoxFuture<'a, Result<Retry, AuthorizeError>> {
        *self.token.lock().unwrap() += 1;
        let scope = response.challenges.first().and_then(|one| one.scope.clone()).unwrap_or_default();
        let sent = response.sent.unwrap().to_str().unwrap();
        self.told.lock().unwrap().push(format!("{} {sent} {scope}", response.status.as_u16()));
        Box::pin(ready(Ok(Retry::Again)))
    }
}

#[derive(Debug)]
struct Without;

impl Authorizer for Without {
    fn authorize<'a>(&'a self, _: &'a Address) -> BoxFuture<'a, Result<Option<HeaderValue>, AuthorizeError>> {
        Box::pin(ready(Err(AuthorizeError::NeedsLogin)))
    }

    fn handle_unauthorized<'a>(
        &'a self,
        _: UnauthorizedResponse<'a>,
    ) -> BoxFuture<'a, Result<Retry, AuthorizeError>> {
        Box::pin(ready(Ok(Retry::GiveUp)))
    }
}

#[tokio::test]
async fn a_refused_token_is_renewed_once_for_each_reason() {
    let server = HttpScript::per_request(|request| {
        let request = request.to_ascii_lowercase();
        if request.contains("bearer t0") {
            http_response("401 Unauthorized", &["www-authenticate: Bearer scope=\"read\""], b"no")
        } else if request.contains("bearer t1") {
            let challenge = "www-authenticate: Bearer error=\"insufficient_scope\", scope=\"write\"";
            http_response("403 Forbidden", &[challenge], b"no")
        } else {
            ok_response("yes")
        }
    })
    .await;
    let authorizer = Renewing::default();
    let response = client().send_authorized(post(server.url("/"), "x"), &authorizer).await.unwrap();
    assert_eq!(response.status, 200);
    assert_eq!(*authorizer.told.lock().unwrap(), ["401 Bearer t0 read", "403 Bearer t1 write"]);
    assert_eq!((server.log.requests().len(), server.log.connections()), (3, 1));
}

#[tokio::test]
async fn a_second_refusal_is_handed_on() {
    let server =
        HttpScript::per_request(|_| http_response("401 Unauthorized", &["www-authenticate: Bearer"], b"no"))
            .await;
    let authorizer = Renewing::default();
    let response = client().send_authorized(post(server.url("/"), "x"), &authorizer).await.unwrap();
    assert_eq!(response.status, StatusCode::UNAUTHORIZED);
    assert_eq!(server.log.requests().len(), 2);
    assert_eq!(response.body.collect(10).await.unwrap(), "no");
}

#[tokio::test]
async fn a_plain_403_is_no_question_of_credentials() {
    let server = HttpScript::per_request(|_| http_response("403 Forbidden", &[], b"bad origin")).await;
    let authorizer = Renewing::default();
    let response = client().send_authorized(post(server.url("/"), "x"), &authorizer).await.unwrap();
    assert_eq!(response.status, StatusCode::FORBIDDEN);
    assert!(authorizer.told.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_fixed_token_is_sent_and_not_tried_again() {
    let server = HttpScript::per_request(|_| http_response("401 Unauthorized", &[], b"")).await;
    let bearer = Bearer::new(&Secret::new("t0ken")).unwrap();
    let authorizers: [(&dyn Authorizer, bool); 2] = [(&bearer, true), (&NoAuth, false)];
    for (turn, (authorizer, sent)) in authorizers.into_iter().enumerate() {
        let response = client().send_authorized(post(server.url("/"), "x"), authorizer).await.unwrap();
        assert_eq!(response.status, StatusCode::UNAUTHORIZED);
        let requests = server.log.requests();
        assert_eq!(requests.len(), turn + 1);
        assert_eq!(requests[turn].to_ascii_lowercase().contains("authorization: bearer t0ken"), sent);
    }
}

#[tokio::test]
async fn without_credentials_nothing_is_sent() {
    let server = HttpScript::per_request(|_| ok_response("")).await;
    let error = client().send_authorized(post(server.url("/"), "x"), &Without).await.unwrap_err();
    assert!(matches!(error, HttpError::Authorize(AuthorizeError::NeedsLogin)), "{error:?}");
    assert_eq!(server.log.connections(), 0);
}
