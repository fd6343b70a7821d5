//! Answers that oauth2-mock-server gets wrong: our client refuses them, or copes, and tells the user in clean text.

use switchboard_testkit::{Failed, RunningCommand};

use crate::interop::login::authorization_server::AuthorizationServer;
use crate::interop::login::notes_service::NotesService;
use crate::interop::login::user::{Browser, User};
use crate::interop::{Test, block_on};

pub(crate) const TESTS: &[Test] = &[
    ("login::falsified_metadata_and_callbacks_are_refused", falsified_metadata_and_callbacks_are_refused),
    ("login::falsified_token_answers_are_refused", falsified_token_answers_are_refused),
    (
        "login::answers_that_others_also_get_wrong_are_accepted",
        answers_that_others_also_get_wrong_are_accepted,
    ),
    ("login::a_callback_with_another_state_does_not_end_the_login", a_callback_with_another_state),
    ("login::a_refused_scope_leads_to_a_login_with_fewer", a_refused_scope_leads_to_a_login_with_fewer),
    ("login::a_refresh_without_refresh_token_keeps_the_old_one", a_refresh_without_refresh_token),
    ("login::a_token_that_our_service_refuses_is_refreshed_once", a_token_that_our_service_refuses),
    ("login::a_failed_revocation_is_told", a_failed_revocation_is_told),
];

/// The server, a service that trusts it, and a user.
struct Scene {
    issuer: AuthorizationServer,
    service: NotesService,
    user: User,
}

impl Scene {
    async fn new(falsified: &str) -> Self {
        let issuer = AuthorizationServer::mock(Some(falsified)).await;
        let service = NotesService::start(issuer.issuer()).await;
        Self { issuer, service, user: User::new() }
    }

    /// Returns the arguments of a login: this server does not register clients.
    fn login(&self) -> [&str; 3] {
        [self.service.url(), "--client-id", "tester"]
    }

    async fn whoami(&self) -> String {
        self.user.run_ok(&["call", "whoami", "--url", self.service.url()]).await
    }

    async fn stop(self) {
        self.issuer.stop().await;
    }
}

/// Logs in, which must fail with this text, and leave nothing behind.
async fn is_refused(falsified: &str, text: &str) {
    let scene = Scene::new(falsified).await;
    let (login, visited) = scene.user.log_in(Browser::Form, &scene.login()).await;
    assert_eq!(login.code, 3, "{falsified}: {} {} {}", login.out, login.err, visited.err);
    assert!(login.err.contains(text), "{falsified}: {}", login.err);
    assert!(!login.err.contains('\u{1b}'), "{falsified}: {:?}", login.err);
    assert_eq!(scene.user.run_ok(&["accounts", "--json"]).await, "[]\n");
    scene.stop().await;
}

const OTHER_SERVER: &str = "the callback comes from another authorization server";

fn falsified_metadata_and_callbacks_are_refused() -> Result<(), Failed> {
    block_on(async {
        let scene = Scene::new("issuer-path").await;
        let login = scene.user.run(&[&["login"][..], &scene.login()].concat()).await;
        assert_eq!(login.code, 3, "{}", login.err);
        let found = format!("names the issuer \"{}/other\"", scene.issuer.issuer());
        assert!(login.err.contains(&found), "{}", login.err);
        scene.stop().await;

        is_refused("callback-issuer", OTHER_SERVER).await;
        // In metadata the slash is forgiven, here it is not.
        is_refused("callback-issuer-slash", OTHER_SERVER).await;
        is_refused("callback-error", "access_denied (not today").await;
        is_refused("callback-without-code", "it has no code").await;
    })
}

fn falsified_token_answers_are_refused() -> Result<(), Failed> {
    block_on(async {
        is_refused("other-type", "issued a token of type \"mac\"").await;
        is_refused("no-token", "a member is missing").await;
        is_refused("error", "invalid_grant (the code was").await;
        is_refused("error-with-status-200", "/token answered").await;
        is_refused("no-json-object", "status 502").await;
    })
}

