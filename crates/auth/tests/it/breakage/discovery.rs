//! Issuers, challenges and metadata documents as they are found in the wild.

use serde_json::{Value, json};
use switchboard_auth::{AuthError, CallbackError, Discovery, DocumentKind, OAuthOptions};

use crate::authorization_server::{Answer, AuthorizationServer, Fault, RESOURCE_METADATA, SERVER_METADATA};
use crate::client::{TestClient, only_grant, open};
use crate::warnings::WarningLog;

const ROOT_METADATA: &str = "/.well-known/oauth-protected-resource";
const OPENID_METADATA: &str = "/.well-known/openid-configuration";

/// Returns faults by which both documents name the issuer in these ways.
fn issuer_names(listed: &str, named: &str) -> [Fault; 2] {
    [
        Fault::ResourceMember("authorization_servers", json!([listed])),
        Fault::ServerMember("issuer", json!(named)),
    ]
}

fn client(server: &AuthorizationServer) -> TestClient {
    TestClient::with_browser(server, OAuthOptions::default())
}

/// Asserts that nothing but metadata was requested.
fn assert_no_login(server: &AuthorizationServer) {
    for path in ["/register", "/authorize", "/token"] {
        assert!(server.requests_for(path).is_empty(), "{path}");
    }
}

/// Returns path and failure of each attempt to find a document.
fn attempts(server: &AuthorizationServer, discovery: &Discovery, kind: DocumentKind) -> Vec<(String, bool)> {
    let of_kind = discovery.attempts.iter().filter(|attempt| attempt.document == kind);
    of_kind.map(|attempt| (attempt.url.replace(&server.url(""), ""), attempt.failure.is_none())).collect()
}

#[tokio::test]
async fn b01_an_issuer_may_differ_by_a_trailing_slash() {
    for (listed, named) in [("{origin}/", "{origin}"), ("{origin}", "{origin}/")] {
        let promise = Fault::ServerMember("authorization_response_iss_parameter_supported", json!(true));
        let faults = issuer_names(listed, named).into_iter().chain([promise, Fault::CallbackIssuer(named)]);
        let (server, folder) = (AuthorizationServer::with_faults(faults).await, tempfile::tempdir().unwrap());
        let store = open(&folder.path().join("auth"));
        let client = client(&server).with_store(store.clone());
        assert_eq!(client.request().await.unwrap(), 200, "{listed} {named}");
        let recorded = only_grant(&store).await.key.issuer;
        assert_eq!(recorded, named.replace("{origin}", &server.url("")), "the string of the document counts");
    }
}

#[tokio::test]
async fn b01_an_issuer_with_a_path_must_be_equal() {
    for (listed, named) in [
        ("{origin}/t1", "{origin}/t1/"),
        ("{origin}/t1/", "{origin}/t1"),
        ("{origin}/t1", "{origin}"),
        ("{origin}/t1", "{origin}/T1"),
    ] {
        let place = Fault::ServerMetadataAt("/.well-known/oauth-authorization-server/t1");
        let faults = issuer_names(listed, named).into_iter().chain([place]);
        let server = AuthorizationServer::with_faults(faults).await;
        let error = client(&server).failure().await;
        let AuthError::IssuerMismatch { expected, found, .. } = &error else { panic!("{error:?}") };
        let text = |issuer: &str| issuer.replace("{origin}", &server.url(""));
        assert_eq!((expected, found), (&text(listed), &text(named)));
        assert_no_login(&server);
    }
}

#[tokio::test]
async fn b01_the_issuer_of_a_callback_is_compared_exactly() {
    for (named, sent) in [("{origin}", "{origin}/"), ("{origin}/", "{origin}")] {
        let faults = issuer_names("{origin}/", named).into_iter().chain([Fault::CallbackIssuer(sent)]);
        let server = AuthorizationServer::with_faults(faults).await;
        let error = client(&server).failure().await;
        assert!(matches!(error, AuthError::Callback(CallbackError::IssuerMismatch { .. })), "{error:?}");
        assert!(server.requests_for("/token").is_empty(), "the code is not used");
    }
}

#[tokio::test]
async fn b01_the_slash_is_warned_about_once() {
    let warnings = WarningLog::default();
    let _recording = switchboard_testkit::record_with(warnings.clone());
    let server = AuthorizationServer::with_faults(issuer_names("{origin}/", "{origin}")).await;
    let client = client(&server);
    for _ in 0..3 {
        assert_eq!(client.request().await.unwrap(), 200);
        server.expire();
    }
    assert!(server.discoveries() > 1, "it was found more than once");
    let about_slash = warnings.lines().into_iter().filter(|line| line.contains("trailing slash")).count();
    assert_eq!(about_slash, 1, "{:?}", warnings.lines());
}

