//! `switchboard login`, `call` and `logout` with oidc-provider, as a person uses them.

use serde_json::{Value, json};
use switchboard_testkit::{Failed, RunningCommand};

use crate::interop::login::authorization_server::AuthorizationServer;
use crate::interop::login::document_host::DocumentHost;
use crate::interop::login::notes_service::NotesService;
use crate::interop::login::user::{Browser, User};
use crate::interop::{Test, block_on};

pub(crate) const TESTS: &[Test] = &[
    ("login::a_person_logs_in_with_chromium_and_calls_a_scoped_tool", a_person_logs_in_with_chromium),
    ("login::opaque_tokens_are_introspected_and_revoked", opaque_tokens_are_introspected_and_revoked),
    ("login::an_expired_token_is_refreshed_at_oidc_provider", an_expired_token_is_refreshed),
    ("login::a_person_who_cancels_is_not_logged_in", a_person_who_cancels_is_not_logged_in),
    ("login::a_person_confirms_a_device_code", a_person_confirms_a_device_code),
    ("login::a_client_is_known_by_its_metadata_document", a_client_is_known_by_its_metadata_document),
    ("login::a_call_with_too_little_scope_names_the_login", a_call_with_too_little_scope_names_the_login),
];

fn a_person_logs_in_with_chromium() -> Result<(), Failed> {
    block_on(async {
        let issuer = AuthorizationServer::oidc_provider(&[]).await;
        let service = NotesService::start(issuer.issuer()).await;
        let user = User::new();
        let url = service.url();
        let refused = user.run(&["call", "whoami", "--url", url]).await;
        assert_eq!(refused.code, 3, "{}", refused.err);

        let scopes = "notes:read notes:delete";
        let login = user.log_in_ok(Browser::Chromium, &[url, "--scope", scopes]).await;
        assert!(login.starts_with(&format!("logged in to {url}: the token is valid for 59 min")), "{login}");
        assert_eq!(issuer.count("registered Switchboard").await, 1);
        assert_eq!(user.run_ok(&["call", "whoami", "--url", url]).await, format!("ada with {scopes}\n"));
        assert_eq!(user.run_ok(&["call", "clear", "--url", url]).await, "cleared\n");
        let accounts = user.run_ok(&["accounts"]).await;
        assert!(accounts.contains(issuer.issuer()) && accounts.contains(scopes), "{accounts}");
        no_token_is_printed(&user, url).await;

        let logout = user.run_ok(&["logout", url]).await;
        let note = "its refresh token is revoked; the server cannot revoke access tokens, so the last one stays valid until \
                    it expires";
        assert_eq!(logout, format!("logged out of {url}: {note}\n"));
        assert_eq!(issuer.count("revoked").await, 1, "{}", issuer.events().await);
        assert_eq!(user.run(&["call", "whoami", "--url", url]).await.code, 3);
        issuer.stop().await;
    })
}

/// Runs commands that talk about a login, which print no token of it.
async fn no_token_is_printed(user: &User, url: &str) {
    let grant = user.only_grant().await.grant;
    let refresh_token = grant.refresh_token.expect("oidc-provider issues refresh tokens");
    for args in [
        &["accounts", "--json"][..],
        &["status", "--json"],
        &["call", "whoami", "--url", url, "--trace"],
        &["doctor", "--url", url],
    ] {
        let ran = user.run(args).await;
        let printed = ran.out + &ran.err;
        assert!(!printed.is_empty(), "{args:?}");
        for token in [&grant.access_token, &refresh_token] {
            assert!(!printed.contains(token.expose()), "{args:?} prints a token");
        }
    }
}

