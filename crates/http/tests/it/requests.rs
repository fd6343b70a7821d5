//! Requests of the client under test.

use std::time::Duration;

use http::Method;
use switchboard_http::{
    Address, HttpClient, HttpClientOptions, HttpError, PlainHttp, Request, Response, Timeouts,
};
use switchboard_testkit::STEP_TIMEOUT;

/// A timeout that a test waits for.
pub(crate) const SHORT: Duration = Duration::from_millis(600);

pub(crate) fn client() -> HttpClient {
    HttpClient::new(HttpClientOptions::default()).unwrap()
}

pub(crate) fn get(url: impl AsRef<str>) -> Request {
    Request::new(Method::GET, address(url.as_ref()))
}

pub(crate) fn post(url: impl AsRef<str>, body: &'static str) -> Request {
    Request::new(Method::POST, address(url.as_ref())).with_body(body)
}

fn address(url: &str) -> Address {
    Address::parse(url, PlainHttp::Allowed).unwrap()
}

/// Timeouts that a test waits for.
pub(crate) fn impatient() -> Timeouts {
    Timeouts::default().with_headers(Some(SHORT)).with_idle(Some(SHORT))
}

/// Sends a request, within the timeout of a step.
pub(crate) async fn send(client: &HttpClient, request: Request) -> Result<Response, HttpError> {
    tokio::time::timeout(STEP_TIMEOUT, client.send(request)).await.expect("every wait ends")
}

/// Returns the body of a response as text.
pub(crate) async fn text(response: Response) -> String {
    let body =
        tokio::time::timeout(STEP_TIMEOUT, response.body.collect(1 << 20)).await.expect("every wait ends");
    String::from_utf8(body.unwrap().to_vec()).unwrap()
}