#[tokio::test]
async fn b07_metadata_is_found_wherever_it_is() {
    let nowhere = || Fault::At(RESOURCE_METADATA, Answer::Status("404 Not Found"));
    let root = || Fault::ResourceMetadataAt(ROOT_METADATA);
    let silent = || Fault::Challenge(String::new());
    let found = |path: &str| (path.to_owned(), true);
    let failed = |path: &str| (path.to_owned(), false);
    for (faults, expected) in [
        // A challenge without parameters, and none at all.
        (vec![Fault::Challenge("Bearer".to_owned())], vec![found(RESOURCE_METADATA)]),
        (vec![silent()], vec![found(RESOURCE_METADATA)]),
        // Only one of path and root.
        (vec![silent(), root()], vec![failed(RESOURCE_METADATA), found(ROOT_METADATA)]),
        // A challenge that names a document that is not there.
        (
            vec![Fault::Challenge(r#"Bearer resource_metadata="{origin}/gone""#.to_owned())],
            vec![failed("/gone"), found(RESOURCE_METADATA)],
        ),
        // None: the origin has metadata of an authorization server.
        (vec![silent(), nowhere()], vec![failed(RESOURCE_METADATA), failed(ROOT_METADATA)]),
    ] {
        let server = AuthorizationServer::with_faults(faults.clone()).await;
        let client = client(&server);
        assert_eq!(client.request().await.unwrap(), 200, "{faults:?}");
        let paths: Vec<String> = server.requests().into_iter().map(|request| request.path).collect();
        assert_eq!(paths[0], "/mcp");
        let tried: Vec<&String> = expected.iter().map(|(path, _)| path).collect();
        assert_eq!(paths[1..=tried.len()].iter().collect::<Vec<_>>(), tried, "{faults:?}");
        if !faults.iter().any(|fault| matches!(fault, Fault::Challenge(text) if text.contains("gone"))) {
            let discovery = client.authorizer.discover(&[]).await.unwrap();
            assert_eq!(attempts(&server, &discovery, DocumentKind::ProtectedResource), expected);
        }
        assert_eq!(server.sent("/token", "resource"), [Some(server.mcp_url())]);
    }
}

#[tokio::test]
async fn b07_every_failed_step_is_kept_with_its_reason() {
    let server = AuthorizationServer::with_faults([
        Fault::ResourceMember("authorization_servers", json!(["{origin}/t1"])),
        Fault::At("/.well-known/oauth-authorization-server/t1", Answer::Page("200 OK")),
        Fault::At("/.well-known/openid-configuration/t1", Answer::Status("503 Service Unavailable")),
    ])
    .await;
    let error = client(&server).authorizer.discover(&[]).await.unwrap_err();
    let AuthError::Discovery { attempts, .. } = &error else { panic!("{error:?}") };
    let reasons: Vec<(String, Option<&str>)> = attempts
        .iter()
        .map(|attempt| (attempt.url.replace(&server.url(""), ""), attempt.failure.as_deref()))
        .collect();
    let reasons: Vec<(&str, Option<&str>)> =
        reasons.iter().map(|(path, reason)| (path.as_str(), *reason)).collect();
    assert_eq!(
        reasons,
        [
            (RESOURCE_METADATA, None),
            ("/.well-known/oauth-authorization-server/t1", Some("error at line 1 column 1")),
            ("/.well-known/openid-configuration/t1", Some("status 503")),
            ("/t1/.well-known/openid-configuration", Some("status 404")),
        ]
    );
    let text = error.to_string();
    assert!(text.contains("/t1/.well-known/openid-configuration (status 404)"), "{text}");
}

#[tokio::test]
async fn b08_a_relative_metadata_url_is_resolved_against_the_request() {
    for (reference, place) in [("/meta/mcp", "/meta/mcp"), ("meta", "/meta"), ("/meta?a=b", "/meta")] {
        let challenge = format!("Bearer resource_metadata=\"{reference}\"");
        let server =
            AuthorizationServer::with_faults([Fault::Challenge(challenge), Fault::ResourceMetadataAt(place)])
                .await;
        assert_eq!(client(&server).request().await.unwrap(), 200, "{reference}");
        assert_eq!(server.requests()[1].path, place);
    }
}

#[tokio::test]
async fn b08_a_relative_metadata_url_stays_at_its_origin() {
    let other = AuthorizationServer::start().await;
    let reference = other.url(RESOURCE_METADATA).replace("http:", "");
    let challenge = format!("Bearer resource_metadata=\"{reference}\"");
    let server = AuthorizationServer::with_faults([Fault::Challenge(challenge)]).await;
    assert_eq!(client(&server).request().await.unwrap(), 200, "the next candidate serves");
    assert!(other.requests().is_empty());
}

#[tokio::test]
async fn b09_metadata_of_another_resource_is_refused() {
    let other = AuthorizationServer::start().await;
    for resource in [other.mcp_url(), "{origin}/other".to_owned(), "{origin}/mcp/below".to_owned()] {
        let fault = Fault::ResourceMember("resource", json!(resource));
        let server = AuthorizationServer::with_faults([fault]).await;
        let error = client(&server).failure().await;
        assert!(matches!(error, AuthError::ResourceMismatch { .. }), "{resource}: {error:?}");
        assert!(error.to_string().contains("misconfigured"), "{error}");
        assert_no_login(&server);
    }
}

#[tokio::test]
async fn b09_metadata_of_a_parent_is_used_as_it_is_written() {
    for resource in ["{origin}", "{origin}/", "{origin}/mcp/"] {
        let fault = Fault::ResourceMember("resource", json!(resource));
        let server = AuthorizationServer::with_faults([fault]).await;
        assert_eq!(client(&server).request().await.unwrap(), 200);
        let expected = resource.replace("{origin}", &server.url(""));
        assert_eq!(server.sent("/authorize", "resource"), [Some(expected)]);
    }
}

#[tokio::test]
async fn b10_an_unreadable_document_leads_to_the_next_candidate() {
    let answers = [
        Answer::Page("200 OK"),
        Answer::Page("404 Not Found"),
        Answer::Status("200 OK"),
        Answer::Json("200 OK", json!({})),
        Answer::Json("200 OK", Value::Null),
        Answer::Json("200 OK", json!(["{origin}/mcp"])),
        Answer::Json("200 OK", json!(["{origin}"])),
    ];
    for answer in answers {
        let server = AuthorizationServer::with_faults([
            Fault::At(RESOURCE_METADATA, answer.clone()),
            Fault::ResourceMetadataAt(ROOT_METADATA),
            Fault::At(SERVER_METADATA, answer.clone()),
            Fault::ServerMetadataAt(OPENID_METADATA),
        ])
        .await;
        assert_eq!(client(&server).request().await.unwrap(), 200, "{answer:?}");
    }
}

#[tokio::test]
async fn b10_a_configured_metadata_url_also_settles_the_comparison() {
    let faults = || {
        [
            Fault::ServerMember("issuer", json!("{origin}/elsewhere")),
            Fault::ServerMetadataAt("/custom/metadata"),
        ]
    };
    let server = AuthorizationServer::with_faults(faults()).await;
    let (folder, url) = (tempfile::tempdir().unwrap(), server.url("/custom/metadata"));
    let store = open(&folder.path().join("auth"));
    let options = OAuthOptions::default().with_server_metadata_url(url);
    let client = TestClient::with_browser(&server, options).with_store(store.clone());
    assert_eq!(client.request().await.unwrap(), 200);
    assert_eq!(only_grant(&store).await.key.issuer, server.url("/elsewhere"));
    assert!(server.requests_for(SERVER_METADATA).is_empty());
}

#[tokio::test]
async fn b23_a_metadata_document_is_not_redirected_to_another_host() {
    let other = AuthorizationServer::start().await;
    for path in [RESOURCE_METADATA, SERVER_METADATA] {
        let redirect = Fault::At(path, Answer::Redirect(other.url(path)));
        let server =
            AuthorizationServer::with_faults([redirect, Fault::ServerMetadataAt(OPENID_METADATA)]).await;
        // The next candidate serves.
        assert_eq!(client(&server).request().await.unwrap(), 200, "{path}");
        let discovery = client(&server).authorizer.discover(&[]).await.unwrap();
        let failure = discovery.attempts.iter().find_map(|attempt| attempt.failure.as_deref()).unwrap();
        assert!(failure.contains("it leads to another origin"), "{failure}");
    }
    assert!(other.requests().is_empty());
}

#[tokio::test]
async fn b23_a_redirect_at_the_same_host_is_followed() {
    let server = AuthorizationServer::with_faults([
        Fault::At(RESOURCE_METADATA, Answer::Redirect(ROOT_METADATA.to_owned())),
        Fault::ResourceMetadataAt(ROOT_METADATA),
    ])
    .await;
    assert_eq!(client(&server).request().await.unwrap(), 200);
}

#[tokio::test]
async fn b23_an_authorization_server_may_be_at_another_host() {
    let other = AuthorizationServer::start().await;
    let listed = Fault::ResourceMember("authorization_servers", json!([other.url("")]));
    let server = AuthorizationServer::with_faults([listed]).await;
    // The token is issued, and not known to this MCP server.
    assert_eq!(client(&server).request().await.unwrap(), 401);
    assert_eq!(other.sent("/token", "resource"), [Some(server.mcp_url())]);
    assert_no_login(&server);
}