fn answers_that_others_also_get_wrong_are_accepted() -> Result<(), Failed> {
    block_on(async {
        for (falsified, valid) in [
            // Row 1 of the breakage list: Google, JumpCloud, Auth0.
            ("issuer-slash", "for 59 min"),
            ("lower-case-type", "for 59 min"),
            // Row 12.
            ("no-expiry", "until the server rejects it"),
        ] {
            let scene = Scene::new(falsified).await;
            let login = scene.user.log_in_ok(Browser::Form, &scene.login()).await;
            assert!(login.contains(&format!("the token is valid {valid}")), "{falsified}: {login}");
            assert_eq!(scene.whoami().await, "johndoe with notes:read\n", "{falsified}");
            scene.stop().await;
        }
    })
}

fn a_callback_with_another_state() -> Result<(), Failed> {
    block_on(async {
        let scene = Scene::new("callback-state").await;
        let command = scene.user.command(&[&["login"][..], &scene.login()].concat());
        let mut login = RunningCommand::start(command);
        let visited = Browser::Form.visit(&login.err.line_after("Open this page:\n\n  ")).await;
        assert_eq!(visited.out, "400 Not this login\n");
        assert!(login.child.try_wait().unwrap().is_none(), "{}", login.err.all());
        drop(login);
        scene.stop().await;
    })
}

fn a_refused_scope_leads_to_a_login_with_fewer() -> Result<(), Failed> {
    block_on(async {
        let scene = Scene::new("scope-once").await;
        let command = scene.user.command(&[&["login"][..], &scene.login()].concat());
        let mut login = RunningCommand::start(command);
        let (first, from) = page(&login, 0);
        assert!(first.contains("scope=notes%3Aread"), "{first}");
        Browser::Form.visit(&first).await;
        let (second, _) = page(&login, from);
        assert!(!second.contains("scope="), "{second}");
        Browser::Form.visit(&second).await;
        assert_eq!(login.wait().code(), Some(0), "{}", login.err.all());
        scene.stop().await;
    })
}

/// Waits for a login page that is shown after this offset; returns its URL, and the offset after it.
fn page(login: &RunningCommand, from: usize) -> (String, usize) {
    let start = login.err.wait_for("Open this page:\n\n  ", from);
    login.err.word_at(start)
}

fn a_refresh_without_refresh_token() -> Result<(), Failed> {
    block_on(async {
        let scene = Scene::new("refresh-without-refresh-token").await;
        scene.user.log_in_ok(Browser::Form, &scene.login()).await;
        let refresh_token = scene.user.only_grant().await.grant.refresh_token;
        assert!(refresh_token.is_some());
        for round in 1..=2 {
            scene.user.expire().await;
            assert_eq!(scene.whoami().await, "johndoe with notes:read\n");
            assert_eq!(scene.issuer.count("granted refresh_token").await, round);
            assert!(scene.user.only_grant().await.grant.refresh_token == refresh_token);
        }
        scene.stop().await;
    })
}

fn a_token_that_our_service_refuses() -> Result<(), Failed> {
    block_on(async {
        for (falsified, reason) in [
            ("audience", "its audience is another server"),
            ("expired", "it has expired"),
            ("token-issuer", "it is of another issuer"),
        ] {
            let scene = Scene::new(falsified).await;
            scene.user.log_in_ok(Browser::Form, &scene.login()).await;
            let refused = scene.user.run(&["call", "whoami", "--url", scene.service.url()]).await;
            assert_eq!(refused.code, 3, "{falsified}: {} {}", refused.out, refused.err);
            assert!(refused.err.contains(reason), "{falsified}: {}", refused.err);
            // A client that goes on would never end.
            assert_eq!(scene.issuer.count("granted refresh_token").await, 1, "{falsified}");
            scene.stop().await;
        }
    })
}

fn a_failed_revocation_is_told() -> Result<(), Failed> {
    block_on(async {
        let scene = Scene::new("revocation").await;
        scene.user.log_in_ok(Browser::Form, &scene.login()).await;
        let logout = scene.user.run_ok(&["logout", scene.service.url()]).await;
        assert!(logout.contains("removed here but may stay valid until they expire"), "{logout}");
        assert_eq!(scene.user.run_ok(&["accounts", "--json"]).await, "[]\n");
        scene.stop().await;
    })
}