fn opaque_tokens_are_introspected_and_revoked() -> Result<(), Failed> {
    block_on(async {
        let issuer = AuthorizationServer::oidc_provider(&["--tokens", "opaque"]).await;
        let service = NotesService::start_introspecting(issuer.issuer(), issuer.introspection()).await;
        let user = User::new();
        let url = service.url();
        user.log_in_ok(Browser::Form, &[url]).await;
        assert_eq!(user.run_ok(&["call", "whoami", "--url", url]).await, "ada with notes:read\n");

        let token = user.only_grant().await.grant.access_token;
        assert!(!token.expose().contains('.'), "it is not a JWT");
        assert!(issuer.introspect(&token).await.contains("\"active\":true"));
        let logout = user.run_ok(&["logout", url]).await;
        assert_eq!(logout, format!("logged out of {url}: its tokens are revoked\n"));
        assert_eq!(issuer.introspect(&token).await, r#"{"active":false}"#);
        issuer.stop().await;
    })
}

fn an_expired_token_is_refreshed() -> Result<(), Failed> {
    block_on(async {
        let issuer = AuthorizationServer::oidc_provider(&[]).await;
        let service = NotesService::start(issuer.issuer()).await;
        let user = User::new();
        let url = service.url();
        user.log_in_ok(Browser::Form, &[url]).await;
        // The provider rotates the refresh token and revokes the grant if one is used twice.
        for round in 1..=3 {
            let before = user.only_grant().await.grant;
            user.expire().await;
            assert_eq!(user.run_ok(&["call", "whoami", "--url", url]).await, "ada with notes:read\n");
            let after = user.only_grant().await.grant;
            assert!(after.access_token != before.access_token && after.refresh_token != before.refresh_token);
            assert_eq!(issuer.count("granted refresh_token").await, round);
        }
        assert_eq!(issuer.count("granted authorization_code").await, 1);
        issuer.stop().await;
    })
}

fn a_person_who_cancels_is_not_logged_in() -> Result<(), Failed> {
    block_on(async {
        let issuer = AuthorizationServer::oidc_provider(&[]).await;
        let service = NotesService::start(issuer.issuer()).await;
        let user = User::new();
        let (login, visited) = user.log_in(Browser::Cancelling, &[service.url()]).await;
        assert_eq!(login.code, 3, "{} {}", login.err, visited.err);
        assert!(login.err.contains("access_denied (End-User aborted interaction)"), "{}", login.err);
        assert_eq!(user.run_ok(&["accounts", "--json"]).await, "[]\n");
        issuer.stop().await;
    })
}

fn a_person_confirms_a_device_code() -> Result<(), Failed> {
    block_on(async {
        let issuer = AuthorizationServer::oidc_provider(&[]).await;
        let service = NotesService::start(issuer.issuer()).await;
        let user = User::new();
        let url = service.url();
        let mut login = RunningCommand::start(user.command(&["login", url, "--device", "--json"]));
        let event: Value = serde_json::from_str(&format!("{{{}", login.out.line_after("{"))).unwrap();
        assert_eq!(event["event"], "device-code");
        // On another device, where the page has the code filled in.
        let visited = Browser::Form.visit(event["verificationUriComplete"].as_str().unwrap()).await;
        assert_eq!(visited.out, "200 Sign-in Success\n", "{}", visited.err);
        assert_eq!(login.wait().code(), Some(0), "{}", login.err.all());
        assert_eq!(user.run_ok(&["call", "whoami", "--url", url]).await, "ada with notes:read\n");
        let granted = "granted urn:ietf:params:oauth:grant-type:device_code";
        assert_eq!(issuer.count(granted).await, 1, "{}", issuer.events().await);
        user.expire().await;
        assert_eq!(user.run_ok(&["call", "whoami", "--url", url]).await, "ada with notes:read\n");
        assert_eq!(issuer.count("granted refresh_token").await, 1);
        issuer.stop().await;
    })
}

fn a_client_is_known_by_its_metadata_document() -> Result<(), Failed> {
    block_on(async {
        let documents = DocumentHost::start().await;
        let issuer = AuthorizationServer::oidc_provider_trusting(&documents.authority()).await;
        let service = NotesService::start(issuer.issuer()).await;
        let user = User::new();
        let oauth = json!({ "clientMetadataUrl": documents.url() });
        user.configure("notes", &json!({ "type": "http", "url": service.url(), "oauth": oauth }));
        user.log_in_ok(Browser::Form, &["notes"]).await;
        assert_eq!(user.run_ok(&["call", "whoami", "--server", "notes"]).await, "ada with notes:read\n");
        assert_eq!(user.only_grant().await.key.client_id, documents.url());
        // At the token endpoint the client is known as well, and nothing was registered.
        user.expire().await;
        assert_eq!(user.run_ok(&["call", "whoami", "--server", "notes"]).await, "ada with notes:read\n");
        let events = issuer.events().await;
        assert!(events.contains("granted refresh_token") && !events.contains("registered"), "{events}");
        issuer.stop().await;
        documents.stop().await;
    })
}

fn a_call_with_too_little_scope_names_the_login() -> Result<(), Failed> {
    block_on(async {
        let issuer = AuthorizationServer::oidc_provider(&[]).await;
        let service = NotesService::start(issuer.issuer()).await;
        let user = User::new();
        let url = service.url();
        user.log_in_ok(Browser::Form, &[url]).await;
        let refused = user.run(&["call", "clear", "--url", url]).await;
        assert_eq!(refused.code, 3, "{} {}", refused.out, refused.err);
        let hint = "switchboard login URL --scope 'notes:read notes:delete'";
        assert!(refused.err.contains(hint), "{}", refused.err);
        // The same client, with more scopes.
        user.log_in_ok(Browser::Form, &[url, "--scope", "notes:read notes:delete"]).await;
        assert_eq!(user.run_ok(&["call", "clear", "--url", url]).await, "cleared\n");
        issuer.stop().await;
    })
}
