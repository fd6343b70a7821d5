//! Credentials: sent, refused, renewed once (the part of F087 to F089 that is ours).

use std::future::ready;
use std::sync::Mutex;

use http::StatusCode;
use http::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use switchboard_http::{
    AuthorizeError, Authorizer, Bearer, BoxFuture, Credentials, HttpError, MAX_AUTHORIZED_ATTEMPTS, NoAuth,
    RequestTarget, Retry, Secret, UnauthorizedResponse,
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
    fn authorize<'a>(&'a self, _: RequestTarget<'a>) -> BoxFuture<'a, Result<Credentials, AuthorizeError>> {
        let value = format!("Bearer t{}", self.token.lock().unwrap());
        let credentials =
            Credentials::none().with_header(AUTHORIZATION, HeaderValue::from_str(&value).unwrap());
        Box::pin(ready(Ok(credentials)))
    }

    fn handle_unauthorized<'a>(
        &'a self,
        response: UnauthorizedResponse<'a>,
    ) -> BoxFuture<'a, Result<Retry, AuthorizeError>> {
        *self.token.lock().unwrap() += 1;
        let scope = response.challenges.first().and_then(|one| one.scope.clone()).unwrap_or_default();
        let sent = response.sent.authorization().unwrap().to_str().unwrap();
        self.told.lock().unwrap().push(format!("{} {sent} {scope}", response.status.as_u16()));
        Box::pin(ready(Ok(Retry::Again)))
    }
}

#[derive(Debug)]
struct Without;

impl Authorizer for Without {
    fn authorize<'a>(&'a self, _: RequestTarget<'a>) -> BoxFuture<'a, Result<Credentials, AuthorizeError>> {
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

/// Proves the possession of a key with the nonce of the last response.
#[derive(Debug, Default)]
struct NonceProof {
    nonce: Mutex<String>,
}

impl Authorizer for NonceProof {
    fn authorize<'a>(
        &'a self,
        target: RequestTarget<'a>,
    ) -> BoxFuture<'a, Result<Credentials, AuthorizeError>> {
        let path = target.address.uri().path();
        let proof = format!("{} {path} {}", target.method, self.nonce.lock().unwrap());
        let credentials = Credentials::none()
            .with_header(AUTHORIZATION, HeaderValue::from_static("DPoP t0ken"))
            .with_header(HeaderName::from_static("dpop"), HeaderValue::from_str(&proof).unwrap());
        Box::pin(ready(Ok(credentials)))
    }

    fn handle_unauthorized<'a>(
        &'a self,
        response: UnauthorizedResponse<'a>,
    ) -> BoxFuture<'a, Result<Retry, AuthorizeError>> {
        Box::pin(ready(Ok(if response.headers.contains_key("dpop-nonce") {
            Retry::Again
        } else {
            Retry::GiveUp
        })))
    }

    fn observe_response(&self, _: RequestTarget<'_>, _: StatusCode, headers: &HeaderMap) {
        if let Some(nonce) = headers.get("dpop-nonce") {
            *self.nonce.lock().unwrap() = nonce.to_str().unwrap().to_owned();
        }
    }
}

#[tokio::test]
async fn a_proof_is_made_for_each_attempt_with_the_nonce_of_the_last_response() {
    let server = HttpScript::per_request(|request| match request.contains("POST /a n1") {
        true => http_response("200 OK", &["dpop-nonce: n2"], b"yes"),
        false => http_response("401 Unauthorized", &["dpop-nonce: n1"], b"no"),
    })
    .await;
    let authorizer = NonceProof::default();
    let response = client().send_authorized(post(server.url("/a"), "x"), &authorizer).await.unwrap();
    assert_eq!((response.status.as_u16(), server.log.requests().len()), (200, 2));
    assert_eq!(*authorizer.nonce.lock().unwrap(), "n2");
}

/// Sends a proof with the first attempt only.
#[derive(Debug, Default)]
struct ProofOnce {
    attempts: Mutex<u32>,
}

impl Authorizer for ProofOnce {
    fn authorize<'a>(&'a self, _: RequestTarget<'a>) -> BoxFuture<'a, Result<Credentials, AuthorizeError>> {
        let mut attempts = self.attempts.lock().unwrap();
        *attempts += 1;
        let proof = || {
            Credentials::none().with_header(HeaderName::from_static("dpop"), HeaderValue::from_static("p"))
        };
        Box::pin(ready(Ok(if *attempts == 1 { proof() } else { Credentials::none() })))
    }

    fn handle_unauthorized<'a>(
        &'a self,
        _: UnauthorizedResponse<'a>,
    ) -> BoxFuture<'a, Result<Retry, AuthorizeError>> {
        Box::pin(ready(Ok(Retry::Again)))
    }
}

#[tokio::test]
async fn credentials_of_a_refused_attempt_are_not_sent_again() {
    let server = HttpScript::per_request(|request| match request.to_ascii_lowercase().contains("dpop: p") {
        true => http_response("401 Unauthorized", &[], b"no"),
        false => ok_response("yes"),
    })
    .await;
    let response = client().send_authorized(post(server.url("/"), "x"), &ProofOnce::default()).await.unwrap();
    assert_eq!((response.status.as_u16(), server.log.requests().len()), (200, 2));
}

#[tokio::test]
async fn endless_refusals_are_handed_on() {
    let server =
        HttpScript::per_request(|_| http_response("401 Unauthorized", &["www-authenticate: Bearer"], b"no"))
            .await;
    let authorizer = Renewing::default();
    let response = client().send_authorized(post(server.url("/"), "x"), &authorizer).await.unwrap();
    assert_eq!(response.status, StatusCode::UNAUTHORIZED);
    assert_eq!(server.log.requests().len(), MAX_AUTHORIZED_ATTEMPTS as usize);
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

#[tokio::test]
async fn t36_a_challenge_that_quotes_the_token_shows_it_to_nobody() {
    let challenges = [
        r#"www-authenticate: Bearer error="invalid_token", error_description="t0ken-1 is bad, t0ken-1!""#,
        "www-authenticate: Basic t0ken-1",
    ];
    let server = HttpScript::per_request(move |_| http_response("401 Unauthorized", &challenges, b"")).await;
    let bearer = Bearer::new(&Secret::new("t0ken-1")).unwrap();
    let response = client().send_authorized(post(server.url("/"), "x"), &bearer).await.unwrap();
    let shown: Vec<_> = response.headers.get_all("www-authenticate").iter().collect();
    assert_eq!(shown.len(), 2);
    assert!(!format!("{shown:?}").contains("t0ken-1"), "{shown:?}");
    assert!(shown[0].to_str().unwrap().contains("**** is bad, ****!"));
}
