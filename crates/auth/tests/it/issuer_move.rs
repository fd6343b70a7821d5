//! A server that names another authorization server than before.

use std::sync::{Arc, Mutex};

use http::Method;
use serde_json::json;
use switchboard_auth::{GrantMethod, OAuthAuthorizer, OAuthClient, OAuthOptions};
use switchboard_http::{
    Address, AuthorizeError, HttpClient, HttpClientOptions, HttpError, PlainHttp, Request, Secret,
};
use switchboard_testkit::{HttpScript, http_response};

/// An MCP server whose metadata names an issuer that can be changed. It accepts tokens that start with `good`.
struct MovingServer {
    script: HttpScript,
    issuer: Arc<Mutex<String>>,
}

impl MovingServer {
    async fn start(issuer: &str) -> Self {
        let issuer = Arc::new(Mutex::new(issuer.to_owned()));
        let named = Arc::clone(&issuer);
        let script = HttpScript::per_request(move |request| {
            let host = request.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or_default();
            let resource = format!("http://{host}/mcp");
            if request.starts_with("GET /.well-known/oauth-protected-resource/mcp ") {
                let metadata =
                    json!({ "resource": resource, "authorization_servers": [*named.lock().unwrap()] });
                return http_response("200 OK", &[], metadata.to_string());
            }
            match request.contains("authorization: Bearer good") {
                true => http_response("200 OK", &[], "yes"),
                false => http_response("401 Unauthorized", &["www-authenticate: Bearer"], "no"),
            }
        })
        .await;
        Self { script, issuer }
    }
}

/// An authorization server that issues this token for client credentials.
async fn authorization_server(token: &'static str) -> HttpScript {
    HttpScript::per_request(move |request| {
        let host = request.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or_default();
        match request.split(' ').nth(1).unwrap_or_default() {
            "/.well-known/oauth-authorization-server" => {
                let metadata =
                    json!({ "issuer": format!("http://{host}"), "token_endpoint": format!("http://{host}/token") });
                http_response("200 OK", &[], metadata.to_string())
            }
            "/token" => http_response("200 OK", &[], json!({ "access_token": token }).to_string()),
            _ => http_response("404 Not Found", &[], ""),
        }
    })
    .await
}

fn token_requests(server: &HttpScript) -> usize {
    server.log.requests().iter().filter(|request| request.starts_with("POST /token")).count()
}

#[tokio::test]
async fn t32_the_secret_of_a_preset_client_is_not_sent_to_another_issuer() {
    let (first, second) = (authorization_server("bad").await, authorization_server("good").await);
    let server = MovingServer::start(&first.url("")).await;
    let http = HttpClient::new(HttpClientOptions::default()).unwrap();
    let address = Address::parse(&server.script.url("/mcp"), PlainHttp::LoopbackOnly).unwrap();
    let client = OAuthClient::with_secret("c1", Secret::new("s3cret"));
    let options = OAuthOptions::default().with_client(client).with_grant(GrantMethod::ClientCredentials);
    let authorizer = OAuthAuthorizer::new(http.clone(), address.clone(), options.clone());
    let send = || http.send_authorized(Request::new(Method::GET, address.clone()), &authorizer);
    // The first issuer is the one that counts from now on; its token is refused.
    assert_eq!(send().await.unwrap().status, 401);
    assert_eq!(token_requests(&first), 1);

    *server.issuer.lock().unwrap() = second.url("");
    let error = send().await.unwrap_err();
    let HttpError::Authorize(AuthorizeError::Failed { what, .. }) = &error else { panic!("{error:?}") };
    assert!(what.contains("nothing was sent there"), "{what}");
    assert_eq!(token_requests(&second), 0);

    // An issuer that is configured counts from the first request on.
    let pinned = options.with_issuer(first.url(""));
    let pinned = OAuthAuthorizer::new(http.clone(), address.clone(), pinned);
    assert!(http.send_authorized(Request::new(Method::GET, address.clone()), &pinned).await.is_err());
    assert_eq!(token_requests(&second), 0);
}
